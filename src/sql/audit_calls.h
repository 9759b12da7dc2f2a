/*
 * audit_calls.h
 *		What the functions that act tell the audit.
 */
#ifndef SWEEP_AUDIT_CALLS_H
#define SWEEP_AUDIT_CALLS_H

#include "meter/meter_slot.h"
#include "sql/vacuumable.h"

/*
 * sweep.<command>() has acted: on a table, on a running vacuum, or on the
 * server.  detail has the values that were given, or is NULL.
 */
extern void audit_table(const char *command, const Vacuumable *table, const char *detail);
extern void audit_vacuum(const char *command, const MeterSlot *slot, const char *detail);
extern void audit_server(const char *command, const char *detail);

/* "until ...", or "ended" if that is now. */
extern const char *audit_until(TimestampTz until, TimestampTz now);

#endif							/* SWEEP_AUDIT_CALLS_H */
