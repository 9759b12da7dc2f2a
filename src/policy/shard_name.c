/*
 * policy/shard_name.c
 *		Names of shards of Citus.  Pure.
 *
 * A shard has the name of its table, with "_" and the shard's number behind
 * it.  Where that would be too long, Citus cuts the table's name off, and
 * puts a hash of it before the number: "_" and eight digits.
 */
#include "shard_name.h"

#include <string.h>

#define SEPARATOR		'_'
#define NUMBER_DIGITS	18		/* more might not fit into an int64 */
#define HASH_DIGITS		8

int64_t
shard_name_number(const char *name, int *length)
{
	int			end = (int) strlen(name);
	int			begin = end;
	int64_t		number = 0;

	while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9')
		begin--;
	*length = begin - 1;
	if (begin == end || end - begin > NUMBER_DIGITS || *length <= 0 || name[*length] != SEPARATOR)
		return 0;
	for (int i = begin; i < end; i++)
		number = number * 10 + (name[i] - '0');
	return number;
}

bool
shard_name_fits(const char *name, int length, const char *table)
{
	int			whole = (int) strlen(table);
	int			prefix = length - HASH_DIGITS - 1;

	if (whole <= length)
		return whole == length && strncmp(name, table, length) == 0;
	return prefix > 0 && name[prefix] == SEPARATOR &&
		strspn(name + prefix + 1, "0123456789abcdef") == HASH_DIGITS &&
		strncmp(name, table, prefix) == 0;
}
