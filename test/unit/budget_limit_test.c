/*
 * budget_limit_test.c
 *		policy/budget_limit: the table is complete, and a limit has one name only.
 */
#include <string.h>

#include "budget_limit.h"
#include "tap.h"

int
main(void)
{
	for (int i = 0; i < LIMIT_COUNT; i++)
	{
		const char *name = budget_limit_name(i);
		const LimitRow *row = &budget_limits[i];
		bool		again = false;

		tap_ok(name != NULL && name[0] != '\0', name ? name : "(null)", "has a name");
		if (name == NULL)
			continue;
		for (int j = 0; j < i; j++)
			again = again || strcmp(budget_limit_name(j), name) == 0;
		tap_ok(!again, name, "is the only one of that name");
		tap_ok(row->unit != NULL, name, "has a unit");
		tap_ok(row->scale > 0, name, "has a scale");
		/* what is ours is called as its setting */
		if (row->setting != NULL && strncmp(row->setting, "sweep.", 6) == 0)
			tap_is_string(row->setting + 6, name, name, "setting");
		tap_ok(!row->in_windows || row->description != NULL, name, "is a number if a window sets it");
		tap_ok(row->description == NULL || (row->setting != NULL && row->max > row->initial), name, "has a range if it is a number");
	}
	tap_ok(budget_limit_name(-1) == NULL, "-1", "is none");
	tap_ok(budget_limit_name(LIMIT_COUNT) == NULL, "LIMIT_COUNT", "is none");
	return tap_done();
}
