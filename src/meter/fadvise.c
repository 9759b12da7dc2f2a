/*
 * fadvise.c
 *		What the kernel reads ahead of this process's vacuum.
 *
 * When, is policy/readahead.  How: posix_fadvise(POSIX_FADV_RANDOM) on all files
 * that this process has open.  They are its own: a worker of ours does nothing
 * else.  The kernel goes by that when a page is missing, so a file is told before
 * it is first read.  What is being read ahead already goes on by itself: each page
 * that was marked for it brings the next ones.  Only pages that are not there any
 * more end it, so those ahead of the scan are dropped.
 *
 * The tick is a signal handler, and these are system calls only.  It does nothing
 * where the device reads little ahead, as most do.
 */
#include "meter/fadvise.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "access/genam.h"
#include "access/relation.h"
#include "access/xact.h"
#include "commands/progress.h"
#include "fmgr.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"

#include "server/peek.h"
#include "policy/readahead.h"
#include "server/system_file.h"

#ifdef USE_POSIX_FADVISE

/* no file beyond so many numbers in a row that are none */
#define FILES_GAP		64
#define FIRST_FILE		3

/* what is dropped, and how often: a page that is just being read cannot be */
#define DROP_WINDOWS	2
#define DROPS			3

static volatile double window = 0;	/* bytes, or 0: the tick does nothing */
static ReadaheadState state;
static bool is_off = false;		/* as the files were told last */
static int	drops_left = 0;
static char heap_path[MAXPGPATH];	/* of the first segment */

/*
 * How many bytes the kernel reads ahead on the file's device, or on the disk
 * that this is a part of.  0 if that is not known.
 */
static double
window_of(const char *path)
{
	static const char *const places[] = {
		"/sys/class/bdi/%u:%u/read_ahead_kb",
		"/sys/dev/block/%u:%u/queue/read_ahead_kb",
		"/sys/dev/block/%u:%u/../queue/read_ahead_kb",
	};
	struct stat st;

	if (stat(path, &st) != 0)
		return 0;
	for (int i = 0; i < lengthof(places); i++)
	{
		char		name[MAXPGPATH];
		char		text[32];

		snprintf(name, sizeof(name), places[i], major(st.st_dev), minor(st.st_dev));
		if (system_file_read(name, text, sizeof(text)) > 0)
			return atof(text) * 1024;
	}
	return 0;
}

static void
tell_files(bool off)
{
	int			gap = 0;

	for (int fd = FIRST_FILE; gap < FILES_GAP; fd++)
	{
		int			rc = posix_fadvise(fd, 0, 0, off ? POSIX_FADV_RANDOM : POSIX_FADV_NORMAL);

		gap = rc == EBADF ? gap + 1 : 0;
	}
	is_off = off;
}

/*
 * All segments but the first have a number.  A signal handler must not call
 * snprintf().
 */
static void
segment_path(unsigned segment, char *path)
{
	char		digits[16];
	int			n = 0;

	strlcpy(path, heap_path, MAXPGPATH);
	if (segment == 0)
		return;
	path += strlen(path);
	*path++ = '.';
	for (; segment > 0; segment /= 10)
		digits[n++] = '0' + segment % 10;
	while (n > 0)
		*path++ = digits[--n];
	*path = '\0';
}

/* Where the scan of the table is.  Returns false in another phase. */
static bool
find_position(BlockNumber *block)
{
	volatile PgBackendStatus *me = MyBEEntry;

	if (me == NULL || me->st_progress_command != PROGRESS_COMMAND_VACUUM ||
		me->st_progress_param[PROGRESS_VACUUM_PHASE] != PROGRESS_VACUUM_PHASE_SCAN_HEAP)
		return false;
	*block = (BlockNumber) me->st_progress_param[PROGRESS_VACUUM_HEAP_BLKS_SCANNED] + 1;
	return true;
}

static void
drop_ahead(void)
{
	char		path[MAXPGPATH + 16];
	BlockNumber block;
	int			fd;

	if (!find_position(&block))
		return;
	segment_path(block / RELSEG_SIZE, path);
	fd = open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void) posix_fadvise(fd, (off_t) (block % RELSEG_SIZE) * BLCKSZ,
						 (off_t) (window * DROP_WINDOWS), POSIX_FADV_DONTNEED);
	close(fd);
}

void
fadvise_tick(double dt_s, double allowed, double used, bool naps)
{
	ReadaheadStep step = {dt_s, window, allowed, used, naps};
	int			save_errno = errno;
	bool		off;

	if (window <= 0)
		return;
	off = readahead_step(&state, &step);
	if (off && !is_off)
		drops_left = DROPS;

	/*
	 * again and again while it is off: the server opens files as it needs
	 * them
	 */
	if (off || is_off)
		tell_files(off);
	if (off && drops_left > 0)
	{
		drops_left--;
		drop_ahead();
	}
	errno = save_errno;
}

static void
open_files(Relation rel, void *arg)
{
	if (RELKIND_HAS_STORAGE(rel->rd_rel->relkind) &&
		smgrexists(RelationGetSmgr(rel), MAIN_FORKNUM))
		(void) smgrnblocks(RelationGetSmgr(rel), MAIN_FORKNUM);
}

static void
open_indexes(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	foreach(lc, indexes)
		(void) peek(lfirst_oid(lc), open_files, NULL);
	list_free(indexes);
}

static void
look_at_table(Relation rel, void *found)
{
	Datum		path = DirectFunctionCall1(pg_relation_filepath, ObjectIdGetDatum(RelationGetRelid(rel)));

	text_to_cstring_buffer(DatumGetTextPP(path), heap_path, sizeof(heap_path));
	*(double *) found = window_of(heap_path);
	if (*(double *) found > READAHEAD_HARMLESS)
	{
		open_files(rel, NULL);
		open_indexes(rel);
	}
}

bool
fadvise_begin(Oid relid)
{
	double		found = 0;

	fadvise_end();
	StartTransactionCommand();
	if (peek(relid, look_at_table, &found) != PEEK_SEEN)
		found = 0;
	CommitTransactionCommand();
	if (found <= READAHEAD_HARMLESS)
		return false;
	memset(&state, 0, sizeof(state));
	state.off = true;
	drops_left = 0;
	tell_files(true);
	window = found;
	return true;
}

void
fadvise_end(void)
{
	window = 0;
	if (is_off)
		tell_files(false);
}

#else							/* !USE_POSIX_FADVISE */

bool
fadvise_begin(Oid relid)
{
	return false;
}

void
fadvise_end(void)
{
}

void
fadvise_tick(double dt_s, double allowed, double used, bool naps)
{
}

#endif							/* USE_POSIX_FADVISE */
