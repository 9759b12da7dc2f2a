/*
 * members.c
 *		How many multixact members there are: those between the first member of
 *		the oldest multixact and the next one to be made.
 *
 * Before 19 the server does not tell the former, but
 * pg_multixact/offsets has it, as soon as a checkpoint has written that page.
 */
#include "server/members.h"

#include <fcntl.h>

#include "access/multixact.h"
#include "access/slru.h"
#include "access/transam.h"
#include "storage/fd.h"

#include "server/compat.h"

#define OFFSETS_PER_PAGE	(BLCKSZ / sizeof(uint32))
#define OFFSETS_PER_SEGMENT	(OFFSETS_PER_PAGE * SLRU_PAGES_PER_SEGMENT)

/* Where the members of a multixact begin, or 0: that is not on disk. */
static uint32
offset_of(MultiXactId multi)
{
	char		path[MAXPGPATH];
	uint32		offset = 0;
	int			file;

	snprintf(path, sizeof(path), "pg_multixact/offsets/%04X", (unsigned) (multi / OFFSETS_PER_SEGMENT));
	file = OpenTransientFile(path, O_RDONLY | PG_BINARY);
	if (file < 0)
		return 0;
	if (pg_pread(file, &offset, sizeof(offset),
				 (off_t) (multi % OFFSETS_PER_SEGMENT * sizeof(offset))) != sizeof(offset))
		offset = 0;
	(void) CloseTransientFile(file);
	return offset;
}

Members
members_read(void)
{
	Members		members = {0};
	MultiXactId next;
	MultiXactId oldest;
	uint64		first;

	if (compat_members(&next, &oldest, &members.next, &first))
		members.used = (int64) (members.next - first);
	else if (next != oldest)
	{
		first = offset_of(oldest);
		members.used = first == 0 ? -1 : (int64) (uint32) (members.next - first);
	}
	return members;
}
