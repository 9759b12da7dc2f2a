/*
 * worth_watch.h
 *		Counts what index scans take, table by table.
 */
#ifndef SWEEP_WORTH_WATCH_H
#define SWEEP_WORTH_WATCH_H

#include "datatype/timestamp.h"

/* Called in each round. */
extern void worth_watch(TimestampTz now);

#endif							/* SWEEP_WORTH_WATCH_H */
