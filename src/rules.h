/*
 * rules.h
 *		The thresholds that hold for tables without any of their own.  They
 *		come from the settings, core's and pg_sweep's.
 */
#ifndef SWEEP_RULES_H
#define SWEEP_RULES_H

#include "postgres.h"

#include "policy/insert.h"
#include "policy/threshold.h"

/* For catalogs, or for other tables. */
extern ThresholdSettings rules_thresholds(bool catalog);

/* The rules for inserted rows, for tables with such thresholds. */
extern InsertSettings rules_inserts(const ThresholdSettings *settings);

/*
 * May it be a large table that takes rows, and of which nobody knows how much
 * is frozen?  It is no catalog, and nothing is remembered of it.  Then a
 * worker looks, and remembers what it finds.
 */
extern bool rules_worth_a_look(const ThresholdSettings *settings, int64 live, int64 ins);

#endif							/* SWEEP_RULES_H */
