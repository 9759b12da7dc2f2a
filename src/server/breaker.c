/*
 * breaker.c
 *		The circuit breaker: pg_sweep switches itself off when its processes
 *		keep crashing the server.
 *
 * A crash of any process makes the postmaster throw shared memory away and
 * start anew.  Just before, in the postmaster's on_shmem_exit, this looks for
 * the process that is to blame.  It is a pg_sweep process whose mark is still
 * there and which was not told to quit.  (The postmaster tells all other
 * processes to quit, with SIGQUIT.)  Or it is a process that died while it
 * wrote its meter.
 *
 * Shared memory does not survive.  So the verdict on this server start goes
 * into a small file.  If at the next start three of the last five are bad,
 * pg_sweep stays off until sweep.rearm().
 *
 * All this runs in the postmaster: plain system calls, no allocation, no
 * ERROR.  What cannot be read or written counts as no history, because a full
 * disk must not keep a server down.
 */
#include "server/breaker.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "utils/timestamp.h"

#include "shmem.h"

#define BREAKER_FILE		PGSTAT_STAT_PERMANENT_DIRECTORY "/pg_sweep.starts"
#define BREAKER_FILE_TMP	BREAKER_FILE ".tmp"
#define BREAKER_STARTS		5	/* how many are looked at */
#define BREAKER_CRASHES		3	/* how many of them switch it off */

/*
 * There is one letter per server start, the oldest first.  It says whether
 * the start ended in a crash of ours.
 */
#define START_BAD			'x'
#define START_GOOD			'.'

static ProcessMark *my_mark = NULL;

/*
 * Reads the history into a buffer of BREAKER_STARTS + 1 and returns its
 * length.
 */
static int
history_read(char *history)
{
	int			fd = open(BREAKER_FILE, O_RDONLY);
	int			length = 0;
	char		c;

	if (fd < 0)
		return 0;
	while (length < BREAKER_STARTS && read(fd, &c, 1) == 1 &&
		   (c == START_BAD || c == START_GOOD))
		history[length++] = c;
	close(fd);
	return length;
}

static void
history_write(const char *history, int length)
{
	int			fd = open(BREAKER_FILE_TMP, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	bool		ok;

	if (fd < 0)
		return;
	ok = write(fd, history, length) == length && fsync(fd) == 0;
	if (close(fd) == 0 && ok)
		ok = rename(BREAKER_FILE_TMP, BREAKER_FILE) == 0;
	if (!ok)
		(void) unlink(BREAKER_FILE_TMP);
}

static int
history_crashes(const char *history, int length)
{
	int			crashes = 0;

	for (int i = 0; i < length; i++)
		crashes += history[i] == START_BAD;
	return crashes;
}

static bool
mark_is_of_a_crash(const ProcessMark *mark)
{
	return mark->pid != 0 && !mark->quit;
}

/* Did one of our processes, or one in our code, end without saying goodbye? */
static bool
somebody_crashed(void)
{
	if (mark_is_of_a_crash(&sweep_shared->launcher_mark) ||
		mark_is_of_a_crash(&sweep_shared->governor_mark))
		return true;
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		if (mark_is_of_a_crash(&sweep_shared->worker_marks[i]))
			return true;
	}

	/* the count is odd if it died between the two ends of meter_write() */
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		if ((pg_atomic_read_u32(&sweep_meters[i].change) & 1) != 0)
			return true;
	}
	return false;
}

/*
 * The postmaster's on_shmem_exit callback.  Shared memory is still attached.
 */
static void
server_end(int code, Datum arg)
{
	char		history[BREAKER_STARTS + 1];
	int			length;
	bool		bad;

	if (MyProcPid != PostmasterPid || sweep_shared == NULL)
		return;

	/*
	 * while it is off nothing is learned, because only sweep.rearm() ends
	 * that
	 */
	if (pg_atomic_read_u32(&sweep_shared->breaker_tripped) != 0)
		return;

	bad = somebody_crashed();
	length = history_read(history);
	if (!bad && history_crashes(history, length) == 0)
		return;					/* the usual case writes nothing */

	if (length == BREAKER_STARTS)
		memmove(history, history + 1, --length);
	history[length++] = bad ? START_BAD : START_GOOD;
	history_write(history, length);
}

void
breaker_server_start(void)
{
	char		history[BREAKER_STARTS + 1];
	int			crashes;

	on_shmem_exit(server_end, (Datum) 0);

	crashes = history_crashes(history, history_read(history));
	pg_atomic_write_u32(&sweep_shared->recent_crashes, crashes);
	if (crashes < BREAKER_CRASHES)
		return;

	pg_atomic_write_u32(&sweep_shared->breaker_tripped, 1);
	pg_atomic_write_u32(&sweep_shared->metering, 0);
	ereport(WARNING,
			(errmsg("pg_sweep is off because its processes crashed in %d of the last %d server starts",
					crashes, BREAKER_STARTS),
			 errhint("Report the crash, then switch it on again with \"SELECT sweep.rearm()\".")));
}

/*
 * The postmaster tells us to quit because somebody else has crashed, not we.
 */
static void
quit_handler(SIGNAL_ARGS)
{
	if (my_mark)
		my_mark->quit = true;
	_exit(2);
}

/* before_shmem_exit would be too early: what runs after it may crash, too */
static void
process_end(int code, Datum arg)
{
	((ProcessMark *) DatumGetPointer(arg))->pid = 0;
}

void
breaker_mark_process(ProcessMark *mark)
{
	mark->quit = false;
	my_mark = mark;
	pqsignal(SIGQUIT, quit_handler);
	on_shmem_exit(process_end, PointerGetDatum(mark));
	mark->pid = MyProcPid;
}

bool
breaker_rearm(void)
{
	bool		was_off = pg_atomic_read_u32(&sweep_shared->breaker_tripped) != 0;

	if (unlink(BREAKER_FILE) != 0 && errno != ENOENT)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", BREAKER_FILE)));
	pg_atomic_write_u32(&sweep_shared->breaker_tripped, 0);
	pg_atomic_write_u32(&sweep_shared->recent_crashes, 0);
	pg_atomic_write_u32(&sweep_shared->metering, !shmem_is_off());
	return was_off;
}
