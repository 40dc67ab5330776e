/*
 * See flow.h.  From streams alone nothing is lost: who reads slowly is waited for.  With an nng
 * input nobody is waited for: outputs keep the newest states and every stop and event, and the
 * folder takes what its disk takes; what went missing on the way is counted by its seq.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rec-cat/flow.h"
#include "rec-cat/recorder.h"
#include "rec/endpoint.h"
#include "rec/outq.h"
#include "run/clock.h"
#include "run/loop.h"
#include "run/msg.h"
#include "run/ready.h"

#define BATCH 64       /* lines of one input between two looks at the descriptors */
#define LINE_US 200000 /* status line */

struct flow {
	const struct cat_opts *o;
	struct pick pick;
	struct loop loop;
	struct input {
		const char *where;
		struct ep *ep; /* NULL: ended */
		int slot;
		unsigned long damaged;
	} in[OPT_LIST_MAX];
	int n_in, n_live;
	struct outq *out;
	int out_slot[OPT_LIST_MAX];
	bool is_reader_gone, waits; /* waits: streams only */
	bool is_recording;
	struct recorder recorder;
	enum episode_order order; /* the keys of this wake */
	int64_t line_us, stats_us, input_us, status_seq;
	unsigned long taken, passed, bad;
	struct msg_limit bad_limit;
	struct rec rec;
};

static void print_status(struct flow *f)
{
	char line[REC_LINE_MAX];

	(void)snprintf(line, sizeof line,
		"{\"type\":\"status\",\"v\":1,\"src\":\"rec-cat\",\"seq\":%" PRId64
		",\"t\":%" PRId64
		",\"in\":%lu,\"out\":%lu,\"bad\":%lu,\"missing\":%lu,\"dropped\":%lu"
		",\"started\":%lu,\"kept\":%lu,\"discarded\":%lu,\"records\":%lu}\n",
		f->status_seq++, clock_now(), f->taken, f->passed, f->bad, f->pick.missing,
		f->out ? outq_dropped(f->out) : 0, f->recorder.store.started,
		f->recorder.store.kept, f->recorder.store.discarded, f->recorder.store.records);
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
	(void)revents; /* lines are taken after each wake */
}

static void on_output(void *arg, short revents)
{
	if (revents & (POLLERR | POLLHUP | POLLNVAL))
		((struct flow *)arg)->is_reader_gone = true;
}

static void on_keys(void *arg, short revents)
{
	struct flow *f = arg;
	enum episode_order o = control_keys(&f->recorder.control);

	(void)revents;
	if (o != EPISODE_NONE)
		f->order = o;
}

static int fail_output(void)
{
	if (errno == EPIPE)
		return EXIT_EPIPE;
	warn("output: %s", strerror(errno));
	return EXIT_RUNTIME;
}

static int obey_all(struct flow *f)
{
	enum episode_order o = f->order;
	int code = GO_ON;

	f->order = EPISODE_NONE;
	if (o != EPISODE_NONE)
		code = recorder_obey(&f->recorder, o);
	return code == GO_ON ? recorder_obey_fifo(&f->recorder) : code;
}

static int pass(struct flow *f, const char *line, size_t n)
{
	f->passed++;
	int code = f->is_recording ? recorder_take(&f->recorder, line, n) : GO_ON;
	if (code != GO_ON)
		return code;
	if (f->out != NULL && outq_put_line(f->out, &f->rec, line, n) != 0)
		return fail_output();
	return GO_ON;
}

static int bad_line(struct flow *f, const struct input *in, const char *why)
{
	f->bad++;
	if (f->o->run.strict) {
		warn("%s: line %lu: %s", in->where, f->taken, why);
		return EXIT_BADINPUT;
	}
	warn_every(&f->bad_limit, clock_now(), "%s: line %lu: %s", in->where, f->taken, why);
	return GO_ON;
}

/* GO_ON, or an exit code. */
static int take(struct flow *f, const struct input *in, const char *text, size_t n)
{
	char line[REC_LINE_MAX + 1], why[200];
	enum episode_order o = EPISODE_NONE;
	int code = GO_ON;

	f->taken++;
	if (rec_parse(text, n, &f->rec, why, sizeof why) != 0)
		return bad_line(f, in, why);
	if (f->is_recording)
		o = recorder_hear(&f->recorder, &f->rec);
	if (o == EPISODE_START)
		code = recorder_do(&f->recorder, o);
	if (code == GO_ON && pick_takes(&f->pick, &f->rec)) {
		(void)pick_watch(&f->pick, &f->rec);
		memcpy(line, text, n);
		line[n] = '\n';
		code = pass(f, line, n + 1);
	}
	if (code == GO_ON && (o == EPISODE_KEEP || o == EPISODE_DISCARD))
		code = recorder_do(&f->recorder, o);
	if (code == GO_ON && f->o->run.count > 0 && f->passed >= (unsigned long)f->o->run.count)
		code = EXIT_DONE;
	return code;
}

static int check_damage(struct flow *f, struct input *in)
{
	struct ep_counts c = ep_counts(in->ep);
	unsigned long damaged = c.overlong + c.partial + c.refused;

	if (damaged == in->damaged)
		return GO_ON;
	f->bad += damaged - in->damaged - 1;
	in->damaged = damaged;
	return bad_line(f, in,
		c.partial > 0   ? "the input ends inside a line"
		: c.refused > 0 ? "no age and clk, from another host"
				: "longer than 4095 bytes");
}

/* An output still has something to write; its slots say so to the loop. */
static bool is_output_busy(struct flow *f)
{
	bool busy = false;

	for (int i = 0; f->out != NULL && i < outq_n(f->out); i++) {
		short events;
		int fd = outq_fd(f->out, i, &events);
		loop_set(&f->loop, f->out_slot[i], fd, events & (short)~POLLERR);
		busy = busy || (events & POLLOUT);
	}
	return busy;
}

/* Up to a batch of one input. GO_ON or an exit code; *more: there may be more without waiting. */
static int take_lines(struct flow *f, struct input *in, bool *more)
{
	for (int i = 0; i < BATCH; i++) {
		const char *text;
		size_t n;
		if (f->waits && is_output_busy(f))
			return GO_ON;
		int rc = ep_next(in->ep, &text, &n), cause = errno;
		int code = check_damage(f, in);
		if (code == GO_ON && rc == 1)
			code = take(f, in, text, n);
		if (code != GO_ON || rc == 0)
			return code;
		if (rc < 0) {
			if (cause != 0) {
				warn("%s: %s", in->where, strerror(cause));
				return EXIT_RUNTIME;
			}
			loop_set(&f->loop, in->slot, -1, 0);
			(void)ep_close(in->ep); /* an input has nothing to lose */
			in->ep = NULL;
			return --f->n_live == 0 ? EXIT_DONE : GO_ON;
		}
		f->input_us = clock_now();
	}
	*more = true;
	return GO_ON;
}

static int take_all(struct flow *f, bool *more)
{
	bool busy = is_output_busy(f) && f->waits;
	int code = GO_ON;

	*more = false;
	for (int i = 0; i < f->n_in && code == GO_ON; i++) {
		struct input *in = &f->in[i];
		if (in->ep == NULL)
			continue;
		if (!busy)
			code = take_lines(f, in, more);
		if (code == GO_ON && in->ep != NULL)
			loop_set(&f->loop, in->slot, busy ? -1 : ep_fd(in->ep), POLLIN);
	}
	if (f->waits && is_output_busy(f)) {
		*more = false;
		for (int i = 0; i < f->n_in; i++)
			loop_set(&f->loop, f->in[i].slot, -1, 0);
	}
	return code;
}

/* What is due by the clock. */
static int look_around(struct flow *f)
{
	int64_t now_us = clock_now();
	int code = f->is_recording ? recorder_look(&f->recorder, now_us) : GO_ON;

	if (code != GO_ON)
		return code;
	if (f->o->run.stats_us > 0 && now_us >= f->stats_us) {
		f->stats_us = now_us + f->o->run.stats_us;
		print_status(f);
	}
	if (f->is_recording && msg_has_terminal() && now_us >= f->line_us) {
		f->line_us = now_us + LINE_US;
		recorder_show(&f->recorder, now_us, f->pick.missing);
	}
	if (f->o->run.idle_us > 0 && now_us >= f->input_us + f->o->run.idle_us)
		return EXIT_IDLE;
	return GO_ON;
}

static int64_t deadline(const struct flow *f)
{
	int64_t at = -1;
	const int64_t due[] = {
		f->o->run.idle_us > 0 ? f->input_us + f->o->run.idle_us : -1,
		f->o->run.stats_us > 0 ? f->stats_us : -1,
		f->is_recording ? recorder_due(&f->recorder) : -1,
		f->is_recording && msg_has_terminal() ? f->line_us : -1,
	};

	for (size_t i = 0; i < sizeof due / sizeof due[0]; i++)
		if (due[i] >= 0 && (at < 0 || due[i] < at))
			at = due[i];
	return at;
}

static int run_lines(struct flow *f)
{
	bool more = false;

	f->input_us = clock_now();
	f->stats_us = f->input_us + f->o->run.stats_us;
	for (;;) {
		if (loop_once(&f->loop, more ? 0 : deadline(f)) != 0) {
			warn("poll: %s", strerror(errno));
			return EXIT_RUNTIME;
		}
		if (f->is_reader_gone)
			return EXIT_EPIPE;
		if (f->loop.end_signal)
			return EXIT_DONE;
		if (f->out != NULL && outq_flush(f->out) != 0)
			return fail_output();
		int code = f->is_recording ? obey_all(f) : GO_ON;
		if (code == GO_ON)
			code = take_all(f, &more);
		if (code == GO_ON)
			code = look_around(f);
		if (code != GO_ON)
			return code;
	}
}

/* 0, or an exit code. */
static int add(struct flow *f, int fd, short events, loop_fn *fn, int *slot)
{
	*slot = loop_add(&f->loop, fd, events, fn, f);
	if (*slot >= 0)
		return 0;
	warn("more than %d inputs and outputs", LOOP_MAX - 3);
	return EXIT_USAGE;
}

static int open_ends(struct flow *f)
{
	char why[600];
	int code = 0;

	f->waits = true;
	for (int i = 0; i < f->o->in.n && code == 0; i++) {
		struct input *in = &f->in[i];
		in->where = f->o->in.v[i];
		in->ep = ep_open(in->where, EP_IN, why, sizeof why);
		if (in->ep == NULL) {
			warn("%s", why);
			return EXIT_RUNTIME;
		}
		f->n_in = f->n_live = i + 1;
		f->waits = f->waits && !ep_is_nng(in->ep);
		code = add(f, ep_fd(in->ep), POLLIN, on_wake, &in->slot);
	}
	if (code != 0 || (f->is_recording && f->o->run.out.n == 0))
		return code;
	f->out = outq_open(f->o->run.out.v, f->o->run.out.n, why, sizeof why);
	if (f->out == NULL) {
		warn("%s", why);
		return EXIT_RUNTIME;
	}
	for (int i = 0; i < outq_n(f->out) && code == 0; i++) {
		short events;
		int fd = outq_fd(f->out, i, &events);
		code = add(f, fd, 0, on_output, &f->out_slot[i]);
	}
	return code;
}

static int open_recording(struct flow *f)
{
	const struct control *c = &f->recorder.control;
	bool stdin_is_input = false;
	int slot, code;

	for (int i = 0; i < f->o->in.n; i++)
		stdin_is_input = stdin_is_input || strcmp(f->o->in.v[i], "-") == 0;
	code = recorder_open(&f->recorder, f->o, !stdin_is_input);
	if (code != GO_ON)
		return code;
	code = c->fd >= 0 ? add(f, c->fd, POLLIN, on_wake, &slot) : 0;
	if (code == 0 && c->keys)
		code = add(f, STDIN_FILENO, POLLIN, on_keys, &slot);
	return code;
}

/* What was read from a stream is written, however slow its reader. */
static int finish_output(struct flow *f)
{
	while (is_output_busy(f) && !f->loop.end_signal) {
		if (loop_once(&f->loop, -1) != 0) {
			warn("poll: %s", strerror(errno));
			return EXIT_RUNTIME;
		}
		if (f->is_reader_gone)
			return EXIT_EPIPE;
		if (outq_flush(f->out) != 0)
			return fail_output();
	}
	return EXIT_DONE;
}

static int close_all(struct flow *f, int code)
{
	if (f->is_recording)
		code = recorder_close(&f->recorder, code);
	if (f->out != NULL && outq_close(f->out) != 0 && code == 0)
		code = fail_output();
	for (int i = 0; i < f->n_in; i++)
		(void)ep_close(f->in[i].ep); /* an input has nothing to lose */
	return code;
}

int flow_run(struct cat_opts *o)
{
	static struct flow f; /* one a process; too large for the stack */
	int sig;

	memset(&f, 0, sizeof f);
	f.o = o;
	f.pick = o->pick;
	f.is_recording = o->dir != NULL;
	(void)signal(SIGPIPE, SIG_IGN); /* EPIPE and poll tell */
	(void)signal(SIGXFSZ, SIG_IGN); /* EFBIG tells */
	if (loop_init(&f.loop, on_signal, &f) != 0)
		die(EXIT_RUNTIME, "signals: %s", strerror(errno));
	int code = f.is_recording ? open_recording(&f) : 0;
	if (code == 0)
		code = open_ends(&f);
	if (code == 0) {
		ready_say((int)o->run.ready_fd, NULL);
		code = run_lines(&f);
		if (code == EXIT_DONE && f.waits)
			code = finish_output(&f);
		if (o->run.stats_us > 0)
			print_status(&f);
	}
	code = close_all(&f, code);
	sig = f.loop.end_signal;
	loop_done(&f.loop);
	if (sig != 0 && code == EXIT_DONE)
		msg_die_by_signal(sig);
	return code;
}
