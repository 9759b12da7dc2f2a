/*
 * threshold_test.c
 *		policy/threshold against the formulas of relation_needs_vacanalyze() in
 *		PostgreSQL's autovacuum.c.
 */
#include "tap.h"
#include "threshold.h"

/*
 * Core's own lines, from PostgreSQL 18 (REL_18_STABLE).  15 to 17 are the
 * same without vac_max_thresh (here -1) and relallfrozen (here 0).
 *
 * Core rounds each step to float4, while threshold.c computes in double.  So
 * they may differ by the last of float4's seven digits.
 */
typedef float float4;

#define Min(x, y) ((x) < (y) ? (x) : (y))

typedef struct CoreResult
{
	float4		vacthresh;
	float4		vacinsthresh;
	bool		by_dead;
	bool		by_inserts;
} CoreResult;

static CoreResult
core_needs_vacuum(int vac_base_thresh, float4 vac_scale_factor, int vac_max_thresh,
				  int vac_ins_base_thresh, float4 vac_ins_scale_factor,
				  float4 reltuples, int32_t relpages, int32_t relallfrozen,
				  float4 vactuples, float4 instuples)
{
	CoreResult	r;
	float4		pcnt_unfrozen = 1;
	float4		vacthresh;
	float4		vacinsthresh;

	/* If the table hasn't yet been vacuumed, take reltuples as zero */
	if (reltuples < 0)
		reltuples = 0;

	if (relpages > 0 && relallfrozen > 0)
	{
		relallfrozen = Min(relallfrozen, relpages);
		pcnt_unfrozen = 1 - ((float4) relallfrozen / relpages);
	}

	vacthresh = (float4) vac_base_thresh + vac_scale_factor * reltuples;
	if (vac_max_thresh >= 0 && vacthresh > (float4) vac_max_thresh)
		vacthresh = (float4) vac_max_thresh;

	vacinsthresh = (float4) vac_ins_base_thresh +
		vac_ins_scale_factor * reltuples * pcnt_unfrozen;

	r.vacthresh = vacthresh;
	r.vacinsthresh = vacinsthresh;
	r.by_dead = vactuples > vacthresh;
	r.by_inserts = vac_ins_base_thresh >= 0 && instuples > vacinsthresh;
	return r;
}

/* The defaults of 15 to 17, and of 18 on (autovacuum_vacuum_max_threshold). */
#define DEFAULTS_15		{50, 0.2, -1, 1000, 0.2}
#define DEFAULTS_18		{50, 0.2, 100000000, 1000, 0.2}

static const struct
{
	const char *name;
	ThresholdSettings settings;
	double		reltuples;
	int64_t		pages;
	int64_t		frozen_pages;
	double		vacuum;
	double		insert;
}			thresholds[] = {

	/* vacthresh = base + scale * reltuples, and so is vacinsthresh */
	{"empty table", DEFAULTS_15, 0, 0, 0, 50, 1000},
	{"never vacuumed (reltuples -1) counts as empty", DEFAULTS_15, -1, 0, 0, 50, 1000},
	{"reltuples not a number counts as empty", DEFAULTS_15, NAN, 10, 0, 50, 1000},
	{"10,000 rows", DEFAULTS_15, 10000, 100, 0, 2050, 3000},
	{"a fraction of a row is kept", DEFAULTS_15, 1, 1, 0, 50.2, 1000.2},
	{"15 to 17: a billion rows, no maximum", DEFAULTS_15, 1e9, 1000, 0, 200000050, 200001000},

	/* reloptions */
	{"scale factor 0", {100, 0, -1, 200, 0}, 1e6, 1000, 0, 100, 200},
	{"thresholds 0", {0, 0.1, -1, 0, 0.3}, 1000, 10, 0, 100, 300},
	{"all 0: any dead row", {0, 0, -1, 0, 0}, 1e6, 1000, 0, 0, 0},
	{"the largest scale factor (100)", {50, 100, -1, 1000, 100}, 10, 1, 0, 1050, 2000},

	/* "if (vac_max_thresh >= 0 && vacthresh > (float4) vac_max_thresh)" */
	{"18: the maximum binds", DEFAULTS_18, 1e9, 1000, 0, 1e8, 200001000},
	{"18: below the maximum", DEFAULTS_18, 10000, 100, 0, 2050, 3000},
	{"maximum below the base", {500, 0.2, 100, 1000, 0.2}, 0, 0, 0, 100, 1000},
	{"maximum equal to the threshold", {50, 0.2, 2050, 1000, 0.2}, 10000, 100, 0, 2050, 3000},
	{"maximum 0", {50, 0.2, 0, 1000, 0.2}, 10000, 100, 0, 0, 3000},
	{"maximum -1 is none", {50, 0.2, -1, 1000, 0.2}, 1e10, 100, 0, 2000000050, 2000001000},
	{"the maximum is not for inserts", {50, 0.2, 10, 1000, 0.2}, 10000, 100, 0, 10, 3000},

	/* -1 is used to disable insert vacuums */
	{"insert threshold -1", {50, 0.2, -1, -1, 0.2}, 10000, 100, 0, 2050, -1},
	{"insert threshold -1, frozen pages known", {50, 0.2, -1, -1, 0.2}, 10000, 100, 50, 2050, -1},

	/* pcnt_unfrozen = 1 - relallfrozen / relpages, 18 on */
	{"90 % frozen", DEFAULTS_18, 10000, 1000, 900, 2050, 1200},
	{"half frozen", DEFAULTS_18, 10000, 1000, 500, 2050, 2000},
	{"all frozen", DEFAULTS_18, 10000, 1000, 1000, 2050, 1000},
	{"more frozen pages than pages: clamped", DEFAULTS_18, 10000, 1000, 5000, 2050, 1000},
	{"frozen pages unknown (0)", DEFAULTS_18, 10000, 1000, 0, 2050, 3000},
	{"frozen pages without pages", DEFAULTS_18, 10000, 0, 10, 2050, 3000},
	{"frozen pages negative", DEFAULTS_18, 10000, 1000, -1, 2050, 3000},
	{"one page, frozen", DEFAULTS_18, 10000, 1, 1, 2050, 1000},
	{"more than 2^31 pages do not overflow", DEFAULTS_18, 10000, INT64_C(4294967294), INT64_C(2147483647), 2050, 2000},
};

/* "vactuples > vacthresh", "vac_ins_base_thresh >= 0 && instuples > vacinsthresh" */
static const struct
{
	const char *name;
	Thresholds	t;
	int64_t		dead;
	int64_t		ins;
	bool		by_dead;
	bool		by_inserts;
}			decisions[] = {
	{"nothing happened", {50, 1000}, 0, 0, false, false},
	{"equal is not enough", {50, 1000}, 50, 1000, false, false},
	{"one more is", {50, 1000}, 51, 1001, true, true},
	{"dead only", {50, 1000}, 51, 1000, true, false},
	{"inserts only", {50, 1000}, 50, 1001, false, true},
	{"between two rows, below", {50.2, 1000.2}, 50, 1000, false, false},
	{"between two rows, above", {50.2, 1000.2}, 51, 1001, true, true},
	{"threshold 0, nothing", {0, 0}, 0, 0, false, false},
	{"threshold 0, one row", {0, 0}, 1, 1, true, true},
	{"insert vacuums disabled", {50, -1}, 0, INT64_MAX, false, false},
	{"insert vacuums disabled, no inserts", {50, -1}, 51, 0, true, false},
	{"more than 2^31 rows", {1e8, 1e8}, INT64_C(3000000000), INT64_C(3000000000), true, true},
	{"a counter below 0 is nothing", {0, 0}, -1, -1, false, false},
};

/*
 * "anlthresh = (float4) anl_base_thresh + anl_scale_factor * reltuples",
 * "anltuples > anlthresh".  TOAST tables and pg_statistic have a negative
 * one.
 */
static const struct
{
	const char *name;
	double		base;
	double		scale;
	double		reltuples;
	double		analyze;
}			analyzes[] = {
	{"defaults, empty", 50, 0.1, 0, 50},
	{"defaults, never analyzed", 50, 0.1, -1, 50},
	{"defaults, 10,000 rows", 50, 0.1, 10000, 1050},
	{"threshold 0", 0, 0, 10000, 0},
	{"never", -1, 0.1, 10000, -1},
};

/* Equal but for float4's rounding of terms that are at most that large. */
static bool
near(double x, double y, double largest)
{
	return fabs(x - y) <= 1e-6 * largest;
}

/*
 * Like core, over many tables.  Decisions may differ only within the
 * rounding.
 */
static void
compare_with_core(void)
{
	uint64_t	state = 1;
	int			thresholds_differ = 0;
	int			decisions_differ = 0;
	int			due = 0;

	for (int i = 0; i < 200000; i++)
	{
		int			base = (int) (tap_random(&state) % 10000);
		int			max = (int) (tap_random(&state) % 3) == 0 ? (int) (tap_random(&state) % 100000) : -1;
		int			ins_base = (int) (tap_random(&state) % 4) == 0 ? -1 : (int) (tap_random(&state) % 10000);
		float4		scale = (float4) (tap_random(&state) % 1000) / 1000;
		float4		ins_scale = (float4) (tap_random(&state) % 1000) / 1000;
		float4		reltuples = (float4) ((int) (tap_random(&state) % 10000000) - 1);
		int32_t		pages = (int32_t) (tap_random(&state) % 100000);
		int32_t		frozen = (int32_t) (tap_random(&state) % 120000);
		int64_t		dead = tap_random(&state) % 3000000;
		int64_t		ins = tap_random(&state) % 3000000;
		ThresholdSettings settings = {base, scale, max, ins_base, ins_scale};
		Thresholds	t = threshold_compute(&settings, reltuples, pages, frozen);
		CoreResult	core = core_needs_vacuum(base, scale, max, ins_base, ins_scale,
											 reltuples, pages, frozen,
											 (float4) dead, (float4) ins);

		double		largest = 10000 + fmax(scale, ins_scale) * fmax(reltuples, 0);

		thresholds_differ += !near(t.vacuum, core.vacthresh, largest);
		if (ins_base >= 0)
			thresholds_differ += !near(t.insert, core.vacinsthresh, largest);
		decisions_differ += threshold_vacuum_due(&t, dead) != core.by_dead &&
			!near((double) dead, core.vacthresh, largest);
		decisions_differ += threshold_insert_due(&t, ins) != core.by_inserts &&
			!near((double) ins, core.vacinsthresh, largest);
		due += core.by_dead + core.by_inserts;
	}
	tap_is_int(thresholds_differ, 0, "200,000 tables", "thresholds as core's");
	tap_is_int(decisions_differ, 0, "200,000 tables", "decisions as core's");
	tap_ok(due > 40000 && due < 360000, "200,000 tables", "a mix of due and not due");
}

/* 500 + 5 % beside core's 50 + 20 %: they meet at 3,000 rows. */
static void
test_core_counts(void)
{
	static const struct
	{
		double		rows;
		double		vacuum;
		double		insert;
	}			rows[] = {{0, 50, 1000}, {1000, 250, 1200}, {3000, 650, 1600}, {10000, 1000, 3000}};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		ThresholdSettings settings = {500, 0.05, -1, 2000, 0.1, -1, 0, true, 50, 0.2, 1000, 0.2};
		Thresholds	t = threshold_compute(&settings, rows[i].rows, 0, 0);

		tap_is_double(t.vacuum, rows[i].vacuum, "the lesser of ours and core's", "vacuum");
		tap_is_double(t.insert, rows[i].insert, "the lesser of ours and core's", "insert");
		settings.insert_base = -1;
		tap_ok(threshold_compute(&settings, rows[i].rows, 0, 0).insert < 0,
			   "the lesser of ours and core's", "no insert vacuums are none");
	}
}

int
main(void)
{
	for (size_t i = 0; i < lengthof(thresholds); i++)
	{
		Thresholds	t = threshold_compute(&thresholds[i].settings, thresholds[i].reltuples,
										  thresholds[i].pages, thresholds[i].frozen_pages);

		tap_is_double(t.vacuum, thresholds[i].vacuum, thresholds[i].name, "vacuum");
		if (thresholds[i].insert < 0)
			tap_ok(t.insert < 0, thresholds[i].name, "insert is disabled");
		else
			tap_is_double(t.insert, thresholds[i].insert, thresholds[i].name, "insert");
	}
	for (size_t i = 0; i < lengthof(decisions); i++)
	{
		tap_is_bool(threshold_vacuum_due(&decisions[i].t, decisions[i].dead),
					decisions[i].by_dead, decisions[i].name, "by dead rows");
		tap_is_bool(threshold_insert_due(&decisions[i].t, decisions[i].ins),
					decisions[i].by_inserts, decisions[i].name, "by inserts");
	}
	for (size_t i = 0; i < lengthof(analyzes); i++)
	{
		ThresholdSettings settings = {.analyze_base = analyzes[i].base,.analyze_scale = analyzes[i].scale};
		Thresholds	t = threshold_compute(&settings, analyzes[i].reltuples, 0, 0);

		tap_is_double(t.analyze, analyzes[i].analyze, analyzes[i].name, "analyze");
	}
	test_core_counts();
	compare_with_core();
	return tap_done();
}
