/*
 * clean_compat.c
 *		What of PostgreSQL differs between majors, for the cleaner.
 */
#include "clean_compat.h"

#include "access/heapam_xlog.h"
#include "access/visibilitymap.h"
#include "access/xloginsert.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"

/* test/t/052_clean_cases.pl has a later one. */
#ifndef CLEAN_OLDEST_SERVER
#if PG_VERSION_NUM >= 170000
#define CLEAN_OLDEST_SERVER	170000
#elif PG_VERSION_NUM >= 160000
#define CLEAN_OLDEST_SERVER	160004
#else
#define CLEAN_OLDEST_SERVER	150008
#endif
#endif

/* test/t/052_clean_cases.pl has another one. */
#ifndef CLEAN_BUILT_FOR
#define CLEAN_BUILT_FOR		PG_VERSION
#endif

/* "19beta1", "19rc1 (Debian 19~rc1-1)" and "19devel" are, "19.0" is not. */
static bool
is_prerelease(const char *version)
{
	return version[strspn(version, "0123456789")] != '.';
}

/*
 * Prereleases of a major have one number in common, but functions and records
 * still change between them.
 */
static bool
is_of_this_prerelease(const char *server)
{
	size_t		length = strcspn(server, " ");

	return (!is_prerelease(server) && !is_prerelease(CLEAN_BUILT_FOR)) ||
		(length == strcspn(CLEAN_BUILT_FOR, " ") && strncmp(server, CLEAN_BUILT_FOR, length) == 0);
}

bool
compat_server_is_known(void)
{
	/* built for an older one: see compat_prune() */
	if (PG_VERSION_NUM < CLEAN_OLDEST_SERVER)
		return false;
	return atoi(GetConfigOption("server_version_num", false, false)) >= CLEAN_OLDEST_SERVER &&
		is_of_this_prerelease(GetConfigOption("server_version", false, false));
}

bool
compat_buffer_is_dirty(Buffer buffer)
{
	BufferDesc *desc = GetBufferDescriptor(buffer - 1);

#if PG_VERSION_NUM >= 190000
	return (pg_atomic_read_u64(&desc->state) & BM_DIRTY) != 0;
#else
	return (pg_atomic_read_u32(&desc->state) & BM_DIRTY) != 0;
#endif
}

Buffer
compat_bt_search(Relation index, Relation heap, BTScanInsert key)
{
	Buffer		buffer = InvalidBuffer;

#if PG_VERSION_NUM >= 190000
	(void) _bt_search(index, heap, key, &buffer, BT_READ, false);
#elif PG_VERSION_NUM >= 170000
	_bt_freestack(_bt_search(index, heap, key, &buffer, BT_READ));
#elif PG_VERSION_NUM >= 160000
	_bt_freestack(_bt_search(index, heap, key, &buffer, BT_READ, NULL));
#else
	_bt_freestack(_bt_search(index, key, &buffer, BT_READ, NULL));
#endif
	return buffer;
}

void
compat_pin_map(Relation heap, BlockNumber block, Buffer *vmbuffer)
{
#if PG_VERSION_NUM >= 190000
	visibilitymap_pin(heap, block, vmbuffer);
#endif
}

int
compat_prune(Relation heap, Buffer buffer, Buffer vmbuffer, GlobalVisState *vistest)
{
#if PG_VERSION_NUM < CLEAN_OLDEST_SERVER
	elog(ERROR, "the cleaner was built for a server that it does not know");
	return 0;
#else
	OffsetNumber current = InvalidOffsetNumber;
	int			gone;
#if PG_VERSION_NUM >= 190000
	PruneFreezeResult result;
	PruneFreezeParams params = {
		.relation = heap,
		.buffer = buffer,
		.vmbuffer = vmbuffer,
		.reason = PRUNE_ON_ACCESS,
		.options = 0,			/* the visibility map is VACUUM's */
		.vistest = vistest,
		.cutoffs = NULL,
	};

	heap_page_prune_and_freeze(&params, &result, &current, NULL, NULL);
	gone = result.ndeleted - result.nnewlpdead;
#elif PG_VERSION_NUM >= 170000
	PruneFreezeResult result;

	heap_page_prune_and_freeze(heap, buffer, vistest, 0, NULL, &result, PRUNE_ON_ACCESS,
							   &current, NULL, NULL);
	gone = result.ndeleted - result.nnewlpdead;
#else
	int			nnewlpdead;
	int			ndeleted;

	ndeleted = heap_page_prune(heap, buffer, InvalidTransactionId, vistest,
							   InvalidTransactionId, 0, &nnewlpdead, &current);
	gone = ndeleted - nnewlpdead;
#endif
	if (gone > 0)
		pgstat_update_heap_dead_tuples(heap, gone);
	return Max(gone, 0);
#endif
}

void
compat_log_unused(Relation heap, Buffer buffer, OffsetNumber *unused, int count)
{
#if PG_VERSION_NUM >= 190000
	log_heap_prune_and_freeze(heap, buffer, InvalidBuffer, 0, InvalidTransactionId, false,
							  PRUNE_VACUUM_CLEANUP, NULL, 0, NULL, 0, NULL, 0, unused, count);
#elif PG_VERSION_NUM >= 170000
	log_heap_prune_and_freeze(heap, buffer, InvalidTransactionId, false,
							  PRUNE_VACUUM_CLEANUP, NULL, 0, NULL, 0, NULL, 0, unused, count);
#else
	xl_heap_vacuum record;
	XLogRecPtr	lsn;

	record.nunused = count;
	XLogBeginInsert();
	XLogRegisterData((char *) &record, SizeOfHeapVacuum);
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	XLogRegisterBufData(0, (char *) unused, count * sizeof(OffsetNumber));
	lsn = XLogInsert(RM_HEAP2_ID, XLOG_HEAP2_VACUUM);
	/* a macro, which takes its argument twice */
	PageSetLSN(BufferGetPage(buffer), lsn);
#endif
}
