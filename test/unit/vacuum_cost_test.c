/*
 * vacuum_cost_test.c
 *		policy/vacuum_cost: what a vacuum costs, and what is learned of it.
 */
#include "tap.h"
#include "vacuum_cost.h"

/* 10,000 pages of 50 rows, 4,000 pages in two indexes. */
static VacuumWork
updated(double rows)
{
	VacuumWork	w = {10000, 4000, 2, 50, rows, rows, rows,.cold = 1};

	return w;
}

static double
io(const VacuumCost *c)
{
	return c->read + c->dirtied;
}

static bool
is_sane(const VacuumCost *c)
{
	return c->scanned >= 0 && c->read >= 0 && c->dirtied >= 0 && c->seconds > 0 && isfinite(io(c)) && isfinite(c->seconds);
}

static void
test_shape(void)
{
	double		rows[] = {0, 1, 100, 1000, 10000, 100000, 1e6, 1e12};
	VacuumCost	before = {0};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		VacuumWork	w = updated(rows[i]);
		VacuumCost	c = vacuum_cost(&w);

		tap_ok(is_sane(&c), "a number of rows", "is sane");
		tap_ok(io(&c) >= io(&before), "a number of rows", "more of them cost no less");
		tap_ok(c.scanned <= 10000 + 1e-6, "a number of rows", "no page is read twice");
		tap_ok(c.read <= 10000 + 4000 + 10000 + 1e-6, "a number of rows", "the second pass, and no more");
		before = c;
	}
}

/* Ten times the rows do not cost ten times as much. */
static void
test_saturation(void)
{
	VacuumWork	few = updated(11000);
	VacuumWork	many = updated(50000);
	VacuumCost	a = vacuum_cost(&few);
	VacuumCost	b = vacuum_cost(&many);

	tap_ok(io(&b) < 2 * io(&a), "50,000 dead rows", "cost less than twice what 11,000 do");
	tap_ok(io(&b) > 1.1 * io(&a), "50,000 dead rows", "and more");
}

static void
test_bypass(void)
{
	VacuumWork	w = updated(100);
	VacuumCost	c = vacuum_cost(&w);

	tap_ok(c.read == c.scanned, "dead rows on a hundredth of the pages", "the indexes are left alone");
	w.dead = 1000;
	c = vacuum_cost(&w);
	tap_ok(c.read >= c.scanned + 4000, "dead rows on a tenth", "the indexes are read whole");
	w.indexes = w.index_pages = 0;
	c = vacuum_cost(&w);
	tap_ok(c.read == c.scanned, "no index", "nor a second pass");
}

static void
test_inserts(void)
{
	VacuumWork	w = {.pages = 10000,.index_pages = 4000,.indexes = 1,.rows_per_page = 50,.added = 50000};
	VacuumCost	c = vacuum_cost(&w);

	tap_ok(c.dirtied >= 1000 && c.dirtied < 1010, "50,000 new rows", "their pages, and the maps");
	tap_is_double(c.read, 1000, "50,000 new rows", "nothing lies between them");
	w.added = 1e15;
	c = vacuum_cost(&w);
	tap_is_double(c.scanned, 10000, "more new rows than there is room for", "all pages");
	w.pages = 0;
	c = vacuum_cost(&w);
	tap_ok(io(&c) == 0 && c.seconds > 0, "an empty table", "costs time only");
	w.pages = 1;
	w.rows_per_page = 0;
	c = vacuum_cost(&w);
	tap_ok(is_sane(&c), "no row on a page", "is sane");
}

/* What is dirty in memory costs nothing, until it was written. */
static void
test_dirty(void)
{
	VacuumWork	w = updated(20000);
	VacuumCost	cold = vacuum_cost(&w);
	double		before = 0;

	w.cold = 0;
	w.write_s = 300;
	for (double seconds = 10; seconds < 1e6; seconds *= 10)
	{
		VacuumCost	c;

		w.seconds = seconds;
		c = vacuum_cost(&w);
		tap_ok(c.dirtied >= before, "all in memory", "the longer it takes, the more pages were written since");
		tap_ok(c.dirtied <= cold.dirtied + 1e-6, "all in memory", "no more than if nothing were");
		before = c.dirtied;
	}
	w.seconds = 10;
	tap_ok(vacuum_cost(&w).dirtied < 0.05 * cold.dirtied, "ten seconds after the changes", "hardly any was");
	w.cold = 1;
	tap_is_double(vacuum_cost(&w).dirtied, cold.dirtied, "nothing in memory", "all are dirtied, whenever that is");
}

/* Dead rows whose entries are left are met again, until the indexes are vacuumed. */
static void
test_left(void)
{
	VacuumLeft	left = {0};
	VacuumWork	w = updated(20);
	VacuumCost	first;
	VacuumCost	second;
	int			runs = 1;

	w.index_pages = 500;
	first = vacuum_cost_after(&w, &left, true, 1);
	tap_ok(!first.indexes, "dead rows on few pages", "leave the indexes out");
	tap_is_double(left.rows, 20, "dead rows on few pages", "and are left");
	tap_is_double(left.read_again, first.read - first.dirtied, "old pages", "will be read again");
	second = vacuum_cost_after(&w, &left, true, 1);
	tap_ok(second.scanned > 1.5 * first.scanned, "the next vacuum", "reads those of the first as well");
	tap_is_double(second.dirtied, first.dirtied, "the next vacuum", "but changes nothing there");
	while (!second.indexes && runs++ < 100)
		second = vacuum_cost_after(&w, &left, true, 1);
	tap_ok(second.indexes, "in the end", "the indexes are vacuumed");
	tap_ok(w.all_indexes, "in the end", "because as many pages were read again");
	tap_ok(left.rows == 0 && left.read_again == 0, "after that", "nothing is left");

	/* autovacuum goes by the pages with dead items alone */
	runs = 0;
	do
		second = vacuum_cost_after(&w, &left, false, 1);
	while (!second.indexes && runs++ < 1000);
	tap_ok(second.indexes && !w.all_indexes, "autovacuum", "comes to it by their number");
	tap_ok(runs >= 3, "autovacuum", "later");

	w.indexes = 0;
	(void) vacuum_cost_after(&w, &left, true, 1);
	tap_is_double(left.rows, 0, "without an index", "nothing is left");
}

/* Rows that die young lie where the last ones were added. */
static void
test_young(void)
{
	VacuumWork	old = updated(500);
	VacuumWork	young = updated(500);
	double		before = HUGE_VAL;

	old.added = young.added = 500;
	young.changed = 0;
	young.young = 500;
	tap_ok(vacuum_cost(&young).scanned < 0.05 * vacuum_cost(&old).scanned, "500 rows that died young", "lie on few pages");
	young.dead = 12500;
	young.added = young.young = 12500;
	tap_ok(vacuum_cost(&young).read > 4000, "on a fortieth of the pages", "the indexes are cleaned");
	tap_ok(vacuum_cost(&young).dirtied < 700, "on a fortieth of the pages", "with as few entries to remove");

	/*
	 * twice as often: half of the pages, of which half as many were written
	 * meanwhile
	 */
	young.cold = 0;
	young.write_s = 300;
	for (young.seconds = 200; young.seconds > 10; young.seconds /= 2)
	{
		VacuumCost	c;

		young.dead = young.young = young.added = 100 * young.seconds;
		c = vacuum_cost(&young);
		tap_ok(is_sane(&c) && c.dirtied < 0.51 * before, "in memory, twice as often", "at most half as much at each time");
		before = c.dirtied;
	}
	young.young = 2 * young.dead;
	tap_ok(vacuum_cost(&young).dirtied >= 0, "more of them than dead ones", "is sane");
}

static const struct
{
	const char *name;
	double		modelled;
	double		actual;
	double		runs;
	double		factor;
}			lessons[] = {
	{"no run", 0, 0, 0, 1},
	{"as modelled", 1000, 1000, 10, 1},
	{"half, many runs", 100000, 50000, 1000, 0.5001},
	{"half, one run: not all the way", 100, 50, 1, 0.5743},
	{"nothing is read, many runs", 1e6, 0, 1e6, 0.001},
	{"nothing is read, one run", 100, 0, 1, 0.00398},
	{"much more, bounded", 1, 1e9, 1e6, 20},
	{"nothing modelled", 0, 1000, 5, 1},
};

static void
test_learning(void)
{
	for (size_t i = 0; i < lengthof(lessons); i++)
	{
		VacuumCost	modelled = {.read = lessons[i].modelled,.dirtied = 1,.seconds = 1};
		VacuumCost	actual = {.read = lessons[i].actual,.dirtied = 1,.seconds = 1};
		VacuumCorrection none = vacuum_correction_none();
		VacuumCorrection c = vacuum_correction_learn(&modelled, &actual, lessons[i].runs, &none);
		VacuumCost	cost = {.read = 200,.dirtied = 3,.seconds = 4};

		tap_ok(fabs(c.read - lessons[i].factor) < 1e-3, lessons[i].name, "factor");
		tap_is_double(c.dirtied, 1, lessons[i].name, "what was met stays");
		cost = vacuum_cost_correct(cost, &c);
		tap_ok(fabs(cost.read - 200 * lessons[i].factor) < 1 && cost.dirtied == 3, lessons[i].name, "corrected");
	}
}

/* What is assumed without any run is left behind with each of them. */
static void
test_otherwise(void)
{
	VacuumCost	modelled = {.read = 100,.dirtied = 100,.seconds = 1};
	VacuumCost	actual = {.read = 10,.dirtied = 200,.seconds = 1};
	VacuumCorrection otherwise = {50, 0.001, 0.5, 2};
	VacuumCorrection c = vacuum_correction_learn(&modelled, &actual, 0, &otherwise);

	tap_ok(c.read == 0.001 && c.dirtied == 0.5 && c.seconds == 2 && c.runs == 0, "no run", "what is assumed");
	c = vacuum_correction_learn(&modelled, &actual, 0.25, &otherwise);
	tap_is_double(c.read, 0.01, "some", "something between");
	tap_is_double(c.dirtied, 1, "some", "something between");
	c = vacuum_correction_learn(&modelled, &actual, 1e9, &otherwise);
	tap_ok(fabs(c.read - 0.1) < 1e-6 && fabs(c.dirtied - 2) < 1e-6 && fabs(c.seconds - 1) < 1e-6, "many runs", "what they say");

	/* where a tenth is clean a vacuum meets clean pages once in ten times */
	modelled.touched = 1000;
	otherwise.dirtied = 1;
	c = vacuum_correction_learn(&modelled, &actual, 2.5, &otherwise);
	tap_is_double(c.dirtied, sqrt(2), "most are dirty", "what is dirtied is learned ten times as slowly");
	tap_is_double(c.read, 0.1 * pow(0.01, 0.25 / 2.75), "most are dirty", "and what is read is not");
	tap_is_double(vacuum_correction_none().read, 1, "nothing", "is no correction");
}

int
main(void)
{
	test_shape();
	test_saturation();
	test_bypass();
	test_inserts();
	test_dirty();
	test_left();
	test_young();
	test_learning();
	test_otherwise();
	return tap_done();
}
