/*
 * policy/activity.c
 *		Reads the activity text of a core autovacuum worker.  Pure.
 *
 * Source: autovac_report_activity() in PostgreSQL's autovacuum.c (15 to 19):
 * "autovacuum: VACUUM ANALYZE schema.table (to prevent wraparound)".
 */
#include "activity.h"

#define PREFIX		"autovacuum: "
#define WRAPAROUND	" (to prevent wraparound)"

/* Does text start with word?  Then step over it. */
static bool
skip(const char **text, const char *end, const char *word)
{
	const char *p = *text;

	while (*word != '\0')
	{
		if (p >= end || *p++ != *word++)
			return false;
	}
	*text = p;
	return true;
}

static void
copy_name(char *to, const char *from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		to[i] = from[i];
	to[length] = '\0';
}

bool
activity_parse(const char *text, size_t text_size,
			   char *schemaname, char *relname, size_t size,
			   ActivityText *result)
{
	const char *end = text;
	const char *start = text;
	const char *whole_end;
	const char *dot = NULL;
	int			dots = 0;
	size_t		suffix = sizeof(WRAPAROUND) - 1;

	result->vacuum = result->analyze = result->wraparound = result->named = false;

	while (end < text + text_size && *end != '\0')
		end++;
	whole_end = end;

	if (!skip(&text, end, PREFIX))
		return false;
	result->vacuum = skip(&text, end, "VACUUM ");
	result->analyze = skip(&text, end, "ANALYZE ");
	if (!result->vacuum && !result->analyze)
		return false;

	if ((size_t) (end - text) > suffix)
	{
		const char *p = end - suffix;

		if (skip(&p, end, WRAPAROUND))
		{
			result->wraparound = true;
			end -= suffix;
		}
	}

	/*
	 * the server cuts what does not fit, and then nobody knows how it went on
	 */
	if (end == whole_end && (size_t) (whole_end - start) + 1 >= text_size)
		return true;

	for (const char *p = text; p < end; p++)
	{
		if (*p == '.')
		{
			dot = p;
			dots++;
		}
	}
	if (dots == 1 && dot > text && dot + 1 < end &&
		(size_t) (dot - text) < size && (size_t) (end - dot - 1) < size)
	{
		copy_name(schemaname, text, (size_t) (dot - text));
		copy_name(relname, dot + 1, (size_t) (end - dot - 1));
		result->named = true;
	}
	return true;
}
