/*
 * sensor_disk.c
 *		How busy the device is that holds the data directory.
 *
 * The sensor reads the device's line in /proc/diskstats and takes the
 * difference to the one before.  The directory's file system names the
 * device.  A partition has counters of its own, but waits for all of its
 * disk.
 */
#include "postgres.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "governor/sensors.h"
#include "policy/diskstats.h"
#include "server/system_file.h"

#define DISKSTATS_PATH		"/proc/diskstats"
#define SYSFS_BLOCK			"/sys/dev/block"
#define PATH_LEN			128

#define CHUNK_BYTES			16384
#define CHUNKS_LIMIT		64
#define HW_QUEUES_LIMIT		1000	/* directory entries looked at */

/* Shorter than this and the device has hardly had time for anything. */
#define SHORTEST_STEP_MS	20.0

static dev_t known_dev = 0;		/* of the data directory, 0: not looked yet */
static unsigned disk_major;
static unsigned disk_minor;
static bool has_queue;
static int	read_ahead_kb;		/* negative: unknown */
static bool seen = false;		/* there was such a line once */

static DiskCounters before;
static TimestampTz before_at = 0;	/* 0: nothing to compare with */
static DiskReading last;		/* what that step said */

/* A small number in a file of sysfs, or -1 when the file is not there. */
static int
read_number(const char *file)
{
	char		path[PATH_LEN];
	char		text[32];

	snprintf(path, sizeof(path), "%s/%u:%u/%s", SYSFS_BLOCK, disk_major, disk_minor, file);
	if (system_file_read(path, text, sizeof(text)) <= 0 || text[0] < '0' || text[0] > '9')
		return -1;
	return atoi(text);
}

static int
count_hardware_queues(void)
{
	char		path[PATH_LEN];
	char		real[MAXPGPATH];
	DIR		   *dir;
	struct dirent *entry;
	int			n = 0;

	snprintf(path, sizeof(path), "%s/%u:%u/mq", SYSFS_BLOCK, disk_major, disk_minor);
	dir = opendir(system_path(path, real));
	if (dir == NULL)
		return -1;
	for (int i = 0; i < HW_QUEUES_LIMIT && (entry = readdir(dir)) != NULL; i++)
	{
		if (entry->d_name[0] != '.')
			n++;
	}
	closedir(dir);
	return n;
}

/*
 * Once for each device: which disk it is (part of).  Only the first step and
 * one on another device allocate (opendir()).
 */
static void
find_disk(dev_t dev)
{
	char		path[PATH_LEN];
	char		text[32];
	unsigned	whole_major;
	unsigned	whole_minor;

	disk_major = major(dev);
	disk_minor = minor(dev);
	known_dev = dev;
	seen = false;
	before_at = 0;
	if (read_number("partition") < 0)
		return;

	/* the kernel resolves the link first: that is the disk's directory */
	snprintf(path, sizeof(path), "%s/%u:%u/../dev", SYSFS_BLOCK, disk_major, disk_minor);
	if (system_file_read(path, text, sizeof(text)) > 0 &&
		sscanf(text, "%u:%u", &whole_major, &whole_minor) == 2)
	{
		disk_major = whole_major;
		disk_minor = whole_minor;
	}
}

/*
 * Goes through the file in pieces: a server may have a thousand devices.
 * Returns false, with the reason, when it cannot be read.
 */
static bool
read_line_of_disk(DiskCounters *out, DiskParse *found, char *why)
{
	static char text[CHUNK_BYTES];
	char		real[MAXPGPATH];
	size_t		kept = 0;
	int			fd = open(system_path(DISKSTATS_PATH, real), O_RDONLY | O_CLOEXEC, 0);
	ssize_t		n = fd;

	*found = DISK_NO_LINE;
	for (int i = 0; fd >= 0 && i < CHUNKS_LIMIT; i++)
	{
		char	   *last_end;

		n = read(fd, text + kept, sizeof(text) - 1 - kept);
		if (n <= 0)
			break;
		text[kept + n] = '\0';
		*found = diskstats_parse(text, disk_major, disk_minor, out);
		last_end = strrchr(text, '\n');
		if (*found != DISK_NO_LINE || last_end == NULL)
			break;
		kept = strlen(last_end + 1);
		memmove(text, last_end + 1, kept);
	}
	if (n < 0)
		snprintf(why, SENSOR_WHY_LEN, "%s: %s", real, strerror(errno));
	if (fd >= 0)
		close(fd);
	return n >= 0;
}

static void
lost(DiskReading *out, SensorState state)
{
	out->state = state;
	before_at = 0;
}

/* Knows the device, or says why not. */
static bool
know_disk(DiskReading *out)
{
	struct stat st;

	if (stat(DataDir, &st) != 0)
	{
		snprintf(out->why, sizeof(out->why), "the data directory: %s", strerror(errno));
		lost(out, SENSOR_BROKEN);
		return false;
	}
	if (st.st_dev != known_dev)
	{
		bool		changed = known_dev != 0;

		find_disk(st.st_dev);
		if (changed)
		{
			strlcpy(out->why, "the data directory is on another device now", sizeof(out->why));
			lost(out, SENSOR_BROKEN);
			return false;
		}
	}
	if (disk_major == 0)
	{
		/* overlay, btrfs, tmpfs, NFS */
		snprintf(out->why, sizeof(out->why),
				 "the file system of the data directory (device %u:%u) is not on one block device",
				 disk_major, disk_minor);
		lost(out, SENSOR_ABSENT);
		return false;
	}
	return true;
}

bool
sensor_disk_identify(unsigned *major_number, unsigned *minor_number)
{
	struct stat st;

	if (stat(DataDir, &st) != 0)
		return false;
	if (known_dev == 0)
		find_disk(st.st_dev);
	*major_number = disk_major != 0 ? disk_major : major(st.st_dev);
	*minor_number = disk_major != 0 ? disk_minor : minor(st.st_dev);
	return true;
}

static void
note_disk(const DiskCounters *counters)
{
	has_queue = disk_has_queue(counters->name, read_number("queue/rotational"),
							   count_hardware_queues());
	read_ahead_kb = read_number("queue/read_ahead_kb");
	seen = true;
}

/* The device's line, or what is wrong with it. */
static bool
read_counters(DiskReading *out, DiskCounters *counters)
{
	DiskParse	found;

	if (!read_line_of_disk(counters, &found, out->why))
	{
		lost(out, errno == ENOENT && !seen ? SENSOR_ABSENT : SENSOR_BROKEN);
		return false;
	}
	if (found == DISK_FOUND)
		return true;
	snprintf(out->why, sizeof(out->why), "%s device %u:%u in %s",
			 found == DISK_NO_LINE ? "no line about" : "not to be understood: the line about",
			 disk_major, disk_minor, DISKSTATS_PATH);
	lost(out, found == DISK_NO_LINE && !seen ? SENSOR_ABSENT : SENSOR_BROKEN);
	return false;
}

static void
compare(DiskReading *out, const DiskCounters *counters, double elapsed_ms)
{
	DiskRates	rates = {0};

	out->state = SENSOR_OK;
	out->read_ahead_kb = read_ahead_kb;
	switch (diskstats_rates(&before, counters, elapsed_ms, &rates))
	{
		case DISK_RATES:
			out->busy_pct = rates.busy_pct;
			out->latency_ms = rates.latency_ms;
			out->queue = rates.queue;
			out->read_bytes_s = rates.read_bytes_s;
			out->write_bytes_s = rates.write_bytes_s;
			break;
		case DISK_ANOTHER:
			snprintf(out->why, sizeof(out->why), "device %u:%u was \"%s\" and is \"%s\" now",
					 disk_major, disk_minor, before.name, counters->name);
			out->state = SENSOR_BROKEN;
			note_disk(counters);
			break;
		case DISK_WENT_BACK:
			snprintf(out->why, sizeof(out->why), "the counters of device \"%s\" went back",
					 counters->name);
			out->state = SENSOR_BROKEN;
			break;
		case DISK_NO_TIME:
			break;
	}
}

void
sensor_disk_read(DiskReading *out, TimestampTz now)
{
	DiskCounters counters;
	double		elapsed_ms = (double) (now - before_at) / 1000;

	if (!know_disk(out) || !read_counters(out, &counters))
		return;
	if (!seen)
		note_disk(&counters);

	if (before_at != 0 && elapsed_ms >= 0 && elapsed_ms < SHORTEST_STEP_MS)
	{
		*out = last;
		return;
	}
	/* the first of two readings: nothing is known yet, nothing is wrong */
	if (before_at == 0 || elapsed_ms < 0 || elapsed_ms > SENSOR_STALE_MS)
		out->state = SENSOR_OK;
	else
		compare(out, &counters, elapsed_ms);
	strlcpy(out->device, counters.name, sizeof(out->device));
	out->has_queue = has_queue;
	before = counters;
	before_at = now;
	last = *out;
}
