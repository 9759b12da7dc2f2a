/*
 * policy/host_record.h
 *		What the servers of one machine tell each other.  Pure.
 *
 * It is a short text, which people can read as well:
 *
 *		pg_sweep 1
 *		boot 4f1c...		the running kernel (/proc/sys/kernel/random/boot_id)
 *		device 253:0		that holds the data directory
 *		at 123456			ms of the kernel's monotonic clock
 *		vacuums 2			that are paced now
 *		urgency 1500		thousandths of the most urgent table's score
 *		read 1048576		bytes/s that these vacuums use, and so on
 *		write 524288
 *		wal 262144
 *		cut 120000			when they last yielded to users, by the same clock
 *		to 4194304			bytes/s of the whole device that were left then
 *		watches 0			1: it does not vacuum, but has users
 *		users 1				1: it vacuums, and may have users
 *		name main
 *		end 1a2b3c4d		a checksum: the text is whole
 *
 * Who writes it is not trusted, so nothing but this is taken, and no number
 * beyond what it can be.
 */
#ifndef SWEEP_POLICY_HOST_RECORD_H
#define SWEEP_POLICY_HOST_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_RECORD_BYTES	512 /* the longest text, with its null byte */
#define HOST_BOOT_LEN		40
#define HOST_NAME_LEN		64

typedef struct HostRecord
{
	char		boot[HOST_BOOT_LEN];
	unsigned	device_major;
	unsigned	device_minor;
	int64_t		at_ms;
	int			vacuums;
	double		urgency;
	double		read;			/* bytes/s */
	double		write;
	double		wal;
	int64_t		cut_at_ms;		/* 0: never */
	double		cut_to;			/* bytes/s of the whole device */
	char		name[HOST_NAME_LEN];
	bool		watches;
	bool		users;
} HostRecord;

/* Returns the length of the text, without its null byte. */
extern size_t host_record_format(const HostRecord *record, char text[HOST_RECORD_BYTES]);

/* Returns false, and leaves *out as it was, if it is not such a text. */
extern bool host_record_parse(const char *text, HostRecord *out);

#endif							/* SWEEP_POLICY_HOST_RECORD_H */
