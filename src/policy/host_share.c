/*
 * policy/host_share.c
 *		How much of its limits a server may use while others of the same
 *		machine vacuum as well.  Pure.
 */
#include "host_share.h"

#include <math.h>

int64_t
host_silent_ms(HostHeard *heard, int64_t at_ms, int64_t now_ms)
{
	if (!heard->known || heard->at_ms != at_ms)
	{
		heard->again = heard->known;
		heard->known = true;
		heard->at_ms = at_ms;
		heard->heard_ms = now_ms;
	}
	return now_ms - (heard->again ? heard->heard_ms : at_ms);
}

double
host_new_cut(HostHeard *heard, int64_t cut_at_ms, double cut_to)
{
	bool		news = heard->cut_known && cut_at_ms != heard->cut_at_ms;

	heard->cut_known = true;
	heard->cut_at_ms = cut_at_ms;
	return news && cut_to > 0 ? cut_to : 0;
}

bool
host_sibling_is_vacuuming(const HostSibling *sibling)
{
	return sibling->vacuuming && sibling->silent_ms >= -HOST_AHEAD_MS &&
		sibling->silent_ms < HOST_GONE_MS;
}

/* A server that says nothing gets a fixed share: as if it was just due. */
double
host_weight(double urgency, int64_t silent_ms)
{
	if (silent_ms >= HOST_SILENT_MS || !(urgency > 1))
		return 1;
	return urgency < HOST_URGENCY_MOST ? urgency : HOST_URGENCY_MOST;
}

/* Has an earlier one the same owner? */
static bool
is_first_of_owner(const HostSibling *others, int i, bool only_device)
{
	for (int j = 0; j < i; j++)
	{
		if (others[j].owner == others[i].owner && host_sibling_is_vacuuming(&others[j]) &&
			(!only_device || others[j].on_device))
			return false;
	}
	return true;
}

static double
share_of(unsigned owner, double urgency, const HostSibling *others, int n, bool only_device,
		 int *count)
{
	double		own = host_weight(urgency, 0);
	double		sum = own;
	int			owners = 1;

	*count = 0;
	for (int i = 0; i < n; i++)
	{
		const HostSibling *o = &others[i];

		if (!host_sibling_is_vacuuming(o) || (only_device && !o->on_device))
			continue;
		(*count)++;
		if (o->owner == owner)
			sum += host_weight(o->urgency, o->silent_ms);
		else if (is_first_of_owner(others, i, only_device))
			owners++;
	}
	return own / sum / owners;
}

bool
host_watches(bool says, int64_t silent_ms)
{
	return says && silent_ms >= -HOST_AHEAD_MS && silent_ms < HOST_SILENT_MS;
}

bool
host_has_users(bool says, int64_t silent_ms)
{
	return says || silent_ms < -HOST_AHEAD_MS || silent_ms >= HOST_SILENT_MS;
}

/* Users wait for the device, so cuts are for those who share it. */
static void
look_at_users(HostShare *share, unsigned owner, const HostSibling *others, int n)
{
	for (int i = 0; i < n; i++)
	{
		const HostSibling *o = &others[i];
		bool		vacuums = host_sibling_is_vacuuming(o);

		if (!o->on_device)
			continue;
		/* what another user's server says is not believed */
		share->users |= vacuums && (o->users || o->owner != owner);
		if (o->owner != owner)
			continue;
		share->there++;
		share->watched |= o->watches;
		share->yielding += vacuums;
		share->yielding_used += vacuums ? o->used : 0;
		/* the deepest of those that have just been made */
		if ((vacuums || o->watches) && o->cut_to > 0)
			share->cut_to = share->cut_to > 0 ? fmin(share->cut_to, o->cut_to) : o->cut_to;
	}
}

HostShare
host_share_compute(unsigned owner, double urgency, const HostSibling *others, int n)
{
	HostShare	share = {0};

	share.device = share_of(owner, urgency, others, n, true, &share.on_device);
	share.processors = share_of(owner, urgency, others, n, false, &share.on_machine);
	look_at_users(&share, owner, others, n);
	return share;
}

/* Is it known to have vacuumed until a moment ago, at most? */
static bool
is_known(const HostTold *told, int64_t now_ms)
{
	return told->vacuums || (told->at_ms > 0 && now_ms - told->at_ms < HOST_PAUSE_MS);
}

void
host_told(HostTold *told, bool vacuums, int64_t now_ms)
{
	if (vacuums && !is_known(told, now_ms))
		told->watched_since_ms = now_ms;
	if (vacuums && !told->vacuums)
		told->since_ms = now_ms;
	if (vacuums)
		told->at_ms = now_ms;
	told->vacuums = vacuums;
}

bool
host_may_be_watched(const HostTold *told, int64_t now_ms)
{
	return !is_known(told, now_ms) || now_ms - told->watched_since_ms < HOST_WATCH_MS;
}

HostShare
host_share_begin(HostShare share, const HostTold *told, int64_t now_ms)
{
	share.watched |= share.there > 0 && host_may_be_watched(told, now_ms);
	if (told->vacuums && now_ms - told->since_ms >= HOST_TOLD_MS)
		return share;
	if (share.on_device > 0)
		share.device *= HOST_BEGIN_PART;
	if (share.on_machine > 0)
		share.processors *= HOST_BEGIN_PART;
	return share;
}

int
host_share_workers(int workers, double share)
{
	int			left = (int) floor((double) workers * share + 0.5);

	if (workers <= 0 || left > workers)
		return workers;
	return left < 1 ? 1 : left;
}
