/*
 * carried.c
 *		What was known before the statistics were lost: the note that carries
 *		it, and for which databases there was one.
 *
 * A note is compressed, because most of a decision is zeros.  It is read by
 * the same library on the same kind of machine: a standby is of the same
 * architecture, and another version has another VERSION or size.
 */
#include "state/carried.h"

#include "common/pg_lzcompress.h"
#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "shmem.h"

#define VERSION		1

/* Decisions are written up to their names, which are written as strings. */
#define DECISION_FIXED	offsetof(Decision, schemaname)

/* ----
 * What is known
 * ----
 */

bool
carried_is_known(Oid dboid, TimestampTz reset_at)
{
	const CarriedState *state = &sweep_shared->carried;
	uint32		count = pg_atomic_read_u32(unconstify(pg_atomic_uint32 *, &state->count));

	pg_read_barrier();
	if (count == 0 || reset_at > state->taken_at)
		return false;
	for (uint32 i = 0; i < count; i++)
	{
		if (state->databases[i] == dboid)
			return true;
	}
	return false;
}

void
carried_know(const Oid *databases, int count, TimestampTz at)
{
	CarriedState *state = &sweep_shared->carried;

	count = Min(count, CARRIED_DATABASES_LIMIT);
	memcpy(state->databases, databases, sizeof(Oid) * count);
	state->taken_at = at;
	pg_write_barrier();
	pg_atomic_write_u32(&state->count, (uint32) count);
}

bool
carried_has(DecisionKey key)
{
	Decision	decision;

	return decision_get(key, &decision) && decision.carried.on;
}

/* ----
 * The note
 * ----
 */

typedef struct NoteHead
{
	uint32		version;
	uint32		decision_size;
	uint32		whole_size;		/* of what follows, not compressed */
	bool		compressed;
} NoteHead;

char *
carried_encode(const CarriedNote *note, Size *size)
{
	StringInfoData body;
	NoteHead	head = {0};
	char	   *data;
	int32		compressed;

	initStringInfo(&body);
	appendBinaryStringInfo(&body, (const char *) note, sizeof(*note));
	if (note->database_count > 0)
		appendBinaryStringInfo(&body, (const char *) note->databases, sizeof(Oid) * note->database_count);
	for (int i = 0; i < note->table_count; i++)
	{
		const CarriedTable *t = &note->tables[i];

		appendBinaryStringInfo(&body, (const char *) t, offsetof(CarriedTable, decision) + DECISION_FIXED);
		appendBinaryStringInfo(&body, t->decision.schemaname, strlen(t->decision.schemaname) + 1);
		appendBinaryStringInfo(&body, t->decision.relname, strlen(t->decision.relname) + 1);
	}

	head.version = VERSION;
	head.decision_size = sizeof(CarriedTable);
	head.whole_size = body.len;
	data = palloc(sizeof(head) + PGLZ_MAX_OUTPUT(body.len));
	compressed = pglz_compress(body.data, body.len, data + sizeof(head), PGLZ_strategy_default);
	head.compressed = compressed >= 0;
	if (!head.compressed)
		memcpy(data + sizeof(head), body.data, body.len);
	memcpy(data, &head, sizeof(head));
	*size = sizeof(head) + (head.compressed ? compressed : body.len);
	pfree(body.data);
	return data;
}

/* What is left to be read of a note. */
typedef struct NoteReading
{
	const char *at;
	const char *end;
	bool		ok;
} NoteReading;

static void
read_bytes(NoteReading *r, void *to, Size size)
{
	r->ok = r->ok && (Size) (r->end - r->at) >= size;
	if (!r->ok)
		return;
	memcpy(to, r->at, size);
	r->at += size;
}

static void
read_name(NoteReading *r, char *name)
{
	Size		length = r->ok ? strnlen(r->at, r->end - r->at) : 0;

	r->ok = r->ok && r->at + length < r->end && length < NAMEDATALEN;
	if (r->ok)
		read_bytes(r, name, length + 1);
}

static bool
read_body(NoteReading *r, CarriedNote *note)
{
	read_bytes(r, note, sizeof(*note));
	r->ok = r->ok && note->database_count >= 0 && note->database_count <= CARRIED_DATABASES_LIMIT &&
		note->table_count >= 0 && note->table_count <= CARRIED_TABLES_LIMIT;
	if (!r->ok)
		return false;
	note->databases = palloc0(sizeof(Oid) * Max(note->database_count, 1));
	read_bytes(r, note->databases, sizeof(Oid) * note->database_count);
	note->tables = palloc0(sizeof(CarriedTable) * Max(note->table_count, 1));
	for (int i = 0; i < note->table_count; i++)
	{
		CarriedTable *t = &note->tables[i];

		read_bytes(r, t, offsetof(CarriedTable, decision) + DECISION_FIXED);
		read_name(r, t->decision.schemaname);
		read_name(r, t->decision.relname);
		r->ok = r->ok && t->decision.kind < DECISION_KIND_COUNT;
	}
	return r->ok;
}

bool
carried_decode(const char *data, Size size, CarriedNote *note)
{
	NoteHead	head;
	NoteReading r = {data, data + size, true};
	char	   *body = NULL;
	bool		ok;

	read_bytes(&r, &head, sizeof(head));
	if (!r.ok || head.version != VERSION || head.decision_size != sizeof(CarriedTable) ||
		head.whole_size > MaxAllocSize / 2)
		return false;
	if (head.compressed)
	{
		body = palloc(head.whole_size);
		if (pglz_decompress(r.at, r.end - r.at, body, head.whole_size, true) != (int32) head.whole_size)
			return false;
		r.at = body;
		r.end = body + head.whole_size;
	}
	ok = read_body(&r, note);
	if (body)
		pfree(body);
	return ok;
}
