/*
 * diskstats_test.c
 *		policy/diskstats against texts of real kernels, and what goes wrong with
 *		them.
 */
#include "diskstats.h"
#include "tap.h"

/* Linux 6.1, a virtual machine: zeroes, then the disk, 20 fields a line */
static const char virtual_6_1[] =
"   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
"   7       1 loop1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
" 254       0 vda 914773 64515 29385498 951322 2277530 5937627 561352392 5259943 3 707596 6638701 4421061 69 414193232 398621 489773 28814\n"
" 253       0 zram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

/* Linux 4.9: 14 fields, a disk with partitions, NVMe, device-mapper */
static const char partitions_4_9[] =
"   8       0 sda 4294967290 120 98765432 3000 100 20 3000 400 0 5000 60000\n"
"   8       1 sda1 10 0 80 1 2 0 16 1 0 2 2\n"
"   8      16 sdb 1 0 8 1 0 0 0 0 0 1 1\n"
" 259       0 nvme0n1 5 0 40 1 6 0 48 2 0 3 3\n"
" 253       0 dm-0 7 0 56 4294967295 9 0 72 5 1 4294967290 4294967295\n";

static const struct
{
	const char *name;
	const char *text;
	unsigned	major;
	unsigned	minor;
	DiskParse	expected;
	DiskCounters counters;
}			lines[] = {

	{"the third line", virtual_6_1, 254, 0, DISK_FOUND,
	{254, 0, "vda", 914773, 29385498, 951322, 2277530, 561352392, 5259943, 3, 707596, 6638701}},
	{"the last line, all zeroes", virtual_6_1, 253, 0, DISK_FOUND, {253, 0, "zram0"}},
	{"the first line, 14 fields", partitions_4_9, 8, 0, DISK_FOUND,
	{8, 0, "sda", UINT64_C(4294967290), 98765432, 3000, 100, 3000, 400, 0, 5000, 60000}},
	{"a partition is not its disk", partitions_4_9, 8, 1, DISK_FOUND, {8, 1, "sda1", 10, 80, 1, 2, 16, 1, 0, 2, 2}},
	{"minor 16 is not minor 1", partitions_4_9, 8, 16, DISK_FOUND, {8, 16, "sdb", 1, 8, 1, 0, 0, 0, 0, 1, 1}},
	{"device-mapper, at the end of 32 bits", partitions_4_9, 253, 0, DISK_FOUND,
	{253, 0, "dm-0", 7, 56, UINT32_MAX, 9, 72, 5, 1, UINT32_C(4294967290), UINT32_MAX}},
	{"no such major", partitions_4_9, 254, 0, DISK_NO_LINE},
	{"no such minor", partitions_4_9, 8, 2, DISK_NO_LINE},
	{"major and minor the wrong way round", partitions_4_9, 0, 8, DISK_NO_LINE},
	{"empty", "", 8, 0, DISK_NO_LINE},
	{"the line is not ended: it goes on in the next piece", "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11", 8, 0, DISK_NO_LINE},
	{"other files", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", 8, 0, DISK_NO_LINE},
	{"binary", "\x01\x02\x03\xff\xfe\n", 8, 0, DISK_NO_LINE},
	{"too few fields", "   8       0 sda 1 2 3 4 5 6 7 8 9 10\n", 8, 0, DISK_GARBAGE},
	{"no fields", "   8       0 sda\n", 8, 0, DISK_GARBAGE},
	{"no name", "   8       0\n", 8, 0, DISK_GARBAGE},
	{"a word among the numbers", "   8       0 sda 1 2 3 4 x 6 7 8 9 10 11\n", 8, 0, DISK_GARBAGE},
	{"a negative number", "   8       0 sda 1 2 3 4 5 6 7 8 -1 10 11\n", 8, 0, DISK_GARBAGE},
	{"a name without end", "   8       0 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1 2 3 4 5 6 7 8 9 10 11\n", 8, 0, DISK_GARBAGE},
	{"a broken line before it", "garbage\n   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n", 8, 0, DISK_FOUND, {8, 0, "sda", 1, 3, 4, 5, 7, 8, 9, 10, 11}},
};

#define SDA(...) {8, 0, "sda", __VA_ARGS__}

static const struct
{
	const char *name;
	DiskCounters before;
	DiskCounters after;
	double		ms;
	DiskChange	expected;
	DiskRates	rates;
}			changes[] = {

	/* reads, sectors, ms, writes, sectors, ms, in flight, busy, queue */
	{"idle", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), 250, DISK_RATES, {0, 0, 0, 0, 0}},
	{"reads and writes", SDA(100, 800, 50, 10, 80, 20, 0, 1000, 2000), SDA(140, 2848, 90, 70, 1104, 180, 2, 1100, 2500), 250, DISK_RATES,
	{40, 2, 2, 4194304, 2097152}},
	{"busy all the time, and a tick more", SDA(0, 0, 0, 0, 0, 0, 0, 0, 0), SDA(1, 8, 254, 0, 0, 0, 0, 254, 254), 250, DISK_RATES,
	{100, 254, 1.016, 16384, 0}},
	{"none comes back", SDA(5, 40, 6, 7, 56, 8, 1, 9, 10), SDA(5, 40, 6, 7, 56, 8, 4, 259, 1010), 250, DISK_RATES,
	{100, 250, 4, 0, 0}},
	{"milliseconds begin anew after 49 days", SDA(5, 40, UINT32_MAX - 9, 7, 56, UINT32_MAX - 9, 0, UINT32_MAX - 9, UINT32_MAX - 99),
	SDA(10, 80, 10, 12, 96, 10, 0, 40, 400), 250, DISK_RATES, {20, 4, 2, 81920, 81920}},
	{"counters of 64 bits", SDA(UINT64_C(1) << 40, UINT64_C(1) << 50, 0, 0, 0, 0, 0, 0, 0), SDA((UINT64_C(1) << 40) + 1, (UINT64_C(1) << 50) + 512, 5, 0, 0, 0, 0, 5, 5), 1000, DISK_RATES,
	{0.5, 5, 0.005, 262144, 0}},
	{"reads of 32 bits begin anew", SDA(UINT32_MAX, 40, 6, 7, 56, 8, 0, 9, 10), SDA(3, 80, 7, 8, 64, 9, 0, 10, 11), 250, DISK_WENT_BACK},
	{"writes went back", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), SDA(6, 48, 7, 6, 64, 9, 0, 10, 11), 250, DISK_WENT_BACK},
	{"sectors read went back", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), SDA(6, 39, 7, 7, 56, 8, 0, 10, 11), 250, DISK_WENT_BACK},
	{"sectors written went back", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), SDA(6, 48, 7, 8, 0, 9, 0, 10, 11), 250, DISK_WENT_BACK},
	{"all began at 0 again", SDA(500, 4000, 600, 700, 5600, 800, 0, 900, 1000), SDA(0, 0, 0, 0, 0, 0, 0, 0, 0), 250, DISK_WENT_BACK},
	{"busy went back by one", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), SDA(5, 40, 6, 7, 56, 8, 0, 8, 10), 250, DISK_WENT_BACK},
	{"the time of reads went back", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), SDA(5, 40, 5, 7, 56, 8, 0, 9, 10), 250, DISK_WENT_BACK},
	{"the time of writes went back", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), SDA(5, 40, 6, 7, 56, 7, 0, 9, 10), 250, DISK_WENT_BACK},
	{"the weighted time went back", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), SDA(5, 40, 6, 7, 56, 8, 0, 9, 9), 250, DISK_WENT_BACK},
	{"busy for longer than it was", SDA(5, 40, 6, 7, 56, 8, 0, 0, 10), SDA(6, 48, 7, 8, 64, 9, 0, 5000, 11), 250, DISK_WENT_BACK},
	{"another name", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), {8, 0, "sdb", 6, 48, 7, 8, 64, 9, 0, 10, 11}, 250, DISK_ANOTHER},
	{"another number", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), {8, 1, "sda", 6, 48, 7, 8, 64, 9, 0, 10, 11}, 250, DISK_ANOTHER},
	{"another, and it went back", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), {8, 0, "sdb", 0, 0, 0, 0, 0, 0, 0, 0, 0}, 250, DISK_ANOTHER},
	{"no time between", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), SDA(6, 48, 7, 8, 64, 9, 0, 10, 11), 0, DISK_NO_TIME},
	{"the clock went back", SDA(5, 40, 6, 7, 56, 8, 0, 9, 10), SDA(6, 48, 7, 8, 64, 9, 0, 10, 11), -1000, DISK_NO_TIME},
};

static const struct
{
	const char *name;
	int			rotational;
	int			queues;
	bool		expected;
}			devices[] = {
	{"sda", 1, 1, true},
	{"sda", 1, 0, true},
	{"vda", 1, 1, true},
	{"vdb", 1, 4, false},
	{"sdb", 0, 1, false},
	{"nvme0n1", 0, 8, false},
	{"nvme0n1", 1, 1, false},
	{"sdc", -1, 1, false},
	{"sdc", 1, -1, false},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(lines); i++)
	{
		const DiskCounters *e = &lines[i].counters;
		const char *name = lines[i].name;
		DiskCounters c;
		DiskParse	found = diskstats_parse(lines[i].text, lines[i].major, lines[i].minor, &c);

		tap_is_int(found, lines[i].expected, name, "found");
		if (found != DISK_FOUND)
			continue;
		tap_is_string(c.name, e->name, name, "name");
		tap_is_int((int64_t) c.reads, (int64_t) e->reads, name, "reads");
		tap_is_int((int64_t) c.read_sectors, (int64_t) e->read_sectors, name, "read sectors");
		tap_is_int(c.read_ms, e->read_ms, name, "read ms");
		tap_is_int((int64_t) c.writes, (int64_t) e->writes, name, "writes");
		tap_is_int((int64_t) c.write_sectors, (int64_t) e->write_sectors, name, "write sectors");
		tap_is_int(c.write_ms, e->write_ms, name, "write ms");
		tap_is_int((int64_t) c.in_flight, (int64_t) e->in_flight, name, "in flight");
		tap_is_int(c.busy_ms, e->busy_ms, name, "busy ms");
		tap_is_int(c.queue_ms, e->queue_ms, name, "queue ms");
	}
	for (size_t i = 0; i < lengthof(changes); i++)
	{
		const char *name = changes[i].name;
		DiskRates	r = {-9, -9, -9, -9, -9};
		DiskChange	change = diskstats_rates(&changes[i].before, &changes[i].after, changes[i].ms, &r);

		tap_is_int(change, changes[i].expected, name, "change");
		if (change != DISK_RATES)
			continue;
		tap_is_double(r.busy_pct, changes[i].rates.busy_pct, name, "busy");
		tap_is_double(r.latency_ms, changes[i].rates.latency_ms, name, "latency");
		tap_is_double(r.queue, changes[i].rates.queue, name, "queue");
		tap_is_double(r.read_bytes_s, changes[i].rates.read_bytes_s, name, "read");
		tap_is_double(r.write_bytes_s, changes[i].rates.write_bytes_s, name, "written");
	}
	for (size_t i = 0; i < lengthof(devices); i++)
		tap_is_bool(disk_has_queue(devices[i].name, devices[i].rotational, devices[i].queues),
					devices[i].expected, devices[i].name, "has a queue");
	return tap_done();
}
