/*
 * thousand_host.c
 *		What dividing the limits comes to with as many servers as can be.
 *
 *		thousand_host DEMANDS
 *
 * The servers are those of test/unit/host_world.h.  DEMANDS is a file of what
 * real servers wanted: a line for each server, with VACUUMS:URGENCY for each
 * quarter of a second.  A line of the output is NAME VALUE, for bench/thousand.
 */
#define _XOPEN_SOURCE 700

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host_world.h"

#define MOST		998			/* entries of a directory that are looked at,
								 * without "." and ".." */
#define LIAR		1000

static double
clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

static void
say(const char *name, double value)
{
	printf("%s %.6g\n", name, value);
}

static World *
all_vacuum(int n)
{
	World	   *w = world_create(n, 42);

	for (int i = 0; i < n; i++)
	{
		w->servers[i].owner = 26;
		w->servers[i].want.vacuums = 1;
	}
	return w;
}

static double
largest_turns(const World *w)
{
	int			most = 0;

	for (int i = 0; i < w->n; i++)
		most = w->servers[i].turns > most ? w->servers[i].turns : most;
	return most;
}

/* By how much is a share off what it should be, relatively, at most? */
static double
largest_error(const World *w)
{
	double		weights = 0;
	double		worst = 0;

	for (int i = 0; i < w->n; i++)
		weights += w->servers[i].away || w->servers[i].want.vacuums == 0 ? 0 :
			host_weight(w->servers[i].want.urgency, 0);
	for (int i = 0; i < w->n; i++)
	{
		const Server *s = &w->servers[i];
		double		right = host_weight(s->want.urgency, 0) / weights;

		if (!s->away && s->want.vacuums > 0)
			worst = fmax(worst, fabs(s->share - right) / right);
	}
	return worst;
}

/* Runs until each share is right within a hundredth.  Returns how many steps that takes. */
static double
settle(World *w, double limit_s)
{
	int64_t		begun = w->now;

	do
		world_run(w, WORLD_TICK_MS);
	while (largest_error(w) > 0.01 && w->now - begun < 1000 * limit_s);
	return (double) (w->now - begun) / WORLD_STEP_MS;
}

/* ----
 * Scenarios
 * ----
 */

/* All begin at the same moment, and then want the same for a minute. */
static void
constant(int n)
{
	World	   *w = world_create(n, 42);
	Want		one = {1, 1};
	char		name[64];

	world_run(w, 5000);
	for (int i = 0; i < n; i++)
	{
		w->servers[i].owner = 26;
		server_want(&w->servers[i], one);
	}

#define SAY(what, value) (snprintf(name, sizeof(name), "constant.%d.%s", n, what), say(name, value))
	SAY("steps", settle(w, 30));
	world_run(w, 2000);
	SAY("first_sum", w->most_sum);
	SAY("first_sum_1s", w->most_mean);
	world_measure_anew(w);
	world_run(w, 10000);
	SAY("sum", w->most_sum);
	SAY("least_sum", world_mean_sum(w));
	SAY("turns", largest_turns(w));
	SAY("error", largest_error(w));
	SAY("fairness", world_fairness(w, 0, n));
#undef SAY
	world_free(w);
}

/* So many of them become four times as urgent at the same moment. */
static void
jump(const char *as, int n, int urgent)
{
	World	   *w = all_vacuum(n);
	double		right = 4.0 / (4 * urgent + n - urgent);
	double		most = 0;
	double		above_ms = 0;
	char		name[64];

	world_run(w, 3000);
	world_measure_anew(w);
	for (int i = 0; i < urgent; i++)
		w->servers[i].want.urgency = 4;
	for (int i = 0; i < 1000; i++)
	{
		double		now = 0;

		world_run(w, WORLD_TICK_MS);
		for (int k = 0; k < urgent; k++)
			now = fmax(now, w->servers[k].share / right - 1);
		most = fmax(most, now);
		above_ms += now > 0.05 ? WORLD_TICK_MS : 0;
	}
#define SAY(what, value) (snprintf(name, sizeof(name), "%s.%s", as, what), say(name, value))
	SAY("overshoot", most);
	SAY("overshoot_ms", above_ms);
	SAY("sum", w->most_sum);
	SAY("sum_1s", w->most_mean);
	SAY("turns", largest_turns(w));
	SAY("error", largest_error(w));
#undef SAY
	world_free(w);
	w = all_vacuum(n);
	world_run(w, 3000);
	for (int i = 0; i < urgent; i++)
		w->servers[i].want.urgency = 4;
	snprintf(name, sizeof(name), "%s.steps", as);
	say(name, settle(w, 30));
	world_free(w);
}

/* A half of them dies at once, and a half comes later, one after the other. */
static void
deaths(int n)
{
	World	   *w = all_vacuum(n);

	world_run(w, 3000);
	world_measure_anew(w);
	for (int i = n / 2; i < n; i++)
		w->servers[i].away = true;
	world_run(w, HOST_GONE_MS - 1000);
	say("deaths.sum_meanwhile", world_mean_sum(w));
	say("deaths.seconds", 0.001 * (HOST_GONE_MS - 1000) + 0.25 * settle(w, 60));
	say("deaths.sum_1s", w->most_mean);
	say("deaths.turns", largest_turns(w));
	world_measure_anew(w);
	for (int i = n / 2; i < n; i++)
	{
		Want		want = w->servers[i].want;

		w->servers[i].away = false;
		w->servers[i].want.vacuums = 0;
		server_want(&w->servers[i], want);
		world_run(w, WORLD_TICK_MS);
	}
	say("late.steps", settle(w, 60));
	say("late.sum_1s", w->most_mean);
	world_free(w);
}

/* Governors of a tenth are stopped, while their vacuums go on. */
static void
silence(int n)
{
	World	   *w = all_vacuum(n);

	for (int i = 0; i < n / 10; i++)
		w->servers[i].want.urgency = 4;
	world_run(w, 3000);
	for (int i = 0; i < n / 10; i++)
		w->servers[i].stopped = true;
	world_run(w, HOST_SILENT_MS + 500);
	say("silence.share", w->servers[n - 1].share * n);
	say("silence.sum", w->sum);
	world_run(w, HOST_GONE_MS);
	say("silence.gone", w->servers[n - 1].share * (n - n / 10));
	world_free(w);
}

/* Clocks that are apart by up to a day. */
static void
clocks(int n)
{
	World	   *w = all_vacuum(n);

	for (int i = 0; i < n; i++)
		w->servers[i].ahead_ms = (int64_t) (world_noise(w) * 86400000);
	say("clocks.steps", settle(w, 30));
	world_measure_anew(w);
	world_run(w, 20000);
	say("clocks.sum", w->most_sum);
	say("clocks.error", largest_error(w));
	world_free(w);
}

/* A tenth belongs to a user who says what he likes. */
static void
liars(int n)
{
	World	   *w = all_vacuum(n);
	double		share = 0;

	for (int i = 0; i < n / 10; i++)
	{
		w->servers[i].owner = LIAR;
		w->servers[i].want.urgency = 1e6;
	}
	world_run(w, 3000);
	for (int i = 0; i < n / 10; i++)
		share += w->servers[i].share;
	say("liars.share", share);
	say("liars.sum", w->sum);
	world_free(w);
}

/* ----
 * Recorded demands
 * ----
 */

typedef struct Demands
{
	Want	   *series[64];
	int			length[64];
	int			count;
} Demands;

static bool
read_demands(const char *path, Demands *d)
{
	FILE	   *file = fopen(path, "r");
	Want		want;
	int			c;

	memset(d, 0, sizeof(*d));
	if (file == NULL)
		return false;
	while (d->count < 64 && fscanf(file, "%d:%lf", &want.vacuums, &want.urgency) == 2)
	{
		Want	   *series = malloc(100000 * sizeof(Want));
		int			n = 0;

		do
			series[n++] = want;
		while (n < 100000 && (c = fgetc(file)) == ' ' && fscanf(file, "%d:%lf", &want.vacuums, &want.urgency) == 2);
		d->series[d->count] = series;
		d->length[d->count++] = n;
	}
	fclose(file);
	return d->count > 0;
}

/* So many hosts with so many servers each, which want what real ones have wanted. */
static void
recorded(const char *as, const Demands *d, int hosts, int servers, int seconds, double noise)
{
	double		most = 0;
	double		sum = 0;
	double		above = 0;
	double		busy = 0;
	double		turns = 0;
	double		wanted = 0;
	double		begins = 0;
	double		fair = 1;
	double		vacuums = 0;
	char		name[64];

	for (int h = 0; h < hosts; h++)
	{
		World	   *w = world_create(servers, (uint64_t) h + 1);

		for (int i = 0; i < servers; i++)
		{
			Server	   *s = &w->servers[i];
			int			which = i * d->count / servers;

			s->owner = 26;
			s->want.vacuums = 0;
			s->series = d->series[which];
			s->series_length = d->length[which];
			s->series_at = (int) (tap_random(&w->random) % (uint32_t) d->length[which]);
			s->noise = noise;
		}
		world_run(w, 5000);
		world_measure_anew(w);
		world_run(w, 1000 * seconds);
		most = fmax(most, w->most_mean);
		sum += w->sum_ms;
		above += w->above_ms;
		busy += w->vacuums_ms;
		for (int i = 0; i < servers; i++)
		{
			turns += w->servers[i].turns;
			wanted += w->servers[i].wanted_turns;
			begins += w->servers[i].begins;
			vacuums += w->servers[i].want_ms;
		}
		for (int k = 0; k < d->count; k++)
			fair = fmin(fair, world_fairness(w, (k * servers + d->count - 1) / d->count,
											 ((k + 1) * servers + d->count - 1) / d->count));
		world_free(w);
	}
#define SAY(what, value) (snprintf(name, sizeof(name), "%s.%s", as, what), say(name, value))
	SAY("sum_1s", most);
	SAY("mean_sum", sum / busy);
	SAY("above", above / busy);
	SAY("busy", busy / (1000.0 * seconds * hosts));
	SAY("vacuuming", vacuums / busy);
	SAY("turns", turns / (vacuums / 60000));
	SAY("wanted_turns", wanted / (vacuums / 60000));
	SAY("begins", begins / (vacuums / 60000));
	SAY("fairness", fair);
#undef SAY
}

/* ----
 * What a step costs
 * ----
 */

/* A figure that is missing would look like one that was not asked for. */
static void
die(const char *what)
{
	perror(what);
	exit(1);
}

/* Reads files as governor/host_directory.c does.  The directory is a temporary one. */
static void
cost(int n)
{
	const char *tmpdir = getenv("TMPDIR");
	char		folder[512];
	char		path[640];
	char		text[HOST_RECORD_BYTES];
	HostRecord	record = {.boot = "0b0ad5ac-2f5c-4d7e-9f0c-6a5d8a3f4b21",.device_major = 8,.vacuums = 1,.urgency = 1,.name = "main"};
	HostSibling *others = calloc((size_t) n, sizeof(HostSibling));
	HostHeard  *heard = calloc((size_t) n, sizeof(HostHeard));
	int			repeats = 20 + 2000 / n;
	double		best_read = HUGE_VAL;
	double		best_parse = HUGE_VAL;
	double		best_share = HUGE_VAL;

	snprintf(folder, sizeof(folder), "%s/thousand-XXXXXX", tmpdir != NULL && *tmpdir != '\0' ? tmpdir : P_tmpdir);
	if (mkdtemp(folder) == NULL)
		die(folder);
	for (int i = 0; i < n; i++)
	{
		int			file;
		size_t		length = host_record_format(&record, text);

		snprintf(path, sizeof(path), "%s/%016x.server", folder, i);
		file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (file < 0 || write(file, text, length) != (ssize_t) length)
			die(path);
		close(file);
	}
	for (int k = 0; k < repeats; k++)
	{
		double		begun = clock_us();
		volatile double sink;

		for (int i = 0; i < n; i++)
		{
			struct stat st;
			ssize_t		length;
			int			file;

			snprintf(path, sizeof(path), "%s/%016x.server", folder, i);
			file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
			if (file < 0 || fstat(file, &st) != 0 ||
				(length = pread(file, text, sizeof(text) - 1, 0)) < 0)
				die(path);
			text[length] = '\0';
			close(file);
		}
		best_read = fmin(best_read, clock_us() - begun);
		begun = clock_us();
		for (int i = 0; i < n; i++)
			(void) host_record_parse(text, &record);
		best_parse = fmin(best_parse, clock_us() - begun);
		begun = clock_us();
		for (int i = 0; i < n; i++)
			others[i] = (HostSibling)
		{
			(unsigned) (i % 10), true, true, host_silent_ms(&heard[i], k + 1, k + 1), 1
		};
		sink = host_share_compute(5, 1, others, n).device;
		(void) sink;
		best_share = fmin(best_share, clock_us() - begun);
	}
	for (int i = 0; i < n; i++)
	{
		snprintf(path, sizeof(path), "%s/%016x.server", folder, i);
		unlink(path);
	}
	rmdir(folder);
#define SAY(what, value) (snprintf(path, sizeof(path), "cost.%d.%s", n, what), say(path, value))
	SAY("read_us", best_read);
	SAY("parse_us", best_parse);
	SAY("share_us", best_share);
#undef SAY
	free(others);
	free(heard);
}

int
main(int argc, char **argv)
{
	Demands		demands;
	int			numbers[] = {2, 4, 32, 100, MOST};

	if (argc != 2 || !read_demands(argv[1], &demands))
	{
		fprintf(stderr, "usage: thousand_host DEMANDS\n");
		return 2;
	}
	for (size_t i = 0; i < lengthof(numbers); i++)
		constant(numbers[i]);
	jump("jump", MOST, 1);
	jump("jumps", MOST, MOST / 10);
	deaths(MOST);
	silence(MOST);
	clocks(MOST);
	liars(MOST);
	recorded("hosts", &demands, 250, 4, 600, 0);
	recorded("noisy", &demands, 250, 4, 600, 0.2);
	recorded("one", &demands, 1, MOST, 200, 0);
	for (size_t i = 0; i < lengthof(numbers); i++)
		cost(numbers[i]);
	return 0;
}
