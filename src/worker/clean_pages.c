/*
 * clean_pages.c
 *		Pages of tables that can be cleaned without I/O: they are in shared
 *		buffers, and are to be written anyway.
 *
 * One pass over the headers of the buffers serves all tables of a database.
 * It begins at the clock hand, and goes on where the last one has ended,
 * whichever worker that was (policy/rotation).
 */
#include "worker/clean_pages.h"

#include "access/xact.h"
#include "utils/rel.h"

#include "policy/rotation.h"
#include "server/buffer_scan.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/peek.h"
#include "settings.h"
#include "shmem.h"

/* A pass ends after so long, or with so many pages: 512 MB of tables. */
#define PASS_MS			10000
#define PASS_PAGES		65536
#define STEP_MS			100

typedef struct Found
{
	int			table;
	CleanPage	page;
} Found;

typedef struct Pass
{
	BufferScanFile *files;		/* ascending */
	int		   *tables;			/* of which table is each? */
	int			nfiles;
	Found	   *found;
	int			nfound;
	bool		all_seen;
} Pass;

static void
add_page(int file, BlockNumber block, Buffer buffer, void *arg)
{
	Pass	   *pass = arg;
	Found	   *found;

	if (pass->nfound == PASS_PAGES)
		return;
	found = &pass->found[pass->nfound++];
	found->table = pass->tables[file];
	found->page.block = block;
	found->page.buffer = buffer;
}

/* Two files of one database may have the same number, in different tablespaces. */
static void
add_file(Pass *pass, int table, BufferScanFile file)
{
	int			i = pass->nfiles++;

	for (; i > 0 && pass->files[i - 1] > file; i--)
	{
		pass->files[i] = pass->files[i - 1];
		pass->tables[i] = pass->tables[i - 1];
	}
	pass->files[i] = file;
	pass->tables[i] = table;
}

static void
take_file(Relation rel, void *file)
{
	*(BufferScanFile *) file = compat_relation_file(rel);
}

/* An error would end the worker, so it asks must_stop() instead of looking at interrupts. */
static void
find_files(Pass *pass, const DecisionKey *tables, int count, bool (*must_stop) (void))
{
	MemoryContext caller = CurrentMemoryContext;

	StartTransactionCommand();
	for (int i = 0; i < count && !must_stop(); i++)
	{
		BufferScanFile file;

		if (peek(tables[i].relid, take_file, &file) == PEEK_SEEN)
			add_file(pass, i, file);
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(caller);
}

/* Returns false if it was to stop. */
static bool
scan_buffers(Pass *pass, bool (*must_stop) (void))
{
	int			step = Max(sweep_cleaner_scan_rate / (1000 / STEP_MS), 1);
	int			wanted = (int) Min((int64) NBuffers, (int64) step * (PASS_MS / STEP_MS));
	Rotation	rotation = rotation_begin(NBuffers, wanted, buffer_scan_hand(),
										  (int) (pg_atomic_read_u32(&sweep_shared->cleanings.next_buffer) % (uint32) NBuffers));
	bool		stopped = false;

	while (rotation.left > 0 && pass->nfound < PASS_PAGES && !(stopped = must_stop()))
	{
		int			first;
		int			count = rotation_next(&rotation, step, &first);

		buffer_scan(first, count, pass->files, pass->nfiles, add_page, pass);
		if (pass->nfound > PASS_PAGES / 2)
			rotation_leave_hand(&rotation);
		if (rotation.left > 0)
			clock_wait_until(clock_after(clock_now(), STEP_MS));
	}
	pg_atomic_write_u32(&sweep_shared->cleanings.next_buffer, (uint32) rotation.at);
	pass->all_seen = wanted == NBuffers && rotation.left == 0;
	return !stopped;
}

static int
compare_found(const void *a, const void *b)
{
	const Found *x = a;
	const Found *y = b;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (x->page.block != y->page.block)
		return x->page.block < y->page.block ? -1 : 1;
	return 0;
}

/* Gives each table its pages, once each: a page may have moved while we looked. */
static CleanPages *
by_table(const Pass *pass, int count)
{
	CleanPages *result = palloc0(sizeof(CleanPages) * count);
	CleanPage  *pages = palloc(sizeof(CleanPage) * Max(pass->nfound, 1));
	int			n = 0;

	qsort(pass->found, pass->nfound, sizeof(Found), compare_found);
	for (int i = 0; i < pass->nfound; i++)
	{
		CleanPages *table = &result[pass->found[i].table];

		if (i > 0 && compare_found(&pass->found[i - 1], &pass->found[i]) == 0)
			continue;
		if (table->count++ == 0)
			table->pages = &pages[n];
		pages[n++] = pass->found[i].page;
	}
	return result;
}

CleanPages *
clean_pages_find(const DecisionKey *tables, int count, bool (*must_stop) (void), bool *all_seen)
{
	Pass		pass = {0};
	CleanPages *result = NULL;

	pass.files = palloc(sizeof(BufferScanFile) * Max(count, 1));
	pass.tables = palloc(sizeof(int) * Max(count, 1));
	pass.found = palloc(sizeof(Found) * PASS_PAGES);
	if (sweep_cleaner_scan_rate > 0)
		find_files(&pass, tables, count, must_stop);
	if (pass.nfiles == 0 || scan_buffers(&pass, must_stop))
		result = by_table(&pass, count);
	*all_seen = pass.all_seen;
	pfree(pass.files);
	pfree(pass.tables);
	pfree(pass.found);
	return result;
}
