/*
 * takeover.h
 *		What was known before the server's start.  Launcher only.
 */
#ifndef SWEEP_TAKEOVER_H
#define SWEEP_TAKEOVER_H

#include "postgres.h"

/* At the launcher's start: takes what was known before.  Never an ERROR. */
extern void takeover_begin(void);

/* Was a table of that database due when it was taken over? */
extern bool takeover_brings(Oid dboid);

#endif							/* SWEEP_TAKEOVER_H */
