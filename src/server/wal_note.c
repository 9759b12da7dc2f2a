/*
 * wal_note.c
 *		A note in the WAL, for whoever starts from it: after a crash, or on the
 *		standby that is promoted.
 *
 * It is a message of logical decoding.  To replay one is to do nothing, so
 * standbys need not know of pg_sweep.  It has no database, because the
 * launcher is in none.  Slots decode what is of their own database, so no
 * subscriber gets it.  And no user can forge it: who calls
 * pg_logical_emit_message() is in a database.
 *
 * Only the launcher runs this.  It takes no lock.  The WAL is read backwards,
 * file by file, each from its beginning to its end.
 */
#include "server/wal_note.h"

#include <unistd.h>

#include "access/rmgr.h"
#include "access/timeline.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "access/xlogreader.h"
#include "miscadmin.h"
#include "replication/message.h"
#include "storage/fd.h"

#include "server/compat.h"

static char prefix[] = "pg_sweep";

/* ----
 * Writing
 * ----
 */

/*
 * The same as LogLogicalMessage(), but for the flag.  Without that a note would
 * be reason enough for a checkpoint, and for the next file where there is an
 * archive_timeout.  Both are reason enough for another note, so an idle server
 * would never come to rest.
 */
XLogRecPtr
wal_note_write(char *data, Size size)
{
	xl_logical_message head = {0};
	XLogRecPtr	end;

	Assert(!OidIsValid(MyDatabaseId));
	head.prefix_size = sizeof(prefix);
	head.message_size = size;
	XLogBeginInsert();
	XLogRegisterData((char *) &head, SizeOfLogicalMessage);
	XLogRegisterData(prefix, sizeof(prefix));
	XLogRegisterData(data, size);
	XLogSetRecordFlags(XLOG_MARK_UNIMPORTANT);
	end = XLogInsert(RM_LOGICALMSG_ID, XLOG_LOGICAL_MESSAGE);
	XLogSetAsyncXactLSN(end);
	return end;
}

/* ----
 * Reading
 * ----
 */

typedef struct WalReading
{
	List	   *history;		/* of timelines */
	XLogRecPtr	end;			/* of what is on disk */
	XLogSegNo	segno;			/* of the open file */
	int			fd;				/* -1: none is open */
} WalReading;

static void
close_file(WalReading *reading)
{
	if (reading->fd >= 0)
		CloseTransientFile(reading->fd);
	reading->fd = -1;
}

/* The file that has the segment as the present timeline knows it. */
static TimeLineID
timeline_of(const WalReading *reading, XLogSegNo segno)
{
	XLogRecPtr	last;

	XLogSegNoOffsetToRecPtr(segno, wal_segment_size - 1, wal_segment_size, last);
	return tliOfPointInHistory(last, reading->history);
}

/* Returns false if the file is not there any more. */
static bool
open_file(WalReading *reading, XLogSegNo segno)
{
	char		path[MAXPGPATH];

	if (reading->fd >= 0 && reading->segno == segno)
		return true;
	close_file(reading);
	XLogFilePath(path, timeline_of(reading, segno), segno, wal_segment_size);
	reading->fd = OpenTransientFile(path, O_RDONLY | PG_BINARY);
	reading->segno = segno;
	return reading->fd >= 0;
}

/* What is missing ends the reading.  That is no error. */
static int
read_page(XLogReaderState *reader, XLogRecPtr page, int wanted, XLogRecPtr record, char *buffer)
{
	WalReading *reading = reader->private_data;
	XLogSegNo	segno;
	int			count;

	CHECK_FOR_INTERRUPTS();
	if (page + wanted > reading->end)
		return -1;
	count = (int) Min(XLOG_BLCKSZ, reading->end - page);
	XLByteToSeg(page, segno, wal_segment_size);
	if (!open_file(reading, segno))
		return -1;
	reader->seg.ws_tli = timeline_of(reading, segno);
	if (pg_pread(reading->fd, buffer, count, XLogSegmentOffset(page, wal_segment_size)) != count)
		return -1;
	return count;
}

/* Is the record that was read a note? */
static bool
is_note(XLogReaderState *reader)
{
	const xl_logical_message *message = (const xl_logical_message *) XLogRecGetData(reader);

	return XLogRecGetRmid(reader) == RM_LOGICALMSG_ID &&
		(XLogRecGetInfo(reader) & ~XLR_INFO_MASK) == XLOG_LOGICAL_MESSAGE &&
		!OidIsValid(message->dbId) && !message->transactional &&
		message->prefix_size == sizeof(prefix) && strcmp(message->message, prefix) == 0;
}

static void
take_note(XLogReaderState *reader, const WalReading *reading, WalNote *note)
{
	const xl_logical_message *message = (const xl_logical_message *) XLogRecGetData(reader);

	if (note->data)
		pfree(note->data);
	note->data = palloc(message->message_size);
	note->size = message->message_size;
	memcpy(note->data, message->message + message->prefix_size, note->size);
	note->timeline = tliOfPointInHistory(reader->ReadRecPtr, reading->history);
	note->behind = reading->end - reader->EndRecPtr;
}

/* Reads all that begins in one segment, and takes the last note of it. */
static void
read_segment(WalReading *reading, XLogSegNo segno, WalNote *note)
{
	XLogReaderState *reader = XLogReaderAllocate(wal_segment_size, NULL, XL_ROUTINE(.page_read = read_page), reading);
	XLogRecPtr	begin;
	char	   *why = NULL;

	if (reader == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed while allocating a WAL reading processor.")));
	XLogSegNoOffsetToRecPtr(segno, 0, wal_segment_size, begin);
	begin = compat_find_record(reader, begin, &why);
	if (!XLogRecPtrIsInvalid(begin))
	{
		XLogBeginRead(reader, begin);
		while (XLogReadRecord(reader, &why) != NULL && XLByteInSeg(reader->ReadRecPtr, segno, wal_segment_size))
		{
			if (is_note(reader))
				take_note(reader, reading, note);
		}
	}
	XLogReaderFree(reader);
}

bool
wal_note_find(uint64 distance, WalNote *note)
{
	WalReading	reading = {.fd = -1};
	XLogSegNo	last;
	XLogSegNo	segments;

	memset(note, 0, sizeof(*note));
	reading.history = readTimeLineHistory(GetWALInsertionTimeLine());
	reading.end = GetFlushRecPtr(NULL);
	XLByteToPrevSeg(reading.end, last, wal_segment_size);
	segments = Min(last, distance / wal_segment_size + 2);
	PG_TRY();
	{
		for (XLogSegNo i = 0; i < segments && note->data == NULL; i++)
		{
			if (!open_file(&reading, last - i))
				break;
			read_segment(&reading, last - i, note);
		}
	}
	PG_FINALLY();
	{
		close_file(&reading);
	}
	PG_END_TRY();
	list_free_deep(reading.history);
	return note->data != NULL;
}
