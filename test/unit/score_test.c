/*
 * score_test.c
 *		policy/score against the scores of PostgreSQL 19, autovacuum.c: with all
 *		autovacuum_*_score_weight at 1,
 *		scores->vac = (double) vactuples / Max(vacthresh, 1),
 *		scores->vac_ins = (double) instuples / Max(vacinsthresh, 1) unless
 *		insert vacuums are disabled, and scores->max the largest of them.
 */
#include "score.h"
#include "tap.h"

static const struct
{
	const char *name;
	Thresholds	t;
	int64_t		dead;
	int64_t		ins;
	double		vacuum_score;
	double		vacuum_insert_score;
	double		score;
}			cases[] = {
	{"nothing happened", {50, 1000}, 0, 0, 0, 0, 0},
	{"one of each", {50, 1000}, 1, 1, 0.02, 0.001, 0.02},
	{"at the threshold", {50, 1000}, 50, 1000, 1, 1, 1},
	{"dead rows are more urgent", {50, 1000}, 150, 500, 3, 0.5, 3},
	{"inserts are more urgent", {50, 1000}, 25, 2500, 0.5, 2.5, 2.5},
	{"dead rows only", {50, 1000}, 100, 0, 2, 0, 2},
	{"inserts only", {50, 1000}, 0, 100, 0, 0.1, 0.1},
	{"threshold between two rows", {50.2, 1000.2}, 51, 0, 51 / 50.2, 0, 51 / 50.2},

	/* Max(vacthresh, 1) */
	{"thresholds 0 count as 1", {0, 0}, 7, 9, 7, 9, 9},
	{"thresholds below 1 count as 1", {0.25, 0.5}, 7, 9, 7, 9, 9},
	{"thresholds 1", {1, 1}, 7, 9, 7, 9, 9},
	{"thresholds just above 1", {1.25, 1.5}, 5, 6, 4, 4, 4},

	{"insert vacuums disabled", {50, -1}, 25, INT64_C(1000000000000), 0.5, 0, 0.5},
	{"insert vacuums disabled, nothing dead", {50, -1}, 0, 10, 0, 0, 0},
	{"counters below 0 are nothing", {50, 1000}, -5, -5, 0, 0, 0},
	{"more than 2^31 rows", {1e8, 1000}, INT64_C(5000000000), 0, 50, 0, 50},
};

/* Due is what has a score above 1, as long as a threshold is at least 1. */
static void
compare_with_due(void)
{
	uint64_t	state = 2;
	int			differ = 0;
	int			due = 0;

	for (int i = 0; i < 100000; i++)
	{
		Thresholds	t = {
			1 + tap_random(&state) % 500 + (tap_random(&state) % 10) / 10.0,
			tap_random(&state) % 4 == 0 ? -1.0 : 1.0 + tap_random(&state) % 500
		};
		int64_t		dead = tap_random(&state) % 1000;
		int64_t		ins = tap_random(&state) % 1000;
		Score		s = score_compute(&t, dead, ins);

		differ += (s.vacuum_score > 1) != threshold_vacuum_due(&t, dead);
		differ += (s.vacuum_insert_score > 1) != threshold_insert_due(&t, ins);
		differ += s.score != fmax(s.vacuum_score, s.vacuum_insert_score);
		due += s.score > 1;
	}
	tap_is_int(differ, 0, "100,000 tables", "a score above 1 is due");
	tap_ok(due > 10000 && due < 90000, "100,000 tables", "a mix of due and not due");
}

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		Score		s = score_compute(&cases[i].t, cases[i].dead, cases[i].ins);

		tap_is_double(s.vacuum_score, cases[i].vacuum_score, cases[i].name, "vacuum_score");
		tap_is_double(s.vacuum_insert_score, cases[i].vacuum_insert_score, cases[i].name, "vacuum_insert_score");
		tap_is_double(s.score, cases[i].score, cases[i].name, "score");
	}
	compare_with_due();
	return tap_done();
}
