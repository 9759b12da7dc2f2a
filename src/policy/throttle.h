/*
 * policy/throttle.h
 *		The governor's step: from limits and readings to the rates that all
 *		vacuums together may use.  Pure.
 *
 * read_limit, write_limit and wal_limit are ceilings and hold as they are.  Every
 * other limit has a valve: a rate of the total that is cut when its sensor is over,
 * and grows when it is not.  The smallest of them holds, never below the floor.
 * A danger to WAL has a valve of WAL alone.  That of the users is for vacuums only
 * that give way to them.
 *
 * Servers that share a device, and know of each other, act as one: each grows by its
 * share, and a cut of one is a cut of all.  Else the cut of one out of four is too
 * little to help anybody, and all of them seem to be innocent.
 *
 * Sources: cutting in proportion and growing by the same amount everywhere makes
 * those who share a bottleneck converge without knowing each other (Chiu and Jain
 * 1989, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance");
 * growth by the time since the last cut (RFC 9438, CUBIC); yielding when others
 * wait longer than they do without us (RFC 6817, LEDBAT); collecting small
 * excesses until they cannot be chance (Page 1954, "Continuous Inspection Schemes",
 * the cumulative sum); emptying the queue that was too much (Cardwell et al. 2016,
 * "BBR: Congestion-Based Congestion Control", its state Drain).
 */
#ifndef SWEEP_POLICY_THROTTLE_H
#define SWEEP_POLICY_THROTTLE_H

#include <stdbool.h>

#include "budget_limit.h"
#include "rates.h"
#include "sensor_state.h"
#include "throttle_decision.h"

/* The limits in force now; 0: not set. */
typedef struct ThrottleSettings
{
	double		limits[LIMIT_COUNT];	/* of those that are a number */
	double		replica_lag_bytes;
	double		replica_lag_ms;
	double		slot_keep_bytes;	/* max_slot_wal_keep_size; <= 0: none */
	double		floor;			/* bytes/s of the total */
	double		reclaim_rows_s; /* dead rows to keep up with */
	bool		reclaim_auto;	/* ... as many as are produced */
	bool		adaptive;
	double		device_share;	/* that other servers on it leave to this one,
								 * to 1; <= 0: all */
} ThrottleSettings;

/* What was measured since the last step. */
typedef struct ThrottleReading
{
	/* the vacuums */
	int			vacuums;		/* running, that could be paced */
	int			yielding;		/* of them, those that give way to users */
	int			other_vacuums;	/* those that are not paced */
	Rates		used;
	double		yielding_used;	/* total of those that give way */
	double		pace;			/* bytes/s that these need, so as to keep up
								 * with growing tables; 0: none */
	double		removed_rows_s;
	double		produced_rows_s;	/* negative: unknown */
	double		dead_row_bytes; /* average */

	SensorState disk;
	double		latency_ms;
	double		busy_pct;

	SensorState users;
	double		active;			/* averages of the number of users */
	double		waiting;		/* for I/O and WAL */
	double		commits_s;		/* of transactions that write; negative:
								 * unknown */
	double		io_pressure_pct;	/* time in which somebody, the vacuum
									 * included, waits for a device (the
									 * kernel's PSI, some); negative: unknown */
	double		cpu_pressure_pct;	/* the same for a processor */
	int			base_backups;
	double		others_cut_to;	/* of the whole device, bytes/s: another
								 * server on it has been cut to this; <= 0:
								 * none */
	bool		watches;		/* none of these vacuums is ours: what yields
								 * is those of other servers on the device,
								 * when they hear of users_cut_to */
	bool		listens;		/* no vacuum runs, but users were looked at as
								 * often as beside one */
	bool		watched;		/* another server on the device does that for
								 * its users, or may do so soon */
	bool		others_users;	/* another server that vacuums on the device
								 * has users, or may have */

	SensorState wal;
	bool		archiver_failing;
	double		archiver_behind_bytes;
	double		wal_disk_used_pct;	/* negative: unknown */
	double		slot_left_bytes;	/* negative: no slot */

	SensorState replicas;
	double		lag_bytes;
	double		lag_ms;

	SensorState cpu;
	double		cpu_pct;
} ThrottleReading;

typedef enum ThrottleReason
{
	THROTTLE_REASON_NONE,
	THROTTLE_REASON_CLOCK,		/* the time between steps makes no sense */
	THROTTLE_REASON_CEILING,
	THROTTLE_REASON_LATENCY,
	THROTTLE_REASON_DEVICE,
	THROTTLE_REASON_LAG,
	THROTTLE_REASON_USERS,
	THROTTLE_REASON_LISTENS,	/* to users that it does not know yet */
	THROTTLE_REASON_NOT_DEVICE, /* is what users wait for */
	THROTTLE_REASON_INNOCENT,	/* yielding has not helped them */
	THROTTLE_REASON_BASE_BACKUP,
	THROTTLE_REASON_ARCHIVER_FAILS,
	THROTTLE_REASON_ARCHIVER_BEHIND,
	THROTTLE_REASON_SLOT,
	THROTTLE_REASON_WAL_DISK,
	THROTTLE_REASON_SENSOR,
	THROTTLE_REASON_CALM,		/* nothing is over: it grows */
	THROTTLE_REASON_NEAR,		/* nor is it, but nearly: it stays */
	THROTTLE_REASON_COUNT
} ThrottleReason;

/* What one limit allows, and what its sensor says of it. */
typedef struct ThrottleLimit
{
	bool		used;			/* it is set, or always looked at */
	double		configured;
	double		measured;		/* negative: unknown */
	double		allowed;		/* bytes/s; 0: not limited */
	bool		broken;
	ThrottleReason reason;
} ThrottleLimit;

typedef struct ThrottleResult
{
	Rates		allowed;
	double		set_total;		/* of allowed.total what holds for those, too,
								 * that do not give way to users */
	BudgetLimit binding;
	double		floor;
	ThrottleDecision decision;
	ThrottleReason reason;		/* of the decision, with what was measured
								 * against what */
	double		reason_measured;
	double		reason_limit;
	double		bloat_bytes_h;	/* growth of bloat where a ceiling is below
								 * what the floor asks for; 0: it is not */
	double		users_expected; /* how many would wait without us */
	double		users_cut_to;	/* of the whole device, bytes/s: this step was
								 * a cut for users; 0: it was not */
	ThrottleLimit limits[LIMIT_COUNT];
} ThrottleResult;

/* One limit's rate of the total. */
typedef struct ThrottleValve
{
	double		allowed;		/* bytes/s; 0: it limits nothing */
	double		knee;			/* the rate that was too much */
	double		known;			/* the same, also for the next vacuum; 0: none */
	double		since_cut_s;
	double		climb_s;		/* how long it has grown since */
	bool		cut;			/* has been, since the last slow start */
	bool		bad;			/* a danger to WAL */
	bool		moved_down;		/* in this step */
	bool		moved_up;
} ThrottleValve;

/* The experiment that a cut is, see throttle_cause.c. */
typedef struct ThrottleCause
{
	double		excess;			/* users who wait beyond the usual, lately */
	double		before_cut;		/* the same when it was cut */
	double		allowed_before; /* the rate that was allowed until then */
	double		since_s;		/* the last cut */
	double		after;			/* user seconds beyond the usual since */
	double		after_s;		/* ... in this time */
	double		innocent_s;		/* no cut for so long */
	double		waiting;		/* users who wait, lately */
	double		waiting_cut;	/* the same when it was cut */
	double		suspect_waiting;	/* with more it may be cut all the same */
	int			in_vain;		/* cuts in a row that helped nobody */
	bool		trying;
} ThrottleCause;

/* How users wait when they are alone. */
typedef struct ThrottleUsers
{
	double		per_commit_s;	/* waiting per transaction that writes */
	double		share;			/* of the time of active users */
	double		learned_s;
	double		waiting;		/* slow averages */
	double		active;
	double		commits_s;
	double		commits_long;
	double		usual;			/* how many would wait now without us */
	double		hurt;			/* the excess that is answered */
	double		excess;			/* user seconds waited beyond the usual, the
								 * cumulative sum */
	double		noise;			/* how far that goes by itself, lately */
	double		below;			/* user seconds far below the usual, the same */
	double		listened_s;		/* to users, beside a vacuum; fades */
	double		alone_s;		/* without a vacuum, or with it at the floor */
	bool		listens;		/* without a vacuum */
	bool		ahead;			/* it did, since the last one */
	double		absent_s;		/* hardly anybody was active */
	double		idle_s;			/* they were not looked at often */
	double		returned_s;		/* since they were absent, and nothing was
								 * held */
	double		patience_s;		/* they may be absent for so long and have not
								 * left; fades */
	int			base_backups;
	bool		started;
	bool		elsewhere;		/* is what they wait for, not at the device */
	bool		drains;			/* since a cut they still wait */
	bool		cut;			/* in this step, for users of this server */
	ThrottleCause cause;
} ThrottleUsers;

/* Belongs to the governor; all zero at its start.  No pointers. */
typedef struct ThrottleState
{
	ThrottleValve valves[LIMIT_COUNT];
	ThrottleUsers users;
	double		used;			/* total, smoothed */
	double		peak;
	double		calm_s;			/* without a vacuum */
	double		yielding_used;	/* the same of those that give way to users */
	double		yielding_peak;
	double		yielding_calm_s;
	double		lag_ratio;
	double		lag_start;		/* the rate when the lag passed half its limit */
	double		removed_rows_s; /* slow averages */
	double		produced_rows_s;
	double		reclaim_bytes;	/* used while they were removed */
	double		boost;			/* of the floor, minus one */
	double		danger_behind;	/* the worst that a danger to WAL was since it
								 * began: these three */
	double		danger_disk_pct;
	double		danger_slot_left;
	double		danger_grows_s; /* for so long it counts as growing */
	bool		started;
	ThrottleResult last;
} ThrottleState;

/*
 * dt_s: since the last step.  0 or less, or more than 10: the clock was moved or
 * the process slept; the last result stands, nothing is decided.
 */
extern void throttle_step(ThrottleState *state, const ThrottleSettings *s,
						  const ThrottleReading *r, double dt_s, ThrottleResult *out);

/* Has it had users lately? */
extern bool throttle_has_users(const ThrottleState *state);

/* Are they to be looked at often, though no vacuum runs? */
extern bool throttle_wants_to_listen(const ThrottleState *state);

/* Are they there still?  Known while vacuums run, because users are looked at often then. */
extern bool throttle_users_are_there(const ThrottleState *state);

/*
 * Whether so many users have waited in the dt_s since the last step (the average of
 * their number) that the next one should not wait for its time.
 */
extern bool throttle_is_urgent(const ThrottleState *state, double waiting, double dt_s);

/* A reason in a few words, without the numbers. */
extern const char *throttle_reason_text(ThrottleReason reason);

#endif							/* SWEEP_POLICY_THROTTLE_H */
