/*
 * trial_cost_test.c
 *		policy/trial_cost: what would a vacuum read and dirty?
 */
#include "trial_cost.h"

#include "tap.h"

/* A table of 10,000 pages, half of whose garbage was there at the last look. */
static TrialHeap
table(double not_visible, double between)
{
	TrialHeap	h = {0};

	h.pages = 10000;
	h.not_visible = not_visible;
	h.between = between;
	h.resident = 1;
	h.rows_per_page = 50;
	h.dead = h.new_dead = 1000;
	h.cold_share = 1;
	return h;
}

static bool
is_about(double value, double wanted)
{
	return value > 0.99 * wanted - 0.5 && value < 1.01 * wanted + 0.5;
}

static void
what_is_in_memory(void)
{
	TrialHeap	h = table(500, 0);
	TrialCost	cost = trial_cost_heap(&h);

	tap_ok(is_about(cost.scanned, 500) && is_about(cost.cleaned, 500), "all that changed is looked at", "");
	tap_ok(cost.least_read == 0 && cost.most_read == 0, "nothing is read that is in memory", "");
	tap_ok(is_about(cost.least_dirtied, 500), "what is clean is dirtied", "");

	h.dirty = 1;
	cost = trial_cost_heap(&h);
	tap_ok(cost.least_dirtied == 0 && cost.most_dirtied == TRIAL_MAP_PAGES, "what is dirty is not dirtied again", "");

	h.resident = 0.25;
	cost = trial_cost_heap(&h);
	tap_ok(is_about(cost.least_read, 375) && is_about(cost.most_read, 375), "the rest is read, and nothing else is new", "");
}

static void
what_was_noted_before(void)
{
	TrialHeap	h = table(2000, 0);
	TrialCost	cost;

	h.dead = 2000;
	h.new_dead = 1000;
	h.resident = 0.5;
	cost = trial_cost_heap(&h);
	tap_ok(cost.cleaned > 900 && cost.cleaned < 1000, "a part of what changed is new", "");
	tap_ok(cost.least_read < 100, "at best that is what is in memory", "");
	tap_ok(is_about(cost.most_read, cost.scanned / 2), "at worst it is there like the rest", "");

	h.new_dead = 0;
	h.inserted = 100000;
	h.new_inserted = 50000;
	h.dead = 0;
	cost = trial_cost_heap(&h);
	tap_ok(is_about(cost.cleaned, 1000), "new rows fill pages one after another", "");
}

static void
what_lies_between(void)
{
	TrialHeap	h = table(1000, 7000);
	TrialCost	cost = trial_cost_heap(&h);

	tap_ok(cost.scanned > 7000 && cost.scanned <= 10000, "garbage strewn everywhere has most of the table read", "");
	h.between = 0;
	cost = trial_cost_heap(&h);
	tap_ok(is_about(cost.scanned, 1000), "garbage in one place does not", "");
	h = table(10000, 0);
	cost = trial_cost_heap(&h);
	tap_ok(is_about(cost.scanned, 10000), "a table without an all-visible page is read whole", "");
	h = table(0, 0);
	h.pages = 0;
	cost = trial_cost_heap(&h);
	tap_ok(cost.scanned == 0 && cost.least_read == 0 && cost.most_dirtied == TRIAL_MAP_PAGES, "an empty table costs no more than its maps", "");
}

static void
indexes(void)
{
	TrialHeap	h = table(500, 0);
	TrialIndex	index = {1000, 0.5, 0};
	TrialCost	cost = {0};

	tap_ok(trial_cleans_indexes(&h), "indexes are cleaned where enough pages have dead rows", "");
	trial_cost_add_index(&cost, &h, &index);
	tap_ok(is_about(cost.least_read, 500), "what is not in memory is read", "");
	tap_ok(cost.least_dirtied > 310 && cost.least_dirtied < 650, "entries share pages", "");

	cost = (TrialCost)
	{
		.cleaned = 500
	};
	trial_cost_add_second_pass(&cost, &h);
	tap_ok(cost.most_read == 0, "the second pass finds in memory what was there before the first", "");
	h.resident = 0;
	trial_cost_add_second_pass(&cost, &h);
	tap_ok(is_about(cost.least_read, 500) && is_about(cost.most_dirtied, 500), "and reads the rest again", "");
	cost = (TrialCost)
	{
		.cleaned = TRIAL_RING_PAGES
	};
	trial_cost_add_second_pass(&cost, &h);
	tap_ok(cost.most_read == 0, "but not a table that is very small", "");
	h.resident = 1;

	h.update_share = 1;
	cost = (TrialCost)
	{
		0
	};
	trial_cost_add_index(&cost, &h, &index);
	tap_ok(cost.least_dirtied == 0 && cost.most_dirtied > 300, "updates have dirtied the pages of their entries", "");
	index.dirty = 0.7;
	cost = (TrialCost)
	{
		0
	};
	trial_cost_add_index(&cost, &h, &index);
	tap_ok(cost.most_dirtied == 0, "which may be so still", "");
	h.update_share = 0;

	h.not_visible = 50;
	cost = (TrialCost)
	{
		0
	};
	trial_cost_add_index(&cost, &h, &index);
	tap_ok(cost.most_dirtied < 30, "what lies together in the table does in the index, too", "");

	h = table(500, 0);
	h.new_dead = 100;
	tap_ok(!trial_cleans_indexes(&h), "not for rows on less than 2 % of the pages", "");
	h.new_dead = 1000;
	h.cold_share = 0;
	tap_ok(!trial_cleans_indexes(&h), "not for HOT updates, which leave no entries", "");
}

int
main(void)
{
	what_is_in_memory();
	what_was_noted_before();
	what_lies_between();
	indexes();
	return tap_done();
}
