/*
 * bgworker.h
 *		The background workers of pg_sweep: how they are made.
 */
#ifndef SWEEP_BGWORKER_H
#define SWEEP_BGWORKER_H

#include "postgres.h"

#include "postmaster/bgworker.h"

#define SWEEP_INHERITED_LIMIT	24
#define SWEEP_INHERITED_LEN		64

/*
 * How long a worker waits for a lock, also while it connects.  See
 * policy/patience.
 */
#define BGWORKER_LOCK_TIMEOUT	"5s"

/* Called by the postmaster at its start. */
extern void bgworker_register_launcher(void);
extern void bgworker_register_governor(void);

/* Starts a worker for a slot.  NULL if no background worker is free. */
extern BackgroundWorkerHandle *bgworker_start_worker(int slot, uint32 generation);
extern int	bgworker_arg_slot(Datum arg);
extern uint32 bgworker_arg_generation(Datum arg);

/* What every kind does first: it sets the signal handlers. */
extern void bgworker_prologue(void);
extern void bgworker_end_if_told(int code);

/*
 * What a process that vacuums does before it connects to a database of that
 * owner, and whenever the owner may have changed.
 */
extern void bgworker_before_connecting(Oid owner);
extern void bgworker_follow_owner(void);

/*
 * What a process that vacuums does after connecting.  It overrides settings
 * that a database owner could have planted, and marks itself so that users do
 * not wait for it.
 */
extern void bgworker_become_vacuum(void);

/* The launcher publishes the server's own values of the settings for VACUUM. */
extern void bgworker_publish_settings(void);

extern PGDLLEXPORT void sweep_launcher_main(Datum arg);
extern PGDLLEXPORT void sweep_governor_main(Datum arg);
extern PGDLLEXPORT void sweep_worker_main(Datum arg);

#endif							/* SWEEP_BGWORKER_H */
