/*
 * table_settings.h
 *		What somebody has set for one table, by sweep.set().
 */
#ifndef SWEEP_TABLE_SETTINGS_H
#define SWEEP_TABLE_SETTINGS_H

#include "postgres.h"

#include "catalog/pg_class.h"
#include "utils/hsearch.h"

/* In bytes.  sweep.set() takes no longer value, and none longer is read. */
#define TABLE_SETTING_VALUE_LIMIT	256

typedef enum TableSettingName
{
	TABLE_MIN_INTERVAL,			/* seconds */
	TABLE_ENABLED,
	TABLE_VACUUM_THRESHOLD,
	TABLE_VACUUM_SCALE_FACTOR,
	TABLE_INSERT_THRESHOLD,		/* -1: no insert vacuums */
	TABLE_INSERT_SCALE_FACTOR,
	TABLE_INSERT_CACHE_FRACTION,
	TABLE_CHECKPOINT_AWARE,
	TABLE_EAGER_FREEZE,
	TABLE_CLEANER,
	TABLE_SETTING_COUNT
} TableSettingName;

typedef struct TableSettings
{
	Oid			relid;			/* hash key */
	bool		is_set[TABLE_SETTING_COUNT];
	double		values[TABLE_SETTING_COUNT];	/* 0 or 1 for a switch */
} TableSettings;

/* The table's own value, or else the other one.  own may be NULL. */
static inline double
table_setting(const TableSettings *own, TableSettingName name, double otherwise)
{
	return own != NULL && own->is_set[name] ? own->values[name] : otherwise;
}

static inline bool
table_switch(const TableSettings *own, TableSettingName name, bool otherwise)
{
	return own != NULL && own->is_set[name] ? own->values[name] != 0 : otherwise;
}

/* What is set in this database. */
typedef struct DatabaseSettings
{
	HTAB	   *tables;			/* TableSettings by table */
	HTAB	   *shards;			/* of those of them that Citus distributes
								 * (NULL: none), see server/shards.h */
} DatabaseSettings;

/*
 * Reads the settings of all tables in this database, in the current memory
 * context.  NULL if there are none.  The caller is in a transaction.
 */
extern DatabaseSettings *table_settings_read(void);
extern void table_settings_free(DatabaseSettings *all);

/*
 * Those of one table, or NULL.  A shard of Citus has those of its distributed
 * table, but for what is set for the shard itself.  all may be NULL.
 */
extern const TableSettings *table_settings_find(DatabaseSettings *all, Form_pg_class table);
extern const TableSettings *table_settings_by_oid(DatabaseSettings *all, Oid relid);

/* The extension's table sweep.table_settings, or InvalidOid. */
extern Oid	table_settings_relation(void);

/* -1: there is no such setting. */
extern int	table_setting_by_name(const char *name);
extern bool table_setting_parse(TableSettingName setting, const char *value, double *number);

/* For messages, palloc'd. */
extern char *table_setting_range(TableSettingName setting);
extern char *table_setting_names(void);

#endif							/* SWEEP_TABLE_SETTINGS_H */
