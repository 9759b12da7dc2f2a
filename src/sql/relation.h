/*
 * relation.h
 *		What the catalogs tell of one relation, without SQL.
 */
#ifndef SWEEP_RELATION_H
#define SWEEP_RELATION_H

#include "postgres.h"

#include "exported.h"
#include "sql/row.h"

typedef struct RelationNames
{
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
} RelationNames;

/*
 * Returns the names that are known, or else those that the catalogs of this
 * database have.  They are "" where there are none.  An invalid dboid means a
 * shared catalog.
 */
extern RelationNames relation_names(Oid dboid, Oid relid,
									const char *schemaname, const char *relname);

/* The same as two columns. */
extern PGDLLEXPORT void relation_put_names(Row *row, Oid dboid, Oid relid,
										   const char *schemaname, const char *relname);

#endif							/* SWEEP_RELATION_H */
