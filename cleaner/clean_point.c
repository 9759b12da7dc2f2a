/*
 * clean_point.c
 *		Points at which a test has the server crash, or an error raised.
 *
 * A test writes what is to happen into the file "clean_point" of the data
 * directory: a point's name, how often it must be passed, and one of
 *
 * kill			this process is killed, and the server recovers from that.  What
 *				was logged since the last flush is lost.
 * flush		as kill, but all that was logged is flushed before
 * checkpoint	as kill, but after a checkpoint.  No page may be locked there.
 * error		an error is raised.  Not in a critical section.
 *
 * The file is read each time, since that costs only tests something.  It is
 * removed before anything happens, so that nothing happens twice.  A point may
 * be in a critical section, so no memory is allocated here.
 *
 * test/t/051_clean_points.pl and 052_clean_cases.pl use it.
 */
#include "clean_point.h"

#ifdef CLEAN_POINTS

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_control.h"
#include "postmaster/bgwriter.h"

#include "clean_compat.h"

#define POINT_FILE		"clean_point"
#define ORDER_LEN		128

static bool
read_order(char *order)
{
	int			file = open(POINT_FILE, O_RDONLY);
	ssize_t		length;

	if (file < 0)
		return false;
	length = read(file, order, ORDER_LEN - 1);
	close(file);
	order[Max(length, 0)] = '\0';
	return length > 0;
}

/* A record of our own, because a position that has none cannot be flushed. */
static void
flush_log(void)
{
	char		nothing = 0;

	XLogBeginInsert();
	XLogRegisterData(&nothing, sizeof(nothing));
	XLogFlush(XLogInsert(RM_XLOG_ID, XLOG_NOOP));
}

void
clean_point(const char *name)
{
	static char counted[ORDER_LEN];
	static int	passes;
	char		order[ORDER_LEN];
	char		point[ORDER_LEN];
	char		action[ORDER_LEN];
	int			wanted;

	if (!read_order(order) || sscanf(order, "%s %d %s", point, &wanted, action) != 3 ||
		strcmp(point, name) != 0)
		return;
	if (strcmp(order, counted) != 0)
	{
		strcpy(counted, order);
		passes = 0;
	}
	if (++passes < wanted)
		return;
	counted[0] = '\0';
	unlink(POINT_FILE);

	if (strcmp(action, "error") == 0)
		elog(ERROR, "an error at the point \"%s\"", name);
	if (strcmp(action, "flush") == 0)
		flush_log();
	if (strcmp(action, "checkpoint") == 0)
		RequestCheckpoint(COMPAT_CHECKPOINT_FAST | CHECKPOINT_FORCE | CHECKPOINT_WAIT);
	kill(getpid(), SIGKILL);
}

#endif							/* CLEAN_POINTS */
