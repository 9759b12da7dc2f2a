/*
 * policy/order.c
 *		Which of the tables that are due comes first?  Pure.
 */
#include "order.h"

int
order_compare(const OrderKey *a, const OrderKey *b)
{
	if (a->catalog != b->catalog)
		return a->catalog ? -1 : 1;
	if (a->overdue_since != b->overdue_since)
	{
		if (a->overdue_since == 0 || b->overdue_since == 0)
			return a->overdue_since != 0 ? -1 : 1;
		return a->overdue_since < b->overdue_since ? -1 : 1;
	}
	if (a->for_checkpoint != b->for_checkpoint)
		return a->for_checkpoint ? -1 : 1;
	return a->score < b->score ? 1 : (a->score > b->score ? -1 : 0);
}
