/*
 * policy/activity.h
 *		Reads the activity text of a core autovacuum worker.  Pure.  It is
 *		safe in a signal handler, because it allocates nothing and is bounded.
 */
#ifndef SWEEP_POLICY_ACTIVITY_H
#define SWEEP_POLICY_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ActivityText
{
	bool		vacuum;			/* "autovacuum: VACUUM ..." */
	bool		analyze;		/* "... ANALYZE ..." */
	bool		wraparound;		/* "... (to prevent wraparound)" */
	bool		named;			/* the two names are filled */
} ActivityText;

/*
 * schemaname and relname are buffers of size bytes.  They are filled only if
 * the text can be split without doubt, because a name may itself contain a
 * dot.  Returns false if the text is not about a table, but about a work
 * item, say.
 */
extern bool activity_parse(const char *text, size_t text_size,
						   char *schemaname, char *relname, size_t size,
						   ActivityText *result);

#endif							/* SWEEP_POLICY_ACTIVITY_H */
