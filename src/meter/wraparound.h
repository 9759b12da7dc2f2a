/*
 * wraparound.h
 *		Is a VACUUM somebody's work against wraparound?
 */
#ifndef SWEEP_WRAPAROUND_H
#define SWEEP_WRAPAROUND_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* Is one of its tables too old?  May raise an error. */
extern bool wraparound_is_near(const VacuumStmt *stmt);

#endif							/* SWEEP_WRAPAROUND_H */
