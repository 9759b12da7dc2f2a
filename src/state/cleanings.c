/*
 * cleanings.c
 *		Tables with sparse garbage: what was decided about each, and how many
 *		of them are being cleaned.
 *
 * Workers put them, the launcher and views copy them.  Nothing else is locked
 * while LOCK_CLEANINGS is held.
 */
#include "state/cleanings.h"

#include "storage/ipc.h"

#include "policy/clean_plan.h"
#include "server/clock.h"
#include "settings.h"
#include "shmem.h"

/*
 * Tables with fewer rows are not looked at as long as nobody asks: 64 MB of
 * so few rows would be rare.
 */
#define LEAST_LIVE	10000

const char *
cleaning_name(int kind)
{
	static const char *const names[CLEANING_KIND_COUNT] = {
		[CLEANING_NONE] = "none",
		[CLEANING_WANTED] = "wanted",
		[CLEANING_BELOW_THRESHOLD] = "below threshold",
		[CLEANING_WATCHED] = "watched",
		[CLEANING_DONE] = "cleaned",
		[CLEANING_LEFT_TO_VACUUM] = "left to vacuum",
		[CLEANING_NOT_NOW] = "not now",
		[CLEANING_IMPOSSIBLE] = "impossible",
		[CLEANING_OFF] = "off",
	};

	return kind >= 0 && kind < CLEANING_KIND_COUNT ? names[kind] : "unknown";
}

static Cleaning *
place(int i)
{
	return &sweep_shared->cleanings.cleanings[i];
}

static int
places_known(void)
{
	return (int) pg_atomic_read_u32(&sweep_shared->cleanings.known);
}

static bool
same_table(DecisionKey a, DecisionKey b)
{
	return a.dboid == b.dboid && a.relid == b.relid;
}

/* The caller holds the lock. */
static Cleaning *
find(DecisionKey key)
{
	for (int i = 0; i < places_known(); i++)
	{
		if (place(i)->kind != CLEANING_NONE && same_table(place(i)->key, key))
			return place(i);
	}
	return NULL;
}

bool
cleaning_get(DecisionKey key, Cleaning *cleaning)
{
	const Cleaning *found;

	LWLockAcquire(shmem_lock(LOCK_CLEANINGS), LW_SHARED);
	found = find(key);
	if (found)
		*cleaning = *found;
	LWLockRelease(shmem_lock(LOCK_CLEANINGS));
	return found != NULL;
}

/*
 * A free place, or that of the table which is looked at again soonest: what is
 * forgotten of it is found out again before that of the others would be.  What
 * somebody has set is kept as long as there is anything else.
 */
static Cleaning *
make_room(void)
{
	Cleaning   *victim = NULL;

	for (int i = 0; i < SWEEP_CLEANINGS_LIMIT; i++)
	{
		Cleaning   *c = place(i);

		if (c->kind == CLEANING_NONE)
		{
			if (i >= places_known())
				pg_atomic_write_u32(&sweep_shared->cleanings.known, i + 1);
			return c;
		}
		if (victim == NULL || (victim->wanted && !c->wanted) ||
			(victim->wanted == c->wanted && c->not_before < victim->not_before))
			victim = c;
	}
	return victim;
}

void
cleaning_put(const Cleaning *cleaning)
{
	Cleaning   *to;

	LWLockAcquire(shmem_lock(LOCK_CLEANINGS), LW_EXCLUSIVE);
	to = find(cleaning->key);
	if (to == NULL)
		to = make_room();
	*to = *cleaning;
	LWLockRelease(shmem_lock(LOCK_CLEANINGS));
}

void
cleaning_forget(bool (*keep) (const Cleaning *cleaning, void *arg), void *arg)
{
	LWLockAcquire(shmem_lock(LOCK_CLEANINGS), LW_EXCLUSIVE);
	for (int i = 0; i < places_known(); i++)
	{
		Cleaning   *c = place(i);

		if (c->kind != CLEANING_NONE && !keep(c, arg))
			c->kind = CLEANING_NONE;
	}
	LWLockRelease(shmem_lock(LOCK_CLEANINGS));
}

Cleaning *
cleanings_copy(int *count)
{
	Cleaning   *copy;
	int			n = 0;

	copy = palloc(sizeof(Cleaning) * SWEEP_CLEANINGS_LIMIT);
	LWLockAcquire(shmem_lock(LOCK_CLEANINGS), LW_SHARED);
	for (int i = 0; i < places_known(); i++)
	{
		if (place(i)->kind != CLEANING_NONE)
			copy[n++] = *place(i);
	}
	LWLockRelease(shmem_lock(LOCK_CLEANINGS));
	*count = n;
	return copy;
}

void
cleanings_set_back(int64 us)
{
	LWLockAcquire(shmem_lock(LOCK_CLEANINGS), LW_EXCLUSIVE);
	for (int i = 0; i < places_known(); i++)
	{
		clock_move(&place(i)->last_at, us);
		clock_move(&place(i)->not_before, us);
	}
	LWLockRelease(shmem_lock(LOCK_CLEANINGS));
}

/* ----
 * The launcher
 * ----
 */

/* What it needs of each table that is known. */
typedef struct KnownTable
{
	DecisionKey key;
	bool		wanted;
	bool		again;
	bool		waits;
	int64		dead;
} KnownTable;

static KnownTable known[SWEEP_CLEANINGS_LIMIT];
static int	known_count = 0;
static int64 least = -1;

void
cleanings_begin_round(TimestampTz now)
{
	known_count = 0;
	least = sweep_cleaner ? CLEAN_LEAST_ROWS : -1;
	if (places_known() == 0)
		return;
	LWLockAcquire(shmem_lock(LOCK_CLEANINGS), LW_SHARED);
	for (int i = 0; i < places_known(); i++)
	{
		const Cleaning *c = place(i);
		KnownTable *k = &known[known_count];

		if (c->kind == CLEANING_NONE)
			continue;
		k->key = c->key;
		k->wanted = c->wanted;
		k->again = c->again;
		k->waits = now < c->not_before;
		k->dead = c->dead;
		known_count++;
		if (c->wanted)
			least = CLEAN_LEAST_ROWS;
	}
	LWLockRelease(shmem_lock(LOCK_CLEANINGS));
}

int64
cleanings_least(void)
{
	return least;
}

static const KnownTable *
find_known(DecisionKey key)
{
	for (int i = 0; i < known_count; i++)
	{
		if (same_table(known[i].key, key))
			return &known[i];
	}
	return NULL;
}

bool
cleanings_are_due(DecisionKey key, int64 dead, int64 live, double *threshold)
{
	const KnownTable *k = find_known(key);

	*threshold = clean_threshold((double) live);
	if (sweep_cleaner_scan_rate == 0 || (double) dead <= *threshold)
		return false;
	if (k == NULL)
		return sweep_cleaner && live >= LEAST_LIVE;
	if ((!sweep_cleaner && !k->wanted) || k->waits)
		return false;

	/* where somebody has vacuumed it, the count begins anew */
	if (dead >= k->dead && !k->again)
		*threshold += k->dead;
	return (double) dead > *threshold;
}

/* ----
 * Workers
 * ----
 */

static bool cleaning_now = false;

bool
cleanings_have_room(void)
{
	return pg_atomic_read_u32(&sweep_shared->cleanings.running) == 0;
}

static void
give_back(int code, Datum arg)
{
	cleanings_end();
}

bool
cleanings_begin(void)
{
	static bool registered = false;
	uint32		nobody = 0;

	if (!registered)
		before_shmem_exit(give_back, (Datum) 0);
	registered = true;
	cleaning_now = pg_atomic_compare_exchange_u32(&sweep_shared->cleanings.running, &nobody, 1);
	return cleaning_now;
}

void
cleanings_end(void)
{
	if (cleaning_now)
		pg_atomic_write_u32(&sweep_shared->cleanings.running, 0);
	cleaning_now = false;
}
