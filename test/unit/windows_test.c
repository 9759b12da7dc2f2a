/*
 * windows_test.c
 *		policy/windows: what applies when, and where an error is.
 */
#include "tap.h"
#include "windows.h"

#define DAY_NIGHT	"08:00-20:00 write_limit=20 read_limit=40, else write_limit=150"
#define NIGHT		"22:00-06:00 write_limit=200"
#define NONE		(-1)

/* the limit that applies at a time (NONE: none) */
static const struct
{
	const char *text;
	const char *time;
	BudgetLimit setting;
	double		expected;
}			cases[] = {
	{"", "12:00", LIMIT_WRITE, NONE},
	{"  \n", "12:00", LIMIT_WRITE, NONE},
	{DAY_NIGHT, "07:59", LIMIT_WRITE, 150},
	{DAY_NIGHT, "07:59", LIMIT_READ, NONE},
	{DAY_NIGHT, "08:00", LIMIT_WRITE, 20},
	{DAY_NIGHT, "08:00", LIMIT_READ, 40},
	{DAY_NIGHT, "08:00", LIMIT_WAL, NONE},
	{DAY_NIGHT, "19:59", LIMIT_WRITE, 20},
	{DAY_NIGHT, "20:00", LIMIT_WRITE, 150},
	{DAY_NIGHT, "00:00", LIMIT_WRITE, 150},
	{DAY_NIGHT, "23:59", LIMIT_WRITE, 150},

	/* over midnight */
	{NIGHT, "21:59", LIMIT_WRITE, NONE},
	{NIGHT, "22:00", LIMIT_WRITE, 200},
	{NIGHT, "00:00", LIMIT_WRITE, 200},
	{NIGHT, "05:59", LIMIT_WRITE, 200},
	{NIGHT, "06:00", LIMIT_WRITE, NONE},
	{"20:00-24:00 write_limit=1", "23:59", LIMIT_WRITE, 1},
	{"20:00-24:00 write_limit=1", "00:00", LIMIT_WRITE, NONE},
	{"20:00-00:00 write_limit=1", "23:59", LIMIT_WRITE, 1},
	{"20:00-00:00 write_limit=1", "00:00", LIMIT_WRITE, NONE},
	{"00:00-24:00 write_limit=1", "00:00", LIMIT_WRITE, 1},
	{"00:00-24:00 write_limit=1", "23:59", LIMIT_WRITE, 1},

	/* as people write it */
	{"08:00\xe2\x80\x93" "20:00 20 MB/s, else 150", "09:00", LIMIT_WRITE, 20},
	{"08:00\xe2\x80\x93" "20:00 20 MB/s, else 150", "21:00", LIMIT_WRITE, 150},
	{"8:00 - 20:00  20MB/s read_limit = 40 MB/s", "09:00", LIMIT_WRITE, 20},
	{"8:00 - 20:00  20MB/s read_limit = 40 MB/s", "09:00", LIMIT_READ, 40},
	{"8:00-9:30 2.5", "09:29", LIMIT_WRITE, 2.5},
	{"else 7", "09:29", LIMIT_WRITE, 7},
	{"8:00-20:00 write_limit=0, else 5", "09:29", LIMIT_WRITE, 0},
	{"8:00-20:00 device_utilization=20% cpu_limit=150 % io_latency_limit=5ms floor=1", "09:00",
	LIMIT_DEVICE, 20},
	{"8:00-20:00 device_utilization=20% cpu_limit=150 % io_latency_limit=5ms floor=1", "09:00",
	LIMIT_CPU, 150},
	{"8:00-20:00 device_utilization=20% cpu_limit=150 % io_latency_limit=5ms floor=1", "09:00",
	LIMIT_IO_LATENCY, 5},
	{"8:00-20:00 device_utilization=20% cpu_limit=150 % io_latency_limit=5ms floor=1", "09:00",
	WINDOW_FLOOR, 1},
	{"8:00-9:00 wal_limit=3\n,9:00-10:00 wal_limit=4", "09:00", LIMIT_WAL, 4},

	/* the first that holds the time */
	{"8:00-20:00 1, 12:00-13:00 2, else 3", "12:30", LIMIT_WRITE, 1},
	{"12:00-13:00 2, 8:00-20:00 1, else 3", "12:30", LIMIT_WRITE, 2},
};

static const struct
{
	const char *text;
	int			position;
}			errors[] = {
	{"08:00", 5},
	{"08:00-", 6},
	{"08:00-20:00", 11},
	{"08:00-20:00 ,", 12},
	{"08:00-20:00 20,", 15},
	{", else 5", 0},
	{"25:00-26:00 5", 0},
	{"08:60-09:00 5", 0},
	{"08:00-24:01 5", 6},
	{"24:00-08:00 5", 0},
	{"08:00-08:00 5", 0},
	{"8-20 5", 0},
	{"08:00-20:0 5", 6},
	{"08:00 20:00 5", 6},
	{"08:00-20:00write_limit=5", 11},
	{"08:00-20:00 writelimit=5", 12},
	{"08:00-20:00 write_limit 5", 24},
	{"08:00-20:00 write_limit=", 24},
	{"08:00-20:00 write_limit=-5", 24},
	{"08:00-20:00 write_limit=5 write_limit=6", 26},
	{"08:00-20:00 20 write_limit=6", 15},
	{"08:00-20:00 write_limit=5MB", 25},
	{"08:00-20:00 write_limit=5GB/s", 25},
	{"08:00-20:00 write_limit=5read_limit=6", 25},
	{"08:00-20:00 device_utilization=101", 34},
	{"08:00-20:00 write_limit=99999999", 32},
	{"else 5, else 6", 8},
	{"else 5, 08:00-09:00 6", 8},
	{"otherwise 5", 0},
	{"elsewhere 5", 0},
	{"\xe2\x80", 0},
	{"08:00\xe2\x80", 5},
};

static int
minute_of(const char *time)
{
	return ((time[0] - '0') * 10 + time[1] - '0') * 60 + (time[3] - '0') * 10 + time[4] - '0';
}

int
main(void)
{
	Windows		windows;
	LimitError	error;
	uint64_t	seed = 1;
	char		many[1024] = "";
	int			wrong = 0;

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		const Window *w;

		if (!tap_ok(windows_parse(cases[i].text, &windows, &error), cases[i].text, "can be read"))
			continue;
		w = windows_at(&windows, minute_of(cases[i].time));
		tap_is_double(w != NULL && w->set[cases[i].setting] ? w->value[cases[i].setting] : NONE,
					  cases[i].expected, cases[i].text, cases[i].time);
	}
	for (size_t i = 0; i < lengthof(errors); i++)
	{
		error.position = -1;
		tap_ok(!windows_parse(errors[i].text, &windows, &error), errors[i].text, "is an error");
		tap_is_int(error.position, errors[i].position, errors[i].text, "position");
	}

	for (int i = 0; i < WINDOWS_MAX; i++)
		strcat(many, "8:00-9:00 5, ");
	strcat(many, "else 5");
	tap_ok(!windows_parse(many, &windows, &error), "one window too many", "is an error");

	/* whatever is written: an answer, and a position inside the text */
	for (int i = 0; i < 20000; i++)
	{
		static const char letters[] = "0123456789:-, =.elsewritm_MB/\xe2\x80\x93%";
		char		text[40];
		size_t		length = tap_random(&seed) % (sizeof(text) - 1);

		for (size_t j = 0; j < length; j++)
			text[j] = letters[tap_random(&seed) % (sizeof(letters) - 1)];
		text[length] = '\0';
		if (!windows_parse(text, &windows, &error))
			wrong += error.position < 0 || error.position > (int) length || error.what == NULL;
		else
			wrong += windows.count < 0 || windows.count > WINDOWS_MAX;
	}
	tap_is_int(wrong, 0, "20,000 texts of such letters", "");
	return tap_done();
}
