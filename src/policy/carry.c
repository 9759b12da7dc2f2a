/*
 * policy/carry.c
 *		What a server leaves for the next start, or for the standby that takes
 *		over, and what that makes of it.  Pure.
 */
#include "carry.h"

void
carry_add(const CarryOver *over, int64_t vacuums, int64_t analyzes, int64_t *dead, int64_t *ins)
{
	if (!over->on || over->vacuums != vacuums)
		return;
	*ins = *ins + over->ins < 0 ? 0 : *ins + over->ins;
	if (over->analyzes == analyzes)
		*dead = *dead + over->dead < 0 ? 0 : *dead + over->dead;
}

CarryOver
carry_take(const CarryOver *noted, const CarryCounts *then, const CarryCounts *own, bool same)
{
	CarryOver	over = {0};

	if (same)
	{
		if (noted->on && noted->vacuums == own->vacuums)
			over = *noted;
		return over;
	}
	over.vacuums = own->vacuums;
	over.analyzes = own->analyzes;
	over.dead = then->dead - own->dead;
	over.ins = then->ins - own->ins;
	over.on = over.dead != 0 || over.ins != 0;
	return over;
}

static double
share_of(double rows, double threshold)
{
	if (threshold < 0 || rows <= 0)
		return 0;
	return rows / (threshold < 1 ? 1 : threshold);
}

double
carry_share(double dead, double dead_threshold, double ins, double ins_threshold)
{
	double		by_dead = share_of(dead, dead_threshold);
	double		by_ins = share_of(ins, ins_threshold);

	return by_dead > by_ins ? by_dead : by_ins;
}

/* What is due many times over is due, however much it grows. */
bool
carry_is_material(double then, double now)
{
	double		step = then > 1 ? CARRY_STEP * then : CARRY_STEP;

	return now - then >= step || then - now >= CARRY_STEP;
}

bool
carry_rest_is_clean(double floor)
{
	return floor <= CARRY_STEP;
}

bool
carry_may_write(CarryBudget *budget, int64_t now_us, double bytes)
{
	if (budget->at_us == 0)
		budget->bytes = CARRY_BYTES_BURST;
	else if (now_us > budget->at_us)
		budget->bytes += (double) (now_us - budget->at_us) / 3.6e9 * CARRY_BYTES_PER_HOUR;
	budget->at_us = now_us;
	if (budget->bytes > CARRY_BYTES_BURST)
		budget->bytes = CARRY_BYTES_BURST;
	return budget->bytes >= (bytes < CARRY_BYTES_BURST ? bytes : CARRY_BYTES_BURST);
}

/* What was written all the same has to be made up for, within an hour. */
void
carry_wrote(CarryBudget *budget, double bytes)
{
	budget->bytes -= bytes;
	if (budget->bytes < -CARRY_BYTES_PER_HOUR)
		budget->bytes = -CARRY_BYTES_PER_HOUR;
}
