/*
 * sensor_disk.c
 *		How busy the devices are that hold the data directory, pg_wal and the
 *		tablespaces.
 *
 * The sensor reads each device's line in /proc/diskstats and takes the
 * difference to the one before.  A directory's file system names the device.
 * A partition has counters of its own, but waits for all of its disk.
 *
 * The first is the data directory's.  What is wrong with it is said.  Another
 * one that cannot be read is left out.  Busy and latency are those of the
 * device that is worst.
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

#define DISKS_LIMIT			8
#define TABLESPACES_LIMIT	1000	/* directory entries looked at */
#define OTHERS_EVERY_MS		60000

typedef struct Disk
{
	dev_t		dev;			/* of the directory, 0: not looked yet */
	unsigned	major_number;
	unsigned	minor_number;
	bool		has_queue;
	int			read_ahead_kb;	/* negative: unknown */
	bool		seen;			/* there was such a line once */
	DiskCounters before;
	TimestampTz before_at;		/* 0: nothing to compare with */
} Disk;

static Disk data;
static Disk others[DISKS_LIMIT];
static int	others_count = 0;
static TimestampTz others_at = 0;	/* when they were looked for (0: never) */
static DiskReading last;		/* what the last step said */

/* A small number in a file of sysfs, or -1 when the file is not there. */
static int
read_number(const Disk *disk, const char *file)
{
	char		path[PATH_LEN];
	char		text[32];

	snprintf(path, sizeof(path), "%s/%u:%u/%s", SYSFS_BLOCK, disk->major_number, disk->minor_number, file);
	if (system_file_read(path, text, sizeof(text)) <= 0 || text[0] < '0' || text[0] > '9')
		return -1;
	return atoi(text);
}

static int
count_hardware_queues(const Disk *disk)
{
	char		path[PATH_LEN];
	char		real[MAXPGPATH];
	DIR		   *dir;
	struct dirent *entry;
	int			n = 0;

	snprintf(path, sizeof(path), "%s/%u:%u/mq", SYSFS_BLOCK, disk->major_number, disk->minor_number);
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
 * Once for each device: which disk it is (part of).  Only the first step, one
 * on another device, and the one in a minute that looks for the other devices
 * allocate (opendir()).
 */
static void
find_disk(Disk *disk, dev_t dev)
{
	char		path[PATH_LEN];
	char		text[32];
	unsigned	whole_major;
	unsigned	whole_minor;

	memset(disk, 0, sizeof(*disk));
	disk->major_number = major(dev);
	disk->minor_number = minor(dev);
	disk->dev = dev;
	if (read_number(disk, "partition") < 0)
		return;

	/* the kernel resolves the link first: that is the disk's directory */
	snprintf(path, sizeof(path), "%s/%u:%u/../dev", SYSFS_BLOCK, disk->major_number, disk->minor_number);
	if (system_file_read(path, text, sizeof(text)) > 0 &&
		sscanf(text, "%u:%u", &whole_major, &whole_minor) == 2)
	{
		disk->major_number = whole_major;
		disk->minor_number = whole_minor;
	}
}

static bool
is_same_disk(const Disk *a, const Disk *b)
{
	return a->major_number == b->major_number && a->minor_number == b->minor_number;
}

/* Adds the disk of a directory, if it is another one.  What is known of it is kept. */
static void
add_other(const char *directory, const Disk *known, int known_count)
{
	struct stat st;
	Disk		disk;

	if (others_count == DISKS_LIMIT || stat(directory, &st) != 0 || st.st_dev == data.dev)
		return;
	find_disk(&disk, st.st_dev);
	if (disk.major_number == 0 || is_same_disk(&disk, &data))
		return;
	for (int i = 0; i < others_count; i++)
	{
		if (is_same_disk(&disk, &others[i]))
			return;
	}
	for (int i = 0; i < known_count; i++)
	{
		if (is_same_disk(&disk, &known[i]))
			disk = known[i];
	}
	others[others_count++] = disk;
}

static void
look_for_others(TimestampTz now)
{
	Disk		known[DISKS_LIMIT];
	int			known_count = others_count;
	DIR		   *dir;
	struct dirent *entry;
	char		path[MAXPGPATH];

	if (others_at != 0 && now >= others_at && now - others_at < OTHERS_EVERY_MS * INT64CONST(1000))
		return;
	others_at = now;
	memcpy(known, others, sizeof(known));
	others_count = 0;
	add_other("pg_wal", known, known_count);
	dir = opendir("pg_tblspc");
	if (dir == NULL)
		return;
	for (int i = 0; i < TABLESPACES_LIMIT && (entry = readdir(dir)) != NULL; i++)
	{
		snprintf(path, sizeof(path), "pg_tblspc/%s", entry->d_name);
		if (entry->d_name[0] != '.')
			add_other(path, known, known_count);
	}
	closedir(dir);
}

/*
 * Goes through the file in pieces: a server may have a thousand devices.
 * Returns false, with the reason, when it cannot be read.
 */
static bool
read_line_of_disk(const Disk *disk, DiskCounters *out, DiskParse *found, char *why)
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
		*found = diskstats_parse(text, disk->major_number, disk->minor_number, out);
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
	data.before_at = 0;
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
	if (st.st_dev != data.dev)
	{
		bool		changed = data.dev != 0;

		find_disk(&data, st.st_dev);
		if (changed)
		{
			strlcpy(out->why, "the data directory is on another device now", sizeof(out->why));
			lost(out, SENSOR_BROKEN);
			return false;
		}
	}
	if (data.major_number == 0)
	{
		/* overlay, btrfs, tmpfs, NFS */
		snprintf(out->why, sizeof(out->why),
				 "the file system of the data directory (device %u:%u) is not on one block device",
				 data.major_number, data.minor_number);
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
	if (data.dev == 0)
		find_disk(&data, st.st_dev);
	*major_number = data.major_number != 0 ? data.major_number : major(st.st_dev);
	*minor_number = data.major_number != 0 ? data.minor_number : minor(st.st_dev);
	return true;
}

static void
note_disk(Disk *disk, const DiskCounters *counters)
{
	disk->has_queue = disk_has_queue(counters->name, read_number(disk, "queue/rotational"),
									 count_hardware_queues(disk));
	disk->read_ahead_kb = read_number(disk, "queue/read_ahead_kb");
	disk->seen = true;
}

/* The line of the data directory's device, or what is wrong with it. */
static bool
read_counters(DiskReading *out, DiskCounters *counters)
{
	DiskParse	found;

	if (!read_line_of_disk(&data, counters, &found, out->why))
	{
		lost(out, errno == ENOENT && !data.seen ? SENSOR_ABSENT : SENSOR_BROKEN);
		return false;
	}
	if (found == DISK_FOUND)
		return true;
	snprintf(out->why, sizeof(out->why), "%s device %u:%u in %s",
			 found == DISK_NO_LINE ? "no line about" : "not to be understood: the line about",
			 data.major_number, data.minor_number, DISKSTATS_PATH);
	lost(out, found == DISK_NO_LINE && !data.seen ? SENSOR_ABSENT : SENSOR_BROKEN);
	return false;
}

static void
compare(DiskReading *out, const DiskCounters *counters, double elapsed_ms)
{
	DiskRates	rates = {0};

	out->state = SENSOR_OK;
	switch (diskstats_rates(&data.before, counters, elapsed_ms, &rates))
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
					 data.major_number, data.minor_number, data.before.name, counters->name);
			out->state = SENSOR_BROKEN;
			note_disk(&data, counters);
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

/* What another device tells counts where it is worse. */
static void
compare_other(DiskReading *out, Disk *disk, TimestampTz now)
{
	DiskCounters counters;
	DiskParse	found;
	DiskRates	rates;
	char		why[SENSOR_WHY_LEN];
	double		elapsed_ms = (double) (now - disk->before_at) / 1000;

	if (!read_line_of_disk(disk, &counters, &found, why) || found != DISK_FOUND)
	{
		disk->before_at = 0;
		return;
	}
	if (!disk->seen)
		note_disk(disk, &counters);
	if (disk->before_at != 0 && elapsed_ms >= 0 && elapsed_ms <= SENSOR_STALE_MS &&
		diskstats_rates(&disk->before, &counters, elapsed_ms, &rates) == DISK_RATES)
	{
		if (rates.latency_ms > out->latency_ms)
		{
			out->latency_ms = rates.latency_ms;
			strlcpy(out->slowest, counters.name, sizeof(out->slowest));
		}
		if (rates.busy_pct > out->busy_pct)
		{
			out->busy_pct = rates.busy_pct;
			out->has_queue = disk->has_queue;
			strlcpy(out->busiest, counters.name, sizeof(out->busiest));
		}
	}
	disk->before = counters;
	disk->before_at = now;
}

void
sensor_disk_read(DiskReading *out, TimestampTz now)
{
	DiskCounters counters;
	double		elapsed_ms = (double) (now - data.before_at) / 1000;

	if (!know_disk(out) || !read_counters(out, &counters))
		return;
	if (!data.seen)
		note_disk(&data, &counters);

	if (data.before_at != 0 && elapsed_ms >= 0 && elapsed_ms < SHORTEST_STEP_MS)
	{
		*out = last;
		return;
	}
	strlcpy(out->device, counters.name, sizeof(out->device));
	strlcpy(out->busiest, counters.name, sizeof(out->busiest));
	strlcpy(out->slowest, counters.name, sizeof(out->slowest));
	out->has_queue = data.has_queue;
	out->read_ahead_kb = data.read_ahead_kb;
	/* the first of two readings: nothing is known yet, nothing is wrong */
	if (data.before_at == 0 || elapsed_ms < 0 || elapsed_ms > SENSOR_STALE_MS)
		out->state = SENSOR_OK;
	else
		compare(out, &counters, elapsed_ms);
	if (out->state == SENSOR_OK)
	{
		look_for_others(now);
		for (int i = 0; i < others_count; i++)
			compare_other(out, &others[i], now);
	}
	data.before = counters;
	data.before_at = now;
	last = *out;
}
