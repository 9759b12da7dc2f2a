/*
 * pin_wait.h
 *		A vacuum that waits for somebody's pin on a page: not for long.
 */
#ifndef SWEEP_PIN_WAIT_H
#define SWEEP_PIN_WAIT_H

#include "postgres.h"

/* A vacuum begins.  bounded: it gives up when such a wait takes long. */
extern void pin_wait_begin(bool bounded);

/* It has ended.  Did it give up? */
extern bool pin_wait_end(void);

/* For the tick. */
extern void pin_wait_tick(int interval_ms);

#endif							/* SWEEP_PIN_WAIT_H */
