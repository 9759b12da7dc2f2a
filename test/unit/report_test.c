/*
 * report_test.c
 *		policy/report against what servers wrote: texts of 15.20, 17.11, 18.6 and
 *		19rc1 as they stood in the log (without the tabs that logging adds) or
 *		came from VACUUM (VERBOSE).  Where no server wrote it here, it is put
 *		together from the formats in heap_vacuum_rel(), vacuumlazy.c.
 */
#include "report.h"
#include "tap.h"

/* 15.20, VACUUM (VERBOSE) of a table and index with a quote and a newline */
static const char body_15[] =
"index scans: 1\n"
"pages: 0 removed, 87 remain, 87 scanned (100.00% of total)\n"
"tuples: 1666 removed, 3334 remain, 0 are dead but not yet removable\n"
"removable cutoff: 728, which was 0 XIDs old when operation ended\n"
"new relfrozenxid: 728, which is 3 XIDs ahead of previous value\n"
"index scan needed: 87 pages from table (100.00% of total) had 1666 dead item identifiers removed\n"
"index \"t\"q\nn_pkey\": pages: 16 in total, 0 newly deleted, 0 currently deleted, 0 reusable\n"
"I/O timings: read: 0.016 ms, write: 0.000 ms\n"
"avg read rate: 11.634 MB/s, avg write rate: 17.452 MB/s\n"
"buffer usage: 329 hits, 2 misses, 3 dirtied\n"
"WAL usage: 364 records, 1 full page images, 77808 bytes\n"
"system usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.00 s";

/* 15.20, held back by a snapshot */
static const char held_back_15[] =
"index scans: 0\n"
"pages: 0 removed, 2 remain, 2 scanned (100.00% of total)\n"
"tuples: 0 removed, 300 remain, 150 are dead but not yet removable\n"
"removable cutoff: 729, which was 3 XIDs old when operation ended\n"
"index scan not needed: 0 pages from table (0.00% of total) had 0 dead item identifiers removed\n"
"I/O timings: read: 0.024 ms, write: 0.000 ms\n"
"avg read rate: 22.132 MB/s, avg write rate: 33.198 MB/s\n"
"buffer usage: 19 hits, 2 misses, 3 dirtied\n"
"WAL usage: 2 records, 0 full page images, 1128 bytes\n"
"system usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.00 s";

/* 15.20, autovacuum, a page pinned by a cursor */
static const char missed_15[] =
"automatic vacuum of table \"postgres.public.pinned\": index scans: 0\n"
"pages: 0 removed, 2 remain, 2 scanned (100.00% of total)\n"
"tuples: 37 removed, 263 remain, 0 are dead but not yet removable\n"
"tuples missed: 113 dead from 1 pages not removed due to cleanup lock contention\n"
"removable cutoff: 730, which was 1 XIDs old when operation ended\n"
"index scan not needed: 1 pages from table (50.00% of total) had 37 dead item identifiers removed\n"
"I/O timings: read: 0.017 ms, write: 0.000 ms\n"
"avg read rate: 54.633 MB/s, avg write rate: 109.266 MB/s\n"
"buffer usage: 17 hits, 2 misses, 4 dirtied\n"
"WAL usage: 5 records, 1 full page images, 9190 bytes\n"
"system usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.00 s";

/* 17.11, autovacuum: "frozen:" is new in 16 */
static const char missed_17[] =
"automatic vacuum of table \"postgres.public.pinned\": index scans: 0\n"
"pages: 0 removed, 2 remain, 2 scanned (100.00% of total)\n"
"tuples: 0 removed, 300 remain, 0 are dead but not yet removable\n"
"tuples missed: 150 dead from 2 pages not removed due to cleanup lock contention\n"
"removable cutoff: 744, which was 1 XIDs old when operation ended\n"
"frozen: 0 pages from table (0.00% of total) had 0 tuples frozen\n"
"index scan not needed: 0 pages from table (0.00% of total) had 0 dead item identifiers removed\n"
"I/O timings: read: 0.000 ms, write: 0.014 ms\n"
"avg read rate: 0.000 MB/s, avg write rate: 117.776 MB/s\n"
"buffer usage: 19 hits, 0 misses, 3 dirtied\n"
"WAL usage: 1 records, 0 full page images, 188 bytes\n"
"system usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.00 s";

/* 17.11, autovacuum, aggressive */
static const char aggressive_17[] =
"automatic aggressive vacuum of table \"template1.pg_catalog.pg_statistic\": index scans: 1\n"
"pages: 0 removed, 26 remain, 26 scanned (100.00% of total)\n"
"tuples: 126 removed, 410 remain, 0 are dead but not yet removable\n"
"removable cutoff: 757, which was 0 XIDs old when operation ended\n"
"new relfrozenxid: 757, which is 27 XIDs ahead of previous value\n"
"frozen: 15 pages from table (57.69% of total) had 164 tuples frozen\n"
"index scan needed: 15 pages from table (57.69% of total) had 146 dead item identifiers removed\n"
"index \"pg_statistic_relid_att_inh_index\": pages: 5 in total, 0 newly deleted, 0 currently deleted, 0 reusable\n";

/* 18.6: eagerly scanned pages, visibility map, buffers full */
static const char body_18[] =
"index scans: 1\n"
"pages: 0 removed, 87 remain, 87 scanned (100.00% of total), 0 eagerly scanned\n"
"tuples: 1666 removed, 3334 remain, 0 are dead but not yet removable\n"
"removable cutoff: 756, which was 0 XIDs old when operation ended\n"
"new relfrozenxid: 756, which is 3 XIDs ahead of previous value\n"
"frozen: 87 pages from table (100.00% of total) had 3334 tuples frozen\n"
"visibility map: 87 pages set all-visible, 87 pages set all-frozen (0 were all-visible)\n"
"index scan needed: 87 pages from table (100.00% of total) had 1666 dead item identifiers removed\n"
"index \"t\"q\nn_pkey\": pages: 16 in total, 0 newly deleted, 0 currently deleted, 0 reusable\n"
"I/O timings: read: 0.000 ms, write: 5.577 ms\n"
"avg read rate: 0.000 MB/s, avg write rate: 3.536 MB/s\n"
"buffer usage: 337 hits, 0 reads, 3 dirtied\n"
"WAL usage: 279 records, 3 full page images, 58132 bytes, 0 buffers full\n"
"system usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.00 s";

/* 19rc1: full page image bytes, memory usage */
static const char missed_19[] =
"automatic vacuum of table \"postgres.public.pinned\": index scans: 0\n"
"pages: 0 removed, 2 remain, 2 scanned (100.00% of total), 0 eagerly scanned\n"
"tuples: 0 removed, 300 remain, 0 are dead but not yet removable\n"
"tuples missed: 150 dead from 2 pages not removed due to cleanup lock contention\n"
"removable cutoff: 668, which was 1 XIDs old when operation ended\n"
"frozen: 0 pages from table (0.00% of total) had 0 tuples frozen\n"
"visibility map: 0 pages set all-visible, 0 pages set all-frozen (0 were all-visible)\n"
"index scan not needed: 0 pages from table (0.00% of total) had 0 dead item identifiers removed\n"
"I/O timings: read: 0.000 ms, write: 0.000 ms\n"
"avg read rate: 0.000 MB/s, avg write rate: 140.344 MB/s\n"
"buffer usage: 20 hits, 0 reads, 3 dirtied\n"
"WAL usage: 4 records, 3 full page images, 24981 bytes, 24576 full page image bytes, 0 buffers full\n"
"memory usage: dead item storage 0.02 MB accumulated across 0 resets (limit 64.00 MB each)\n"
"system usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.00 s";

/* By the formats: wraparound, failsafe, several index passes, numbers beyond 32 bits */
static const char wraparound[] =
"automatic aggressive vacuum to prevent wraparound of table \"db.s.t\": index scans: 12\n"
"pages: 0 removed, 4000000000 remain, 4000000000 scanned (100.00% of total)\n"
"tuples: 5000000000 removed, 9000000000 remain, 3000000000 are dead but not yet removable\n"
"tuples missed: 4000000000 dead from 7 pages not removed due to cleanup lock contention\n"
"removable cutoff: 728, which was 0 XIDs old when operation ended\n"
"index scan bypassed by failsafe: 87 pages from table (100.00% of total) have 1666 dead item identifiers\n";

static const struct
{
	const char *name;
	const char *text;
	VacuumReport expected;
}			reports[] = {
	{"15, table and index with a newline", body_15, {1, 1666, 0}},
	{"15, held back", held_back_15, {0, 0, 150}},
	{"15, missed rows", missed_15, {0, 37, 113}},
	{"17, missed rows", missed_17, {0, 0, 150}},
	{"17, aggressive", aggressive_17, {1, 126, 0}},
	{"18, new lines", body_18, {1, 1666, 0}},
	{"19, missed rows, new lines", missed_19, {0, 0, 150}},
	{"wraparound, failsafe, beyond 32 bits", wraparound, {12, INT64_C(5000000000), INT64_C(7000000000)}},
	{"dead and missed add up", "index scans: 0\npages: 0\ntuples: 1 removed, 2 remain, 30 are dead but not yet removable\n"
	"tuples missed: 4 dead from 1 pages not removed due to cleanup lock contention\n", {0, 1, 34}},
	{"an index named like a line of the report", "index scans: 1\npages: 0\ntuples: 1 removed, 2 remain, 3 are dead but not yet removable\n"
	"removable cutoff: 1\nindex \"i\ntuples missed: 77 dead\": pages: 16 in total, 0 newly deleted\n", {1, 1, 3}},
	{"nothing behind the tuples", "index scans: 3\npages: 0\ntuples: 1 removed, 2 remain, 30 are", {3, 1, 30}},
};

static const struct
{
	const char *name;
	const char *text;
}			no_reports[] = {
	{"empty", ""},
	{"an analyze report (15)", "automatic analyze of table \"postgres.public.pinned\"\n"
		"I/O timings: read: 0.000 ms, write: 0.000 ms\n"
		"avg read rate: 0.000 MB/s, avg write rate: 0.000 MB/s\n"
	"buffer usage: 17 hits, 0 misses, 0 dirtied\n"},
	{"another message of VACUUM", "table \"pinned\": truncated 10 to 5 pages"},
	{"no index scans", "pages: 0 removed\ntuples: 1 removed, 2 remain, 3 are dead but not yet removable\n"},
	{"index scans without a number", "index scans: \npages: 0\ntuples: 1 removed, 2 remain, 3 are dead\n"},
	{"no tuples", "index scans: 1\npages: 0 removed, 1 remain, 1 scanned\nremovable cutoff: 1\n"},
	{"tuples not at the start of a line", "index scans: 1\npages: 0 tuples: 1 removed, 2 remain, 3 are dead\n"},
	{"tuples without a number", "index scans: 1\npages: 0\ntuples: none removed, 2 remain, 3 are dead\n"},
	{"cut in the first line", "index sca"},
	{"cut behind index scans", "index scans: 1\n"},
	{"cut in the tuples", "index scans: 1\npages: 0 removed\ntuples: 16"},
	{"cut before remain", "index scans: 1\npages: 0 removed\ntuples: 16 removed, 33"},
	{"cut behind remain", "index scans: 1\npages: 0 removed\ntuples: 16 removed, 33 remain, "},
	{"German", "Index-Scans: 1\nSeiten: 0 entfernt\nTupel: 16 entfernt, 33 verbleiben, 0 sind tot\n"},
};

#define FINISHED	"finished vacuuming \""

static const struct
{
	const char *name;
	const char *message;
	const char *table;
	const char *body;			/* NULL: not a report on that table */
}			bodies[] = {
	{"VACUUM (VERBOSE)", "finished vacuuming \"db.s.t\": index scans: 1\npages: 0", "db.s.t", "index scans: 1\npages: 0"},
	{"dots, a quote, a newline in the name", "finished vacuuming \"postgres.we.ird.t\"q\nn\": index scans: 0\n",
	"postgres.we.ird.t\"q\nn", "index scans: 0\n"},
	{"percent signs in the name", "finished vacuuming \"db.s.%s%n\": index scans: 0\n", "db.s.%s%n", "index scans: 0\n"},
	{"a name that holds a report", "finished vacuuming \"db.s.t\": index scans: 9\": index scans: 0\n",
	"db.s.t\": index scans: 9", "index scans: 0\n"},
	{"an empty name", "finished vacuuming \"\": index scans: 0", "", "index scans: 0"},

	{"the start of a vacuum", "vacuuming \"db.s.t\"", "db.s.t", NULL},
	{"another table, longer name", "finished vacuuming \"db.s.t2\": index scans: 1\n", "db.s.t", NULL},
	{"another table, shorter name", "finished vacuuming \"db.s.t\": index scans: 1\n", "db.s.t2", NULL},
	{"another schema", "finished vacuuming \"db.x.t\": index scans: 1\n", "db.s.t", NULL},
	{"another case", "finished vacuuming \"db.s.T\": index scans: 1\n", "db.s.t", NULL},
	{"not at the start", "x finished vacuuming \"db.s.t\": index scans: 1\n", "db.s.t", NULL},
	{"the name is all there is", "finished vacuuming \"db.s.t", "db.s.t", NULL},
	{"cut in the name", "finished vacuuming \"db.s", "db.s.t", NULL},
	{"cut behind the name", "finished vacuuming \"db.s.t\": index sc", "db.s.t", NULL},
	{"another message on the table", "finished vacuuming \"db.s.t\": truncated", "db.s.t", NULL},
	{"empty", "", "db.s.t", NULL},
};

static const struct
{
	const char *name;
	const char *context;
	const char *index;			/* NULL: none */
}			contexts[] = {
	{"index vacuuming", "while vacuuming index \"i\" of relation \"s.t\"", "index \"i\""},
	{"index cleanup, below another line", "SQL\nwhile cleaning up index \"i j\" of relation \"s.t\"", "index \"i j\""},
	{"a quote in the name", "while vacuuming index \"i\"x\" of relation \"s.t\"", "index \"i\"x\""},
	{"heap", "while scanning block 1 of relation \"s.t\"", NULL},
	{"a table called index", "while scanning relation \"s. index \"", NULL},
	{"longer than there is room", "while vacuuming index \"0123456789\" of relation \"s.t\"", NULL},
	{"empty", "", NULL},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(contexts); i++)
	{
		char		index[16];
		bool		found = report_index(contexts[i].context, index, sizeof(index));

		tap_is_string(found ? index : NULL, contexts[i].index, contexts[i].name, "index");
	}
	for (size_t i = 0; i < lengthof(reports); i++)
	{
		VacuumReport r = {-9, -9, -9};
		const char *name = reports[i].name;

		tap_is_bool(report_parse(reports[i].text, &r), true, name, "is a report");
		tap_is_int(r.index_scans, reports[i].expected.index_scans, name, "index scans");
		tap_is_int(r.tuples_removed, reports[i].expected.tuples_removed, name, "tuples removed");
		tap_is_int(r.dead_not_removable, reports[i].expected.dead_not_removable, name, "dead, not removable");
	}
	for (size_t i = 0; i < lengthof(no_reports); i++)
	{
		VacuumReport r;

		tap_is_bool(report_parse(no_reports[i].text, &r), false, no_reports[i].name, "is no report");
	}
	for (size_t i = 0; i < lengthof(bodies); i++)
		tap_is_string(report_body(bodies[i].message, FINISHED, bodies[i].table),
					  bodies[i].body, bodies[i].name, "body");
	return tap_done();
}
