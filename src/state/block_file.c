/*
 * block_file.c
 *		A file of blocks with checksums in pg_stat/, which one process appends
 *		to and now and then writes anew.
 *
 * What is new is appended and flushed.  A crash may leave a last block that is
 * not whole, which is cut off when the file is read.  Anew the file is written
 * to a temporary name, flushed and renamed durably, so a crash leaves the old
 * file or the new one.  What a block is made of is the caller's matter.
 *
 * Launcher only.  Nothing here raises an error.
 */
#include "state/block_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/fd.h"

pg_crc32c
block_file_crc(const void *header, Size header_size, const void *data, Size size)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, header, header_size);
	COMP_CRC32C(crc, data, size);
	FIN_CRC32C(crc);
	return crc;
}

void
block_file_set_aside(const BlockFile *file, const char *name, const char *reason,
					 const char *instead)
{
	ereport(WARNING,
			(errmsg("pg_sweep: file \"%s\" is not used: %s", file->path, reason),
			 errdetail("It is set aside as \"%s\"; %s.", name, instead)));
	if (rename(file->path, name) != 0)
		ereport(WARNING,
				(errcode_for_file_access(),
				 errmsg("pg_sweep: could not rename file \"%s\": %m", file->path)));
}

bool
block_file_can_append(const BlockFile *file)
{
	struct stat st;

	return file->good_end >= 0 && stat(file->path, &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_size == file->good_end;
}

bool
block_file_begin(BlockFile *file, bool anew)
{
	file->anew = anew;
	file->end = anew ? 0 : file->good_end;
	file->fd = anew ? OpenTransientFile(file->tmp_path, O_CREAT | O_TRUNC | O_WRONLY | PG_BINARY) :
		OpenTransientFile(file->path, O_WRONLY | O_APPEND | PG_BINARY);
	return file->fd >= 0;
}

/* write() that says ENOSPC where it wrote less than asked for. */
bool
block_file_write(BlockFile *file, const void *data, Size size)
{
	errno = 0;
	if (write(file->fd, data, size) == (ssize_t) size)
	{
		file->end += size;
		return true;
	}
	if (errno == 0)
		errno = ENOSPC;
	return false;
}

bool
block_file_end(BlockFile *file, bool ok)
{
	int			save_errno = errno;

	if (ok && pg_fsync(file->fd) != 0)
	{
		ok = false;
		save_errno = errno;
	}
	/* what was not written whole is taken back, or the file is written anew */
	if (!ok && !file->anew && ftruncate(file->fd, file->good_end) != 0)
		file->good_end = -1;
	if (CloseTransientFile(file->fd) != 0 && ok)
	{
		ok = false;
		save_errno = errno;
		file->good_end = file->anew ? file->good_end : -1;
	}
	file->fd = -1;
	if (ok && file->anew && durable_rename(file->tmp_path, file->path, LOG) != 0)
	{
		ok = false;
		save_errno = errno;
	}
	if (ok)
		file->good_end = file->end;
	else if (file->anew)
		(void) unlink(file->tmp_path);
	errno = save_errno;
	return ok;
}
