/*
 * policy/report.h
 *		Reads the report that VACUUM writes about a table.  Pure.
 */
#ifndef SWEEP_POLICY_REPORT_H
#define SWEEP_POLICY_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct VacuumReport
{
	int64_t		index_scans;
	int64_t		tuples_removed;
	int64_t		dead_not_removable; /* recently dead, and missed */
} VacuumReport;

/*
 * body is the report from "index scans: " on, in English.  Returns false if
 * it is not of the expected form.
 */
extern bool report_parse(const char *body, VacuumReport *report);

/*
 * The report's body, which follows `<start><name>": ` in message.  NULL if
 * the message is not a report on that table.  The name is compared and not
 * searched for, because it may hold anything.
 */
extern const char *report_body(const char *message, const char *start,
							   const char *name);

/*
 * The index that VACUUM was at, by the context of its error: `index "name"`.
 * Returns false if it was at none.
 */
extern bool report_index(const char *context, char *index, size_t size);

#endif							/* SWEEP_POLICY_REPORT_H */
