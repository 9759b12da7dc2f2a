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
 * Processors that the server may use: those that are online and that it may
 * run on, and no more than the quota of its group and of those above it.
 * Containers often have less than their machine.
 */
extern double control_group_processors(void);

#endif							/* SWEEP_CONTROL_GROUP_H */
