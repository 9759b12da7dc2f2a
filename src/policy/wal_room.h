/*
 * policy/wal_room.h
 *		Is the file system of WAL nearly full?  Pure.
 */
#ifndef SWEEP_POLICY_WAL_ROOM_H
#define SWEEP_POLICY_WAL_ROOM_H

#include <stdbool.h>

/*
 * was_short: it was when it was looked at last.  It is until there is twice as
 * much room.  All in bytes.
 */
extern bool wal_room_is_short(double left, double size, double segment, bool was_short);

#endif							/* SWEEP_POLICY_WAL_ROOM_H */
