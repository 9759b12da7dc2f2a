/*
 * host_record_test.c
 *		policy/host_record: what is written is read again, and nothing else is
 *		taken.
 */
#include "host_record.h"
#include "tap.h"

#define BOOT	"0b0ad5ac-2f5c-4d7e-9f0c-6a5d8a3f4b21"

static const struct
{
	const char *name;
	HostRecord	record;
	HostRecord	expected;
}			records[] = {

	{"a server",
		{BOOT, 253, 1, 123456, 2, 1.5, 1048576, 524288, 262144, 120000, 4194304, "main"},
	{BOOT, 253, 1, 123456, 2, 1.5, 1048576, 524288, 262144, 120000, 4194304, "main"}},
	{"without a name",
		{BOOT, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, ""},
	{BOOT, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, ""}},
	{"one that watches",
		{BOOT, 8, 0, 7, 0, 0, 0, 0, 0, 5, 9, "w", true},
	{BOOT, 8, 0, 7, 0, 0, 0, 0, 0, 5, 9, "w", true}},
	{"one that vacuums and has users",
		{BOOT, 8, 0, 7, 1, 1, 4, 4, 4, 5, 9, "v", false, true},
	{BOOT, 8, 0, 7, 1, 1, 4, 4, 4, 5, 9, "v", false, true}},
	{"a name that would be a line of its own",
		{BOOT, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0, "a\nend 00000000\xc3\xa9"},
	{BOOT, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0, "a?end 00000000??"}},
	{"numbers that are none",
		{BOOT, 8, 0, 1, 0, NAN, -1, INFINITY, 1e300, -5, NAN, "x"},
	{BOOT, 8, 0, 1, 0, 0, 0, 1e15, 1e15, 0, 0, "x"}},
	{"the largest of all",
		{BOOT, 4294967295u, 4294967295u, INT64_MAX, 1000000, 1e6, 1e15, 1e15, 1e15, INT64_MAX, 1e15,
		"123456789012345678901234567890123456789012345678901234567890123"},
		{BOOT, 4294967295u, 4294967295u, INT64_MAX, 1000000, 1e6, 1e15, 1e15, 1e15, INT64_MAX, 1e15,
	"123456789012345678901234567890123456789012345678901234567890123"}},
};

/* One place of a good text is another: what it is replaced by. */
static const struct
{
	const char *name;
	const char *find;
	const char *replacement;
}			damages[] = {
	{"another version", "pg_sweep 1", "pg_sweep 2"},
	{"a number that is changed", "vacuums 2", "vacuums 3"},
	{"a sign", "vacuums 2", "vacuums -2"},
	{"a space", "vacuums 2", "vacuums  2"},
	{"no number", "vacuums 2", "vacuums x"},
	{"a number beyond 64 bits", "at 123456", "at 99999999999999999999"},
	{"neither yes nor no", "watches 0", "watches 2"},
	{"neither with users nor without", "users 0", "users 2"},
	{"a fraction", "read 1048576", "read 1048576.5"},
	{"nan", "read 1048576", "read nan"},
	{"a device without its minor number", "device 253:1", "device 253"},
	{"a line that is missing", "wal 262144\n", ""},
	{"without what an older one does not tell", "cut 120000\nto 4194304\nwatches 0\nusers 0\n", ""},
	{"lines in another order", "read 1048576\nwrite 524288", "write 524288\nread 1048576"},
	{"something behind the end", "\nend ", "\nend x"},
	{"no end", "\nend ", "\nEND "},
	{"a name that is too long", "name main", "name 1234567890123456789012345678901234567890123456789012345678901234"},
	{"a control character in the name", "name main", "name ma\tin"},
};

static void
replace(char *text, size_t size, const char *find, const char *replacement)
{
	char	   *at = strstr(text, find);
	char		rest[1024];

	snprintf(rest, sizeof(rest), "%s", at + strlen(find));
	snprintf(at, size - (size_t) (at - text), "%s%s", replacement, rest);
}

static bool
is_same(const HostRecord *a, const HostRecord *b)
{
	return strcmp(a->boot, b->boot) == 0 && strcmp(a->name, b->name) == 0 &&
		a->device_major == b->device_major && a->device_minor == b->device_minor &&
		a->at_ms == b->at_ms && a->vacuums == b->vacuums && a->urgency == b->urgency &&
		a->read == b->read && a->write == b->write && a->wal == b->wal &&
		a->cut_at_ms == b->cut_at_ms && a->cut_to == b->cut_to && a->watches == b->watches &&
		a->users == b->users;
}

int
main(void)
{
	char		good[HOST_RECORD_BYTES];
	size_t		length;
	HostRecord	out;

	for (size_t i = 0; i < lengthof(records); i++)
	{
		char		text[HOST_RECORD_BYTES];

		length = host_record_format(&records[i].record, text);
		tap_ok(length == strlen(text) && length < sizeof(text), records[i].name, "it fits");
		memset(&out, 0xff, sizeof(out));
		tap_ok(host_record_parse(text, &out), records[i].name, "it is read");
		tap_ok(is_same(&out, &records[i].expected), records[i].name, "and is the same");
	}

	length = host_record_format(&records[0].record, good);
	for (size_t i = 0; i < lengthof(damages); i++)
	{
		char		text[2 * HOST_RECORD_BYTES];
		HostRecord	before;

		strcpy(text, good);
		replace(text, sizeof(text), damages[i].find, damages[i].replacement);
		memset(&out, 0x11, sizeof(out));
		before = out;
		tap_ok(!host_record_parse(text, &out), damages[i].name, "is not taken");
		tap_ok(memcmp(&out, &before, sizeof(out)) == 0, damages[i].name, "and changes nothing");
	}

	/* torn anywhere */
	for (size_t n = 0; n < length; n++)
	{
		char		text[HOST_RECORD_BYTES];

		strcpy(text, good);
		text[n] = '\0';
		if (host_record_parse(text, &out))
			tap_ok(false, "a text that ends early", text);
	}
	tap_ok(true, "a text that ends early", "is never taken");

	/* one bit is another */
	for (size_t n = 0; n < 8 * length; n++)
	{
		char		text[HOST_RECORD_BYTES];

		strcpy(text, good);
		text[n / 8] ^= (char) (1 << n % 8);
		if (host_record_parse(text, &out))
			tap_ok(false, "one bit that is another", text);
	}
	tap_ok(true, "one bit that is another", "is always seen");
	return tap_done();
}
