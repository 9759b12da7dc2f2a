/*
 * dispatch.c
 *		Which databases workers are sent to, and for what.
 *
 * Runs in the launcher, at the end of a round.  It goes by what the scout has
 * seen and by what is known of the databases.  Locks: LOCK_WORKERS, in
 * worker_pool.c.
 */
#include "launcher/dispatch.h"

#include <math.h>

#include "access/multixact.h"
#include "access/transam.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "utils/timestamp.h"

#include "launcher/databases.h"
#include "launcher/scout.h"
#include "launcher/slots.h"
#include "launcher/takeover.h"
#include "launcher/wal_disk.h"
#include "policy/garbage.h"
#include "server/clock.h"
#include "server/standbys.h"
#include "shmem.h"
#include "state/cleanings.h"
#include "state/decisions.h"
#include "state/hold.h"
#include "state/worker_pool.h"

#define SURVEY_INTERVAL_MS		600000	/* at least, in an active database */
#define SURVEY_FULL_MS			60000	/* while decisions hardly have room */
#define FIRST_SURVEY_MS			60000	/* the first one in a database without
										 * statistics comes within this time */
#define IDS_SHARE				0.02	/* of a freeze limit: a database is
										 * surveyed as often */
#define SURVEYS_CREDIT_MS		20	/* ms of a processor, at most */
#define START_MS				10	/* of a processor, about: a process that
									 * makes a survey and nothing else */

static bool place_wanted[2];	/* the last round found none free: for other
								 * tables, and for catalogs */
static bool turn_wanted;		/* the last round found a worker that was
								 * connecting */

typedef struct Destination
{
	LauncherDatabase *db;
	const ScoutDatabase *seen;
	double		urgency;
} Destination;

static int
more_urgent_first(const void *a, const void *b)
{
	double		x = ((const Destination *) a)->urgency;
	double		y = ((const Destination *) b)->urgency;

	return x < y ? 1 : (x > y ? -1 : 0);
}

/* Is there garbage for a cleaner, and a place for one? */
static bool
wants_cleaner(const ScoutDatabase *seen)
{
	return seen && seen->sparse > 0 && cleanings_have_room() && standbys_let_begin(seen->dboid);
}

static bool
may_visit(const LauncherDatabase *db, TimestampTz now)
{
	return db->scope == DATABASE_OURS && db->connectable && now >= db->next_visit;
}

/*
 * The interval is longer where a survey takes much.  It is shorter while the
 * decisions of dropped tables take the room of others.
 */
static int64
survey_interval_ms(const LauncherDatabase *db)
{
	return Max(databases_survey_spacing_ms(db), decisions_are_many() ? SURVEY_FULL_MS : SURVEY_INTERVAL_MS);
}

/*
 * Some surveys come beyond those that are due, where that costs next to
 * nothing: a visit that comes anyhow becomes one.  Most databases are small.
 * There it is seen at once what the scout cannot see, such as storage
 * parameters and partitioned tables.
 */
static double survey_credit_ms = 0;

static void
earn_survey_credit(void)
{
	static int64 earned_at = 0;
	int64		now = clock_steady();

	if (earned_at != 0)
		survey_credit_ms += (double) (now - earned_at) / 1000 * sweep_debug_clock_rate * SURVEYS_SHARE;
	survey_credit_ms = Min(survey_credit_ms, SURVEYS_CREDIT_MS);
	earned_at = now;
}

static bool
survey_is_cheap(const LauncherDatabase *db)
{
	return db->survey_ms > 0 && db->survey_ms <= survey_credit_ms;
}

/*
 * May tables have got storage parameters, or tables with some their first
 * rows?  Vacuums write pg_class in place, which is not counted.  A process is
 * started for such a survey alone, so where temporary tables come and go all
 * the time it is made now and then.
 */
static bool
has_new_tables(const LauncherDatabase *db, const ScoutDatabase *seen)
{
	return seen && db->survey_ms > 0 && db->survey_ms + START_MS <= survey_credit_ms &&
		(seen->relations > db->surveyed_relations || seen->class_changes != db->surveyed_class_changes);
}

/*
 * Have so many ids been used up that tables may have become old?  The scout
 * does not see how old they are.
 */
static bool
ids_were_used(const LauncherDatabase *db, TimestampTz now)
{
	int64		xids = (int64) (U64FromFullTransactionId(ReadNextFullTransactionId()) - db->surveyed_xid);
	int32		mxids = (int32) (ReadNextMultiXactId() - db->surveyed_mxid);

	return (xids > autovacuum_freeze_max_age * IDS_SHARE ||
			mxids > Min(autovacuum_multixact_freeze_max_age, MultiXactMemberFreezeThreshold()) * IDS_SHARE) &&
		now >= clock_after(db->surveyed_at, databases_survey_spacing_ms(db));
}

/*
 * The scout cannot see reloptions, but a worker can.  So an active database
 * is visited now and then even if nothing looks due.  A database without any
 * statistics may have lost them.  Those are visited one after the other,
 * before the turns of most of their tables have come.
 */
static bool
survey_is_due(const LauncherDatabase *db, const ScoutDatabase *seen, TimestampTz now)
{
	int64		changes = seen ? seen->changes : 0;

	/*
	 * only if it is past: after the clock was set back it would ask in every
	 * round
	 */
	if (db->surveyed_at != 0 && seen && seen->reset_at > db->surveyed_at && seen->reset_at <= now)
		return true;
	if (db->revisit_at != 0 && now >= db->revisit_at)
		return true;
	if (db->surveyed_at == 0)
		return changes > 0 || takeover_brings(db->dboid) ||
			now >= clock_after(sweep_shared->launcher.started_at,
							   garbage_turn_ms(db->dboid, 0, 0, FIRST_SURVEY_MS));
	if (has_new_tables(db, seen) || ids_were_used(db, now))
		return true;
	return now >= clock_after(db->surveyed_at, survey_interval_ms(db)) &&
		db->surveyed_changes != changes;
}

/* Rather no template, and then the first. */
static bool
is_better_for_shared(const LauncherDatabase *a, const LauncherDatabase *b)
{
	return a->template != b->template ? !a->template : a->dboid < b->dboid;
}

/*
 * Shared catalogs are vacuumed from any database that is ours.  In a template
 * CREATE DATABASE would have to wait for that.
 */
static LauncherDatabase *
database_for_shared(TimestampTz now)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	LauncherDatabase *best = NULL;

	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		if (may_visit(db, now) && (best == NULL || is_better_for_shared(db, best)))
			best = db;
	}
	return best;
}

static void
add_destination(Destination *to, int *n, LauncherDatabase *db, const ScoutDatabase *seen)
{
	to[*n].db = db;
	to[*n].seen = seen;
	/* what somebody asked for comes before everything else */
	to[*n].urgency = seen && seen->requested > 0 ? HUGE_VAL :
		(seen && seen->due > 0 ? seen->urgency : 0);
	(*n)++;
}

/* `to` has room for each database, and for the shared catalogs. */
static int
find_destinations(HTAB *seen_databases, Destination *to, TimestampTz now)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	const ScoutDatabase *seen;
	Oid			shared = InvalidOid;
	int			n = 0;

	seen = hash_search(seen_databases, &shared, HASH_FIND, NULL);
	db = seen && seen->due > 0 ? database_for_shared(now) : NULL;
	if (db)
		add_destination(to, &n, db, seen);

	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		seen = hash_search(seen_databases, &db->dboid, HASH_FIND, NULL);
		if (may_visit(db, now) &&
			((seen && seen->due + seen->requested > 0) || wants_cleaner(seen) ||
			 (survey_is_due(db, seen, now) && standbys_let_begin(db->dboid))))
			add_destination(to, &n, db, seen);
	}
	qsort(to, n, sizeof(Destination), more_urgent_first);
	return n;
}

/*
 * Wakes or starts a worker in that database.  due is how many tables it may
 * take.  survey says that it is to look at all tables.  One place is for
 * catalogs only.  They may have the other places as well.
 */
static bool
send_worker(const LauncherDatabase *db, int64 due, bool for_catalogs, bool survey, TimestampTz now)
{
	Oid			dboid = db->dboid;
	int			there;

	if (worker_pool_send_again(dboid, for_catalogs, survey))
		return true;

	/* a survey needs any one worker, while each due table may have its own */
	there = worker_pool_free_in(dboid, for_catalogs);
	if (there > 0 && there >= due)
		return false;

	/* where that one hangs this one would, too */
	if (worker_pool_is_connecting(dboid))
	{
		turn_wanted = true;
		return false;
	}

	/* the other databases may still have a worker waiting for them */
	if (for_catalogs && sweep_max_workers > 0 && !place_wanted[true] &&
		worker_pool_count(true) < 1 && slots_let_begin() && worker_pool_start(dboid, db->owner, true, survey, now))
		return true;
	if (!place_wanted[false] && worker_pool_count(false) < budget_workers() && slots_let_begin() &&
		worker_pool_start(dboid, db->owner, false, survey, now))
		return true;
	place_wanted[for_catalogs] = true;
	return false;
}

/*
 * Where vacuums have to wait for a standby's queries, no worker is needed for
 * what is due.  Nor is one needed for a survey, because whoever reads a
 * catalog prunes it.
 */
static void
space_out(HTAB *seen_databases, TimestampTz now)
{
	LauncherDatabase *shared;
	HASH_SEQ_STATUS status;
	ScoutDatabase *seen;

	if (!standbys_can_conflict())
		return;
	shared = database_for_shared(now);
	hash_seq_init(&status, seen_databases);
	while ((seen = hash_seq_search(&status)) != NULL)
	{
		Oid			dboid = seen->dboid;

		if (!OidIsValid(dboid) && shared != NULL)
			dboid = shared->dboid;
		if (!standbys_let_begin(dboid))
			seen->due = seen->due_catalogs = 0;
	}
}

static int64
catalogs_to_do(const ScoutDatabase *seen)
{
	return seen->due_catalogs + seen->requested_catalogs;
}

static void
send_workers(HTAB *seen_databases, TimestampTz now)
{
	Destination *to = palloc(sizeof(Destination) * (hash_get_num_entries(databases) + 1));
	int			n = find_destinations(seen_databases, to, now);

	earn_survey_credit();
	place_wanted[false] = place_wanted[true] = turn_wanted = false;
	if (hold_is_on())
		n = 0;
	for (int i = 0; i < n; i++)
	{
		if (to[i].seen && catalogs_to_do(to[i].seen) > 0)
			(void) send_worker(to[i].db, catalogs_to_do(to[i].seen), true, false, now);
	}
	for (int i = 0; i < n; i++)
	{
		const ScoutDatabase *seen = to[i].seen;
		LauncherDatabase *db = to[i].db;
		int64		due = seen ? seen->due + seen->requested - catalogs_to_do(seen) + wants_cleaner(seen) : 0;
		bool		must = survey_is_due(db, seen, now);
		bool		survey = must || survey_is_cheap(db);

		/* any database will do for the shared catalogs */
		if (seen != NULL && seen->dboid == InvalidOid)
			must = survey = false;
		/* a survey does not take the place that tables which are due wait for */
		if ((due == 0 && (!must || place_wanted[false])) ||
			!send_worker(db, due, false, survey, now))
			continue;
		if (survey)
		{
			survey_credit_ms -= db->survey_ms + (due == 0 ? START_MS : 0);
			db->surveyed_at = now;
			db->surveyed_changes = seen ? seen->changes : 0;
			db->surveyed_relations = seen ? seen->relations : 0;
			db->surveyed_class_changes = seen ? seen->class_changes : 0;
			db->surveyed_xid = U64FromFullTransactionId(ReadNextFullTransactionId());
			db->surveyed_mxid = ReadNextMultiXactId();
			db->revisit_at = 0;
		}
	}
	if (place_wanted[true])
		worker_pool_dismiss_one(true);
	if (place_wanted[false])
		worker_pool_dismiss_one(false);
	pfree(to);
}

void
dispatch_workers(HTAB *seen_databases, TimestampTz now)
{
	/*
	 * What is not counted cannot be judged.  And when the disk of WAL is full
	 * the server stops.
	 */
	if (!pgstat_track_counts || wal_disk_is_full())
	{
		worker_pool_stop_all();
		return;
	}
	space_out(seen_databases, now);
	slots_look(now);
	send_workers(seen_databases, now);
	if (slots_are_short())
		worker_pool_dismiss_idle();
}

bool
dispatch_may_go_on(bool any_gone)
{
	return (any_gone && (place_wanted[false] || place_wanted[true])) ||
		(turn_wanted && !worker_pool_is_connecting(InvalidOid));
}
