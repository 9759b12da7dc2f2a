/*
 * policy/host_share.h
 *		How much of its limits a server may use while others of the same
 *		machine vacuum as well.  Pure.
 *
 * Each server computes its own share from what all of them tell.  The rule is
 * the same for all, so the shares add up to one, and nobody has to decide
 * for others.
 *
 * The users of the operating system are equal.  Among the servers of one user
 * a share follows the urgency.  So a server of another user gains nothing by
 * what it says, nor by saying it several times.  Only to cuts of servers of the
 * same user does a server yield.
 *
 * A server that does not vacuum has users all the same.  While others of its user
 * vacuum on its device it watches: it tells of the cuts that it would make if these
 * vacuums were its own.
 */
#ifndef SWEEP_POLICY_HOST_SHARE_H
#define SWEEP_POLICY_HOST_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* Four steps of a governor without a word: it is stopped, or has ended. */
#define HOST_SILENT_MS		3000

/* What it has begun is over by now, or belongs to no budget any more. */
#define HOST_GONE_MS		15000

/* A clock cannot be ahead, but for the moment between two looks. */
#define HOST_AHEAD_MS		1000

/* The most urgent server gets so many times the share of one that is hardly due. */
#define HOST_URGENCY_MOST	4

/*
 * A vacuum that begins beside others has so much of its share until they have
 * had a step to know of it.
 */
#define HOST_TOLD_MS		200
#define HOST_BEGIN_PART		0.1

/*
 * By then a server that has users and looks around twice a second has said that it
 * watches, and whoever vacuums has read that in a step of 250 ms.  Until then each one
 * that is there may have users.  It is less than four steps, because the fourth one may
 * come a moment early.
 */
#define HOST_WATCH_MS		900

/*
 * Short vacuums follow each other.  Whoever watches goes on through a pause of
 * HOST_GOES_ON_MS, and a server that has paused for less than HOST_PAUSE_MS is watched as
 * before.
 */
#define HOST_GOES_ON_MS		1500
#define HOST_PAUSE_MS		1000

/* Since when a server has told the others that it vacuums. */
typedef struct HostTold
{
	bool		vacuums;		/* it tells so now */
	int64_t		at_ms;			/* when it told so last */
	int64_t		since_ms;
	int64_t		watched_since_ms;	/* short pauses do not count */
} HostTold;

/* What is remembered of a server's record, to know whether it still speaks. */
typedef struct HostHeard
{
	bool		known;			/* there was a record */
	int64_t		at_ms;			/* of its last record, by its own clock */
	int64_t		heard_ms;		/* when that was seen first, by ours */
	bool		again;			/* it was another one before */
	bool		cut_known;
	int64_t		cut_at_ms;		/* its last cut for users, by its clock */
} HostHeard;

typedef struct HostSibling
{
	unsigned	owner;			/* user id */
	bool		on_device;		/* shares the device, not only the machine */
	bool		vacuuming;		/* when it was last heard of */
	int64_t		silent_ms;		/* since then */
	double		urgency;		/* of its most urgent table: 1 is just due */
	double		cut_to;			/* what host_new_cut() says */
	bool		watches;		/* what host_watches() says */
	double		used;			/* by its vacuums, bytes/s of all kinds */
	bool		users;			/* it has some, as it says, or says nothing */
} HostSibling;

/* What is left to this server while it vacuums, from 0 to 1. */
typedef struct HostShare
{
	double		device;
	double		processors;
	int			on_device;		/* others that share it now */
	int			on_machine;
	double		cut_to;			/* bytes/s of the device: another server
								 * yields to its users.  0: none does */

	/* of the same user's servers, on the device */
	int			there;			/* whatever they do */
	int			yielding;		/* those that vacuum, and yield to our cuts */
	double		yielding_used;	/* by them, bytes/s */
	bool		watched;		/* one that does not vacuum has users */

	/* of all that vacuum on the device */
	bool		users;			/* one of them has users, or may have */
} HostShare;

/*
 * For how long has a server said nothing?  heard is brought up to date, and
 * is all zero before the first record.
 *
 * The clocks of containers need not agree.  So our own clock counts, since a
 * record came that is another than the one before.  Of the first record
 * nothing is known but what its own clock says.
 */
extern int64_t host_silent_ms(HostHeard *heard, int64_t at_ms, int64_t now_ms);

/*
 * To how much of the whole device has that server been cut for its users, since
 * the last look?  0: it has not.  heard is brought up to date.  Nobody knows
 * how old the first cut is that is seen of a server, so it is no news.
 */
extern double host_new_cut(HostHeard *heard, int64_t cut_at_ms, double cut_to);

/* Does it watch what the vacuums of others do to its users, as it says? */
extern bool host_watches(bool says, int64_t silent_ms);

/*
 * Has a server that vacuums users of its own?  One that is silent may have some.
 */
extern bool host_has_users(bool says, int64_t silent_ms);

/* Does it count at all? */
extern bool host_sibling_is_vacuuming(const HostSibling *sibling);

/* The weight of a server among those of its user. */
extern double host_weight(double urgency, int64_t silent_ms);

extern HostShare host_share_compute(unsigned owner, double urgency,
									const HostSibling *others, int n);

/* A server tells the others whether it vacuums. */
extern void host_told(HostTold *told, bool vacuums, int64_t now_ms);

/* Have the others not had the time to say whether they have users? */
extern bool host_may_be_watched(const HostTold *told, int64_t now_ms);

/*
 * What may a server use of it that has told the others that it vacuums?  Until
 * they know they have all of the limit, so a vacuum that begins has a small
 * part only.  Until they have said whether they have users it is watched.
 */
extern HostShare host_share_begin(HostShare share, const HostTold *told, int64_t now_ms);

/* So many workers are left of those that are set.  There is always one. */
extern int	host_share_workers(int workers, double share);

#endif							/* SWEEP_POLICY_HOST_SHARE_H */
