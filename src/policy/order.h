/*
 * policy/order.h
 *		Which of the tables that are due comes first?  Pure.
 */
#ifndef SWEEP_POLICY_ORDER_H
#define SWEEP_POLICY_ORDER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct OrderKey
{
	bool		catalog;
	int64_t		overdue_since;	/* beyond QUEUE_MAX_WAIT_S (0: it is not) */
	bool		for_checkpoint; /* it is due because a checkpoint is near */
	double		score;
} OrderKey;

/*
 * Catalogs come first because every query needs them.  Then come tables that
 * have waited too long, because nobody waits for ever.  Then comes what a
 * checkpoint waits for, because that does not wait.  As for qsort().
 */
extern int	order_compare(const OrderKey *a, const OrderKey *b);

#endif							/* SWEEP_POLICY_ORDER_H */
