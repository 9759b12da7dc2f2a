/*
 * pg_sweep_cleaner.c
 *		The library that changes pages: it removes dead rows one by one.
 *
 * It is apart from pg_sweep.so, which every process of the server has loaded,
 * and which changes no page.  Only workers load this one, and only when
 * sweep.cleaner is on.
 */
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;
