/*
 * tap.h
 *		Just enough TAP for the tests of policy/: plain C, no dependency.
 *
 * A test ends by returning what tap_done() returns.  Names and values are
 * printed with everything escaped that would break a TAP line.
 */
#ifndef SWEEP_TAP_H
#define SWEEP_TAP_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

static int	tap_tests = 0;
static int	tap_failures = 0;

static inline void
tap_text(const char *text)
{
	for (const unsigned char *p = (const unsigned char *) text; *p != '\0'; p++)
	{
		if (*p == '\n')
			fputs("\\n", stdout);
		else if (*p == '#')
			fputs("\\#", stdout);
		else if (*p < ' ' || *p >= 0x7f)
			printf("\\x%02x", *p);
		else
			putchar(*p);
	}
}

/* The result of one test: true if it passed. */
static inline bool
tap_ok(bool passed, const char *name, const char *what)
{
	printf("%sok %d - ", passed ? "" : "not ", ++tap_tests);
	tap_text(name);
	if (what[0] != '\0')
	{
		fputs(": ", stdout);
		tap_text(what);
	}
	putchar('\n');
	if (!passed)
		tap_failures++;
	return passed;
}

static inline void
tap_is_bool(bool got, bool expected, const char *name, const char *what)
{
	if (!tap_ok(got == expected, name, what))
		printf("#      got: %s\n# expected: %s\n", got ? "true" : "false", expected ? "true" : "false");
}

static inline void
tap_is_int(int64_t got, int64_t expected, const char *name, const char *what)
{
	if (!tap_ok(got == expected, name, what))
		printf("#      got: %lld\n# expected: %lld\n", (long long) got, (long long) expected);
}

/* Equal but for the last digits of a double.  NaN equals nothing. */
static inline void
tap_is_double(double got, double expected, const char *name, const char *what)
{
	if (!tap_ok(fabs(got - expected) <= 1e-9 * fmax(1.0, fabs(expected)), name, what))
		printf("#      got: %.17g\n# expected: %.17g\n", got, expected);
}

/* NULL equals NULL. */
static inline void
tap_is_string(const char *got, const char *expected, const char *name, const char *what)
{
	bool		same = got == NULL || expected == NULL ? got == expected : strcmp(got, expected) == 0;

	if (!tap_ok(same, name, what))
	{
		fputs("#      got: ", stdout);
		tap_text(got ? got : "(NULL)");
		fputs("\n# expected: ", stdout);
		tap_text(expected ? expected : "(NULL)");
		putchar('\n');
	}
}

/* Repeatable numbers for tests over many inputs (a linear congruence). */
static inline uint32_t
tap_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t) (*state >> 33);
}

static inline int
tap_done(void)
{
	printf("1..%d\n", tap_tests);
	return tap_failures == 0 ? 0 : 1;
}

#endif							/* SWEEP_TAP_H */
