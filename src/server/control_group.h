/*
 * control_group.h
 *		What the kernel tells of the server's own control group: see cgroups(7).
 */
#ifndef SWEEP_CONTROL_GROUP_H
#define SWEEP_CONTROL_GROUP_H

#include "postgres.h"

/*
 * The path of a file of the server's group in the unified hierarchy, to be
 * read with system_file_read().  Returns false if there is none.
 */
extern bool control_group_file(const char *name, char *path, size_t size);

/*
 * Processors that the quota of the server's group lets it use, or the least one
 * of those above it.  Infinite if there is none.
 */
extern double control_group_quota(void);

/*
 * How much processor time the group with that quota has used, in ms.  Negative
 * if the kernel does not tell.
 */
extern double control_group_used_ms(void);

/*
 * Processors that the server may use: those that are online and that it may
 * run on, and no more than the quota of its group and of those above it.
 * Containers often have less than their machine.
 */
extern double control_group_processors(void);

#endif							/* SWEEP_CONTROL_GROUP_H */
