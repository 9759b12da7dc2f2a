/*
 * policy/report.c
 *		Reads the report that VACUUM writes about a table.  Pure.
 *
 * Source: heap_vacuum_rel() in PostgreSQL's vacuumlazy.c (15 to 19).
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* The number behind label, or false if there is none. */
static bool
number_after(const char *text, const char *label, int64_t *number)
{
	const char *p = strstr(text, label);
	char	   *end;

	if (p == NULL)
		return false;
	p += strlen(label);
	*number = strtoll(p, &end, 10);
	return end != p;
}

bool
report_parse(const char *body, VacuumReport *report)
{
	const char *tuples = strstr(body, "\ntuples: ");
	const char *remain;
	const char *line_end;
	int64_t		missed;

	if (!number_after(body, "index scans: ", &report->index_scans) ||
		tuples == NULL ||
		!number_after(tuples, "\ntuples: ", &report->tuples_removed))
		return false;

	remain = strstr(tuples, " remain, ");
	if (remain == NULL || !number_after(remain, " remain, ", &report->dead_not_removable))
		return false;

	/*
	 * only the very next line, because an index may be named like this label
	 */
	line_end = strchr(remain, '\n');
	if (line_end != NULL && strncmp(line_end, "\ntuples missed: ", 16) == 0 &&
		number_after(line_end, "\ntuples missed: ", &missed))
		report->dead_not_removable += missed;
	return true;
}

const char *
report_body(const char *message, const char *start, const char *name)
{
	size_t		start_length = strlen(start);
	size_t		name_length = strlen(name);

	if (strncmp(message, start, start_length) != 0)
		return NULL;
	message += start_length;
	if (strncmp(message, name, name_length) != 0)
		return NULL;
	message += name_length;
	if (strncmp(message, "\": index scans: ", 16) != 0)
		return NULL;
	return message + 3;
}

bool
report_index(const char *context, char *index, size_t size)
{
	const char *begin = strstr(context, " index \"");
	const char *end = begin ? strstr(begin, "\" of relation \"") : NULL;
	size_t		length;

	if (end == NULL)
		return false;
	length = (size_t) (end - begin);	/* without the space, but with the
										 * quote */
	if (length + 1 > size)
		return false;
	memcpy(index, begin + 1, length);
	index[length] = '\0';
	return true;
}
