/*
 * clean_compat.h
 *		What of PostgreSQL differs between majors, for the cleaner.
 *
 * As src/server/compat.h for pg_sweep.so: no other file of the cleaner asks
 * for the version.
 */
#ifndef CLEAN_COMPAT_H
#define CLEAN_COMPAT_H

#include "postgres.h"

#include "access/heapam.h"
#include "access/nbtree.h"
#include "commands/vacuum.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"

/* Columns that any index uses which keeps row pointers, in an expression or a predicate too. */
#if PG_VERSION_NUM >= 160000
#define COMPAT_INDEXED_COLUMNS INDEX_ATTR_BITMAP_HOT_BLOCKING
#else
#define COMPAT_INDEXED_COLUMNS INDEX_ATTR_BITMAP_ALL
#endif

#if PG_VERSION_NUM >= 180000
#define compat_vacuum_delay_point() vacuum_delay_point(false)
#else
#define compat_vacuum_delay_point() vacuum_delay_point()
#endif

#if PG_VERSION_NUM >= 190000
#define compat_is_removable(vistest, xid) GlobalVisTestIsRemovableXid(vistest, xid, true)
#else
#define compat_is_removable(vistest, xid) GlobalVisTestIsRemovableXid(vistest, xid)
#endif

#if PG_VERSION_NUM >= 170000
#define compat_restrict_search_path() RestrictSearchPath()
#else
#define compat_restrict_search_path() \
	SetConfigOption("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION)
#endif

/* A checkpoint without delay.  19 calls it by another name. */
#ifdef CHECKPOINT_FAST
#define COMPAT_CHECKPOINT_FAST CHECKPOINT_FAST
#else
#define COMPAT_CHECKPOINT_FAST CHECKPOINT_IMMEDIATE
#endif

/*
 * Is the server of a minor release whose functions are as at build time?  One of
 * 15.8 and 16.4 has an argument more.
 */
extern bool compat_server_is_known(void);

/* The root of a btree, locked for reading, or InvalidBuffer if it is empty. */
#if PG_VERSION_NUM >= 160000
#define compat_bt_root(index, heap)	_bt_getroot((index), (heap), BT_READ)
#else
#define compat_bt_root(index, heap)	_bt_getroot((index), BT_READ)
#endif

/* 16 renamed what names a file. */
#if PG_VERSION_NUM >= 160000
#define compat_read_recent(rel, block, buffer) \
	ReadRecentBuffer((rel)->rd_locator, MAIN_FORKNUM, (block), (buffer))
#define compat_buffer_tag(tag, rel, block) \
	InitBufferTag((tag), &(rel)->rd_locator, MAIN_FORKNUM, (block))
#else
#define compat_read_recent(rel, block, buffer) \
	ReadRecentBuffer((rel)->rd_node, MAIN_FORKNUM, (block), (buffer))
#define compat_buffer_tag(tag, rel, block) \
	INIT_BUFFERTAG(*(tag), (rel)->rd_node, MAIN_FORKNUM, (block))
#endif

/* Has the page been changed since it was written?  Of a pinned buffer. */
extern bool compat_buffer_is_dirty(Buffer buffer);

/* Is the key further to the right than all that belongs on this page? */
static inline bool
clean_key_is_to_the_right(Relation index, BTScanInsert key, Page page)
{
	return !P_RIGHTMOST(BTPageGetOpaque(page)) && _bt_compare(index, key, page, P_HIKEY) > 0;
}

/* The leaf on which that key is or would be, locked for reading, or InvalidBuffer. */
extern Buffer compat_bt_search(Relation index, Relation heap, BTScanInsert key);

/*
 * Prunes a page on which the caller has a cleanup lock.  vmbuffer is pinned
 * before as far as the major wants it, see compat_pin_map().  Returns how many
 * rows are gone without a trace: members of HOT chains.
 */
extern int	compat_prune(Relation heap, Buffer buffer, Buffer vmbuffer, GlobalVisState *vistest);

/* Pins the map's page of a block, where compat_prune() wants it. */
extern void compat_pin_map(Relation heap, BlockNumber block, Buffer *vmbuffer);

/* Logs that items became unused, in VACUUM's own record.  In a critical section. */
extern void compat_log_unused(Relation heap, Buffer buffer, OffsetNumber *unused, int count);

#endif							/* CLEAN_COMPAT_H */
