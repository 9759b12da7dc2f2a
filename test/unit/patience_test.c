/*
 * patience_test.c
 *		policy/patience.  A worker whose lock is wanted is cancelled after 0.1
 *		s and ended a second after that.  One that has to leave is ended after
 *		0.5 s.
 */
#include "patience.h"
#include "tap.h"

static const struct
{
	const char *name;
	int64_t		ms;
	int64_t		cancelled_ms;
	int64_t		again_ms;
	PatienceStep holder;
	PatienceStep waiter;
}			cases[] = {
	{"nobody waits", -1, -1, -1, PATIENCE_WAIT, PATIENCE_WAIT},
	{"nobody waits any more", -1, 2000, 2000, PATIENCE_WAIT, PATIENCE_WAIT},
	{"a wait has begun", 0, -1, -1, PATIENCE_WAIT, PATIENCE_WAIT},
	{"it may be over soon", 99, -1, -1, PATIENCE_WAIT, PATIENCE_WAIT},
	{"it was long enough for a user", 100, -1, -1, PATIENCE_CANCEL, PATIENCE_WAIT},
	{"cancelled just now", 150, 50, 50, PATIENCE_WAIT, PATIENCE_WAIT},
	{"the cancel may have been lost", 600, 500, 500, PATIENCE_CANCEL, PATIENCE_WAIT},
	{"cancelled again", 650, 550, 50, PATIENCE_WAIT, PATIENCE_WAIT},
	{"not ignored for long enough", 1099, 999, 500, PATIENCE_CANCEL, PATIENCE_WAIT},
	{"ignored", 1100, 1000, 0, PATIENCE_TERMINATE, PATIENCE_WAIT},
	{"another one waits, after the cancel", 100, 1000, 0, PATIENCE_TERMINATE, PATIENCE_WAIT},
	{"a worker waits longer than its lock_timeout", 9999, -1, -1, PATIENCE_CANCEL, PATIENCE_WAIT},
	{"twice as long", 10000, -1, -1, PATIENCE_CANCEL, PATIENCE_CANCEL},
	{"and ignores the cancel", 11000, 1000, 250, PATIENCE_TERMINATE, PATIENCE_TERMINATE},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		tap_is_int(patience_with_holder(false, cases[i].ms, cases[i].cancelled_ms, cases[i].again_ms),
				   cases[i].holder, cases[i].name, "holder");
		tap_is_int(patience_with_waiter(cases[i].ms, cases[i].cancelled_ms, cases[i].again_ms),
				   cases[i].waiter, cases[i].name, "waiter");
	}
	tap_is_int(patience_with_holder(true, 1999, -1, -1), PATIENCE_WAIT, "a patient vacuum", "leaves it to deadlock_timeout");
	tap_is_int(patience_with_holder(true, 2000, -1, -1), PATIENCE_CANCEL, "a patient vacuum", "but not for ever");
	tap_is_int(patience_with_leaver_is_over(false, 0), 1, "one that is just connecting leaves at once", "");
	tap_is_int(patience_with_leaver_is_over(true, 0), 0, "one that works may end by itself", "");
	tap_is_int(patience_with_leaver_is_over(true, 499), 0, "for a moment", "");
	tap_is_int(patience_with_leaver_is_over(true, 500), 1, "no longer", "");
	tap_is_int(patience_with_starter_is_over(9999), 0, "connecting may wait for locks", "");
	tap_is_int(patience_with_starter_is_over(10000), 1, "but not for ever", "");
	tap_is_int(patience_is_in_vain(1999), 0, "SIGTERM takes its time", "");
	tap_is_int(patience_is_in_vain(2000), 1, "it was in vain", "");
	return tap_done();
}
