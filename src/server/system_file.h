/*
 * system_file.h
 *		Small files of /proc and /sys.
 */
#ifndef SWEEP_SYSTEM_FILE_H
#define SWEEP_SYSTEM_FILE_H

#include "postgres.h"

/*
 * The path below the directory that sweep.debug_sensor_root names: tests of
 * the whole server put files there.  real has MAXPGPATH bytes.  It is
 * returned.
 */
extern const char *system_path(const char *path, char *real);

/*
 * The beginning of a small file of /proc or /sys, with a null byte at its end; negative, and
 * errno, when it cannot be read.
 */
extern int	system_file_read(const char *path, char *buffer, size_t size);

#endif							/* SWEEP_SYSTEM_FILE_H */
