/*
 * score_test.c
 *		policy/score against the scores of PostgreSQL 19, relation_needs_vacanalyze()
 *		in autovacuum.c.
 */
#include "score.h"
#include "tap.h"

#define WEIGHTS_1	{1, 1, 1, 1, 1}

/*
 * The parts made of tuples: "scores->vac = (double) vactuples /
 * Max(vacthresh, 1)", then "scores->vac *= autovacuum_vacuum_score_weight".
 * vac_ins is made the same way unless insert vacuums are disabled, and anl
 * unless the table is never analyzed.
 */
static const struct
{
	const char *name;
	Thresholds	t;
	int64_t		dead;
	int64_t		ins;
	int64_t		mod;
	ScoreWeights weights;
	double		vacuum_score;
	double		vacuum_insert_score;
	double		analyze_score;
	double		score;
}			tuples[] = {
	{"nothing happened", {50, 1000, 50}, 0, 0, 0, WEIGHTS_1, 0, 0, 0, 0},
	{"one of each", {50, 1000, 100}, 1, 1, 1, WEIGHTS_1, 0.02, 0.001, 0.01, 0.02},
	{"at the threshold", {50, 1000, 70}, 50, 1000, 70, WEIGHTS_1, 1, 1, 1, 1},
	{"dead rows are more urgent", {50, 1000, 100}, 150, 500, 200, WEIGHTS_1, 3, 0.5, 2, 3},
	{"inserts are more urgent", {50, 1000, 100}, 25, 2500, 200, WEIGHTS_1, 0.5, 2.5, 2, 2.5},
	{"analyze is more urgent, and no reason for a vacuum", {50, 1000, 100}, 25, 2500, 400, WEIGHTS_1, 0.5, 2.5, 4, 2.5},
	{"dead rows only", {50, 1000, 100}, 100, 0, 0, WEIGHTS_1, 2, 0, 0, 2},
	{"inserts only", {50, 1000, 100}, 0, 100, 0, WEIGHTS_1, 0, 0.1, 0, 0.1},
	{"changes only", {50, 1000, 100}, 0, 0, 30, WEIGHTS_1, 0, 0, 0.3, 0},
	{"threshold between two rows", {50.2, 1000.2, 100}, 51, 0, 0, WEIGHTS_1, 51 / 50.2, 0, 0, 51 / 50.2},

	/* Max(vacthresh, 1) */
	{"thresholds 0 count as 1", {0, 0, 0}, 7, 9, 8, WEIGHTS_1, 7, 9, 8, 9},
	{"thresholds below 1 count as 1", {0.25, 0.5, 0.75}, 7, 9, 8, WEIGHTS_1, 7, 9, 8, 9},
	{"thresholds 1", {1, 1, 1}, 7, 9, 8, WEIGHTS_1, 7, 9, 8, 9},
	{"thresholds just above 1", {1.25, 1.5, 1.25}, 5, 6, 10, WEIGHTS_1, 4, 4, 8, 4},

	{"insert vacuums disabled", {50, -1, 100}, 25, INT64_C(1000000000000), 0, WEIGHTS_1, 0.5, 0, 0, 0.5},
	{"insert vacuums disabled, nothing dead", {50, -1, 100}, 0, 10, 0, WEIGHTS_1, 0, 0, 0, 0},
	{"never analyzed", {50, 1000, -1}, 25, 0, INT64_C(1000000000000), WEIGHTS_1, 0.5, 0, 0, 0.5},
	{"counters below 0 are nothing", {50, 1000, 100}, -5, -5, -5, WEIGHTS_1, 0, 0, 0, 0},
	{"more than 2^31 rows", {1e8, 1000, 1e9}, INT64_C(5000000000), 0, INT64_C(5000000000), WEIGHTS_1, 50, 0, 5, 50},

	/* autovacuum_vacuum_score_weight, _vacuum_insert_, _analyze_ */
	{"weights change the order", {50, 1000, 100}, 150, 2000, 100, {1, 1, 0.5, 2, 3}, 1.5, 4, 3, 4},
	{"weight 0", {50, 1000, 100}, 150, 2000, 100, {1, 1, 1, 0, 0}, 3, 0, 0, 3},
	{"all weights 0", {50, 1000, 100}, 150, 2000, 100, {0, 0, 0, 0, 0}, 0, 0, 0, 0},
	{"the largest weight", {50, 1000, 100}, 50, 0, 0, {1, 1, 10, 1, 1}, 10, 0, 0, 10},
};

/*
 * The parts made of ages.  The defaults: freeze_max_age 200 million,
 * vacuum_failsafe_age 1.6 thousand million.
 */
#define MILLION 1000000

static const struct
{
	const char *name;
	ScoreAge	age;
	double		weight;
	double		part;
}			ages[] = {

	/* "scores->xid = (double) xid_age / freeze_max_age" */
	{"no id", {0, 200 * MILLION, 200 * MILLION, 1600 * MILLION}, 1, 0},
	{"young", {20 * MILLION, 200 * MILLION, 200 * MILLION, 1600 * MILLION}, 1, 0.1},
	{"at the limit", {200 * MILLION, 200 * MILLION, 200 * MILLION, 1600 * MILLION}, 1, 1},
	{"beyond the limit", {300 * MILLION, 200 * MILLION, 200 * MILLION, 1600 * MILLION}, 1, 1.5},
	{"a limit of the table's own", {20 * MILLION, 10 * MILLION, 200 * MILLION, 1600 * MILLION}, 1, 2},

	/*
	 * "Max(1, multixact_freeze_max_age)": it is 0 when the members are used
	 * up
	 */
	{"limit 0", {17, 0, 400 * MILLION, 1600 * MILLION}, 1, 17},

	/* "pow(scores->xid, Max(1.0, (double) xid_age / 100000000))" */
	{"below the failsafe age", {1599999999, 200 * MILLION, 200 * MILLION, 1600 * MILLION}, 1, 7.999999995},
	{"at the failsafe age", {1600 * MILLION, 200 * MILLION, 200 * MILLION, 1600 * MILLION}, 1, 281474976710656.0},	/* 8 ^ 16 */
	{"an exponent is at least 1", {50 * MILLION, 10 * MILLION, 10 * MILLION, 40 * MILLION}, 1, 5},
	{"a young one beyond a small failsafe age", {200 * MILLION, 50 * MILLION, 50 * MILLION, 0}, 1, 16},

	/*
	 * "effective_xid_failsafe_age = Max(vacuum_failsafe_age,
	 * autovacuum_freeze_max_age * 1.05)"
	 */
	{"failsafe age 0, below 105 %", {209999999, 200 * MILLION, 200 * MILLION, 0}, 1, 1.049999995},
	{"failsafe age 0, at 105 %", {210 * MILLION, 200 * MILLION, 200 * MILLION, 0}, 1, 1.1078923},	/* 1.05 ^ 2.1 */
	{"105 % of the server's limit, not of the table's", {200 * MILLION, 100 * MILLION, 200 * MILLION, 0}, 1, 2},

	/*
	 * "if (autovacuum_freeze_score_weight > 1.0) effective_xid_failsafe_age
	 * /= ..."
	 */
	{"a weight", {300 * MILLION, 200 * MILLION, 200 * MILLION, 1600 * MILLION}, 4, 6},
	{"a weight begins to scale earlier", {400 * MILLION, 200 * MILLION, 200 * MILLION, 1600 * MILLION}, 4, 64}, /* 2 ^ 4 * 4 */
	{"a power is taken only of what is above 1", {199 * MILLION, 200 * MILLION, 200 * MILLION, 1600 * MILLION}, 10, 9.95},
	{"a weight below 1 does not begin later", {1600 * MILLION, 200 * MILLION, 200 * MILLION, 1600 * MILLION}, 0.5, 140737488355328.0},
	{"weight 0", {1600 * MILLION, 200 * MILLION, 200 * MILLION, 1600 * MILLION}, 0, 0},
};

/*
 * The same said another way, by logarithms, over many tables: log score = log
 * weight + exponent * log ratio.  The exponent is 1 up to the failsafe age
 * and for ratios below 1.
 */
static void
compare_ages_with_logarithms(void)
{
	uint64_t	state = 3;
	int			differ = 0;
	int			scaled = 0;

	for (int i = 0; i < 200000; i++)
	{
		ScoreInput	in = {.thresholds = {-1, -1, -1}};
		ScoreAge   *a = &in.xid;
		double		weight = (1 + tap_random(&state) % 100) / 10.0;
		double		exponent = 1;
		double		begins;
		double		expected;
		Score		s;

		a->server_limit = 100000 + (int32_t) (tap_random(&state) % 1000000000);
		a->limit = 1 + (int32_t) (tap_random(&state) % (uint32_t) a->server_limit);
		a->failsafe = (int32_t) (tap_random(&state) % 2100000000);
		a->age = 1 + (int32_t) (tap_random(&state) % 2147000000);
		in.weights.xid = in.weights.mxid = weight;
		in.mxid = in.xid;

		begins = floor(fmax(a->failsafe, 1.05 * a->server_limit));
		if (weight > 1)
			begins = floor(begins / weight);
		if (a->age >= begins && a->age > a->limit)
		{
			exponent = fmax(1, a->age / 1e8);
			scaled++;
		}
		expected = log(weight) + exponent * (log(a->age) - log(a->limit));

		s = score_compute(&in);
		differ += fabs(log(s.xid_score) - expected) > 1e-9 * fmax(1, fabs(expected));
		differ += s.mxid_score != s.xid_score || s.score != s.xid_score;
	}
	tap_is_int(differ, 0, "200,000 tables", "ages as by logarithms");
	tap_ok(scaled > 40000 && scaled < 190000, "200,000 tables", "some beyond the failsafe age");
}

/* Due is what has a score above 1, as long as a threshold is at least 1. */
static void
compare_with_due(void)
{
	uint64_t	state = 2;
	int			differ = 0;
	int			due = 0;

	for (int i = 0; i < 100000; i++)
	{
		ScoreInput	in = {
			.thresholds = {
				1 + tap_random(&state) % 500 + (tap_random(&state) % 10) / 10.0,
				tap_random(&state) % 4 == 0 ? -1.0 : 1.0 + tap_random(&state) % 500,
				tap_random(&state) % 4 == 0 ? -1.0 : 1.0 + tap_random(&state) % 500
			},
			.dead_tuples = tap_random(&state) % 1000,
			.ins_since_vacuum = tap_random(&state) % 1000,
			.mod_since_analyze = tap_random(&state) % 1000,
			.weights = WEIGHTS_1,
		};
		Score		s = score_compute(&in);

		differ += (s.vacuum_score > 1) != threshold_vacuum_due(&in.thresholds, in.dead_tuples);
		differ += (s.vacuum_insert_score > 1) != threshold_insert_due(&in.thresholds, in.ins_since_vacuum);
		differ += (s.analyze_score > 1) != (in.thresholds.analyze >= 0 && in.mod_since_analyze > in.thresholds.analyze);
		differ += s.score != fmax(s.vacuum_score, s.vacuum_insert_score);
		due += s.vacuum_score > 1 || s.vacuum_insert_score > 1;
	}
	tap_is_int(differ, 0, "100,000 tables", "a score above 1 is due");
	tap_ok(due > 10000 && due < 90000, "100,000 tables", "a mix of due and not due");
}

int
main(void)
{
	for (size_t i = 0; i < lengthof(tuples); i++)
	{
		ScoreInput	in = {
			.thresholds = tuples[i].t,
			.dead_tuples = tuples[i].dead,
			.ins_since_vacuum = tuples[i].ins,
			.mod_since_analyze = tuples[i].mod,
			.weights = tuples[i].weights,
		};
		Score		s = score_compute(&in);

		tap_is_double(s.vacuum_score, tuples[i].vacuum_score, tuples[i].name, "vacuum_score");
		tap_is_double(s.vacuum_insert_score, tuples[i].vacuum_insert_score, tuples[i].name, "vacuum_insert_score");
		tap_is_double(s.analyze_score, tuples[i].analyze_score, tuples[i].name, "analyze_score");
		tap_is_double(s.score, tuples[i].score, tuples[i].name, "score");
	}
	for (size_t i = 0; i < lengthof(ages); i++)
	{
		ScoreInput	in = {.thresholds = {-1, -1, -1},.xid = ages[i].age,.weights.xid = ages[i].weight};
		Score		s = score_compute(&in);

		/* given to seven digits where it is a power */
		tap_ok(fabs(s.xid_score - ages[i].part) <= 1e-6 * fmax(1, ages[i].part), ages[i].name, "xid_score");
		tap_is_double(s.mxid_score, 0, ages[i].name, "mxid_score");
		tap_is_double(s.score, s.xid_score, ages[i].name, "score");

		in.mxid = in.xid;
		in.weights.mxid = in.weights.xid;
		in.xid.age = 0;
		tap_is_double(score_compute(&in).mxid_score, s.xid_score, ages[i].name, "mxid_score, likewise");
	}
	compare_ages_with_logarithms();
	compare_with_due();
	return tap_done();
}
