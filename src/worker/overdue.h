/*
 * overdue.h
 *		Tables that have waited for longer than QUEUE_MAX_WAIT_S go first.
 */
#ifndef SWEEP_OVERDUE_H
#define SWEEP_OVERDUE_H

#include "nodes/pg_list.h"

/* Marks those of the candidates that have waited that long. */
extern void overdue_mark(List *candidates);

#endif							/* SWEEP_OVERDUE_H */
