/*
 * policy/windows.c
 *		Other limits at other hours.  Pure.
 */
#include "windows.h"

#include <stddef.h>
#include <string.h>

#define EN_DASH		"\xe2\x80\x93"

/* What has been read, and what is wrong with what comes next. */
typedef struct Reader
{
	const char *p;
	const char *wrong;
	const char *where;
} Reader;

/* Only the first error counts. */
static bool
fail(Reader *reader, const char *where, const char *what)
{
	if (reader->wrong == NULL)
	{
		reader->wrong = what;
		reader->where = where;
	}
	return false;
}

static int
two_digits(const char *p)
{
	if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9')
		return -1;
	return (p[0] - '0') * 10 + p[1] - '0';
}

/* "8:00", "08:00", "24:00" */
static bool
read_time(Reader *reader, int *minutes)
{
	const char *p = reader->p;
	int			hour;
	int			minute;

	limit_skip_blanks(&p);
	reader->p = p;
	hour = two_digits(p);
	if (hour >= 0)
		p += 2;
	else if (*p >= '0' && *p <= '9')
		hour = *p++ - '0';
	if (hour < 0 || *p != ':')
		return fail(reader, reader->p, "a time such as 08:00 or \"else\" is expected");
	minute = two_digits(++p);
	if (minute < 0 || minute > 59 || hour * 60 + minute > WINDOWS_DAY)
		return fail(reader, reader->p, "this is not a time of day");
	reader->p = p + 2;
	*minutes = hour * 60 + minute;
	return true;
}

static bool
read_hours(Reader *reader, Window *window)
{
	const char *start = reader->p;

	if (!read_time(reader, &window->from))
		return false;
	limit_skip_blanks(&reader->p);
	if (*reader->p == '-')
		reader->p++;
	else if (strncmp(reader->p, EN_DASH, strlen(EN_DASH)) == 0)
		reader->p += strlen(EN_DASH);
	else
		return fail(reader, reader->p, "\"-\" and the end of the window are expected");
	if (!read_time(reader, &window->until))
		return false;
	if (window->from == window->until)
		return fail(reader, start, "this window is empty (all day is 00:00-24:00)");
	if (window->from == WINDOWS_DAY)
		return fail(reader, start, "a window cannot begin at 24:00");
	return true;
}

/* Which limit begins here?  LIMIT_COUNT: none that a window can set. */
static BudgetLimit
read_name(Reader *reader)
{
	if (limit_word(&reader->p, FLOOR_NAME))
		return WINDOW_FLOOR;
	for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
	{
		if (budget_limits[i].in_windows && limit_word(&reader->p, budget_limits[i].name))
			return i;
	}
	return LIMIT_COUNT;
}

/* "name=number unit", or "number unit" for the write limit. */
static bool
read_setting(Reader *reader, Window *window)
{
	const char *start = reader->p;
	BudgetLimit limit = LIMIT_WRITE;
	double		number;
	double		max;
	const char *unit;
	size_t		length;

	if (*start < '0' || *start > '9')
	{
		limit = read_name(reader);
		if (limit == LIMIT_COUNT)
			return fail(reader, start, "this is not a limit that a window can set");
		limit_skip_blanks(&reader->p);
		if (*reader->p != '=')
			return fail(reader, reader->p, "\"=\" is expected");
		reader->p++;
		limit_skip_blanks(&reader->p);
	}
	max = limit == WINDOW_FLOOR ? LIMIT_RATE_MAX : budget_limits[limit].max;
	if (!limit_number(&reader->p, &number) || number > max)
		return fail(reader, reader->p, "a number in its limits is expected");
	limit_skip_blanks(&reader->p);
	/* the unit may follow: its first word */
	unit = budget_limits[limit == WINDOW_FLOOR ? LIMIT_WRITE : limit].unit;
	length = strcspn(unit, " ");
	if (*reader->p == *unit)
	{
		if (strncmp(reader->p, unit, length) != 0)
			return fail(reader, reader->p, "this is not the limit's unit");
		reader->p += length;
	}
	if (*reader->p != '\0' && *reader->p != ',' && *reader->p != ' ' && *reader->p != '\t' &&
		*reader->p != '\n' && *reader->p != '\r' && reader->p[-1] != ' ')
		return fail(reader, reader->p, "this does not belong to a number");
	if (window->set[limit])
		return fail(reader, start, "this limit is set already in this window");
	window->set[limit] = true;
	window->value[limit] = number;
	return true;
}

/* One window, up to the comma or the end. */
static bool
read_window(Reader *reader, Window *window, bool *otherwise)
{
	const char *start;
	int			count = 0;

	memset(window, 0, sizeof(*window));
	limit_skip_blanks(&reader->p);
	*otherwise = limit_word(&reader->p, "else");
	if (*otherwise)
		window->until = WINDOWS_DAY;
	else if (!read_hours(reader, window))
		return false;

	start = reader->p;
	limit_skip_blanks(&reader->p);
	if (*reader->p != '\0' && *reader->p != ',' && start == reader->p)
		return fail(reader, reader->p, "a blank is expected");
	while (*reader->p != '\0' && *reader->p != ',')
	{
		if (!read_setting(reader, window))
			return false;
		count++;
		limit_skip_blanks(&reader->p);
	}
	if (count == 0)
		return fail(reader, reader->p, "a limit is expected");
	return true;
}

bool
windows_parse(const char *text, Windows *out, LimitError *error)
{
	Reader		reader = {.p = text};
	bool		otherwise = false;

	memset(out, 0, sizeof(*out));
	limit_skip_blanks(&reader.p);
	while (*reader.p != '\0' || out->count > 0)
	{
		limit_skip_blanks(&reader.p);
		if (otherwise)
			fail(&reader, reader.p, "\"else\" must be the last");
		else if (out->count == WINDOWS_MAX)
			fail(&reader, reader.p, "there are too many windows");
		else if (read_window(&reader, &out->windows[out->count], &otherwise))
			out->count++;
		if (reader.wrong != NULL)
		{
			error->position = (int) (reader.where - text);
			error->what = reader.wrong;
			return false;
		}
		if (*reader.p == '\0')
			break;
		reader.p++;				/* the comma */
	}
	return true;
}

const Window *
windows_at(const Windows *windows, int minute)
{
	for (int i = 0; i < windows->count; i++)
	{
		const Window *w = &windows->windows[i];
		bool		inside = w->from < w->until ? minute >= w->from && minute < w->until :
			minute >= w->from || minute < w->until;

		if (inside)
			return w;
	}
	return NULL;
}
