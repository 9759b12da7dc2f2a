/*
 * clean_point.h
 *		Points at which a test has the server crash, or an error raised.
 *
 * They are there only in a library that was built with CLEAN_POINTS.
 */
#ifndef CLEAN_POINT_H
#define CLEAN_POINT_H

#include "postgres.h"

#ifdef CLEAN_POINTS
extern void clean_point(const char *name);
#define CLEAN_POINT(name)	clean_point(name)
#else
#define CLEAN_POINT(name)	((void) 0)
#endif

#endif							/* CLEAN_POINT_H */
