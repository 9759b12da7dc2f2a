/*
 * table_activity.c
 *		What users do to tables, hour by hour.
 *
 * Runs in the launcher.  The statistics count since they were reset.  So when
 * an hour is over, the scout's walk shows all tables, and what their counters
 * were at the hour's beginning is taken off.  One walk ends an hour and begins
 * the next.
 *
 * What they were is kept of so many tables as there is room for.  The others
 * are counted together.  Then those that were idle in the last hour make room,
 * and each of the others has its turn.
 *
 * It takes no lock.  It is called with a partition of the statistics locked,
 * shared, and does no more there than one look into a hash.
 */
#include "launcher/table_activity.h"

#include "access/transam.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "state/decisions.h"

/*
 * Tables whose counters are remembered, in some 2 MB of the launcher's memory.
 * Tables that rows were never written to need no place.
 */
#define ACTIVITY_LIMIT	16384

/*
 * If counting began later than this after the hour did, it says so.  Rounds
 * are rare with millions of relations, so it begins a little late.
 */
#define LATE_US			(60 * USECS_PER_SEC)

/* The hash's key, with what the counters were. */
typedef struct ActivityTable
{
	DecisionKey key;
	ActivityHour before;
	bool		seen;			/* in this walk */
	bool		idle;			/* in the hour that is over */
} ActivityTable;

bool		activity_is_walking = false;

static HTAB *tables = NULL;

/* The hour that is counted. */
static TimestampTz hour_begin;	/* 0: none */
static TimestampTz counted_since;
static uint64 xid_before;
static ActivityHour others_before;	/* of all tables without a place */
static bool some_have_no_place;
static int64 skip;				/* so many of these have had their turn */

/* The walk. */
static TimestampTz walk_hour;
static TimestampTz walk_at;
static ActivityHour *found;		/* what is over, by table */
static int	found_count;
static ActivityHour rest;		/* what is over, of all others */
static ActivityHour others_now; /* what ends, of tables without a place */
static ActivityHour others_next;	/* what begins, of those */
static int64 without_place;
static int64 placed;

/* The hour that is over. */
static ArchivedHour done;		/* begin is 0: none */
static ActivityHour done_tables[ARCHIVE_TABLES + 1];

static int64
changes(const ActivityHour *hour)
{
	return hour->inserted + hour->updated + hour->deleted;
}

static void
add_counters(ActivityHour *to, const ActivityHour *from)
{
	to->inserted += from->inserted;
	to->updated += from->updated;
	to->hot_updated += from->hot_updated;
	to->deleted += from->deleted;
}

static void
add(ActivityHour *to, const ActivityHour *from)
{
	add_counters(to, from);
	to->live += from->live;
	to->dead += from->dead;
}

/* A table that was made or reset meanwhile began with nothing. */
static void
take_off(ActivityHour *now, const ActivityHour *before)
{
	if (now->inserted < before->inserted || now->updated < before->updated ||
		now->hot_updated < before->hot_updated || now->deleted < before->deleted)
		return;
	now->inserted -= before->inserted;
	now->updated -= before->updated;
	now->hot_updated -= before->hot_updated;
	now->deleted -= before->deleted;
}

/* Of all others together some may be gone, and all the rest counts. */
static void
take_off_others(ActivityHour *now, const ActivityHour *before)
{
	now->inserted = Max(now->inserted - before->inserted, 0);
	now->updated = Max(now->updated - before->updated, 0);
	now->hot_updated = Min(Max(now->hot_updated - before->hot_updated, 0), now->updated);
	now->deleted = Max(now->deleted - before->deleted, 0);
}

/* ----
 * The walk
 * ----
 */

static void
create_tables(void)
{
	HASHCTL		info = {0};

	info.keysize = sizeof(DecisionKey);
	info.entrysize = sizeof(ActivityTable);
	info.hcxt = TopMemoryContext;
	tables = hash_create("sweep activity", 1024, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

void
activity_begin_walk(TimestampTz hour, TimestampTz now)
{
	HASH_SEQ_STATUS status;
	ActivityTable *table;

	/* a walk that an error ended has left a part of both hours */
	if (activity_is_walking)
		activity_forget();
	if (hour <= hour_begin)
		return;
	if (tables == NULL)
		create_tables();
	hash_seq_init(&status, tables);
	while ((table = hash_seq_search(&status)) != NULL)
		table->seen = false;

	activity_is_walking = true;
	walk_hour = hour;
	walk_at = now;
	found = palloc(sizeof(ActivityHour) * ACTIVITY_LIMIT);
	found_count = 0;
	memset(&rest, 0, sizeof(rest));
	memset(&others_now, 0, sizeof(others_now));
	memset(&others_next, 0, sizeof(others_next));
	without_place = placed = 0;
}

/* What a table did in the hour that is over. */
static void
note(const ActivityHour *hour)
{
	if (changes(hour) > 0 && found_count < ACTIVITY_LIMIT)
		found[found_count++] = *hour;
	else
		add(&rest, hour);
}

/* Its counters are remembered, if there is room, or added to those of all others. */
static void
give_place(DecisionKey key, const ActivityHour *now)
{
	bool		found_place;
	ActivityTable *table;

	if (++without_place <= skip || hash_get_num_entries(tables) >= ACTIVITY_LIMIT)
	{
		add_counters(&others_next, now);
		return;
	}
	table = hash_search(tables, &key, HASH_ENTER, &found_place);
	table->before = *now;
	table->seen = true;
	table->idle = false;
	placed++;
}

void
activity_see(Oid dboid, Oid relid, const PgStat_StatTabEntry *stats)
{
	DecisionKey key = {dboid, relid};
	ActivityTable *table = hash_search(tables, &key, HASH_FIND, NULL);
	ActivityHour now = {
		.dboid = dboid,
		.relid = relid,
		.inserted = stats->tuples_inserted,
		.updated = stats->tuples_updated,
		.hot_updated = stats->tuples_hot_updated,
		.deleted = stats->tuples_deleted,
		.live = compat_tab_live(stats),
		.dead = compat_tab_dead(stats),
	};
	ActivityHour hour = now;

	if (table != NULL)
	{
		take_off(&hour, &table->before);
		table->before = now;
		table->seen = true;
		table->idle = changes(&hour) == 0;
		note(&hour);
		return;
	}
	if (!some_have_no_place)
		note(&hour);			/* it had counted nothing yet */
	else
		add(&others_now, &hour);
	if (changes(&now) > 0)
		give_place(key, &now);
}

/* Tables that are gone leave their places, and idle ones as well where others wait. */
static void
leave_places(void)
{
	HASH_SEQ_STATUS status;
	ActivityTable *table;

	some_have_no_place = without_place > placed;
	skip = some_have_no_place && skip + placed < without_place ? skip + placed : 0;
	hash_seq_init(&status, tables);
	while ((table = hash_seq_search(&status)) != NULL)
	{
		if (table->seen && !(some_have_no_place && table->idle))
			continue;
		if (table->seen)
			add_counters(&others_next, &table->before);
		(void) hash_search(tables, &table->key, HASH_REMOVE, NULL);
	}
}

static int
busier_first(const void *a, const void *b)
{
	int64		x = changes(a);
	int64		y = changes(b);

	return x < y ? 1 : (x > y ? -1 : 0);
}

/* The hour is over. */
static void
finish_hour(uint64 next_xid)
{
	take_off_others(&others_now, &others_before);
	add(&rest, &others_now);
	qsort(found, found_count, sizeof(ActivityHour), busier_first);
	for (int i = ARCHIVE_TABLES; i < found_count; i++)
		add(&rest, &found[i]);

	memset(&done, 0, sizeof(done));
	done.begin = hour_begin;
	done.since = counted_since > hour_begin + LATE_US ? counted_since : 0;
	done.span_us = Max(walk_at - counted_since, 1);
	done.xids = (int64) (next_xid - xid_before);
	done.table_count = Min(found_count, ARCHIVE_TABLES);
	memcpy(done_tables, found, sizeof(ActivityHour) * done.table_count);
	rest.dboid = rest.relid = InvalidOid;
	done_tables[done.table_count++] = rest;
	done.tables = done_tables;
	for (int i = 0; i < done.table_count; i++)
	{
		done_tables[i].begin = done.begin;
		done_tables[i].span_us = done.span_us;
	}
}

void
activity_end_walk(void)
{
	uint64		next_xid;

	if (!activity_is_walking)
		return;
	next_xid = U64FromFullTransactionId(ReadNextFullTransactionId());
	if (hour_begin != 0)
		finish_hour(next_xid);
	pfree(found);
	leave_places();
	others_before = others_next;
	xid_before = next_xid;
	hour_begin = walk_hour;
	counted_since = walk_at;
	activity_is_walking = false;
}

/* ----
 * Afterwards
 * ----
 */

bool
activity_last(ArchivedHour *hour)
{
	if (done.begin != 0)
		*hour = done;
	return done.begin != 0;
}

void
activity_taken(void)
{
	done.begin = 0;
}

void
activity_forget(void)
{
	if (tables != NULL)
		hash_destroy(tables);
	tables = NULL;
	activity_is_walking = false;
	some_have_no_place = false;
	skip = 0;
	memset(&others_before, 0, sizeof(others_before));
	hour_begin = 0;
}

/* What goes on being counted belongs to the hour that it is now. */
void
activity_set_back(int64 us, TimestampTz hour)
{
	if (hour_begin != 0)
	{
		hour_begin = hour;
		counted_since -= us;
	}
	if (done.begin != 0)
	{
		done.begin -= us;
		if (done.since != 0)
			done.since -= us;
		for (int i = 0; i < done.table_count; i++)
			done_tables[i].begin = done.begin;
	}
}
