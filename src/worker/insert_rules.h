/*
 * insert_rules.h
 *		What the rules for inserted rows (policy/insert) say of one table.
 */
#ifndef SWEEP_INSERT_RULES_H
#define SWEEP_INSERT_RULES_H

#include "policy/insert.h"
#include "worker/candidate.h"

/* How many rows the table has, as far as anybody knows. */
extern double insert_rules_rows(const Candidate *c);

/* Do they hold for this table? */
extern bool insert_rules_hold(const Candidate *c);

extern InsertSettings insert_rules_settings(const Candidate *c);

/* Applies them to that many pages, of which so many are frozen. */
extern InsertThresholds insert_rules_apply(const Candidate *c, int64 pages, int64 frozen_pages,
										   InsertTable *table);

extern void insert_rules_take(Candidate *c, const InsertThresholds *t);

/* Takes them again, when only the candidate's memory has changed. */
extern void insert_rules_take_again(Candidate *c);

#endif							/* SWEEP_INSERT_RULES_H */
