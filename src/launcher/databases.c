/*
 * databases.c
 *		The databases, as the launcher knows them: which are ours, when a
 *		worker was there last, when one may go again.
 *
 * The launcher keeps in its own memory what pg_database says.  What others
 * see is published under LOCK_DATABASES.
 */
#include "launcher/databases.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "launcher/scout.h"
#include "launcher/slots.h"
#include "policy/backoff.h"
#include "policy/garbage.h"
#include "server/clock.h"
#include "shmem.h"
#include "state/decisions.h"
#include "state/surveys.h"
#include "state/worth_tables.h"

#define REFRESH_MS				10000
#define REVISIT_INTERVAL_MS		15000	/* at most this often, for lost
										 * counters or lost reads */
#define SURVEY_ALL_SHARE		0.01	/* of a processor, for surveys of all
										 * databases */
#define SURVEY_ALL_MS			600000	/* they take no longer than this */
#define SURVEY_LEAST_MS			10	/* of a processor: one that is not known */
#define VISIT_BACKOFF_MS		1000	/* after a visit that failed */
#define VISIT_BACKOFF_MAX_MS	60000

HTAB	   *databases = NULL;

static TimestampTz read_at = 0;

void
databases_begin(void)
{
	HASHCTL		info = {0};

	info.keysize = sizeof(Oid);
	info.entrysize = sizeof(LauncherDatabase);
	info.hcxt = TopMemoryContext;
	databases = hash_create("sweep databases", 64, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

LauncherDatabase *
databases_find(Oid dboid)
{
	return hash_search(databases, &dboid, HASH_FIND, NULL);
}

void
databases_forget_when_read(void)
{
	read_at = 0;
}

bool
databases_were_read_since(TimestampTz time)
{
	return read_at > time;
}

static bool
database_is_known(const Decision *decision, void *arg)
{
	return decision->key.dboid == InvalidOid ||
		databases_find(decision->key.dboid) != NULL;
}

static bool
database_is_there(DecisionKey key, void *arg)
{
	return databases_find(key.dboid) != NULL;
}

static void
forget_dropped_databases(void)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	bool		dropped = false;

	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		if (!db->seen)
		{
			(void) hash_search(databases, &db->dboid, HASH_REMOVE, NULL);
			dropped = true;
		}
	}
	if (dropped)
	{
		decision_forget(database_is_known, NULL);
		worth_tables_forget(database_is_there, NULL);
	}
}

bool
databases_are_new(HTAB *seen_databases)
{
	HASH_SEQ_STATUS status;
	const ScoutDatabase *seen;
	bool		new = false;

	hash_seq_init(&status, seen_databases);
	while ((seen = hash_seq_search(&status)) != NULL)
		new = new || (seen->dboid != InvalidOid && databases_find(seen->dboid) == NULL);
	return new;
}

void
databases_read(TimestampTz now)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tuple;

	if (read_at != 0 && now < clock_after(read_at, REFRESH_MS))
		return;

	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
		db->seen = false;

	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);
		bool		found;

		db = hash_search(databases, &form->oid, HASH_ENTER, &found);
		if (!found)
			memset((char *) db + sizeof(Oid), 0, sizeof(*db) - sizeof(Oid));
		db->name = form->datname;
		db->owner = form->datdba;
		/* a DROP DATABASE that was interrupted leaves the limit at -2 */
		db->template = form->datistemplate;
		db->connectable = form->datallowconn && form->datconnlimit != -2;
		db->scope = settings_database_scope(NameStr(form->datname));
		db->seen = true;
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	slots_read_subscriptions();
	CommitTransactionCommand();

	read_at = now;
	forget_dropped_databases();
}

/* A worker has looked at all tables.  Some may have their turn later. */
static void
hear_of_lost_tables(LauncherDatabase *db, const WorkerSlot *slot, TimestampTz now)
{
	TimestampTz at = Max(slot->revisit_at, clock_after(now, REVISIT_INTERVAL_MS));

	if (slot->looked_at > db->looked_at)
		db->turns_left = false;
	db->turns_left = db->turns_left || slot->revisit_at != 0;
	db->looked_at = Max(db->looked_at, slot->looked_at);
	if (slot->revisit_at != 0)
		db->revisit_at = db->revisit_at == 0 ? at : Min(db->revisit_at, at);
}

void
databases_hear_of_worker(const WorkerSlot *slot, bool gone, bool visited, TimestampTz now)
{
	LauncherDatabase *db = databases_find(slot->dboid);

	if (db == NULL)
		return;
	if (slot->visited_at > db->last_visit)
	{
		db->last_visit = slot->visited_at;
		if (!slot->catalogs_only)
			hear_of_lost_tables(db, slot, now);
		if (slot->survey_ms > 0)
			db->survey_ms = slot->survey_ms;
	}
	if (!gone)
		return;
	if (visited)
	{
		db->failures = 0;
		db->next_visit = 0;
		return;
	}
	db->surveyed_at = 0;
	read_at = 0;				/* is it still there? */
	db->next_visit = clock_after(now, backoff_ms(VISIT_BACKOFF_MS, VISIT_BACKOFF_MAX_MS,
												 ++db->failures));
}

bool
databases_is_ours(Oid dboid)
{
	const LauncherDatabase *db = databases_find(dboid);

	return db != NULL && db->scope == DATABASE_OURS && db->connectable;
}

void
databases_take_surveys(void)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	SurveyList	list;

	if (!surveys_take(&list))
		return;
	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		if (surveys_has(&list, db->dboid))
			db->surveyed_at = 0;
	}
}

int64
databases_survey_spacing_ms(const LauncherDatabase *db)
{
	return (int64) (db->survey_ms / SURVEYS_SHARE);
}

void
databases_survey_soon(Oid dboid)
{
	LauncherDatabase *db = databases_find(dboid);
	TimestampTz at;

	if (db == NULL)
		return;
	at = clock_after(db->surveyed_at, Max(databases_survey_spacing_ms(db), REVISIT_INTERVAL_MS));
	if (db->revisit_at == 0 || at < db->revisit_at)
		db->revisit_at = at;
}

/* Shared catalogs are of no database, so they have a place of their own. */
static void
publish_shared_catalogs(HTAB *seen_databases, DatabaseState *state)
{
	Oid			none = InvalidOid;
	const ScoutDatabase *seen = hash_search(seen_databases, &none, HASH_FIND, NULL);

	memset(state, 0, sizeof(*state));
	state->scope = DATABASE_OURS;
	state->connectable = true;
	state->relations = seen ? seen->relations : 0;
	state->due = seen ? seen->waiting : 0;
	state->dead_tuples = seen ? seen->dead_tuples : 0;
}

void
databases_set_back(int64 us)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;

	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		clock_move(&db->next_visit, us);
		clock_move(&db->last_visit, us);
		clock_move(&db->looked_at, us);
		clock_move(&db->surveyed_at, us);
		clock_move(&db->revisit_at, us);
	}
	clock_move(&read_at, us);
}

/*
 * The surveys spread over such a time that they take no more than their share
 * of a processor.  Standbys may come and go all the time.  So a database whose
 * turn is to come keeps it.
 */
void
databases_survey_all(TimestampTz now)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	double		ms = 0;

	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
		ms += Max(db->survey_ms, SURVEY_LEAST_MS);
	ms = Min(ms / SURVEY_ALL_SHARE, SURVEY_ALL_MS);

	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		TimestampTz at = clock_after(now, garbage_turn_ms(db->dboid, 0, 0, (int64) ms));

		at = Max(at, clock_after(db->surveyed_at, (int64) ms));
		if (db->revisit_at == 0 || at < db->revisit_at)
			db->revisit_at = at;
	}
}

void
databases_publish(HTAB *seen_databases)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	int			n = 0;
	int			dropped = 0;

	LWLockAcquire(shmem_lock(LOCK_DATABASES), LW_EXCLUSIVE);
	publish_shared_catalogs(seen_databases, &sweep_shared->databases[n++]);
	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		const ScoutDatabase *seen = hash_search(seen_databases, &db->dboid, HASH_FIND, NULL);
		DatabaseState *state;

		if (n >= SWEEP_DATABASES_LIMIT)
		{
			dropped++;
			continue;
		}
		state = &sweep_shared->databases[n++];
		state->dboid = db->dboid;
		state->scope = db->scope;
		state->connectable = db->connectable;
		state->relations = seen ? seen->relations : 0;
		state->due = seen && databases_is_ours(db->dboid) ? seen->waiting : 0;
		state->dead_tuples = seen ? seen->dead_tuples : 0;
		state->last_visit = db->last_visit;
		state->looked_at = db->looked_at;
		state->next_visit = db->next_visit;
	}
	sweep_shared->databases_count = n;
	LWLockRelease(shmem_lock(LOCK_DATABASES));

	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->launcher.databases_dropped = dropped;
	SpinLockRelease(&sweep_shared->mutex);
}
