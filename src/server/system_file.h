/*
 * system_file.h
 *		Small files of /proc and /sys.
 */
#ifndef SWEEP_SYSTEM_FILE_H
#define SWEEP_SYSTEM_FILE_H

#include "postgres.h"

/*
 * The path below the directory that the environment variable
 * PG_SWEEP_SENSOR_ROOT names: tests of the whole server put files there.  It is
 * the postmaster's, so only who starts the server can set it.  real has
 * MAXPGPATH bytes; returned.
 */
extern const char *system_path(const char *path, char *real);

/*
 * The beginning of a small file of /proc or /sys, with a null byte at its end; negative, and
 * errno, when it cannot be read.
 */
extern int	system_file_read(const char *path, char *buffer, size_t size);

#endif							/* SWEEP_SYSTEM_FILE_H */
