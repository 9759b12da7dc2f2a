/*
 * diskstats.c
 *		/proc/diskstats: one device's counters, and what they say of the time
 *		between two readings.
 */
#include "diskstats.h"

#include <stdlib.h>
#include <string.h>

#define SECTOR_BYTES	512

/* These follow the name.  Now and then the kernel adds more at the end. */
#define DISK_FIELDS		11

/* In less than this time a timer's tick makes up half of it. */
#define SHORTEST_MS		20.0

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Takes a number and what is before it.  Returns false if there is none on
 * this line.
 */
static bool
take_number(const char **at, uint64_t *value)
{
	char	   *end;

	while (**at == ' ')
		(*at)++;
	if (!is_digit(**at))
		return false;
	*value = strtoull(*at, &end, 10);
	*at = end;
	return *end == ' ' || *end == '\n';
}

static bool
take_name(const char **at, char *name)
{
	size_t		length;

	while (**at == ' ')
		(*at)++;
	length = strcspn(*at, " \n");
	if (length == 0 || length >= DISK_NAME_LEN)
		return false;
	memcpy(name, *at, length);
	name[length] = '\0';
	*at += length;
	return true;
}

static bool
parse_line(const char *at, DiskCounters *out)
{
	uint64_t	f[DISK_FIELDS];

	if (!take_name(&at, out->name))
		return false;
	for (int i = 0; i < DISK_FIELDS; i++)
	{
		if (!take_number(&at, &f[i]))
			return false;
	}
	out->reads = f[0];
	out->read_sectors = f[2];
	out->read_ms = (uint32_t) f[3];
	out->writes = f[4];
	out->write_sectors = f[6];
	out->write_ms = (uint32_t) f[7];
	out->in_flight = f[8];
	out->busy_ms = (uint32_t) f[9];
	out->queue_ms = (uint32_t) f[10];
	return true;
}

DiskParse
diskstats_parse(const char *text, unsigned major, unsigned minor, DiskCounters *out)
{
	const char *end;

	for (const char *line = text; (end = strchr(line, '\n')) != NULL; line = end + 1)
	{
		const char *at = line;
		uint64_t	line_major;
		uint64_t	line_minor;

		if (!take_number(&at, &line_major) || !take_number(&at, &line_minor))
			continue;
		if (line_major != major || line_minor != minor)
			continue;
		memset(out, 0, sizeof(*out));
		out->major = major;
		out->minor = minor;
		return parse_line(at, out) ? DISK_FOUND : DISK_GARBAGE;
	}
	return DISK_NO_LINE;
}

/*
 * What is counted in 32 bits of milliseconds begins anew every 50 days, and
 * the weighted time much sooner.  That is not going back.
 */
static double
since(uint32_t before, uint32_t after)
{
	return (double) (uint32_t) (after - before);
}

/* More than half of all that 32 bits can count is a step backwards. */
#define SINCE_LIMIT		2147483648.0

DiskChange
diskstats_rates(const DiskCounters *before, const DiskCounters *after, double elapsed_ms,
				DiskRates *out)
{
	double		ios;
	double		busy_ms = since(before->busy_ms, after->busy_ms);
	double		queue_ms = since(before->queue_ms, after->queue_ms);
	double		io_ms = since(before->read_ms, after->read_ms) + since(before->write_ms, after->write_ms);

	if (before->major != after->major || before->minor != after->minor ||
		strcmp(before->name, after->name) != 0)
		return DISK_ANOTHER;
	if (elapsed_ms < SHORTEST_MS)
		return DISK_NO_TIME;
	if (after->reads < before->reads || after->writes < before->writes ||
		after->read_sectors < before->read_sectors || after->write_sectors < before->write_sectors)
		return DISK_WENT_BACK;

	/*
	 * A device cannot have been busy for much longer than the time that has
	 * gone by.  The kernel counts in ticks, and notes the time when an I/O
	 * ends.
	 */
	if (busy_ms > 2 * elapsed_ms + 1000 || queue_ms >= SINCE_LIMIT ||
		since(before->read_ms, after->read_ms) >= SINCE_LIMIT ||
		since(before->write_ms, after->write_ms) >= SINCE_LIMIT)
		return DISK_WENT_BACK;

	ios = (double) (after->reads - before->reads) + (double) (after->writes - before->writes);
	out->busy_pct = busy_ms * 100 / elapsed_ms;
	if (out->busy_pct > 100)
		out->busy_pct = 100;
	out->queue = queue_ms / elapsed_ms;
	if (ios > 0)
		out->latency_ms = io_ms / ios;
	else if (after->in_flight > 0)
		/* none came back, so they take at least as long as we have waited */
		out->latency_ms = elapsed_ms;
	else
		out->latency_ms = 0;
	out->read_bytes_s = (double) (after->read_sectors - before->read_sectors) *
		SECTOR_BYTES * 1000 / elapsed_ms;
	out->write_bytes_s = (double) (after->write_sectors - before->write_sectors) *
		SECTOR_BYTES * 1000 / elapsed_ms;
	return DISK_RATES;
}

bool
disk_has_queue(const char *name, int rotational, int hardware_queues)
{
	return strncmp(name, "nvme", 4) != 0 && rotational == 1 &&
		hardware_queues >= 0 && hardware_queues <= 1;
}
