/*
 * simulate_input.h
 *		What a simulation goes through: the recorded hours, and what is known of
 *		their tables.
 */
#ifndef SWEEP_SIMULATE_INPUT_H
#define SWEEP_SIMULATE_INPUT_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "simulate.h"
#include "simulated_settings.h"
#include "state/decisions.h"

/* Vacuums as they were recorded. */
typedef struct RecordedSum
{
	double		vacuums;
	double		read;			/* pages */
	double		dirtied;
	double		dead;			/* rows, when the hour ended */
} RecordedSum;

/* A table of the simulation that has the same number there. */
typedef struct SimulatedTable
{
	DecisionKey key;
	char		schemaname[NAMEDATALEN];	/* empty: unknown */
	char		relname[NAMEDATALEN];
	bool		estimated;		/* nobody knows how large it is, nor whether
								 * it has settings of its own */
	RecordedSum recorded;
} SimulatedTable;

typedef struct SimulateInput
{
	Simulation	simulation;
	SimulatedTable *tables;
	TimestampTz *begins;		/* of the hours */
	double		ids_s;			/* transaction ids that were used a second
								 * (negative: unknown) */
	int			to_freeze;		/* tables of this database that come to the
								 * age at which they are frozen, in a time as
								 * long as that of the hours */
	double		pages_to_freeze;	/* theirs that are not frozen yet */
	RecordedSum *recorded;		/* by hour, of the tables of the simulation */
	int			missing;		/* hours between the first and the last of
								 * which nothing is known */
	double		changes;		/* rows that were changed */
	double		changes_left_out;	/* of these, in tables that are not named */
} SimulateInput;

/*
 * Reads it, palloc'd.  With back_test, what is learned for each half of the
 * time is learned from the other one.  So the vacuums that it is compared with
 * have not taught it.  ERROR if too little is recorded.
 */
extern SimulateInput *simulate_input_read(const SimulatedSettings *settings, TimestampTz since,
										  bool back_test);

#endif							/* SWEEP_SIMULATE_INPUT_H */
