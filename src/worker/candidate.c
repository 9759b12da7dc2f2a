/*
 * candidate.c
 *		What can be told at once of a table that has been read.
 *
 * Runs in a worker, and in the backends of views.  It reads the candidate and
 * the settings, and nothing else.  All files on a candidate's way ask it.
 */
#include "worker/candidate.h"

#include "miscadmin.h"

#include "rules.h"
#include "settings.h"

const char *
lane_name(Lane lane)
{
	static const char *const names[] = {"catalog", "aux", "user"};

	return names[lane];
}

/*
 * The lane goes by the schema's name, which works for any database.  Schemas
 * beginning with pg_ are the server's.
 */
Lane
lane_of(Oid relid, const char *schemaname)
{
	if (rules_is_catalog(relid))
		return LANE_CATALOG;
	if (strcmp(schemaname, "pg_catalog") == 0 || strncmp(schemaname, "pg_toast", 8) == 0 ||
		settings_schema_is_aux(schemaname))
		return LANE_AUX;
	return LANE_USER;
}

int64
candidate_min_interval_s(const Candidate *c)
{
	RuleSettings s = rules_settings();

	return (int64) table_setting(c->rules.own, TABLE_MIN_INTERVAL, rules_min_interval_by(&s, c->row.lane == LANE_CATALOG));
}

bool
candidate_is_in_scope(const Candidate *c)
{
	return c->row.lane == LANE_CATALOG || sweep_scope == SCOPE_ALL ||
		(c->row.lane == LANE_AUX && sweep_scope == SCOPE_CATALOG_AUX);
}

bool
candidate_is_copy(const Candidate *c)
{
	const char *name = c->row.relname;

	if (strcmp(c->row.schemaname, "repack") != 0 ||
		(strncmp(name, "table_", 6) != 0 && strncmp(name, "log_", 4) != 0))
		return false;
	name = strchr(name, '_') + 1;
	return name[0] != '\0' && strspn(name, "0123456789") == strlen(name);
}

bool
candidate_is_due_by_inserts(const Candidate *c)
{
	return c->weight.due == DUE_INSERTED || c->weight.due == DUE_CHECKPOINT || c->weight.due == DUE_INSERTS_ENDED;
}

/*
 * If pg_sweep has not vacuumed the table yet, the last vacuum by anybody
 * counts.
 */
int64
candidate_cleaned_at(const Candidate *c)
{
	return c->memory.vacuumed ? c->memory.cleaned_at : c->counters.inserted - c->counters.ins;
}

void
candidate_why_due(const Candidate *c, char *text, size_t size)
{
	switch (c->weight.due)
	{
		case DUE_DEAD:
			snprintf(text, size, "dead tuples " INT64_FORMAT " > %.0f",
					 c->counters.dead, c->weight.thresholds.vacuum);
			break;
		case DUE_CHECKPOINT:
			snprintf(text, size, INT64_FORMAT " tuples inserted before a checkpoint", c->counters.ins);
			break;
		case DUE_INSERTS_ENDED:
			snprintf(text, size, "inserts have ended after " INT64_FORMAT " tuples", c->counters.ins);
			break;
		case DUE_LOST_READS:
			snprintf(text, size, "index scans lost %.0f reads to garbage, a vacuum costs %.0f",
					 c->weight.lost_reads, c->weight.vacuum_blks);
			break;
		case DUE_AGE:
			if ((double) c->row.xid_age * c->rules.mxid_limit >= (double) c->row.mxid_age * c->rules.xid_limit)
				snprintf(text, size, "age %d of %d transaction IDs", c->row.xid_age, c->rules.xid_limit);
			else
				snprintf(text, size, "age %d of %d multixacts", c->row.mxid_age, c->rules.mxid_limit);
			break;
		case DUE_UNKNOWN:
			snprintf(text, size, "statistics lost, " INT64_FORMAT " of " INT64_FORMAT " pages all-visible",
					 c->memory.visible_pages, c->memory.pages);
			break;
		default:
			snprintf(text, size, "inserted tuples " INT64_FORMAT " > %.0f", c->counters.ins,
					 c->weight.ins_fit > 0 ? Min(c->weight.ins_fit, c->weight.thresholds.insert) :
					 c->weight.thresholds.insert);
			break;
	}
}
