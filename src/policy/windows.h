/*
 * policy/windows.h
 *		Other limits at other hours: sweep.windows.  Pure.
 *
 *    08:00-20:00 write_limit=20 read_limit=40, 20:00-02:00 80 MB/s, else write_limit=150
 *
 * The first window that holds the time applies.  A window may go over
 * midnight.  A number alone is the write limit.  What a window does not name
 * stays as it is set.
 */
#ifndef SWEEP_POLICY_WINDOWS_H
#define SWEEP_POLICY_WINDOWS_H

#include <stdbool.h>

#include "budget_limit.h"
#include "limit_text.h"

#define WINDOWS_MAX		24
#define WINDOWS_DAY		(24 * 60)

/* In set and value LIMIT_NONE is the floor.  Values are in the limits' units. */
#define WINDOW_FLOOR	LIMIT_NONE

typedef struct Window
{
	int			from;			/* minutes since midnight, included */
	int			until;			/* not included (not after `from`: the window
								 * goes over midnight) */
	bool		set[LIMIT_COUNT];
	double		value[LIMIT_COUNT];
} Window;

/*
 * It has no pointers, so it may be copied and kept as the extra data of a
 * setting.
 */
typedef struct Windows
{
	int			count;
	Window		windows[WINDOWS_MAX];
} Windows;

/* An empty text has no window.  If it returns false, *out is undefined. */
extern bool windows_parse(const char *text, Windows *out, LimitError *error);

/*
 * The window that applies, or NULL.  minute is that of the day, in the
 * server's time zone.
 */
extern const Window *windows_at(const Windows *windows, int minute);

#endif							/* SWEEP_POLICY_WINDOWS_H */
