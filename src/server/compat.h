/*
 * compat.h
 *		The differences between PostgreSQL 15 and 19, and nothing else.
 *
 * Only this file and compat.c mention PG_VERSION_NUM.  The rest is written
 * for the newest server.  Here older ones are made to look like it.
 */
#ifndef SWEEP_COMPAT_H
#define SWEEP_COMPAT_H

#include "postgres.h"

#include "access/transam.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/rel.h"

#include "exported.h"
#include "policy/score.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "pg_sweep supports PostgreSQL 15 to 19"
#endif

/* 17 renamed backend ids and made them start at 0. */
#if PG_VERSION_NUM >= 170000
#define compat_backend_index()	((int) MyProcNumber)
#else
#define compat_backend_index()	((int) MyBackendId - 1)
#endif

/* 17 tells process types by MyBackendType. */
#if PG_VERSION_NUM >= 170000
#define compat_am_autovacuum_worker()	AmAutoVacuumWorkerProcess()
#else
#include "postmaster/autovacuum.h"
#define compat_am_autovacuum_worker()	IsAutoVacuumWorkerProcess()
#endif

/* 16 separated the effective cost values from the settings. */
#if PG_VERSION_NUM >= 160000
#define compat_cost_limit()		vacuum_cost_limit
#define compat_cost_delay()		vacuum_cost_delay
#define compat_failsafe_active()	VacuumFailsafeActive
#else
#define compat_cost_limit()		VacuumCostLimit
#define compat_cost_delay()		VacuumCostDelay
#define compat_failsafe_active()	false	/* not published */
#endif

/*
 * From 17 on, where it was tried, a core autovacuum worker's delay can be
 * changed from outside, while its limit is computed anew after each nap.  15
 * reloads both from the worker's shared memory after each nap.
 */
#if PG_VERSION_NUM >= 170000
#define COMPAT_CORE_CAN_BE_STEERED	true
#else
#define COMPAT_CORE_CAN_BE_STEERED	false
#endif

/* 16 tells of the failsafe.  Its cost variables are no settings any more. */
#if PG_VERSION_NUM >= 160000
#define COMPAT_FAILSAFE_IS_TOLD		true
#define COMPAT_COSTS_ARE_SETTINGS	false
#else
#define COMPAT_FAILSAFE_IS_TOLD		false
#define COMPAT_COSTS_ARE_SETTINGS	true
#endif

/*
 * Takes the cost settings over as VACUUM does when it begins, and switches
 * naps off again.
 */
#if PG_VERSION_NUM >= 160000
#define compat_begin_costs()	(VacuumFailsafeActive = false, VacuumCostBalance = 0, VacuumUpdateCosts())
#else
#define compat_begin_costs()	(VacuumCostBalance = 0, VacuumCostActive = VacuumCostDelay > 0)
#endif
#define compat_end_costs()		(VacuumCostActive = false, VacuumCostBalance = 0)

/* 17 renamed the variables of transaction ids. */
#if PG_VERSION_NUM >= 170000
#define compat_oldest_xid()		(TransamVariables->oldestXid)
#else
#define compat_oldest_xid()		(ShmemVariableCache->oldestXid)
#endif

/* 16 removed what keeps rows a number of transactions longer. */
#if PG_VERSION_NUM >= 160000
#define compat_defer_cleanup_age()	0
#else
#include "storage/standby.h"
#define compat_defer_cleanup_age()	vacuum_defer_cleanup_age
#endif

/*
 * Before 17 old_snapshot_threshold lets VACUUM remove what snapshots of that
 * age may still see.  Returns the horizon to which it does so for tables of
 * users, or xid if that is later.
 */
#if PG_VERSION_NUM >= 170000
#define compat_limited_horizon(xid)	(xid)
#else
extern TransactionId compat_limited_horizon(TransactionId xid);
#endif

/* 16 renamed the counters of a table. */
#if PG_VERSION_NUM >= 160000
#define compat_tab_live(t)		((t)->live_tuples)
#define compat_tab_dead(t)		((t)->dead_tuples)
#define compat_tab_ins(t)		((t)->ins_since_vacuum)
#define compat_tab_mod(t)		((t)->mod_since_analyze)
#define compat_tab_vacuums(t)	((t)->vacuum_count + (t)->autovacuum_count)
#define compat_tab_analyzes(t)	((t)->analyze_count + (t)->autoanalyze_count)
#define compat_tab_analyzed(t)	((t)->last_analyze_time)
#define compat_tab_autoanalyzed(t)	((t)->last_autoanalyze_time)
#define compat_tab_vacuumed_at(t)		((t)->last_vacuum_time)
#define compat_tab_autovacuumed_at(t)	((t)->last_autovacuum_time)
#else
#define compat_tab_live(t)		((t)->n_live_tuples)
#define compat_tab_dead(t)		((t)->n_dead_tuples)
#define compat_tab_ins(t)		((t)->inserts_since_vacuum)
#define compat_tab_mod(t)		((t)->changes_since_analyze)
#define compat_tab_vacuums(t)	((t)->vacuum_count + (t)->autovac_vacuum_count)
#define compat_tab_analyzes(t)	((t)->analyze_count + (t)->autovac_analyze_count)
#define compat_tab_analyzed(t)	((t)->analyze_timestamp)
#define compat_tab_autoanalyzed(t)	((t)->autovac_analyze_timestamp)
#define compat_tab_vacuumed_at(t)		((t)->vacuum_timestamp)
#define compat_tab_autovacuumed_at(t)	((t)->autovac_vacuum_timestamp)
#endif

/*
 * 17 keeps the dead items' addresses in a store that is gone at the end of
 * the command.  Before 17 they are in an array that stays until the
 * transaction ends.
 */
#if PG_VERSION_NUM >= 170000
#define COMPAT_DEAD_ARE_FREED	1
#else
#define COMPAT_DEAD_ARE_FREED	0
#endif

/* 17 counts dead items in bytes, and index progress is new. */
#if PG_VERSION_NUM >= 170000
#define COMPAT_PROGRESS_DEAD	PROGRESS_VACUUM_DEAD_TUPLE_BYTES
#define COMPAT_PROGRESS_DEAD_ROWS	PROGRESS_VACUUM_NUM_DEAD_ITEM_IDS
#define COMPAT_PROGRESS_INDEXES_TOTAL	PROGRESS_VACUUM_INDEXES_TOTAL
#define COMPAT_PROGRESS_INDEXES_PROCESSED	PROGRESS_VACUUM_INDEXES_PROCESSED
#else
#define COMPAT_PROGRESS_DEAD	PROGRESS_VACUUM_NUM_DEAD_TUPLES
#define COMPAT_PROGRESS_DEAD_ROWS	PROGRESS_VACUUM_NUM_DEAD_TUPLES
#define COMPAT_PROGRESS_INDEXES_TOTAL	(-1)
#define COMPAT_PROGRESS_INDEXES_PROCESSED	(-1)
#endif

/* 18 measures the delay, with track_cost_delay_timing. */
#if PG_VERSION_NUM >= 180000
#define COMPAT_PROGRESS_VACUUM_DELAY	PROGRESS_VACUUM_DELAY_TIME
#define COMPAT_PROGRESS_ANALYZE_DELAY	PROGRESS_ANALYZE_DELAY_TIME
#define compat_delay_is_timed()	track_cost_delay_timing
#else
#define COMPAT_PROGRESS_VACUUM_DELAY	(-1)
#define COMPAT_PROGRESS_ANALYZE_DELAY	(-1)
#define compat_delay_is_timed()	false
#endif

/* 17 reads several pages at once.  This is false before. */
#if PG_VERSION_NUM >= 170000
#define compat_io_combine_is_default()	(io_combine_limit == DEFAULT_IO_COMBINE_LIMIT)
#else
#define compat_io_combine_is_default()	false
#endif

/*
 * A vacuum's ring is how much it dirties before it waits for its WAL.  17 made
 * it 2 MB instead of 256 kB.  This is false before.
 */
#if PG_VERSION_NUM >= 170000
#define compat_ring_is_default()	(VacuumBufferUsageLimit == 2048)
#else
#define compat_ring_is_default()	false
#endif

/* 19 tells a vacuum's mode, and VACUUM FULL became a form of REPACK. */
#if PG_VERSION_NUM >= 190000
#define COMPAT_PROGRESS_MODE	PROGRESS_VACUUM_MODE
#define COMPAT_PROGRESS_REWRITE	PROGRESS_COMMAND_REPACK
#define COMPAT_REWRITE_PHASE	PROGRESS_REPACK_PHASE
#define COMPAT_REWRITE_TOTAL	PROGRESS_REPACK_TOTAL_HEAP_BLKS
#define COMPAT_REWRITE_SCANNED	PROGRESS_REPACK_HEAP_BLKS_SCANNED
#else
#define COMPAT_PROGRESS_MODE	(-1)
#define COMPAT_PROGRESS_REWRITE	PROGRESS_COMMAND_CLUSTER
#define COMPAT_REWRITE_PHASE	PROGRESS_CLUSTER_PHASE
#define COMPAT_REWRITE_TOTAL	PROGRESS_CLUSTER_TOTAL_HEAP_BLKS
#define COMPAT_REWRITE_SCANNED	PROGRESS_CLUSTER_HEAP_BLKS_SCANNED
#endif

/* 19 has one log_min_messages per process type. */
#if PG_VERSION_NUM >= 190000
#define compat_log_min_messages()	log_min_messages[MyBackendType]
#else
#define compat_log_min_messages()	log_min_messages
#endif

/* 17 added transaction_timeout. */
#if PG_VERSION_NUM >= 170000
#define COMPAT_HAS_TRANSACTION_TIMEOUT	1
#else
#define COMPAT_HAS_TRANSACTION_TIMEOUT	0
#endif

/* 16 keeps VACUUM from scanning pg_class after every table. */
#if PG_VERSION_NUM >= 160000
#define COMPAT_HAS_SKIP_DATABASE_STATS	1
#else
#define COMPAT_HAS_SKIP_DATABASE_STATS	0
#endif

/* 17 lets a role be given MAINTAIN. */
#if PG_VERSION_NUM >= 170000
#define COMPAT_HAS_MAINTAIN		1
#else
#define COMPAT_HAS_MAINTAIN		0
#endif

/*
 * The wait until nobody else has a page pinned.  Its name changed twice, its
 * number did not.
 */
#define COMPAT_WAIT_FOR_PIN		0x04000000U

/* 18 has ordinary vacuums scan some all-visible pages, to freeze them. */
#if PG_VERSION_NUM >= 180000
#define COMPAT_HAS_EAGER_SCAN	1
#else
#define COMPAT_HAS_EAGER_SCAN	0
#endif

/* 16 made what names a buffered page a function. */
#if PG_VERSION_NUM >= 160000
#define compat_buffer_tag(tag, rel, block) \
	InitBufferTag((tag), &(rel)->rd_locator, MAIN_FORKNUM, (block))
#else
#define compat_buffer_tag(tag, rel, block) \
	INIT_BUFFERTAG(*(tag), (rel)->rd_node, MAIN_FORKNUM, (block))
#endif

/* The parts of that name. */
#if PG_VERSION_NUM >= 160000
#define compat_tag_database(tag)	((tag)->dbOid)
#define compat_tag_file(tag)		((Oid) BufTagGetRelNumber(tag))
#define compat_tag_fork(tag)		BufTagGetForkNum(tag)
#define compat_relation_file(rel)	((Oid) (rel)->rd_locator.relNumber)
#else
#define compat_tag_database(tag)	((tag)->rnode.dbNode)
#define compat_tag_file(tag)		((tag)->rnode.relNode)
#define compat_tag_fork(tag)		((tag)->forkNum)
#define compat_relation_file(rel)	((rel)->rd_node.relNode)
#endif

/* 19 widened a buffer's state. */
#if PG_VERSION_NUM >= 190000
#define compat_buffer_state(desc)	pg_atomic_read_u64(&(desc)->state)
#else
#define compat_buffer_state(desc)	((uint64) pg_atomic_read_u32(&(desc)->state))
#endif

/* 18 counts a table's frozen pages in pg_class. */
#if PG_VERSION_NUM >= 180000
#define COMPAT_HAS_RELALLFROZEN	1
#else
#define COMPAT_HAS_RELALLFROZEN	0
#endif

/* 18 widened the object part of a statistics key. */
#if PG_VERSION_NUM >= 180000
#define compat_stat_objid(key)	((key)->objid)
#else
#define compat_stat_objid(key)	((key)->objoid)
#endif

/* 17 renamed the wait for somebody's pin, 19 made it one of several. */
#if PG_VERSION_NUM >= 190000
#define COMPAT_WAIT_BUFFER_PIN	PG_WAIT_BUFFER
#elif PG_VERSION_NUM >= 170000
#define COMPAT_WAIT_BUFFER_PIN	PG_WAIT_BUFFERPIN
#else
#define COMPAT_WAIT_BUFFER_PIN	PG_WAIT_BUFFER_PIN
#endif

/* 18 says of a process that it is a client's, and 19 of what kind it is. */
#if PG_VERSION_NUM >= 190000
#define compat_proc_is_client(proc)	((proc)->backendType == B_BACKEND)
#elif PG_VERSION_NUM >= 180000
#define compat_proc_is_client(proc)	((proc)->isRegularBackend)
#else
#define compat_proc_is_client(proc)	(!(proc)->isBackgroundWorker)
#endif

/* The same as compat_backend_index() for another process. */
#if PG_VERSION_NUM >= 170000
#define compat_proc_backend_index(proc)	((int) ((proc) - ProcGlobal->allProcs))
#else
#define compat_proc_backend_index(proc)	((int) (proc)->backendId - 1)
#endif

/*
 * 16 turned the lists of locks from SHM_QUEUE into dlist, and 19 renamed a
 * waiter's link.
 */
#if PG_VERSION_NUM >= 190000
#define compat_waiter(node)		dlist_container(PGPROC, waitLink, node)
#else
#define compat_waiter(node)		dlist_container(PGPROC, links, node)
#endif

/* 16 counts the reasons why a slot is of no use any more. */
#if PG_VERSION_NUM >= 160000
#define compat_slot_is_invalid(slot)	((slot)->data.invalidated != RS_INVAL_NONE)
#else
#define compat_slot_is_invalid(slot)	((slot)->data.invalidated_at != InvalidXLogRecPtr)
#endif

/*
 * Which process streams from the slot?  0 if none does.  19 names it by its
 * process number.
 */
#if PG_VERSION_NUM >= 190000
#define compat_slot_active_pid(slot) \
	((slot)->active_proc == INVALID_PROC_NUMBER ? 0 : GetPGProcByNumber((slot)->active_proc)->pid)
#else
#define compat_slot_active_pid(slot)	((int) (slot)->active_pid)
#endif

/* 19 has some more slots, for REPACK. */
#if PG_VERSION_NUM >= 190000
#define compat_slot_count()		(max_replication_slots + max_repack_replication_slots)
#else
#define compat_slot_count()		(max_replication_slots)
#endif

/* 16 tells what a walsender sends. */
#if PG_VERSION_NUM >= 160000
#define compat_walsnd_is_physical(walsnd)	((walsnd)->kind == REPLICATION_KIND_PHYSICAL)
#else
#define compat_walsnd_is_physical(walsnd)	true	/* see below */
#endif

/* 19 says why no record of the WAL was found. */
#if PG_VERSION_NUM >= 190000
#define compat_find_record(reader, at, why)	XLogFindNextRecord((reader), (at), (why))
#else
#define compat_find_record(reader, at, why)	((void) (why), XLogFindNextRecord((reader), (at)))
#endif

/* 19 can leave out what is not just committing, or not of this database. */
#if PG_VERSION_NUM >= 190000
#define compat_oldest_active_xid()	GetOldestActiveTransactionId(false, true)
#else
#define compat_oldest_active_xid()	GetOldestActiveTransactionId()
#endif

/* The server's settings that VACUUM obeys and that a database may override. */
extern const char *const compat_vacuum_settings[];

extern bool compat_holds_lock(Oid relid, LOCKMODE mode);
extern int64 compat_lock_wanted_ms(PGPROC *proc, int pid, TimestampTz now);
extern int	compat_locked_relations(LOCKMODE mode, Oid *relids, int size);
extern double compat_vacuum_max_threshold(const AutoVacOpts *opts);
extern PGDLLEXPORT ScoreWeights compat_score_weights(void);
extern int64 compat_relallfrozen(void *pg_class_form);
extern int	compat_log_vacuum_min_duration(const AutoVacOpts *opts);
extern int	compat_log_analyze_min_duration(void);
extern int	compat_autovacuum_parallel_workers(const AutoVacOpts *opts);
extern bool compat_may_vacuum(Oid relid);
extern void compat_wake_checkpointer(void);
extern struct PgBackendStatus *compat_backend_status(void);
extern void compat_copy_application_name(int pid, char *name, size_t size);
extern bool compat_walsender_has_database(int pid);
extern int	compat_server_version_built(void);
extern const char *compat_rewrite_phase_name(int phase, const char *const *names, int count);
struct PgStat_HashKey;
extern void compat_stat_key(struct PgStat_HashKey *key, Oid dboid, Oid relid);
extern void compat_portal_run(Portal portal, DestReceiver *dest);

/* The process whose temporary tables the schema has, or 0. */
extern int	compat_temp_owner(Oid namespace_oid);

/*
 * The next and the oldest multixact, and the next member.  From 19 on also the
 * first member of the oldest multixact; false: that is not known.
 */
extern bool compat_members(MultiXactId *next, MultiXactId *oldest, uint64 *next_member, uint64 *first_member);
extern HTAB *compat_shmem_hash(const char *name, int64 size, HASHCTL *info, int flags);

#endif							/* SWEEP_COMPAT_H */
