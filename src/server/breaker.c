/*
 * breaker.c
 *		The circuit breaker: pg_sweep switches itself off when its processes
 *		keep crashing the server.
 *
 * A crash of any process makes the postmaster throw shared memory away and
 * start anew.  Who is to blame says so itself: a signal of a crash is caught
 * where our code runs, and a handler makes a note in shared memory before the
 * process dies of it.  That is in all processes of pg_sweep, and in others as
 * long as they are inside our hooks.  SIGKILL cannot be caught, and is no
 * crash of ours: the OOM killer sends it, and the postmaster to processes that
 * do not quit within five seconds.
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

/*
 * The signals of a crash.  PANIC and a failed assertion end in SIGABRT.
 * SIGFPE is not among them: the server makes an ERROR of it.
 */
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT};

static struct sigaction before_us[lengthof(crash_signals)];
static volatile sig_atomic_t inside = 0;	/* our code runs */
static bool own = false;		/* in a process of ours, always */

/* for a stack that has overflown */
static char handler_stack[64 * 1024];

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

	bad = sweep_shared->crashed;
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
 * The process dies of the signal after this, as if nobody had caught it.  A
 * fault is met again at once.  A signal that was sent has to be sent again.
 */
static void
crash_handler(int signo, siginfo_t *info, void *context)
{
	if (inside && sweep_shared != NULL)
		sweep_shared->crashed = true;
	for (int i = 0; i < lengthof(crash_signals); i++)
	{
		if (crash_signals[i] == signo)
			(void) sigaction(signo, &before_us[i], NULL);
	}
	if (info->si_code <= 0)
		(void) raise(signo);
}

static void
catch_crashes(void)
{
	static bool caught = false;
	struct sigaction action = {0};
	stack_t		stack = {0};

	if (caught)
		return;
	caught = true;
	stack.ss_sp = handler_stack;
	stack.ss_size = sizeof(handler_stack);
	(void) sigaltstack(&stack, NULL);
	action.sa_sigaction = crash_handler;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < lengthof(crash_signals); i++)
		(void) sigaction(crash_signals[i], &action, &before_us[i]);
}

void
breaker_own_process(void)
{
	catch_crashes();
	own = true;
	inside = 1;
}

int
breaker_enter(void)
{
	int			before = inside;

	catch_crashes();
	inside = 1;
	return before;
}

void
breaker_leave(int before)
{
	inside = own || before;
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
