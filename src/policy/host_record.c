/*
 * policy/host_record.c
 *		What the servers of one machine tell each other.  Pure.
 */
#include "host_record.h"

#include <string.h>

#define VACUUMS_LIMIT	1000000
#define URGENCY_LIMIT	INT64_C(1000000000)
#define RATE_LIMIT		INT64_C(1000000000000000)
#define DEVICE_LIMIT	INT64_C(4294967295)

/* FNV-1a (Fowler, Noll, Vo), 32 bits.  It finds a torn text, not a liar. */
static uint32_t
checksum(const char *text, size_t length)
{
	uint32_t	hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char) text[i]) * 16777619u;
	return hash;
}

static bool
is_plain(char c)
{
	return c >= ' ' && c <= '~';
}

static int64_t
bounded(double value, int64_t limit)
{
	if (!(value > 0))
		return 0;
	return value < (double) limit ? (int64_t) value : limit;
}

/* ----
 * Writing
 * ----
 */

static char *
put_text(char *to, const char *text)
{
	size_t		length = strlen(text);

	memcpy(to, text, length + 1);
	return to + length;
}

static char *
put_number(char *to, const char *word, int64_t value, const char *end)
{
	char		digits[24];
	char	   *first = digits + sizeof(digits) - 1;

	value = value < 0 ? 0 : value;
	*first = '\0';
	do
		*--first = (char) ('0' + value % 10);
	while ((value /= 10) > 0);
	return put_text(put_text(put_text(to, word), first), end);
}

static void
to_hex(uint32_t value, char text[9])
{
	for (int i = 0; i < 8; i++)
		text[i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15];
	text[8] = '\0';
}

/* Without what could be taken for another line, or for none at all. */
static char *
put_plain(char *to, const char *text, size_t size)
{
	for (size_t i = 0; i < size - 1 && text[i] != '\0'; i++)
		*to++ = is_plain(text[i]) ? text[i] : '?';
	*to = '\0';
	return to;
}

size_t
host_record_format(const HostRecord *record, char text[HOST_RECORD_BYTES])
{
	char	   *to = put_text(text, "pg_sweep 1\nboot ");
	char		sum[9];

	to = put_plain(to, record->boot, sizeof(record->boot));
	to = put_number(to, "\ndevice ", record->device_major, ":");
	to = put_number(to, "", record->device_minor, "\n");
	to = put_number(to, "at ", record->at_ms, "\n");
	to = put_number(to, "vacuums ", record->vacuums, "\n");
	to = put_number(to, "urgency ", bounded(record->urgency * 1000, URGENCY_LIMIT), "\n");
	to = put_number(to, "read ", bounded(record->read, RATE_LIMIT), "\n");
	to = put_number(to, "write ", bounded(record->write, RATE_LIMIT), "\n");
	to = put_number(to, "wal ", bounded(record->wal, RATE_LIMIT), "\n");
	to = put_number(to, "cut ", record->cut_at_ms, "\n");
	to = put_number(to, "to ", bounded(record->cut_to, RATE_LIMIT), "\n");
	to = put_number(to, "watches ", record->watches, "\n");
	to = put_number(to, "users ", record->users, "\nname ");
	to = put_text(put_plain(to, record->name, sizeof(record->name)), "\n");
	to_hex(checksum(text, (size_t) (to - text)), sum);
	to = put_text(put_text(put_text(to, "end "), sum), "\n");
	return (size_t) (to - text);
}

/* ----
 * Reading
 * ----
 */

/* Goes on behind a word. */
static bool
skip(const char **at, const char *word)
{
	size_t		length = strlen(word);

	if (strncmp(*at, word, length) != 0)
		return false;
	*at += length;
	return true;
}

/* A number without a sign, and what ends it. */
static bool
take_number(const char **at, const char *word, char end, int64_t limit, int64_t *value)
{
	if (!skip(at, word) || **at < '0' || **at > '9')
		return false;
	for (*value = 0; **at >= '0' && **at <= '9'; (*at)++)
	{
		int			digit = **at - '0';

		if (*value > (limit - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	return *(*at)++ == end;
}

/* The rest of a line, of plain characters. */
static bool
take_text(const char **at, const char *word, char *value, size_t size)
{
	size_t		n = 0;

	if (!skip(at, word))
		return false;
	for (; is_plain(**at); (*at)++)
	{
		if (n + 1 == size)
			return false;
		value[n++] = **at;
	}
	value[n] = '\0';
	return skip(at, "\n");
}

bool
host_record_parse(const char *text, HostRecord *out)
{
	const char *at = text;
	HostRecord	record;
	int64_t		device_major,
				device_minor,
				vacuums,
				urgency,
				read,
				write,
				wal,
				cut_to,
				watches,
				users;
	char		end[16];
	char		expected[9];

	memset(&record, 0, sizeof(record));
	if (!skip(&at, "pg_sweep 1\n") || !take_text(&at, "boot ", record.boot, sizeof(record.boot)) ||
		!take_number(&at, "device ", ':', DEVICE_LIMIT, &device_major) ||
		!take_number(&at, "", '\n', DEVICE_LIMIT, &device_minor) ||
		!take_number(&at, "at ", '\n', INT64_MAX, &record.at_ms) ||
		!take_number(&at, "vacuums ", '\n', VACUUMS_LIMIT, &vacuums) ||
		!take_number(&at, "urgency ", '\n', URGENCY_LIMIT, &urgency) ||
		!take_number(&at, "read ", '\n', RATE_LIMIT, &read) ||
		!take_number(&at, "write ", '\n', RATE_LIMIT, &write) ||
		!take_number(&at, "wal ", '\n', RATE_LIMIT, &wal) ||
		!take_number(&at, "cut ", '\n', INT64_MAX, &record.cut_at_ms) ||
		!take_number(&at, "to ", '\n', RATE_LIMIT, &cut_to) ||
		!take_number(&at, "watches ", '\n', 1, &watches) ||
		!take_number(&at, "users ", '\n', 1, &users) ||
		!take_text(&at, "name ", record.name, sizeof(record.name)))
		return false;
	to_hex(checksum(text, (size_t) (at - text)), expected);
	if (!take_text(&at, "end ", end, sizeof(end)) || strcmp(end, expected) != 0 || *at != '\0')
		return false;

	record.device_major = (unsigned) device_major;
	record.device_minor = (unsigned) device_minor;
	record.vacuums = (int) vacuums;
	record.urgency = (double) urgency / 1000;
	record.read = (double) read;
	record.write = (double) write;
	record.wal = (double) wal;
	record.watches = watches == 1;
	record.users = users == 1;
	record.cut_to = (double) cut_to;
	*out = record;
	return true;
}
