/*
 * share.h
 *		How much of a rate each of several vacuums may use.
 */
#ifndef SWEEP_POLICY_SHARE_H
#define SWEEP_POLICY_SHARE_H

typedef struct ShareMember
{
	double		weight;			/* above 0 */
	double		demand;			/* what it would use at most (negative: all
								 * that it gets) */
} ShareMember;

/*
 * Divides total (0: not limited) among n members into shares, max-min fair by
 * weight.  A member that wants less than its part leaves the rest to the
 * others.  What nobody wants is divided by weight as well, so that each may
 * grow.
 */
extern void share_divide(double total, const ShareMember *members, int n, double *shares);

#endif							/* SWEEP_POLICY_SHARE_H */
