/*
 * buffer_scan.c
 *		Changed pages of some tables that are in shared buffers.
 *
 * It reads the headers of buffers without a lock, as core does where it looks
 * for the pages of a table that is dropped.  The state is one atomic word.
 * The tag may be changing just now, and may be taken for that of another page.
 * So whoever wants the page pins it and looks again (ReadRecentBuffer).
 */
#include "server/buffer_scan.h"

#include "miscadmin.h"
#include "storage/buf_internals.h"

#include "server/compat.h"

/* Which of the files is it?  -1 for none. */
static int
find_file(BufferScanFile wanted, const BufferScanFile *files, int nfiles)
{
	int			low = 0;
	int			high = nfiles - 1;

	while (low <= high)
	{
		int			middle = low + (high - low) / 2;

		if (files[middle] == wanted)
			return middle;
		if (files[middle] < wanted)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return -1;
}

static bool
is_changed(uint64 state)
{
	uint64		wanted = BM_TAG_VALID | BM_VALID | BM_DIRTY | BM_PERMANENT;

	return (state & wanted) == wanted;
}

void
buffer_scan(int first, int count, const BufferScanFile *files, int nfiles,
			BufferScanSink sink, void *arg)
{
	int			end = Min(first + count, NBuffers);

	for (int i = first; i < end; i++)
	{
		BufferDesc *desc = GetBufferDescriptor(i);
		BufferTag	tag;
		int			file;

		if (!is_changed(compat_buffer_state(desc)))
			continue;
		tag = desc->tag;
		if (compat_tag_database(&tag) != MyDatabaseId || compat_tag_fork(&tag) != MAIN_FORKNUM)
			continue;
		file = find_file(compat_tag_file(&tag), files, nfiles);
		if (file >= 0)
			sink(file, tag.blockNum, i + 1, arg);
	}
}

/* Core's function starts a new count of allocations only if it is asked for one. */
int
buffer_scan_hand(void)
{
	return StrategySyncStart(NULL, NULL);
}
