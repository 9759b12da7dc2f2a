/*
 * log.h
 *		What VACUUM itself writes about a table.
 */
#ifndef SWEEP_LOG_H
#define SWEEP_LOG_H

#include "postgres.h"

/* SQLSTATE of the last error that this process logged, and what it said. */
extern int	log_last_sqlstate;
extern char log_last_error[];

extern void log_install_hook(void);

/*
 * In a worker of ours, between these two calls, the reports of VACUUM
 * (VERBOSE) on that table are taken instead of logged.  min_messages is the
 * log_min_messages that was in force before it was lowered so that the
 * reports are made at all.
 */
extern void log_capture_begin(const char *datname, const char *schemaname,
							  const char *relname, int min_messages);
extern void log_capture_end(void);

/*
 * Logs the captured report as core would have, with a note.  Does nothing if
 * none was captured.
 */
extern void log_captured(const char *note);

#endif							/* SWEEP_LOG_H */
