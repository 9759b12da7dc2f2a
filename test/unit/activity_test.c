/*
 * activity_test.c
 *		policy/activity against the texts of autovac_report_activity() in
 *		PostgreSQL's autovacuum.c (the same in 15 to 19):
 *		"autovacuum: VACUUM", " ANALYZE" behind it if both, or
 *		"autovacuum: ANALYZE", then " %s.%s%s" with schema, table and
 *		" (to prevent wraparound)".  Names are not quoted.
 */
#include <stdlib.h>

#include "activity.h"
#include "tap.h"

#define NAME_SIZE	64			/* NAMEDATALEN */

#define TEN			"0123456789"
#define NAME_63		TEN TEN TEN TEN TEN TEN "123"
#define NAME_64		TEN TEN TEN TEN TEN TEN "1234"

typedef enum Flags
{
	NOTHING = 0,
	VACUUM = 1,
	ANALYZE = 2,
	WRAPAROUND = 4
} Flags;

static const struct
{
	const char *name;
	const char *text;
	int			flags;			/* NOTHING: not the text of a table */
	const char *schemaname;		/* NULL: not told apart */
	const char *relname;
}			cases[] = {
	{"vacuum", "autovacuum: VACUUM public.t", VACUUM, "public", "t"},
	{"vacuum and analyze", "autovacuum: VACUUM ANALYZE public.t", VACUUM | ANALYZE, "public", "t"},
	{"analyze", "autovacuum: ANALYZE public.t", ANALYZE, "public", "t"},
	{"wraparound", "autovacuum: VACUUM public.t (to prevent wraparound)", VACUUM | WRAPAROUND, "public", "t"},
	{"wraparound and analyze", "autovacuum: VACUUM ANALYZE public.t (to prevent wraparound)",
	VACUUM | ANALYZE | WRAPAROUND, "public", "t"},
	{"TOAST table", "autovacuum: VACUUM pg_toast.pg_toast_16385", VACUUM, "pg_toast", "pg_toast_16385"},

	/* a dot may be in either name, and then nobody can tell */
	{"dot in the table's name", "autovacuum: VACUUM public.a.b", VACUUM, NULL, NULL},
	{"dot in the schema's name", "autovacuum: VACUUM we.ird.t", VACUUM, NULL, NULL},
	{"dots only", "autovacuum: VACUUM ...", VACUUM, NULL, NULL},
	{"dots and wraparound", "autovacuum: VACUUM a.b.c (to prevent wraparound)", VACUUM | WRAPAROUND, NULL, NULL},

	/* hostile names */
	{"quotes", "autovacuum: VACUUM s\"x.t\"\"y", VACUUM, "s\"x", "t\"\"y"},
	{"newline", "autovacuum: VACUUM public.a\nb", VACUUM, "public", "a\nb"},
	{"blanks", "autovacuum: ANALYZE my schema.my table ", ANALYZE, "my schema", "my table "},
	{"bytes above 127", "autovacuum: VACUUM sch\xc3\xa9ma.t\xe8", VACUUM, "sch\xc3\xa9ma", "t\xe8"},
	{"a table named like the note", "autovacuum: VACUUM s.(to prevent wraparound)", VACUUM, "s", "(to prevent wraparound)"},
	{"the note is not at the end", "autovacuum: VACUUM s.t (to prevent wraparound) ", VACUUM, "s", "t (to prevent wraparound) "},
	{"a table named like the prefix", "autovacuum: VACUUM s.autovacuum: ANALYZE x", VACUUM, "s", "autovacuum: ANALYZE x"},
	{"a table named ANALYZE", "autovacuum: VACUUM s.ANALYZE t", VACUUM, "s", "ANALYZE t"},
	{"a schema that begins like ANALYZE", "autovacuum: VACUUM ANALYZER.t", VACUUM, "ANALYZER", "t"},

	/* the longest names, and what no server writes */
	{"63 bytes each", "autovacuum: VACUUM ANALYZE " NAME_63 "." NAME_63 " (to prevent wraparound)",
	VACUUM | ANALYZE | WRAPAROUND, NAME_63, NAME_63},
	{"64 bytes: the table's name does not fit", "autovacuum: VACUUM s." NAME_64, VACUUM, NULL, NULL},
	{"64 bytes: the schema's name does not fit", "autovacuum: VACUUM " NAME_64 ".t", VACUUM, NULL, NULL},
	{"no dot", "autovacuum: VACUUM t", VACUUM, NULL, NULL},
	{"no schema", "autovacuum: VACUUM .t", VACUUM, NULL, NULL},
	{"no table", "autovacuum: VACUUM s.", VACUUM, NULL, NULL},
	{"no name at all", "autovacuum: VACUUM ", VACUUM, NULL, NULL},

	/* other texts */
	{"empty", "", NOTHING, NULL, NULL},
	{"prefix only", "autovacuum: ", NOTHING, NULL, NULL},
	{"cut in the prefix", "autovac", NOTHING, NULL, NULL},
	{"cut in the command", "autovacuum: VACU", NOTHING, NULL, NULL},
	{"cut behind the command", "autovacuum: VACUUM", NOTHING, NULL, NULL},
	{"work item (autovac_report_workitem)", "autovacuum: BRIN summarize public.i 12", NOTHING, NULL, NULL},
	{"a client's VACUUM", "VACUUM public.t", NOTHING, NULL, NULL},
	{"a client that says it is autovacuum", "-- autovacuum: VACUUM public.t", NOTHING, NULL, NULL},
	{"pg_sweep's worker", "sweep: VACUUM public.t", NOTHING, NULL, NULL},
	{"lower case", "autovacuum: vacuum public.t", NOTHING, NULL, NULL},
	{"blank before", " autovacuum: VACUUM public.t", NOTHING, NULL, NULL},
};

static void
check(size_t i)
{
	char		schemaname[NAME_SIZE + 1];
	char		relname[NAME_SIZE + 1];
	char		untouched[NAME_SIZE + 1];
	const char *name = cases[i].name;
	ActivityText result = {true, true, true, true};
	int			flags;
	bool		found;

	memset(untouched, '?', sizeof(untouched));
	memset(schemaname, '?', sizeof(schemaname));
	memset(relname, '?', sizeof(relname));
	found = activity_parse(cases[i].text, 1024, schemaname, relname, NAME_SIZE, &result);
	flags = (result.vacuum ? VACUUM : 0) | (result.analyze ? ANALYZE : 0) |
		(result.wraparound ? WRAPAROUND : 0);

	tap_is_bool(found, cases[i].flags != NOTHING, name, "is one of a table");
	tap_is_int(flags, cases[i].flags, name, "flags");
	tap_is_bool(result.named, cases[i].relname != NULL, name, "has names");
	if (cases[i].relname != NULL)
	{
		tap_is_string(schemaname, cases[i].schemaname, name, "schema");
		tap_is_string(relname, cases[i].relname, name, "table");
	}
	else
		tap_ok(memcmp(schemaname, untouched, sizeof(untouched)) == 0 &&
			   memcmp(relname, untouched, sizeof(untouched)) == 0, name, "names are left alone");
	tap_ok(schemaname[NAME_SIZE] == '?' && relname[NAME_SIZE] == '?', name, "stays in its buffers");
}

/*
 * The text lies in shared memory of exactly track_activity_query_size bytes:
 * nothing behind them is read, whether they end in a zero or not.
 */
static void
check_bounds(void)
{
	static const char whole[] = "autovacuum: VACUUM ANALYZE public.t (to prevent wraparound)";
	char		schemaname[NAME_SIZE];
	char		relname[NAME_SIZE];
	ActivityText result;
	int			misread = 0;

	for (size_t size = 0; size < sizeof(whole); size++)
	{
		/*
		 * alone in its allocation, so that valgrind or a sanitizer would see
		 * it
		 */
		char	   *text = malloc(size > 0 ? size : 1);
		bool		found;

		memcpy(text, whole, size);
		found = activity_parse(text, size, schemaname, relname, NAME_SIZE, &result);
		misread += found != (size >= strlen("autovacuum: VACUUM "));
		misread += result.vacuum != (size >= strlen("autovacuum: VACUUM "));
		misread += result.analyze != (size >= strlen("autovacuum: VACUUM ANALYZE "));
		misread += result.wraparound != (size >= sizeof(whole) - 1);
		free(text);
	}
	tap_is_int(misread, 0, "text cut at every byte", "only what is there is read");

	/*
	 * track_activity_query_size = 100, and what the server kept of a longer
	 * text
	 */
	tap_is_bool(activity_parse("autovacuum: VACUUM " NAME_63 ".0123456789012345", 100, schemaname, relname, NAME_SIZE, &result) &&
				result.vacuum && !result.named, true, "a text that fills its buffer may have been cut", "");
	tap_is_bool(activity_parse("autovacuum: VACUUM " NAME_63 ".012345678901234", 100, schemaname, relname, NAME_SIZE, &result) &&
				result.named, true, "a text that does not fill its buffer is whole", "");

	tap_is_bool(activity_parse("autovacuum: VACUUM s.t\0.x", 1024, schemaname, relname, NAME_SIZE, &result) &&
				result.named && strcmp(relname, "t") == 0, true, "a zero byte ends the text", "");
}

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
		check(i);
	check_bounds();
	return tap_done();
}
