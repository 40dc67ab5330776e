/*
 * rctp-recv: RCTP datagrams, or a run of recorded packets, to pose, stop and event records.
 * The rules are recv.c; here are descriptors, timers and the way out.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rctp-recv/play.h"
#include "rctp-recv/recv.h"
#include "rctp-recv/udp.h"
#include "rec/endpoint.h"
#include "rec/outq.h"
#include "run/clock.h"
#include "run/loop.h"
#include "run/msg.h"
#include "run/opt.h"
#include "run/ready.h"

#define BEAT_US 25000       /* gate numbers: beats every 25 ms */
#define END_DRAIN_US 500000 /* for a reader that is behind when the input ends */
#define HANDS 2

struct app;
struct hand {
	struct app *app;
	struct recv recv;
	struct udp udp;
	int64_t seq_beat, seq_status;
};
struct socket_slot {
	struct hand *hand;
	int i;
};
struct app {
	struct run_opts o;
	const char *bind;
	int64_t port, left_port;
	bool left;
	struct recv_conf conf;

	struct loop loop;
	struct hand hand[HANDS];
	int hands;
	struct socket_slot sock[HANDS * UDP_MAX];
	struct play play;
	struct outq *q; /* live: never blocks */
	int q_slot[OPT_LIST_MAX], q_slots;
	struct ep *out[OPT_LIST_MAX]; /* --clock input: waits for its readers */
	int outs;
	struct ep *stop[OPT_LIST_MAX];
	int stops;
	int idle_timer;
	int64_t last_input_us, records;
	struct msg_limit foreign, socket;
	bool told49;
	int code;
};

static void finish(struct app *a, int code)
{
	if (!a->loop.done || a->code == EXIT_DONE)
		a->code = code;
	loop_stop(&a->loop);
}

static void output_failed(struct app *a)
{
	if (errno == EPIPE) {
		finish(a, EXIT_EPIPE);
		return;
	}
	warn("output: %s", strerror(errno));
	finish(a, EXIT_RUNTIME);
}

/* After a call of outq: the end when nothing is left to write to (rc), or when the next stage of
 * the pipeline is gone; another output that failed is named, the rest goes on. */
static void look_at_outputs(struct app *a, int rc)
{
	int cause, last = errno;
	const char *where;

	while (outq_failed(a->q, &where, &cause)) {
		if (rc == 0 && cause == EPIPE && strcmp(where, "-") == 0)
			finish(a, EXIT_EPIPE);
		else if (rc == 0 || cause != last)
			warn("%s: %s: no more records there", where,
				cause == EPIPE ? "its reader is gone" : strerror(cause));
	}
	errno = last;
	if (rc < 0)
		output_failed(a);
}

static void send_stop_line(struct app *a, const struct rec *r)
{
	char line[REC_LINE_MAX + 1];
	int n = rec_print(r, line, sizeof line);

	for (int i = 0; n > 0 && i < a->stops; i++)
		(void)ep_put(a->stop[i], line, (size_t)n); /* nng never waits; beats repeat it */
}

static bool is_ending(void)
{
	sigset_t set;
	return sigpending(&set) == 0 &&
	       (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1 ||
		       sigismember(&set, SIGHUP) == 1);
}

/* Waits for the reader, but not longer than a signal. 0, or -1 errno. */
static int put_waiting(struct ep *e, const char *line, size_t n)
{
	int r;
	while ((r = ep_try(e, line, n)) == 0 && !is_ending()) {
		struct pollfd p = { .fd = ep_fd(e), .events = POLLOUT };
		(void)poll(&p, 1, 50); /* the next try tells */
	}
	return r < 0 ? -1 : 0;
}

/* Takes each record as recv.c makes it. */
static void put(void *arg, const struct rec *r)
{
	struct app *a = arg;
	char line[REC_LINE_MAX + 1];
	int n;

	if (a->loop.done)
		return;
	if (r->type == REC_STOP)
		send_stop_line(a, r);
	if (a->q) {
		look_at_outputs(a, outq_put(a->q, r));
	} else if ((n = rec_print(r, line, sizeof line)) > 0) {
		for (int i = 0; i < a->outs; i++)
			if (put_waiting(a->out[i], line, (size_t)n) < 0)
				output_failed(a);
	}
	if (++a->records == a->o.count)
		finish(a, EXIT_DONE);
}

static void take_datagram(void *arg, const struct recv_datagram *d)
{
	struct hand *h = arg;
	struct app *a = h->app;
	unsigned long foreign = h->recv.n.foreign;
	char name[UDP_NAME_MAX];

	a->last_input_us = clock_now();
	recv_datagram(&h->recv, d);
	if (h->recv.n.foreign > foreign)
		warn_every(&a->foreign, a->last_input_us,
			"%s: %s: a second source is refused while the first sends", h->recv.src,
			udp_name(&d->from, name));
	if (h->recv.n.len49 && !a->told49) {
		a->told49 = true;
		warn("%s: datagrams of 49 bytes: read by the 45-byte table, byte 44 is the flags",
			h->recv.src);
	}
}

static void on_socket(void *arg, short revents)
{
	struct socket_slot *s = arg;
	(void)revents; /* an error shows in the read */
	if (udp_drain(&s->hand->udp, s->i, take_datagram, s->hand) < 0)
		warn_every(&s->hand->app->socket, clock_now(), "%s: port %d: %s", s->hand->recv.src,
			s->hand->udp.port, strerror(errno));
}

static void on_output(void *arg, short revents)
{
	struct app *a = arg;
	(void)revents; /* an error shows in the flush */
	look_at_outputs(a, outq_flush(a->q));
}

static void on_beat(void *arg, short revents)
{
	struct app *a = arg;
	(void)revents;
	for (int i = 0; i < a->hands; i++) {
		struct rec r;
		recv_beat(&a->hand[i].recv, a->hand[i].seq_beat++, clock_now(), &r);
		send_stop_line(a, &r);
	}
}

static void print_stats(struct app *a)
{
	for (int i = 0; i < a->hands; i++) {
		struct hand *h = &a->hand[i];
		char line[REC_LINE_MAX + 1];
		struct rec r;
		rec_init(&r, REC_STATUS, h->recv.src, h->seq_status++, clock_now());
		size_t n = (size_t)recv_stats(&h->recv, r.extra, sizeof r.extra);
		n += (size_t)snprintf(r.extra + n, sizeof r.extra - n,
			",\"overflow\":%lu,\"dropped\":%lu",
			(unsigned long)h->udp.lost[0] + h->udp.lost[1],
			a->q ? outq_dropped(a->q) : 0);
		r.extra_len = n;
		if (rec_print(&r, line, sizeof line) > 0)
			msg_line(line);
	}
}

static void on_stats(void *arg, short revents)
{
	(void)revents;
	print_stats(arg);
}

static void on_signal(void *arg, int sig)
{
	if (sig == SIGUSR2)
		print_stats(arg);
}

static void on_idle(void *arg, short revents)
{
	struct app *a = arg;
	(void)revents;
	int64_t due_us = a->last_input_us + a->o.idle_us;
	if (clock_now() >= due_us)
		finish(a, EXIT_IDLE);
	else
		(void)loop_timer_set(&a->loop, a->idle_timer, due_us, 0); /* as at the start */
}

static void play_take(void *arg, const struct recv_datagram *d)
{
	struct app *a = arg;
	take_datagram(&a->hand[0], d);
}

static void play_ended(void *arg, int code)
{
	finish(arg, code);
}

static void must(int r, const char *what)
{
	if (r < 0)
		die(EXIT_RUNTIME, "%s: %s", what, strerror(errno));
}

static void open_play(struct app *a)
{
	struct play *p = &a->play;
	p->name = a->o.in;
	p->by_input = a->o.clock_input;
	p->loop = &a->loop;
	p->take = play_take;
	p->ended = play_ended;
	p->arg = a;
	must(play_open(p), a->o.in);
}

static void open_sockets(struct app *a)
{
	char why[256];
	int k = 0;
	for (int h = 0; h < a->hands; h++) {
		struct udp *u = &a->hand[h].udp;
		if (udp_open(u, a->bind, (int)(h ? a->left_port : a->port), why, sizeof why) < 0)
			die(errno == EINVAL ? EXIT_USAGE : EXIT_RUNTIME, "--bind: %s", why);
		info("%s: listening on %s port %d", a->hand[h].recv.src, a->bind, u->port);
		for (int i = 0; i < u->n; i++, k++) {
			a->sock[k] = (struct socket_slot){ &a->hand[h], i };
			must(loop_add(&a->loop, u->fd[i], POLLIN, on_socket, &a->sock[k]),
				"sockets");
		}
	}
}

static void open_outputs(struct app *a)
{
	static const char *const standard[] = { "-" };
	const char *const *v = a->o.out.n ? a->o.out.v : standard;
	int n = a->o.out.n ? a->o.out.n : 1;
	char why[256];

	if (a->o.clock_input) {
		for (; a->outs < n; a->outs++)
			if (!(a->out[a->outs] = ep_open(v[a->outs], EP_OUT, why, sizeof why)))
				die(errno == EINVAL ? EXIT_USAGE : EXIT_RUNTIME, "--output: %s",
					why);
	} else {
		a->q = outq_open(v, n, why, sizeof why);
		if (!a->q)
			die(errno == EINVAL ? EXIT_USAGE : EXIT_RUNTIME, "--output: %s", why);
		for (; a->q_slots < outq_n(a->q); a->q_slots++) {
			a->q_slot[a->q_slots] = loop_add(&a->loop, -1, 0, on_output, a);
			must(a->q_slot[a->q_slots], "outputs");
		}
	}
	for (; a->stops < a->o.stop.n; a->stops++)
		if (!(a->stop[a->stops] =
				    ep_open(a->o.stop.v[a->stops], EP_STOP_OUT, why, sizeof why)))
			die(errno == EINVAL ? EXIT_USAGE : EXIT_RUNTIME, "--stop-channel: %s", why);
}

static void start_timer(struct app *a, loop_fn *fn, int64_t first_us, int64_t period_us, int *slot)
{
	*slot = loop_timer(&a->loop, fn, a);
	must(*slot, "timer");
	must(loop_timer_set(&a->loop, *slot, clock_now() + first_us, period_us), "timer");
}

static void start(struct app *a)
{
	int slot;
	char detail[32];

	must(loop_init(&a->loop, on_signal, a), "signals");
	(void)signal(SIGPIPE, SIG_IGN); /* EPIPE tells */
	a->last_input_us = clock_now();
	for (int h = 0; h < a->hands; h++) {
		a->hand[h].app = a;
		recv_init(&a->hand[h].recv, &a->conf, h ? "left" : a->o.src, put, a);
	}
	if (a->o.in)
		open_play(a);
	else
		open_sockets(a);
	open_outputs(a);
	if (a->stops)
		start_timer(a, on_beat, BEAT_US, BEAT_US, &slot);
	if (a->o.idle_us)
		start_timer(a, on_idle, a->o.idle_us, 0, &a->idle_timer);
	if (a->o.stats_us)
		start_timer(a, on_stats, a->o.stats_us, a->o.stats_us, &slot);
	snprintf(detail, sizeof detail, a->hands > 1 ? "%d %d" : "%d", a->hand[0].udp.port,
		a->hand[1].udp.port);
	ready_say((int)a->o.ready_fd, a->o.in ? NULL : detail);
}

static void run(struct app *a)
{
	while (!a->loop.done && !a->loop.end_signal) {
		for (int i = 0; i < a->q_slots; i++) {
			short events = 0;
			int fd = outq_fd(a->q, i, &events);
			loop_set(&a->loop, a->q_slot[i], fd, events);
		}
		must(loop_once(&a->loop, -1), "poll");
	}
}

/* What could not be used, once. A replay without a single packet was of something else. */
static void sum_up(struct app *a)
{
	for (int i = 0; i < a->hands; i++) {
		const struct recv_counts *n = &a->hand[i].recv.n;
		unsigned long no_packet = n->short_ + n->magic;
		unsigned long bad = no_packet + n->nonfinite + n->range + n->quat;
		if (a->o.in && bad > 0 && no_packet == n->packets) {
			warn("%s: no RCTP packet in it", a->o.in);
			a->code = a->code == EXIT_DONE ? EXIT_RUNTIME : a->code;
		} else if (bad > 0) {
			warn("%s: %lu bad packet%s of %lu", a->hand[i].recv.src, bad,
				bad == 1 ? "" : "s", n->packets);
		}
	}
}

/* Lets a slow reader have what is queued, for a while; closes. */
static void end(struct app *a)
{
	bool is_ok = true;

	if (a->q && a->code == EXIT_DONE && !a->loop.end_signal)
		look_at_outputs(a, outq_drain(a->q, clock_now() + END_DRAIN_US));
	if (a->o.stats_us)
		print_stats(a);
	if (a->q)
		is_ok = outq_close(a->q) == 0;
	for (int i = 0; i < a->outs; i++)
		is_ok = ep_close(a->out[i]) == 0 && is_ok;
	if (!is_ok && a->code == EXIT_DONE && !a->loop.end_signal) {
		warn("output: %s", strerror(errno));
		a->code = EXIT_RUNTIME;
	}
	sum_up(a);
	for (int i = 0; i < a->stops; i++)
		(void)ep_close(a->stop[i]); /* nng lingers, it does not fail */
	for (int h = 0; h < a->hands; h++)
		udp_close(&a->hand[h].udp);
}

static void check_options(struct app *a)
{
	if (!rec_src_ok(a->o.src))
		die(EXIT_USAGE, "--src: '%.64s': letters, digits, . _ - only", a->o.src);
	if (a->left && strcmp(a->o.src, "left") == 0)
		die(EXIT_USAGE, "--src: left is the name of the other port with --left");
	if (a->left && a->o.in)
		die(EXIT_USAGE, "--left: a recording is one hand");
	if (a->o.in && strstr(a->o.in, "://"))
		die(EXIT_USAGE, "--input: '%.64s': a file of packets or -, no URL", a->o.in);
	if (a->o.clock_input && !a->o.in)
		die(EXIT_USAGE, "--clock: input needs -i");
	if (a->o.clock_input && a->o.stop.n)
		die(EXIT_USAGE, "--stop-channel: not with --clock input (gate:G31)");
	a->hands = a->left ? 2 : 1;
}

int main(int argc, char **argv)
{
	static struct app a = { .o = RUN_OPTS_INIT,
		.bind = "127.0.0.1",
		.port = 8888,
		.left_port = 8889,
		.conf = { .frozen_us = 500000, .max_m = 10 } };
	const struct opt opts[] = {
		{ OPT_STR, 'i', "input", &a.o.in, "FILE",
			"replay a file of 45-byte packets, or - (default: UDP)", 0, 0, 0 },
		OPT_OUT(a.o),
		OPT_STOP(a.o, "dial this stop endpoint with stops and beats, repeatable"),
		OPT_COUNT(a.o),
		{ OPT_INT, 'p', "port", &a.port, "N", "UDP port, 0: a free one (default 8888)", 0,
			65535, 0 },
		{ OPT_STR, 'b', "bind", &a.bind, "ADDR",
			"address to listen on, any: all (default 127.0.0.1)", 0, 0, 0 },
		OPT_SRC(a.o, "src of the records (default right)"),
		{ OPT_FLAG, 'l', "left", &a.left, NULL,
			"listen for the left hand too, src left (default off)", 0, 0, 0 },
		{ OPT_INT, 0, "left-port", &a.left_port, "N",
			"UDP port of --left, 0: a free one (default 8889)", 0, 65535, 0 },
		{ OPT_DUR, 0, "frozen", &a.conf.frozen_us, "D",
			"a pose identical for D is invalid, 0: never (default 500ms)", 0, 1e12, 0 },
		{ OPT_NUM, 0, "range", &a.conf.max_m, "M",
			"refuse a position component beyond M metres (default 10)", 1e-3, 1e6, 0 },
		OPT_CLOCK(a.o),
		OPT_IDLE(a.o),
		OPT_STATS(a.o),
		OPT_READY(a.o),
		{ OPT_END, 0, 0, 0, 0, 0, 0, 0, 0 },
	};
	const struct opt_tool tool = { "rctp-recv", "",
		"Turn RCTP datagrams of a VR headset into pose, stop and event records.", opts, 0,
		0 };

	a.o.in = NULL;
	a.o.src = "right";
	(void)opt_parse(&tool, argc, argv); /* no operands */
	check_options(&a);
	start(&a);
	run(&a);
	end(&a);
	if (a.loop.end_signal)
		msg_die_by_signal(a.loop.end_signal);
	return a.code;
}
