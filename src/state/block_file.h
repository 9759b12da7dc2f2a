/*
 * block_file.h
 *		A file of blocks with checksums in pg_stat/, which one process appends
 *		to and now and then writes anew.
 */
#ifndef SWEEP_BLOCK_FILE_H
#define SWEEP_BLOCK_FILE_H

#include "postgres.h"

#include <sys/types.h>

#include "port/pg_crc32c.h"

/* Of the process that writes the file. */
typedef struct BlockFile
{
	const char *path;
	const char *tmp_path;
	const char *bad_path;
	off_t		good_end;		/* up to here it is known to be good, or -1:
								 * it must be written anew */
	/* what is being written */
	int			fd;
	bool		anew;
	off_t		end;
} BlockFile;

#define BLOCK_FILE(path)	{(path), path ".tmp", path ".bad", -1, -1, false, 0}

/* Of a block's header and of what follows it. */
extern pg_crc32c block_file_crc(const void *header, Size header_size, const void *data, Size size);

/*
 * Renames a file that cannot be used to name, with a WARNING.  What is done instead is
 * said in the detail.
 */
extern void block_file_set_aside(const BlockFile *file, const char *name, const char *reason,
								 const char *instead);

/*
 * Begins to write, at the file's end or anew.  Anew it writes to another file,
 * which takes the place of the first when all is written.  At the end is
 * possible only where the file ends as it was left.  false: errno tells.
 */
extern bool block_file_can_append(const BlockFile *file);
extern bool block_file_begin(BlockFile *file, bool anew);

extern bool block_file_write(BlockFile *file, const void *data, Size size);

/*
 * Ends it, durably.  With ok all has gone well as far as the caller knows.
 * After a failure the file is what it was before.  false: errno tells.
 */
extern bool block_file_end(BlockFile *file, bool ok);

#endif							/* SWEEP_BLOCK_FILE_H */
