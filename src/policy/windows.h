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

#include "limit_text.h"

#define WINDOWS_MAX		24
#define WINDOWS_DAY		(24 * 60)

typedef enum WindowSetting
{
	WINDOW_READ_LIMIT,			/* MB/s, and the next two */
	WINDOW_WRITE_LIMIT,
	WINDOW_WAL_LIMIT,
	WINDOW_FLOOR,
	WINDOW_IO_LATENCY_LIMIT,	/* ms */
	WINDOW_DEVICE_UTILIZATION,	/* percent */
	WINDOW_CPU_LIMIT,			/* percent of a core */
	WINDOW_SETTING_COUNT
} WindowSetting;

typedef struct Window
{
	int			from;			/* minutes since midnight, included */
	int			until;			/* not included (not after `from`: the window
								 * goes over midnight) */
	bool		set[WINDOW_SETTING_COUNT];
	double		value[WINDOW_SETTING_COUNT];
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

/* The name of a setting, without "sweep." */
extern const char *windows_setting_name(WindowSetting setting);

#endif							/* SWEEP_POLICY_WINDOWS_H */
