/*
 * host_directory.c
 *		The servers of one machine find each other in a directory.
 *
 * Each has a file there (policy/host_record), writes into it what its vacuums
 * use, and reads the files of the others.  Then each computes its share of
 * the limits (policy/host_share).  Nobody asks or answers.
 *
 * Governor only.  It takes no lock.  Whoever may write into the directory may
 * lie, put links, pipes or large files there, or take the name of our file.
 * So a file counts only if it is a plain one that nobody but its owner may
 * write, and no more of it is read than a record has.  Nothing here waits or
 * raises an error.
 */
#include "governor/host_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "postmaster/postmaster.h"
#include "utils/guc.h"

#include "governor/sensors.h"
#include "server/clock.h"
#include "server/system_file.h"
#include "settings.h"
#include "state/budget.h"

#define BOOT_ID_PATH	"/proc/sys/kernel/random/boot_id"
#define FILE_SUFFIX		".server"
#define FILE_NAME_LEN	80
#define ENTRIES_LIMIT	1000	/* of the directory, looked at in one step */
#define HEARD_LIMIT		16		/* files, read between two steps */
#define IDLE_LOOK_US	(INT64CONST(1000) * 1000)

static char own_name[FILE_NAME_LEN];	/* empty: nothing was told yet */
static int	directory = -1;		/* while a step runs */
static HostTold told;			/* what our file says */
static bool told_watches = false;
static bool is_there = false;	/* our file */
static HostState host;			/* what is published, large */

/* The file of another server, with what it told last. */
typedef struct KnownFile
{
	char		name[FILE_NAME_LEN];
	HostSiblingState sibling;
	HostHeard	heard;
	bool		seen;			/* in this look */
} KnownFile;

static KnownFile known[ENTRIES_LIMIT];
static int	known_count = 0;
static SensorState told_state = SENSOR_NOT_USED;	/* what the log knows */

/* ----
 * The directory
 * ----
 */

static bool
refuse(SensorState state, const char *format, const char *detail)
{
	host.state = state;
	snprintf(host.why, sizeof(host.why), format, detail);
	return false;
}

/*
 * Others may write there only if they cannot remove or rename our file.  A
 * group is trusted by whoever gave it the directory.
 */
static bool
open_directory(const char *path)
{
	struct stat st;

	directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (directory < 0)
		return refuse(errno == ENOENT ? SENSOR_ABSENT : SENSOR_BROKEN, "the directory: %s", strerror(errno));
	if (fstat(directory, &st) != 0)
		return refuse(SENSOR_BROKEN, "the directory: %s", strerror(errno));
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return refuse(SENSOR_BROKEN, "%s", "the directory belongs neither to root nor to the server's user");
	if ((st.st_mode & S_IWOTH) != 0 && (st.st_mode & S_ISVTX) == 0)
		return refuse(SENSOR_BROKEN, "%s", "everybody may remove files in the directory: its mode must be 1777, or not let others write");
	return true;
}

static void
close_directory(void)
{
	if (directory >= 0)
		close(directory);
	directory = -1;
}

/* Is it a plain file that nobody but its owner may change? */
static bool
is_trustworthy(int file, struct stat *st)
{
	return fstat(file, st) == 0 && S_ISREG(st->st_mode) && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* ----
 * Our own file
 * ----
 */

/*
 * A standby has the identifier of its primary, so the data directory's own
 * number is part of the name.
 */
static bool
name_own_file(void)
{
	struct stat st;

	if (own_name[0] != '\0')
		return true;
	if (stat(DataDir, &st) != 0)
		return refuse(SENSOR_BROKEN, "the data directory: %s", strerror(errno));
	snprintf(own_name, sizeof(own_name), "%016llx-%llx-%llx" FILE_SUFFIX,
			 (unsigned long long) GetSystemIdentifier(), (unsigned long long) st.st_dev,
			 (unsigned long long) st.st_ino);
	return true;
}

/*
 * The mode is set because the umask of a server hides its files from other
 * users.
 */
static bool
write_own_file(const char *text, size_t length)
{
	struct stat st;
	int			file = openat(directory, own_name,
							  O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	bool		written;

	if (file < 0)
		return refuse(SENSOR_BROKEN, "our own file there: %s", strerror(errno));
	if (fstat(file, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
	{
		close(file);
		return refuse(SENSOR_BROKEN, "%s", "our own file there belongs to another user, or is no file");
	}
	written = fchmod(file, 0644) == 0 && pwrite(file, text, length, 0) == (ssize_t) length &&
		ftruncate(file, (off_t) length) == 0;
	if (!written)
		refuse(SENSOR_BROKEN, "our own file there: %s", strerror(errno));
	close(file);
	return written;
}

/* ----
 * What is told
 * ----
 */

static bool
read_boot_id(char boot[HOST_BOOT_LEN])
{
	char		text[64];

	if (system_file_read(BOOT_ID_PATH, text, sizeof(text)) <= 0)
		return refuse(SENSOR_ABSENT, "%s", "the kernel does not tell its boot id");
	text[strcspn(text, "\n")] = '\0';
	strlcpy(boot, text, HOST_BOOT_LEN);
	return true;
}

static bool
describe_own(HostRecord *record, const HostOwn *own)
{
	memset(record, 0, sizeof(*record));
	if (!read_boot_id(record->boot))
		return false;
	if (!sensor_disk_identify(&record->device_major, &record->device_minor))
		return refuse(SENSOR_BROKEN, "the data directory: %s", strerror(errno));
	record->at_ms = clock_steady() / 1000;
	record->vacuums = own->vacuums;
	record->urgency = own->urgency;
	record->read = own->used.read;
	record->write = own->used.write;
	record->wal = own->used.wal;
	record->cut_at_ms = own->cut_at_ms;
	record->cut_to = own->cut_to;
	record->watches = own->watches;
	/* when a vacuum has just begun they have not been looked for yet */
	record->users = own->vacuums > 0 &&
		(own->users || host_may_be_watched(&told, record->at_ms));
	if (cluster_name[0] != '\0')
		strlcpy(record->name, cluster_name, sizeof(record->name));
	else
		snprintf(record->name, sizeof(record->name), "port %d", PostPortNumber);
	return true;
}

/*
 * While nothing is vacuumed, and there are no users to watch for, there is nothing to
 * tell but that we are there.  That either has ended is told once.
 */
static bool
tell(const HostRecord *record, const HostOwn *own)
{
	char		text[HOST_RECORD_BYTES];

	if (record->vacuums == 0 && !told.vacuums && !own->watches && !told_watches &&
		(is_there || !own->acts))
		return true;
	if (!name_own_file() || !write_own_file(text, host_record_format(record, text)))
		return false;
	host_told(&told, record->vacuums > 0, record->at_ms);
	told_watches = record->watches;
	is_there = true;
	return true;
}

/* ----
 * What the others tell
 * ----
 */

static bool
read_file(const char *name, HostRecord *record, uint32 *owner)
{
	char		text[HOST_RECORD_BYTES];
	struct stat st;
	ssize_t		n = -1;
	int			file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);

	if (file < 0)
		return false;
	if (is_trustworthy(file, &st) && st.st_size < (off_t) sizeof(text))
		n = pread(file, text, sizeof(text) - 1, 0);
	close(file);
	if (n <= 0)
		return false;
	text[n] = '\0';
	*owner = (uint32) st.st_uid;
	return host_record_parse(text, record);
}

/*
 * The directory mostly has the same files in the same order, so the search
 * begins behind the one that was found last.  Returns NULL if it is a new one.
 */
static KnownFile *
find_known(const char *name)
{
	static int	next = 0;

	for (int i = 0; i < known_count; i++)
	{
		int			at = (next + i) % known_count;

		if (strcmp(known[at].name, name) == 0)
		{
			next = at + 1;
			return &known[at];
		}
	}
	return NULL;
}

static void
forget_unseen(void)
{
	int			left = 0;

	for (int i = 0; i < known_count; i++)
	{
		if (known[i].seen)
			known[left++] = known[i];
	}
	known_count = left;
}

static bool
is_record_name(const char *name)
{
	size_t		length = strlen(name);
	size_t		suffix = strlen(FILE_SUFFIX);

	return name[0] != '.' && length > suffix && length < FILE_NAME_LEN &&
		strcmp(name + length - suffix, FILE_SUFFIX) == 0 && strcmp(name, own_name) != 0;
}

/*
 * A text that is just being written is not whole.  What the same server told
 * before holds until then.
 */
static void
look_at(const char *name, const HostRecord *own)
{
	KnownFile  *file = find_known(name);
	HostSiblingState *sibling;
	HostRecord	record;
	uint32		owner;
	bool		whole = read_file(name, &record, &owner);

	if (file == NULL)
	{
		if (!whole || known_count == ENTRIES_LIMIT)
			return;
		file = &known[known_count++];
		memset(file, 0, sizeof(*file));
		strlcpy(file->name, name, sizeof(file->name));
	}
	file->seen = true;
	sibling = &file->sibling;
	if (whole)
	{
		sibling->record = record;
		sibling->owner = owner;
		sibling->on_device = record.device_major == own->device_major &&
			record.device_minor == own->device_minor;
	}
	sibling->silent_ms = host_silent_ms(&file->heard, sibling->record.at_ms, own->at_ms);
}

static bool
look_around(const HostRecord *own)
{
	int			copy = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	DIR		   *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (dir == NULL)
	{
		if (copy >= 0)
			close(copy);
		return refuse(SENSOR_BROKEN, "the directory: %s", strerror(errno));
	}
	for (int i = 0; i < known_count; i++)
		known[i].seen = false;
	rewinddir(dir);				/* the copy shares its position */
	for (int i = 0; i < ENTRIES_LIMIT && (entry = readdir(dir)) != NULL; i++)
	{
		if (is_record_name(entry->d_name))
			look_at(entry->d_name, own);
	}
	closedir(dir);
	forget_unseen();
	return true;
}

/* It speaks.  Of the others only that they are there matters. */
static bool
is_shown(const HostSiblingState *sibling)
{
	return sibling->silent_ms < HOST_GONE_MS && sibling->silent_ms >= -HOST_AHEAD_MS;
}

/* All of them count, and as many as there is room for are shown. */
static HostShare
compute_share(const HostOwn *own, const HostRecord *record)
{
	static HostSibling others[ENTRIES_LIMIT];
	HostShare	share;
	int			n = 0;

	host.count = host.left_out = 0;
	for (int i = 0; i < known_count; i++)
	{
		HostSiblingState *s = &known[i].sibling;

		/* of another machine, or of before the last boot */
		if (strcmp(s->record.boot, record->boot) != 0)
			continue;
		others[n] = (HostSibling)
		{
			.owner = s->owner,.on_device = s->on_device,.vacuuming = s->record.vacuums > 0,
				.silent_ms = s->silent_ms,.urgency = s->record.urgency,
				.cut_to = host_new_cut(&known[i].heard, s->record.cut_at_ms, s->record.cut_to),
				.watches = host_watches(s->record.watches, s->silent_ms),
				.used = s->record.read + s->record.write + s->record.wal,
				.users = host_has_users(s->record.users, s->silent_ms)
		};
		s->counts = host_sibling_is_vacuuming(&others[n++]);
		if (!is_shown(s))
			continue;
		if (host.count < HOST_SIBLINGS_LIMIT)
			host.siblings[host.count++] = *s;
		else
			host.left_out++;
	}
	share = host_share_compute((unsigned) geteuid(), own->urgency, others, n);
	return own->vacuums > 0 ? host_share_begin(share, &told, record->at_ms) : share;
}

/* ----
 * The step
 * ----
 */

/* The log is told when the others cannot be seen, and when they can again. */
static void
tell_log(void)
{
	if (host.state == told_state)
		return;
	if (host.state == SENSOR_BROKEN)
		ereport(WARNING,
				(errmsg("pg_sweep: cannot share limits with other servers of this machine: %s", host.why),
				 errdetail("Directory \"%s\" is where they find each other.", sweep_host_directory),
				 errhint("Set sweep.host_directory to an empty string if this server is to keep its limits for itself.")));
	else if (told_state == SENSOR_BROKEN)
		ereport(LOG, (errmsg("pg_sweep: directory \"%s\" can be used again", sweep_host_directory)));
	told_state = host.state;
}

/* Returns false if the others cannot be seen. */
static bool
share_with_others(const HostOwn *own, HostShare *share)
{
	HostRecord	record;
	bool		seen;

	host.state = SENSOR_OK;
	host.why[0] = '\0';
	seen = open_directory(sweep_host_directory) && describe_own(&record, own) &&
		tell(&record, own) && look_around(&record);
	close_directory();
	if (seen)
		*share = compute_share(own, &record);
	return seen;
}

static void
publish(const HostShare *share, TimestampTz now)
{
	tell_log();
	host.at = now;
	host.device_share = share->device;
	host.processors_share = share->processors;
	host.on_device = share->on_device;
	host.on_machine = share->on_machine;
	budget_publish_host(&host);
}

static bool
is_wanted(void)
{
	return sweep_host_directory != NULL && sweep_host_directory[0] != '\0';
}

HostShare
host_directory_step(const HostOwn *own, TimestampTz now)
{
	static const HostShare whole = {.device = 1,.processors = 1};
	static HostShare share = {.device = 1,.processors = 1};
	bool		wanted = is_wanted();

	share.cut_to = 0;
	/* between vacuums the others are looked at for the number of workers only */
	if (own->vacuums == 0 && !own->watches && !told_watches && !told.vacuums && host.at != 0 && now >= host.at &&
		now - host.at < IDLE_LOOK_US)
		return share;

	if (!wanted || (!share_with_others(own, &share) && host.state == SENSOR_ABSENT))
	{
		known_count = host.count = host.left_out = 0;
		share = whole;
	}
	if (!wanted)
	{
		host.state = SENSOR_NOT_USED;
		host.why[0] = '\0';
	}
	/* where it is broken the share holds: a limit is never lifted by a fault */
	publish(&share, now);
	return share;
}

void
host_directory_tell(const HostOwn *own)
{
	HostRecord	record;

	/* what fails here fails again in the next step, which says so */
	if (is_wanted() && host.state == SENSOR_OK && open_directory(sweep_host_directory) &&
		describe_own(&record, own))
		(void) tell(&record, own);
	close_directory();
}

/* Is it one to whose cuts we yield? */
static bool
is_heard(const KnownFile *file)
{
	return file->heard.cut_known && file->sibling.on_device && file->sibling.owner == (uint32) geteuid() &&
		file->sibling.silent_ms < HOST_SILENT_MS;
}

bool
host_directory_hears_cut(void)
{
	bool		hears = false;
	int			looks = HEARD_LIMIT;

	if (!is_wanted() || host.state != SENSOR_OK || known_count == 0 ||
		!open_directory(sweep_host_directory))
		return false;
	for (int i = 0; i < known_count && looks > 0 && !hears; i++)
	{
		HostRecord	record;
		uint32		owner;

		if (!is_heard(&known[i]))
			continue;
		looks--;
		hears = read_file(known[i].name, &record, &owner) && record.cut_at_ms != known[i].heard.cut_at_ms;
	}
	close_directory();
	return hears;
}

void
host_directory_leave(void)
{
	if (!is_there)
		return;
	told.vacuums = told_watches = is_there = false;
	if (open_directory(sweep_host_directory))
		(void) unlinkat(directory, own_name, 0);
	close_directory();
}
