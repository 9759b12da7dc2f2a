/*
 * policy/keep_hours.c
 *		Which hours of an archive are kept, and which are moved when the clock
 *		turns out to have been ahead.  Pure.
 */
#include "keep_hours.h"

#define HOUR	INT64_C(3600000000)
#define MINUTE	INT64_C(60000000)

int
keep_hours_first(const int64_t *begins, int count, int64_t oldest, int most)
{
	int			first = count > most ? count - most : 0;

	while (first < count && begins[first] < oldest)
		first++;
	return first;
}

int
keep_hours_moved(const int64_t *begins, int count, int64_t at, int64_t us)
{
	/*
	 * The hour in which the clock was set forward may be there twice, once
	 * before the gap and once behind it, some minutes apart.  But when the
	 * clock is set back by less than two hours, a gap is not to be told from
	 * hours that follow each other.
	 */
	int64_t		overlap = us >= 2 * HOUR ? 10 * MINUTE : -HOUR;
	int			first = count;

	while (first > 0 && (first == count ? at : begins[first]) - us < begins[first - 1] - overlap)
		first--;
	return first;
}
