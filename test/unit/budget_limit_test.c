/*
 * budget_limit_test.c
 *		policy/budget_limit: the table is complete, and a limit has one name only.
 */
#include <string.h>

#include "budget_limit.h"
#include "tap.h"
#include "windows.h"

/* Is it the name of a limit, or the floor? */
static bool
is_known(const char *name)
{
	bool		known = name != NULL && strcmp(name, FLOOR_NAME) == 0;

	for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT && !known; i++)
		known = name != NULL && strcmp(budget_limit_name(i), name) == 0;
	return known;
}

int
main(void)
{
	for (int i = 0; i < LIMIT_COUNT; i++)
	{
		const char *name = budget_limit_name(i);
		const char *setting = budget_limit_setting((BudgetLimit) i);
		bool		again = false;

		tap_ok(name != NULL && name[0] != '\0', name ? name : "(null)", "has a name");
		if (name == NULL)
			continue;
		for (int j = 0; j < i; j++)
			again = again || strcmp(budget_limit_name(j), name) == 0;
		tap_ok(!again, name, "is the only one of that name");
		tap_ok(budget_limit_unit((BudgetLimit) i) != NULL, name, "has a unit");
		tap_ok(budget_limit_scale((BudgetLimit) i) > 0, name, "has a scale");
		/* what is ours is called as its setting */
		if (setting != NULL && strncmp(setting, "sweep.", 6) == 0)
			tap_is_string(setting + 6, name, name, "setting");
	}
	tap_ok(budget_limit_name(-1) == NULL, "-1", "is none");
	tap_ok(budget_limit_name(LIMIT_COUNT) == NULL, "LIMIT_COUNT", "is none");
	for (int i = 0; i < WINDOW_SETTING_COUNT; i++)
	{
		const char *name = windows_setting_name((WindowSetting) i);

		tap_ok(is_known(name), name ? name : "(null)", "of a window is a limit, or the floor");
	}
	return tap_done();
}
