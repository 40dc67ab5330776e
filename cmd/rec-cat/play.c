/*
 * See play.h.  A source (DESIGN.md 3): at its own pace it waits for no reader; with --speed 0
 * nothing is live and every reader is waited for.  What it lost time over goes out with the t it
 * should have had, so that a sink sees its age.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "rec-cat/play.h"
#include "rec-cat/restamp.h"
#include "rec-cat/start.h"
#include "rec/endpoint.h"
#include "rec/endpoint_age.h"
#include "rec/outq.h"
#include "run/clock.h"
#include "run/loop.h"
#include "run/msg.h"
#include "run/ready.h"

#define BATCH 64      /* records between two looks at the descriptors */
#define HOLD_US 20000 /* the first pose is repeated so often while the arm is waited for */
#define GO_ON (-1)

struct play {
	struct cat_opts *o;
	struct loop loop;
	struct ep *in, *arm; /* arm: NULL without --arm */
	int in_slot, arm_slot, out_slot[OPT_LIST_MAX];
	struct outq *out;
	bool is_reader_gone;
	struct restamp stamp;
	struct start start;
	bool is_waiting; /* for the arm to run */
	bool begun;      /* this pass has its base */
	bool has_next, at_end;
	int64_t due_us; /* of the record in rec, line */
	struct rec rec;
	char line[REC_LINE_MAX + 1];
	size_t n;
	int64_t hold_us, input_us, stats_us, status_seq;
	unsigned long passes, in_pass, taken, sent, left_out, bad, damaged;
	struct msg_limit bad_limit;
};

static void print_status(struct play *p)
{
	char line[REC_LINE_MAX];

	(void)snprintf(line, sizeof line,
		"{\"type\":\"status\",\"v\":1,\"src\":\"rec-cat\",\"seq\":%" PRId64
		",\"t\":%" PRId64
		",\"in\":%lu,\"out\":%lu,\"bad\":%lu,\"left_out\":%lu,\"dropped\":%lu"
		",\"passes\":%lu}\n",
		p->status_seq++, clock_now(), p->taken, p->sent, p->bad, p->left_out,
		outq_dropped(p->out), p->passes);
	msg_line(line);
}

static void on_signal(void *arg, int sig)
{
	if (sig == SIGUSR2)
		print_status(arg);
}

static void on_wake(void *arg, short revents)
{
	(void)arg;
	(void)revents; /* read after each wake */
}

static void on_output(void *arg, short revents)
{
	if (revents & (POLLERR | POLLHUP | POLLNVAL))
		((struct play *)arg)->is_reader_gone = true;
}

static int fail_output(void)
{
	if (errno == EPIPE)
		return EXIT_EPIPE;
	warn("output: %s", strerror(errno));
	return EXIT_RUNTIME;
}

static bool is_output_busy(struct play *p)
{
	bool busy = false;

	for (int i = 0; i < outq_n(p->out); i++) {
		short events;
		int fd = outq_fd(p->out, i, &events);
		loop_set(&p->loop, p->out_slot[i], fd, events);
		busy = busy || (events & POLLOUT);
	}
	return busy;
}

static int bad_line(struct play *p, const char *why)
{
	p->bad++;
	if (p->o->run.strict) {
		warn("%s: line %lu: %s", p->o->file, p->taken, why);
		return EXIT_BADINPUT;
	}
	warn_every(&p->bad_limit, clock_now(), "%s: line %lu: %s", p->o->file, p->taken, why);
	return GO_ON;
}

static int check_damage(struct play *p)
{
	struct ep_counts c = ep_counts(p->in);
	unsigned long more = c.overlong + c.partial - p->damaged;

	if (more == 0)
		return GO_ON;
	p->damaged += more;
	p->bad += more - 1;
	/* A recording that was cut off ends so. */
	if (c.partial > 0 && more == 1 && !p->o->run.strict) {
		p->bad++;
		info("%s ends inside a line", p->o->file);
		return GO_ON;
	}
	return bad_line(
		p, c.partial > 0 ? "the input ends inside a line" : "longer than 4095 bytes");
}

/* The record read is to be sent: when, and as which bytes? */
static int prepare(struct play *p, const char *text, size_t n)
{
	if (!p->begun) {
		restamp_begin(&p->stamp, p->rec.t_us,
			p->passes == 0 ? clock_now() : restamp_next_base(&p->stamp));
		p->begun = true;
	}
	int64_t t_us = restamp_t(&p->stamp, p->rec.t_us);
	int len = age_set_t(text, n, t_us, p->line, REC_LINE_MAX - 1);
	if (len < 0)
		return bad_line(p, "too long with its new time");
	p->line[len] = '\n';
	p->n = (size_t)len + 1;
	p->rec.t_us = t_us;
	p->due_us = p->stamp.speed > 0 ? t_us : 0;
	p->has_next = true;
	return GO_ON;
}

/* One line of the recording. */
static int look_at(struct play *p, const char *text, size_t n)
{
	char why[200];

	p->taken++;
	if (rec_parse(text, n, &p->rec, why, sizeof why) != 0)
		return bad_line(p, why);
	if (!pick_takes(&p->o->pick, &p->rec) || (p->arm && p->rec.t_us < p->start.from_us))
		return GO_ON;
	if (!restamp_plays(&p->rec)) {
		p->left_out++;
		return GO_ON;
	}
	p->in_pass++;
	return prepare(p, text, n);
}

/* The recording has ended: once more, or no more. */
static int next_pass(struct play *p)
{
	char why[600];

	p->passes++;
	if (p->in_pass == 0 && p->o->loop) {
		warn("%s: nothing in it to replay", p->o->file);
		return EXIT_RUNTIME;
	}
	if (!p->o->loop) {
		p->at_end = true;
		loop_set(&p->loop, p->in_slot, -1, 0);
		return GO_ON;
	}
	(void)ep_close(p->in); /* an input has nothing to lose */
	p->in = ep_open(p->o->file, EP_IN, why, sizeof why);
	if (p->in == NULL) {
		warn("%s", why);
		return EXIT_RUNTIME;
	}
	loop_set(&p->loop, p->in_slot, ep_fd(p->in), POLLIN);
	p->damaged = p->in_pass = 0;
	p->begun = false;
	return GO_ON;
}

/* Reads on to the next record to be sent; has_next stays false when there is none now. */
static int fetch(struct play *p)
{
	while (!p->has_next && !p->at_end) {
		const char *text;
		size_t n;
		int rc = ep_next(p->in, &text, &n), cause = errno;
		int code = check_damage(p);
		if (code == GO_ON && rc == 1)
			code = look_at(p, text, n);
		else if (code == GO_ON && rc < 0 && cause == 0)
			code = next_pass(p);
		else if (code == GO_ON && rc < 0) {
			warn("%s: %s", p->o->file, strerror(cause));
			code = EXIT_RUNTIME;
		}
		if (code != GO_ON)
			return code;
		if (rc == 0)
			break;
		p->input_us = clock_now();
	}
	/* A file is always ready: it is not polled while a record waits for its time. */
	loop_set(&p->loop, p->in_slot, p->has_next || p->at_end ? -1 : ep_fd(p->in), POLLIN);
	return GO_ON;
}

/* Sends what is due. *more: stopped in the middle. */
static int send_due(struct play *p, bool *more)
{
	bool patient = p->stamp.speed <= 0;

	*more = false;
	for (int i = 0; i < BATCH; i++) {
		int code = fetch(p);
		if (code != GO_ON)
			return code;
		if (!p->has_next || clock_now() < p->due_us || (patient && is_output_busy(p)))
			return GO_ON;
		if (outq_put_line(p->out, &p->rec, p->line, p->n) != 0)
			return fail_output();
		p->has_next = false;
		p->input_us = clock_now();
		if (++p->sent == (unsigned long)p->o->run.count)
			p->at_end = true;
	}
	*more = true;
	return GO_ON;
}

/* Nothing is sent from the recording before the arm runs; the pose it begins with stands until
 * then, fresh. */
static int wait_for_arm(struct play *p)
{
	char line[REC_LINE_MAX + 1], why[200];
	static struct rec r;
	const char *text;
	size_t n;

	while (p->is_waiting && ep_next(p->arm, &text, &n) == 1)
		if (rec_parse(text, n, &r, why, sizeof why) == 0 && r.type == REC_FEEDBACK &&
			r.u.feedback.has_gate && strcmp(r.u.feedback.gate, "run") == 0) {
			p->is_waiting = false;
			p->begun = true;
			restamp_begin(&p->stamp, p->start.from_us, clock_now());
			loop_set(&p->loop, p->arm_slot, -1, 0);
		}
	int64_t now_us = clock_now();
	if (!p->is_waiting || now_us < p->hold_us)
		return GO_ON;
	p->hold_us = now_us + HOLD_US;
	int len = age_set_t(p->start.pose, p->start.n, now_us, line, REC_LINE_MAX - 1);
	if (len < 0 || rec_parse(line, (size_t)len, &r, why, sizeof why) != 0)
		return bad_line(p, "too long with its new time");
	line[len] = '\n';
	return outq_put_line(p->out, &r, line, (size_t)len + 1) == 0 ? GO_ON : fail_output();
}

static int64_t deadline(struct play *p)
{
	int64_t at = -1;
	bool is_quiet = p->is_waiting || (!p->has_next && !p->at_end);
	const int64_t due[] = {
		p->is_waiting ? p->hold_us : -1,
		p->has_next && !p->is_waiting && p->stamp.speed > 0 ? p->due_us : -1,
		is_quiet && p->o->run.idle_us > 0 ? p->input_us + p->o->run.idle_us : -1,
		p->o->run.stats_us > 0 ? p->stats_us : -1,
	};

	for (size_t i = 0; i < sizeof due / sizeof due[0]; i++)
		if (due[i] >= 0 && (at < 0 || due[i] < at))
			at = due[i];
	return at;
}

static int look_around(struct play *p)
{
	int64_t now_us = clock_now();

	if (p->o->run.stats_us > 0 && now_us >= p->stats_us) {
		p->stats_us = now_us + p->o->run.stats_us;
		print_status(p);
	}
	if (p->o->run.idle_us > 0 && (p->is_waiting || (!p->has_next && !p->at_end)) &&
		now_us >= p->input_us + p->o->run.idle_us)
		return EXIT_IDLE;
	return GO_ON;
}

static int run(struct play *p)
{
	bool more = true;

	p->input_us = clock_now();
	p->stats_us = p->input_us + p->o->run.stats_us;
	for (;;) {
		int64_t until_us = more ? 0 : deadline(p);
		if (loop_once(&p->loop, until_us) != 0) {
			warn("poll: %s", strerror(errno));
			return EXIT_RUNTIME;
		}
		if (p->is_reader_gone)
			return EXIT_EPIPE;
		if (p->loop.end_signal)
			return EXIT_DONE;
		if (outq_flush(p->out) != 0)
			return fail_output();
		int code = p->is_waiting ? wait_for_arm(p) : GO_ON;
		if (code == GO_ON && !p->is_waiting)
			code = send_due(p, &more);
		else
			more = false;
		bool busy = is_output_busy(p);
		if (code == GO_ON)
			code = look_around(p);
		if (code != GO_ON)
			return code;
		if (p->at_end && !p->has_next && !(busy && p->stamp.speed <= 0))
			return EXIT_DONE;
	}
}

/* 0, or an exit code. */
static int open_all(struct play *p)
{
	struct stat st;
	char why[600];

	/* What is read twice is a file. */
	if ((p->o->loop || p->o->arm) && (stat(p->o->file, &st) != 0 || !S_ISREG(st.st_mode))) {
		warn("%s: not a file, which --loop and --arm need", p->o->file);
		return EXIT_RUNTIME;
	}
	if (p->o->arm && start_find(&p->start, &p->o->pick, p->o->file, why, sizeof why) != 0) {
		warn("%s", why);
		return EXIT_RUNTIME;
	}
	p->in = ep_open(p->o->file, EP_IN, why, sizeof why);
	if (p->in != NULL && p->o->arm)
		p->arm = ep_open(p->o->arm, EP_IN, why, sizeof why);
	if (p->in != NULL && (p->arm || !p->o->arm))
		p->out = outq_open(p->o->run.out.v, p->o->run.out.n, why, sizeof why);
	if (p->out == NULL) {
		warn("%s", why);
		return EXIT_RUNTIME;
	}
	p->is_waiting = p->arm != NULL;
	p->in_slot = loop_add(&p->loop, p->is_waiting ? -1 : ep_fd(p->in), POLLIN, on_wake, p);
	p->arm_slot = loop_add(&p->loop, p->arm ? ep_fd(p->arm) : -1, POLLIN, on_wake, p);
	for (int i = 0; i < outq_n(p->out); i++) {
		short events;
		int fd = outq_fd(p->out, i, &events);
		p->out_slot[i] = loop_add(&p->loop, fd, 0, on_output, p);
	}
	return 0;
}

int play_run(struct cat_opts *o)
{
	static struct play p; /* one a process; too large for the stack */
	int sig;

	memset(&p, 0, sizeof p);
	p.o = o;
	restamp_init(&p.stamp, o->speed);
	(void)signal(SIGPIPE, SIG_IGN); /* EPIPE and poll tell */
	if (loop_init(&p.loop, on_signal, &p) != 0)
		die(EXIT_RUNTIME, "signals: %s", strerror(errno));
	int code = open_all(&p);
	if (code == 0) {
		ready_say((int)o->run.ready_fd, NULL);
		code = run(&p);
		if (o->run.stats_us > 0)
			print_status(&p);
		if (p.left_out > 0)
			info("%lu beats, resets and engages left out", p.left_out);
	}
	if (p.out != NULL && outq_close(p.out) != 0 && code == 0)
		code = fail_output();
	(void)ep_close(p.in); /* inputs have nothing to lose */
	(void)ep_close(p.arm);
	sig = p.loop.end_signal;
	loop_done(&p.loop);
	if (sig != 0 && code == EXIT_DONE)
		msg_die_by_signal(sig);
	return code;
}
