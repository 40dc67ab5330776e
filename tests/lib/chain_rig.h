/*
 * A whole chain under test, its witnesses and its times:
 *
 *   hand (thread, UDP) -> rctp-recv | pose-xform | clamp | piper-can-write -> slcan -> piper-sim
 *
 * One thread reads what piper-sim saw on the bus (its log) and what the writer says (its records);
 * one on each CPU wakes each millisecond and notes how late it was: what happened meanwhile proves
 * nothing about the chain; nor does what happened while a thread of it was ready to run and got no
 * CPU (schedstat of the kernel).  Times are us of CLOCK_MONOTONIC.  Everything a trial looks at stays in
 * memory, in order of arrival.
 */
#ifndef LIB_CHAIN_RIG_H
#define LIB_CHAIN_RIG_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rec/line.h"
#include "rec/record.h"
#include "run/clock.h"
#include "wire/can.h"

#define MS 1000
#define WITNESS_LATE_US 5000 /* DESIGN.md 7 */
#define LATE_MAX 4096
#define CPUS_MAX 64
#define WAITS_MAX 96
#define TICK_US 33334
#define MAX_AGE_US 100000

enum role { RECV, XFORM, CLAMP, WRITER, SIM, ROLES };
static const char *const role_name[ROLES] = { "rctp-recv", "pose-xform", "clamp", "piper-can-write",
	"piper-sim" };

struct seen { /* a frame of the host at the arm's end of the bus */
	int64_t t;
	uint32_t id;
	uint8_t d[8];
};
struct said { /* a record of the writer */
	enum rec_type type;
	int64_t t;
	enum rec_set set;
	int64_t age;
	char gate[12], name[32], text[REC_TEXT_MAX];
	int64_t runs;
};
struct late {
	int64_t t, by;
};

struct rig {
	char dir[90], bus[100], fb[110], stop[110], control[110];
	int port;
	pid_t pid[ROLES];
	int writer_out, sim_out; /* read ends */
	int fill[2];             /* write ends of the pipes before pose-xform and clamp, or -1 */
	bool deaf;               /* the writer's records are left in its pipe */

	pthread_mutex_t lock;
	pthread_cond_t news;
	pthread_t reader, clock[CPUS_MAX];
	bool ending;
	struct seen *seen;
	int n_seen, max_seen;
	struct said *said;
	int n_said, max_said;
	char gate[12], why[REC_TEXT_MAX]; /* newest */
	int64_t runs;
	int violations, openings;
	int early; /* commands within 300 ms of opening the channel: a one-shot stop may */
	char violation[160];
	struct late late[LATE_MAX];
	long n_late;
	int failures;
};
static struct rig rig = { .lock = PTHREAD_MUTEX_INITIALIZER };

__attribute__((format(printf, 1, 2))) static void tell(const char *fmt, ...)
{
	va_list ap;

	fputs("# ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

__attribute__((format(printf, 1, 2))) static bool failed(const char *fmt, ...)
{
	va_list ap;

	printf("FAILED (%.6f): ", (double)clock_now() * 1e-6);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("   [gate %s: %s]\n", rig.gate, rig.why);
	fflush(stdout);
	rig.failures++;
	return false;
}

__attribute__((format(printf, 1, 2), noreturn)) static void give_up(const char *fmt, ...)
{
	va_list ap;

	printf("GAVE UP: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("   [gate %s: %s]\n", rig.gate, rig.why);
	fflush(stdout);
	exit(1); /* the stages are ended by atexit */
}

#include "chain_witness.h"

/* ---- what was seen and said ---- */

#define GROW(array, n, max)                                                                        \
	do {                                                                                       \
		if ((n) == (max)) {                                                                \
			(max) = (max) ? 2 * (max) : 4096;                                          \
			(array) = realloc((array), (size_t)(max) * sizeof(*(array)));              \
			if (!(array))                                                              \
				abort();                                                           \
		}                                                                                  \
	} while (0)

/* Caller holds the lock. */
static void take_bus_line(const char *line)
{
	struct can_frame f;
	char bus[32];
	int64_t t;

	if (line[0] == '#') {
		rig.openings += strstr(line, "channel opened") != NULL;
		if (strstr(line, " violation early")) {
			rig.early++;
		} else if (strstr(line, " violation ")) {
			rig.violations++;
			snprintf(rig.violation, sizeof rig.violation, "%.150s", line);
		}
		return;
	}
	if (!can_scan(line, &f, &t, bus, sizeof bus))
		return;
	GROW(rig.seen, rig.n_seen, rig.max_seen);
	struct seen *s = &rig.seen[rig.n_seen++];
	*s = (struct seen){ .t = t, .id = f.can_id };
	memcpy(s->d, f.data, 8);
}

/* Caller holds the lock. */
static void take_record(const char *line, size_t n)
{
	static struct rec r;
	char why[200];

	if (rec_parse(line, n, &r, why, sizeof why) < 0) {
		printf("FAILED: the writer's record: %s: %.*s\n", why, (int)n, line);
		rig.failures++;
		return;
	}
	GROW(rig.said, rig.n_said, rig.max_said);
	struct said *s = &rig.said[rig.n_said++];
	*s = (struct said){ .type = r.type, .t = r.t_us };
	if (r.type == REC_COMMAND) {
		s->set = r.u.command.set;
		s->age = r.u.command.age_us;
	} else if (r.type == REC_FEEDBACK) {
		snprintf(s->gate, sizeof s->gate, "%s", r.u.feedback.gate);
		snprintf(s->text, sizeof s->text, "%s", r.u.feedback.why);
		s->runs = rig.runs = r.u.feedback.runs;
		memcpy(rig.gate, s->gate, sizeof rig.gate);
		memcpy(rig.why, s->text, sizeof rig.why);
	} else if (r.type == REC_EVENT) {
		snprintf(s->name, sizeof s->name, "%s", r.u.event.name);
		snprintf(s->text, sizeof s->text, "%s", r.u.event.value);
	}
}

static void read_some(int *fd, struct line *l, bool is_bus)
{
	const char *text;
	size_t n;

	if (line_fill(l, *fd) <= 0) {
		*fd = -1;
		return;
	}
	pthread_mutex_lock(&rig.lock);
	while (line_next(l, &text, &n)) {
		char copy[REC_LINE_MAX + 1];
		if (!is_bus)
			take_record(text, n);
		else {
			snprintf(copy, sizeof copy, "%.*s", (int)n, text);
			take_bus_line(copy);
		}
	}
	pthread_cond_broadcast(&rig.news);
	pthread_mutex_unlock(&rig.lock);
}

static void *read_all(void *arg)
{
	static struct line bus, records;
	int of = -1;

	(void)arg;
	line_init(&bus);
	line_init(&records);
	while (!__atomic_load_n(&rig.ending, __ATOMIC_RELAXED)) {
		if (of != rig.writer_out) { /* another writer */
			of = rig.writer_out;
			line_init(&records);
		}
		struct pollfd p[2] = { { rig.sim_out, POLLIN, 0 },
			{ __atomic_load_n(&rig.deaf, __ATOMIC_RELAXED) ? -1 : of, POLLIN, 0 } };
		if (poll(p, 2, 2) <= 0)
			continue;
		if (p[0].revents)
			read_some(&rig.sim_out, &bus, true);
		if (p[1].revents) {
			int fd = of;
			read_some(&fd, &records, false);
			if (fd < 0 && rig.writer_out == of)
				rig.writer_out = of = -1;
		}
	}
	return NULL;
}

/* ---- waiting ---- */

typedef bool cond_fn(const void *arg); /* called with the lock held */

/* Until it is true, at most ms. */
static bool await(cond_fn *is_true, const void *arg, int ms)
{
	int64_t until = clock_now() + (int64_t)ms * MS;
	bool ok;

	pthread_mutex_lock(&rig.lock);
	while (!(ok = is_true(arg)) && clock_now() < until) {
		int64_t next = clock_now() + 2 * MS; /* conditions may look at the clock too */
		struct timespec ts = { next / 1000000, next % 1000000 * 1000 };
		pthread_cond_timedwait(&rig.news, &rig.lock, &ts);
	}
	pthread_mutex_unlock(&rig.lock);
	return ok;
}

static bool is_gate(const void *name)
{
	return strcmp(rig.gate, name) == 0;
}

struct mark { /* a place in both streams */
	int seen, said;
	int64_t t, runs;
	struct waits waits;
};

static struct mark mark_now(void)
{
	static struct mark m;

	waits_now(&m.waits);
	pthread_mutex_lock(&rig.lock);
	m.seen = rig.n_seen;
	m.said = rig.n_said;
	m.runs = rig.runs;
	m.t = clock_now();
	pthread_mutex_unlock(&rig.lock);
	return m;
}

/* The machine, not the chain, was late at some time since the mark: a witness woke late, or a thread
 * of the chain was ready and got no CPU. */
static bool held_up_since(const struct mark *m)
{
	return was_held_up(m->t - 20 * MS, clock_now()) || waits_since(&m->waits) > WITNESS_LATE_US;
}

static bool is_new_run(const void *m)
{
	return strcmp(rig.gate, "run") == 0 && rig.runs > ((const struct mark *)m)->runs;
}

struct want_event {
	const struct mark *m;
	const char *name, *text; /* text: part of the value, NULL: any */
};

static bool has_event(const void *arg)
{
	const struct want_event *w = arg;

	for (int i = w->m->said; i < rig.n_said; i++)
		if (rig.said[i].type == REC_EVENT && strcmp(rig.said[i].name, w->name) == 0 &&
			(!w->text || strstr(rig.said[i].text, w->text)))
			return true;
	return false;
}

static bool await_event(const struct mark *m, const char *name, const char *text, int ms)
{
	struct want_event w = { m, name, text };

	return await(has_event, &w, ms);
}

static bool has_passed(const void *t)
{
	return clock_now() >= *(const int64_t *)t;
}

/* Lets time pass while something is observed (or while a fault is meant to last). */
static void observe(int ms)
{
	int64_t until = clock_now() + (int64_t)ms * MS;

	(void)await(has_passed, &until, ms + 1000);
}

/* Uniform over 0..n-1; a run can be repeated with TELEOP_SEED. */
static int any_of(int n)
{
	return (int)(random() % n);
}

#endif
