/*
 * wal_disk.c
 *		Is the file system of WAL nearly full?
 *
 * Runs in the launcher, once a round, because the governor looks only while
 * there is something to divide.  Then no vacuum of ours may write WAL.
 */
#include "launcher/wal_disk.h"

#include <sys/statvfs.h>

#include "access/xlog.h"
#include "miscadmin.h"

#include "policy/wal_room.h"
#include "shmem.h"

bool
wal_disk_is_full(void)
{
	char		path[MAXPGPATH];
	struct statvfs fs;
	double		left;
	bool		was_full = pg_atomic_read_u32(&sweep_shared->wal_left_mb) != WAL_LEFT_ENOUGH;
	bool		full;

	snprintf(path, sizeof(path), "%s/pg_wal", DataDir);
	if (statvfs(path, &fs) != 0)
		return false;			/* the governor says so */
	/* what is kept for root is not there for the server */
	left = (double) fs.f_bavail * fs.f_frsize;
	full = wal_room_is_short(left, (double) fs.f_blocks * fs.f_frsize, wal_segment_size, was_full);
	pg_atomic_write_u32(&sweep_shared->wal_left_mb, full ? (uint32) (left / (1024 * 1024)) : WAL_LEFT_ENOUGH);
	return full;
}
