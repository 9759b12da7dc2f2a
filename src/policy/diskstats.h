/*
 * diskstats.h
 *		/proc/diskstats: one device's counters, and what they say of the time
 *		between two readings.
 *
 * Source: Documentation/admin-guide/iostats.rst and diskstats_show() in
 * block/genhd.c of Linux (4.18 to 6.x).
 */
#ifndef SWEEP_POLICY_DISKSTATS_H
#define SWEEP_POLICY_DISKSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_NAME_LEN	32

typedef struct DiskCounters
{
	unsigned	major;
	unsigned	minor;
	char		name[DISK_NAME_LEN];
	uint64_t	reads;			/* completed */
	uint64_t	read_sectors;	/* of 512 bytes, whatever the device's are */
	uint32_t	read_ms;		/* of all reads (the kernel has 32 bits, too) */
	uint64_t	writes;
	uint64_t	write_sectors;
	uint32_t	write_ms;
	uint64_t	in_flight;
	uint32_t	busy_ms;
	uint32_t	queue_ms;		/* time, multiplied by the I/Os under way */
} DiskCounters;

typedef enum DiskParse
{
	DISK_FOUND,
	DISK_NO_LINE,
	DISK_GARBAGE				/* its line is not as it should be */
} DiskParse;

/*
 * text is all or some lines of the file.  A last line without its end is left
 * out.
 */
extern DiskParse diskstats_parse(const char *text, unsigned major, unsigned minor,
								 DiskCounters *out);

typedef struct DiskRates
{
	double		busy_pct;
	double		latency_ms;		/* per I/O */
	double		queue;
	double		read_bytes_s;
	double		write_bytes_s;
} DiskRates;

typedef enum DiskChange
{
	DISK_RATES,
	DISK_ANOTHER,				/* the device is not the one before */
	DISK_WENT_BACK,				/* a counter did */
	DISK_NO_TIME				/* too little time between the two */
} DiskChange;

extern DiskChange diskstats_rates(const DiskCounters *before, const DiskCounters *after,
								  double elapsed_ms, DiskRates *out);

/*
 * Does "busy" say how much more the device could do?  Only if it does one I/O
 * after the other.  On a flash device, or one with several hardware queues,
 * 100 % busy means that there was always at least one.  rotational and
 * hardware_queues are -1 if they are not known.
 */
extern bool disk_has_queue(const char *name, int rotational, int hardware_queues);

#endif							/* SWEEP_POLICY_DISKSTATS_H */
