/*
 * buffer_scan.h
 *		Changed pages of some tables that are in shared buffers.
 */
#ifndef SWEEP_BUFFER_SCAN_H
#define SWEEP_BUFFER_SCAN_H

#include "postgres.h"

#include "storage/block.h"
#include "storage/buf.h"

/* A table's file.  Its tablespace is not asked for. */
typedef Oid BufferScanFile;

/* Tells of a page: which of the files, and where. */
typedef void (*BufferScanSink) (int file, BlockNumber block, Buffer buffer, void *arg);

/*
 * Looks at the headers of `count` buffers from `first` on, and tells of those
 * pages of the files (of the process's own database, ascending) that were
 * changed since they were written.  It takes no lock, so what it says is a hint.
 */
extern void buffer_scan(int first, int count, const BufferScanFile *files, int nfiles,
						BufferScanSink sink, void *arg);

/* Which buffer does the clock sweep look at next, to use it for another page? */
extern int	buffer_scan_hand(void);

#endif							/* SWEEP_BUFFER_SCAN_H */
