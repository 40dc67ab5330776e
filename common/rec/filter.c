/*
 * The frame of a filter; see filter.h.  Signals: INT, TERM and HUP keep their default action, so
 * they end a filter at once, also while its reader is slow; USR2 prints the counters, USR1 does
 * nothing.  The loop only says what is ready; lines are taken outside its callbacks.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "rec/endpoint.h"
#include "rec/filter.h"
#include "run/clock.h"
#include "run/loop.h"
#include "run/msg.h"
#include "run/ready.h"

#define BATCH 64 /* lines taken between two looks at the descriptors */

struct run {
	const struct filter *f;
	struct loop loop;
	struct ep *in, *out[OPT_LIST_MAX];
	int in_slot, out_slot[OPT_LIST_MAX], n_out;
	bool is_reader_gone;
	char src[REC_SRC_MAX]; /* locked to, "" none yet */
	unsigned long taken, written, bad, foreign, damaged;
	int64_t input_us, stats_us; /* last input; next status, 0 none */
	int64_t status_seq;
	struct msg_limit bad_limit;
	struct rec rec;
};

static void print_status(struct run *s)
{
	struct ep_counts c = ep_counts(s->in);
	char line[REC_LINE_MAX], own[1024] = "";

	if (s->f->stats != NULL)
		s->f->stats(s->f->arg, own, sizeof own);
	(void)snprintf(line, sizeof line,
		"{\"type\":\"status\",\"v\":1,\"src\":\"%s\",\"seq\":%" PRId64 ",\"t\":%" PRId64
		",\"in\":%lu,\"out\":%lu,\"bad\":%lu,\"foreign\":%lu,\"overlong\":%lu,\"partial\":%"
		"lu,"
		"\"refused\":%lu%s}\n",
		msg_tool(), s->status_seq++, clock_now(), s->taken, s->written, s->bad, s->foreign,
		c.overlong, c.partial, c.refused, own);
	msg_line(line);
}

static void on_signal(void *arg, int sig)
{
	if (sig == SIGUSR2)
		print_status(arg);
}

static void on_input(void *arg, short revents)
{
	(void)arg;
	(void)revents; /* lines are taken after each wake */
}

static void on_output(void *arg, short revents)
{
	struct run *s = arg;

	if (revents & (POLLERR | POLLHUP | POLLNVAL))
		s->is_reader_gone = true;
}

static int open_signals(struct run *s)
{
	sigset_t set;

	/* A reader that went is found by poll and by EPIPE; both end with 141. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (loop_init(&s->loop, on_signal, s) != 0)
		return -1;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* An endpoint that ep_open did not open: the exit code. */
static int refuse(const char *why)
{
	int code = errno == EINVAL ? EXIT_USAGE : EXIT_RUNTIME;

	warn("%s", why);
	return code;
}

/* 0, or an exit code. */
static int open_all(struct run *s)
{
	static const char *const standard[] = { "-" };
	const struct run_opts *o = s->f->opts;
	const char *const *where = o->out.n > 0 ? o->out.v : standard;
	char why[300];

	if (o->src != NULL) {
		if (!rec_src_ok(o->src)) {
			warn("--src %s: letters, digits, . _ - and at most 31 of them", o->src);
			return EXIT_USAGE;
		}
		(void)snprintf(s->src, sizeof s->src, "%s", o->src);
	}
	if (open_signals(s) != 0) {
		warn("signals: %s", strerror(errno));
		return EXIT_RUNTIME;
	}
	s->in = ep_open(o->in, EP_IN, why, sizeof why);
	if (s->in == NULL)
		return refuse(why);
	s->in_slot = loop_add(&s->loop, ep_fd(s->in), POLLIN, on_input, s);
	for (int i = 0; i < (o->out.n > 0 ? o->out.n : 1); i++) {
		struct ep *e = ep_open(where[i], EP_OUT, why, sizeof why);
		if (e == NULL)
			return refuse(why);
		s->out[i] = e;
		s->out_slot[i] = loop_add(&s->loop, ep_fd(e), 0, on_output, s);
		s->n_out = i + 1;
	}
	return s->f->start == NULL ? 0 : s->f->start(s->f->arg);
}

static int fail_output(void)
{
	if (errno == EPIPE)
		return EXIT_EPIPE;
	warn("output: %s", strerror(errno));
	return EXIT_RUNTIME;
}

/* Back-pressure: waits with the input left alone; signals and a reader's end are still served. */
static int write_one(struct run *s, int i, const char *line, size_t n)
{
	int rc;

	while ((rc = ep_try(s->out[i], line, n)) == 0) {
		loop_set(&s->loop, s->in_slot, -1, 0);
		loop_set(&s->loop, s->out_slot[i], ep_fd(s->out[i]), POLLOUT);
		if (loop_once(&s->loop, -1) != 0) {
			warn("poll: %s", strerror(errno));
			return EXIT_RUNTIME;
		}
		loop_set(&s->loop, s->out_slot[i], ep_fd(s->out[i]), 0);
		loop_set(&s->loop, s->in_slot, ep_fd(s->in), POLLIN);
		if (s->is_reader_gone)
			return EXIT_EPIPE;
	}
	return rc < 0 ? fail_output() : 0;
}

static int write_all(struct run *s, const char *line, size_t n)
{
	for (int i = 0; i < s->n_out; i++) {
		int code = write_one(s, i, line, n);
		if (code != 0)
			return code;
	}
	s->written++;
	return 0;
}

static int bad_line(struct run *s, const char *why)
{
	s->bad++;
	if (s->f->opts->strict) {
		warn("line %lu: %s", s->taken, why);
		return EXIT_BADINPUT;
	}
	warn_every(&s->bad_limit, clock_now(), "line %lu: %s", s->taken, why);
	return 0;
}

static bool is_foreign(struct run *s)
{
	if (s->src[0] == '\0')
		memcpy(s->src, s->rec.src, sizeof s->src);
	return strcmp(s->src, s->rec.src) != 0;
}

/* One line: 0, or an exit code. */
static int handle(struct run *s, const char *line, size_t n)
{
	char buf[REC_LINE_MAX + 1], why[200];

	s->taken++;
	if (rec_parse(line, n, &s->rec, why, sizeof why) != 0)
		return bad_line(s, why);
	if (s->rec.type == REC_POSE) {
		if (is_foreign(s)) {
			s->foreign++;
			return 0;
		}
		int rc = s->f->pose(s->f->arg, &s->rec);
		if (rc < 0)
			return bad_line(s, s->f->refusal ? s->f->refusal(s->f->arg) : "refused");
		if (rc > 0) {
			int len = rec_print(&s->rec, buf, sizeof buf);
			return len < 0 ? bad_line(s, "the result is no record")
				       : write_all(s, buf, (size_t)len);
		}
	}
	memcpy(buf, line, n);
	buf[n] = '\n';
	return write_all(s, buf, n + 1);
}

/* Lines the endpoint could not hand over count as bad lines too. */
static int check_damage(struct run *s)
{
	struct ep_counts c = ep_counts(s->in);
	unsigned long damaged = c.overlong + c.partial + c.refused;
	unsigned long more = damaged - s->damaged;

	if (more == 0)
		return 0;
	s->damaged = damaged;
	s->bad += more - 1;
	return bad_line(s, c.partial > 0   ? "the input ends inside a line"
			   : c.refused > 0 ? "no age and clk, from another host"
					   : "longer than 4095 bytes");
}

/* What is there, at most a batch. -1: goes on, *more: without waiting; else an exit code. */
static int take_lines(struct run *s, bool *more)
{
	int64_t count = s->f->opts->count;
	const char *line;
	size_t n;

	*more = false;
	for (int i = 0; i < BATCH; i++) {
		int rc = ep_next(s->in, &line, &n), cause = errno;
		int code = check_damage(s);
		if (code == 0 && rc == 1)
			code = handle(s, line, n);
		if (code != 0)
			return code;
		if (rc == 0)
			return -1;
		if (rc < 0) {
			if (cause == 0)
				return EXIT_DONE;
			warn("input: %s", strerror(cause));
			return EXIT_RUNTIME;
		}
		s->input_us = clock_now();
		if (count > 0 && s->written >= (unsigned long)count)
			return EXIT_DONE;
	}
	*more = true;
	return -1;
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int run_lines(struct run *s)
{
	const struct run_opts *o = s->f->opts;
	bool more = true;

	s->input_us = clock_now();
	s->stats_us = o->stats_us > 0 ? s->input_us + o->stats_us : -1;
	for (;;) {
		int64_t idle_us = o->idle_us > 0 ? s->input_us + o->idle_us : -1;
		if (loop_once(&s->loop, more ? 0 : sooner(idle_us, s->stats_us)) != 0) {
			warn("poll: %s", strerror(errno));
			return EXIT_RUNTIME;
		}
		if (s->is_reader_gone)
			return EXIT_EPIPE;
		int code = take_lines(s, &more);
		if (code >= 0)
			return code;
		int64_t now_us = clock_now();
		if (s->stats_us >= 0 && now_us >= s->stats_us) {
			print_status(s);
			s->stats_us = now_us + o->stats_us;
		}
		if (o->idle_us > 0 && now_us >= s->input_us + o->idle_us)
			return EXIT_IDLE;
	}
}

/* Once, whatever became of the single warnings; --strict has named its line. */
static void sum_up(const struct run *s, int code)
{
	if (s->bad > 0 && code != EXIT_BADINPUT)
		warn("%lu bad line%s of %lu", s->bad, s->bad == 1 ? "" : "s",
			s->taken + s->damaged);
}

int filter_run(const struct filter *f)
{
	static struct run s; /* one filter a process; too large for the stack */

	memset(&s, 0, sizeof s);
	s.f = f;
	int code = open_all(&s);
	if (code == 0) {
		ready_say((int)f->opts->ready_fd, NULL);
		code = run_lines(&s);
		sum_up(&s, code);
		if (f->opts->stats_us > 0)
			print_status(&s);
	}
	for (int i = 0; i < s.n_out; i++)
		if (ep_close(s.out[i]) != 0 && code == 0)
			code = fail_output();
	(void)ep_close(s.in); /* an input has nothing to lose */
	loop_done(&s.loop);
	return code;
}
