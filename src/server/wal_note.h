/*
 * wal_note.h
 *		A note in the WAL, for whoever starts from it.
 */
#ifndef SWEEP_WAL_NOTE_H
#define SWEEP_WAL_NOTE_H

#include "postgres.h"

#include "access/xlogdefs.h"

/*
 * Writes a note.  It is on disk, and on its way to standbys, within three
 * times wal_writer_delay.  Only for a process that is in no database.  Returns
 * where it ends.
 */
extern XLogRecPtr wal_note_write(char *data, Size size);

typedef struct WalNote
{
	char	   *data;			/* palloc'd */
	Size		size;
	TimeLineID	timeline;		/* on which it was written */
	uint64		behind;			/* bytes of WAL that came after it */
} WalNote;

/*
 * Finds the last note that is no further back than so many bytes.  false:
 * there is none, or its WAL is not there any more.  An ERROR where the WAL
 * cannot be read.
 */
extern bool wal_note_find(uint64 distance, WalNote *note);

#endif							/* SWEEP_WAL_NOTE_H */
