/*
 * share.c
 *		How much of a rate each of several vacuums may use.
 *
 * This is water-filling, as for flows on a link (Bertsekas and Gallager, Data
 * Networks, 6.5.2).  Those who want less than a fair part get what they want.
 * The others divide the rest, and so on until nobody wants less.
 */
#include "share.h"

#include <stdbool.h>

/* The shares of those that are not satisfied yet are negative. */
static double
open_weight(const ShareMember *members, int n, const double *shares)
{
	double		sum = 0;

	for (int i = 0; i < n; i++)
	{
		if (shares[i] < 0)
			sum += members[i].weight;
	}
	return sum;
}

void
share_divide(double total, const ShareMember *members, int n, double *shares)
{
	double		left = total;
	double		weight = 0;
	bool		again = n > 1;

	for (int i = 0; i < n; i++)
	{
		shares[i] = total > 0 ? -1 : 0;
		weight += members[i].weight;
	}
	if (total <= 0)
		return;

	while (again)
	{
		double		per_weight;
		double		sum = open_weight(members, n, shares);

		again = false;
		if (sum <= 0)
			break;
		per_weight = left / sum;
		for (int i = 0; i < n; i++)
		{
			if (shares[i] < 0 && members[i].demand >= 0 &&
				members[i].demand < per_weight * members[i].weight)
			{
				shares[i] = members[i].demand;
				left -= members[i].demand;
				again = true;
			}
		}
	}

	if (open_weight(members, n, shares) > 0)
		weight = open_weight(members, n, shares);
	else
	{
		/* all have what they want, so the rest is for all */
		for (int i = 0; i < n; i++)
			shares[i] += left * members[i].weight / weight;
		return;
	}
	for (int i = 0; i < n; i++)
	{
		if (shares[i] < 0)
			shares[i] = left * members[i].weight / weight;
	}
}
