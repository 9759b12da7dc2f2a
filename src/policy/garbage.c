/*
 * policy/garbage.c
 *		How much garbage has a table whose counters are lost?  Pure.
 */
#include "garbage.h"

double
garbage_guess(double reltuples, double pages, double visible_pages)
{
	if (reltuples <= 0 || pages <= 0 || visible_pages >= pages)
		return 0;
	return reltuples * (pages - visible_pages) / pages;
}

int64_t
garbage_turn_ms(uint32_t dboid, uint32_t relid, int64_t pages, int64_t whole_ms)
{
	uint32_t	own = pages >= GARBAGE_OWN_TURN_PAGES ? relid : 0;

	/* takes neighbouring OIDs far apart: Knuth's multiplicative hashing */
	uint32_t	hash = (own ^ (dboid * UINT32_C(40503))) * UINT32_C(2654435761);

	return (int64_t) ((double) hash / 4294967296.0 * (double) whole_ms);
}
