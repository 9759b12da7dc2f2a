/*
 * policy/limit_text.c
 *		Reads limits that are given as text.  Pure.
 */
#include "limit_text.h"

#include <stddef.h>
#include <string.h>

static const struct
{
	const char *name;
	double		bytes;
	double		ms;
}			units[] = {
	{"B", 1, 0},
	{"kB", 1024, 0},
	{"MB", 1048576, 0},
	{"GB", 1073741824, 0},
	{"TB", 1099511627776, 0},
	{"us", 0, 0.001},
	{"ms", 0, 1},
	{"s", 0, 1000},
	{"min", 0, 60000},
	{"h", 0, 3600000},
	{"d", 0, 86400000},
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void
limit_skip_blanks(const char **p)
{
	while (**p == ' ' || **p == '\t' || **p == '\n' || **p == '\r')
		(*p)++;
}

bool
limit_number(const char **p, double *number)
{
	const char *c = *p;
	double		value = 0;
	double		unit = 1;

	if (!is_digit(*c) && !(*c == '.' && is_digit(c[1])))
		return false;
	for (; is_digit(*c); c++)
		value = value * 10 + (*c - '0');
	if (*c == '.')
		for (c++; is_digit(*c); c++)
		{
			unit *= 10;
			if (unit < 1e15)
				value += (*c - '0') / unit;
		}
	if (!(value <= LIMIT_MAX_NUMBER))
		return false;
	*p = c;
	*number = value;
	return true;
}

bool
limit_word(const char **p, const char *word)
{
	size_t		length = strlen(word);

	if (strncmp(*p, word, length) != 0 || is_letter((*p)[length]) || is_digit((*p)[length]))
		return false;
	*p += length;
	return true;
}

static bool
fail(const char *text, const char *p, const char *what, LimitError *error)
{
	error->position = (int) (p - text);
	error->what = what;
	return false;
}

bool
limit_parse_lag(const char *text, double *bytes, double *ms, LimitError *error)
{
	const char *p = text;
	double		number;
	bool		known = false;

	*bytes = *ms = 0;
	limit_skip_blanks(&p);
	if (*p == '\0')
		return true;
	if (!limit_number(&p, &number))
		return fail(text, p, "a number is expected", error);
	limit_skip_blanks(&p);
	if (*p == '\0' && number == 0)
		return true;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && !known; i++)
	{
		known = limit_word(&p, units[i].name);
		*bytes = known ? number * units[i].bytes : 0;
		*ms = known ? number * units[i].ms : 0;
	}
	if (!known)
		return fail(text, p, "a unit is expected: B, kB, MB, GB, TB, us, ms, s, min, h or d", error);
	limit_skip_blanks(&p);
	if (*p != '\0')
		return fail(text, p, "nothing more is expected", error);
	return true;
}

bool
limit_parse_reclaim(const char *text, bool *automatic, double *rows_s, LimitError *error)
{
	const char *p = text;

	*automatic = false;
	*rows_s = 0;
	limit_skip_blanks(&p);
	if (*p == '\0')
		return true;
	if (limit_word(&p, "auto"))
		*automatic = true;
	else if (!limit_number(&p, rows_s))
		return fail(text, p, "\"auto\" or a number of rows per second is expected", error);
	limit_skip_blanks(&p);
	if (*p != '\0')
		return fail(text, p, "nothing more is expected", error);
	return true;
}
