/*
 * wal_disk.h
 *		Is the file system of WAL nearly full?  Launcher only.
 */
#ifndef SWEEP_WAL_DISK_H
#define SWEEP_WAL_DISK_H

#include "postgres.h"

/* Looks, publishes what it finds, and returns it. */
extern bool wal_disk_is_full(void);

#endif							/* SWEEP_WAL_DISK_H */
