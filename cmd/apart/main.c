/*
 * apart: watches the writers of two arms side by side; holds both before their tips come too near,
 * and makes an e-stop, a fault or the silence of one count for both. The rules are watch.h; here
 * are endpoints and timers.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "apart/watch.h"
#include "geom/euler.h"
#include "rec/endpoint.h"
#include "run/clock.h"
#include "run/loop.h"
#include "run/msg.h"
#include "run/opt.h"
#include "run/ready.h"

#define SRC "apart"
#define BEAT_US 25000 /* GATE.md, numbers */
#define LOOK_US 5000  /* what is known grows old between records */

struct app {
	struct run_opts o;
	struct opt_list in, base;
	double min_mm;
	struct watch_conf conf;
	struct watch watch;
	struct loop loop;
	struct input {
		struct app *app;
		int i;
		struct ep *ep;
	} input[WATCH_ARMS];
	struct ep *stop[OPT_LIST_MAX];
	int stops;
	int64_t sent, beats, status; /* stops and beats sent so far, seq of status */
	enum rec_level level;
	bool is_ready;
	unsigned long bad;
	struct msg_limit bad_limit, hold_limit;
};

static void send_record(struct app *a, const struct rec *r)
{
	char line[REC_LINE_MAX + 1];
	int n = rec_print(r, line, sizeof line);

	for (int i = 0; n > 0 && i < a->stops; i++)
		(void)ep_put(a->stop[i], line, (size_t)n); /* nng never waits; beats repeat it */
}

static void send_beat(struct app *a, int64_t now)
{
	struct rec r;

	rec_init(&r, REC_BEAT, SRC, a->beats++, now);
	r.u.beat.stops = a->sent;
	r.u.beat.level = a->level;
	send_record(a, &r);
}

static void send_stop(struct app *a, enum rec_level level, const char *why, int64_t now)
{
	struct rec r;

	rec_init(&r, REC_STOP, SRC, a->sent++, now);
	a->level = level;
	r.u.stop.level = level;
	(void)snprintf(r.u.stop.why, sizeof r.u.stop.why, "%s", why);
	send_record(a, &r);
	if (watch_sees(&a->watch, now))
		send_beat(a, now); /* its count tells of the stop, should that be lost */
}

static void look(struct app *a)
{
	int64_t now = clock_now();
	char why[REC_TEXT_MAX];

	switch (watch_decide(&a->watch, now, why, sizeof why)) {
	case WATCH_GO: return;
	case WATCH_HOLD: send_stop(a, REC_HOLD, why, now); break;
	case WATCH_ESTOP: send_stop(a, REC_ESTOP, why, now); break;
	}
	warn_every(&a->hold_limit, now, "%s: both stop", why);
}

static void on_records(void *arg, short revents)
{
	struct input *in = arg;
	struct app *a = in->app;
	const char *line;
	char why[256];
	struct rec r;
	size_t n;

	(void)revents;
	while (ep_next(in->ep, &line, &n) == 1) {
		if (rec_parse(line, n, &r, why, sizeof why) == 0) {
			watch_record(&a->watch, in->i, &r, clock_now());
			look(a); /* none of several may be skipped: the edge of a gate counts */
			continue;
		}
		a->bad++;
		warn_every(&a->bad_limit, clock_now(), "input %d: %s", in->i + 1, why);
	}
}

static void on_look(void *arg, short revents)
{
	struct app *a = arg;
	int up = 0;

	(void)revents;
	look(a);
	if (a->is_ready || !watch_sees(&a->watch, clock_now()))
		return;
	for (int i = 0; i < a->stops; i++)
		up += ep_peers(a->stop[i]) > 0;
	if (up < a->stops)
		return;
	a->is_ready = true;
	ready_say((int)a->o.ready_fd, NULL);
}

static void on_beat(void *arg, short revents)
{
	struct app *a = arg;
	int64_t now = clock_now();

	(void)revents;
	if (watch_sees(&a->watch, now))
		send_beat(a, now);
	msg_status("tips %.0f mm apart", a->watch.d_m * 1e3);
}

static void print_stats(struct app *a)
{
	const struct watch *w = &a->watch;
	char line[512];

	(void)snprintf(line, sizeof line,
		"{\"type\":\"status\",\"v\":1,\"src\":\"" SRC "\",\"seq\":%" PRId64
		",\"t\":%" PRId64 ",\"stops\":%" PRId64 ",\"beats\":%" PRId64
		",\"near\":%lu,\"blind\":%lu,\"estops\":%lu,\"faults\":%lu,\"bad\":%lu"
		",\"tips_m\":%.9g}\n",
		a->status++, clock_now(), a->sent, a->beats, w->n.near, w->n.blind, w->n.estops,
		w->n.faults, a->bad, w->d_m);
	msg_line(line);
}

static void on_stats(void *arg, short revents)
{
	(void)revents;
	print_stats(arg);
}

/* This program moves nothing itself, but an e-stop of it stops both. */
static void on_signal(void *arg, int sig)
{
	if (sig == SIGUSR2)
		print_stats(arg);
	else
		send_stop(arg, REC_ESTOP, "SIGUSR1", clock_now());
}

static void must(int r, const char *what)
{
	if (r < 0)
		die(EXIT_RUNTIME, "%s: %s", what, strerror(errno));
}

static void start_timer(struct app *a, loop_fn *fn, int64_t period_us)
{
	int slot = loop_timer(&a->loop, fn, a);

	must(slot, "timer");
	must(loop_timer_set(&a->loop, slot, clock_now() + period_us, period_us), "timer");
}

static void start(struct app *a)
{
	char why[256];

	must(loop_init(&a->loop, on_signal, a), "signals");
	for (; a->stops < a->o.stop.n; a->stops++)
		if (!(a->stop[a->stops] =
				    ep_open(a->o.stop.v[a->stops], EP_STOP_OUT, why, sizeof why)))
			die(EXIT_USAGE, "-e %s: %s", a->o.stop.v[a->stops], why);
	for (int i = 0; i < WATCH_ARMS; i++) {
		struct input *in = &a->input[i];

		*in = (struct input){ a, i, ep_open(a->in.v[i], EP_IN, why, sizeof why) };
		if (!in->ep)
			die(EXIT_USAGE, "-i %s: %s", a->in.v[i], why);
		must(loop_add(&a->loop, ep_fd(in->ep), POLLIN, on_records, in), "inputs");
	}
	start_timer(a, on_look, LOOK_US);
	start_timer(a, on_beat, BEAT_US);
	if (a->o.stats_us)
		start_timer(a, on_stats, a->o.stats_us);
}

/* X,Y,Z in metres, or with R,P,Y in degrees. */
static struct pose base_of(const char *text)
{
	double v[6] = { 0 };

	if (!opt_numbers(text, 3, v) && !opt_numbers(text, 6, v))
		die(EXIT_USAGE, "--base: '%.64s': X,Y,Z or X,Y,Z,R,P,Y; try 'apart --help'", text);
	return (struct pose){ { v[0], v[1], v[2] }, rpy_to_quat((struct rpy){ v[3], v[4], v[5] }) };
}

static void check_options(struct app *a)
{
	if (a->in.n != WATCH_ARMS)
		die(EXIT_USAGE, "-i: two are needed, %d given; try 'apart --help'", a->in.n);
	for (int i = 0; i < WATCH_ARMS; i++)
		if (!strstr(a->in.v[i], "://"))
			die(EXIT_USAGE, "-i %.64s: not an nng URL; try 'apart --help'", a->in.v[i]);
	if (a->o.stop.n == 0)
		die(EXIT_USAGE, "-e: missing: the stop channels of both; try 'apart --help'");
	if (a->base.n != (a->min_mm > 0 ? WATCH_ARMS : 0))
		die(EXIT_USAGE, "--min and two --base belong together; try 'apart --help'");
	for (int i = 0; i < a->base.n; i++)
		a->conf.base[i] = base_of(a->base.v[i]);
	a->conf.has_min = a->min_mm > 0;
	a->conf.min_m = a->min_mm * 1e-3;
}

static int take_pair(const char *text, double k, double *m, double *other, char *why, size_t n)
{
	double v[2];

	if (!opt_numbers(text, 2, v) || !(v[0] > 0 && v[0] <= 100 && v[1] > 0 && v[1] <= 1e4)) {
		(void)snprintf(why, n, "two numbers above 0");
		return -1;
	}
	*m = v[0];
	*other = v[1] * k;
	return 0;
}

static int take_speed(void *dst, const char *text, char *why, size_t n)
{
	struct watch_conf *c = dst;

	return take_pair(text, acos(-1) / 180, &c->speed_m, &c->speed_rad, why, n);
}

static int take_accel(void *dst, const char *text, char *why, size_t n)
{
	struct watch_conf *c = dst;

	return take_pair(text, 1, &c->accel_m, &c->accel_rad, why, n);
}

static int take_tool(void *dst, const char *text, char *why, size_t n)
{
	struct vec3 *tool = dst;
	double v[3];

	if (!opt_numbers(text, 3, v)) {
		(void)snprintf(why, n, "three numbers X,Y,Z");
		return -1;
	}
	*tool = (struct vec3){ v[0], v[1], v[2] };
	return 0;
}

int main(int argc, char **argv)
{
	static struct app a = { .o = RUN_OPTS_INIT,
		.conf = { .speed_m = 0.25,
			.speed_rad = 1.5707963267948966,
			.accel_m = 2.5,
			.accel_rad = 15,
			.react_us = 60000 } };
	const struct opt opts[] = {
		{ OPT_LIST, 'i', "input", &a.in, "URL",
			"what the writer of an arm tells; two of them", 0, 0, 0 },
		OPT_STOP(a.o, "stop channel of an arm, repeatable: both arms'"),
		{ OPT_NUM, 0, "min", &a.min_mm, "MM",
			"smallest distance of the tips (default: not watched)", 1, 10000, 0 },
		{ OPT_LIST, 0, "base", &a.base, "X,Y,Z[,R,P,Y]",
			"base of an arm, m and degrees about fixed axes; two, as -i", 0, 0, 0 },
		{ OPT_CALL, 0, "tool", &a.conf.tool, "X,Y,Z",
			"m, tip seen from the flange (default 0,0,0)", 0, 0, take_tool },
		{ OPT_CALL, 0, "speed", &a.conf, "M,DEG",
			"most per second, as of the writers (default 0.25,90)", 0, 0, take_speed },
		{ OPT_CALL, 0, "accel", &a.conf, "M,RAD",
			"most per second squared, as of the writers (default 2.5,15)", 0, 0,
			take_accel },
		{ OPT_DUR, 0, "react", &a.conf.react_us, "D",
			"from a hold said here to an arm that stands (default 60ms)", 1000, 1e6,
			0 },
		OPT_STATS(a.o),
		OPT_READY(a.o),
		{ .kind = OPT_END },
	};
	const struct opt_tool tool = { "apart", "",
		"Hold two arms before their tips come too near; stop both when one stops.", opts, 0,
		0 };
	int r;

	(void)opt_parse(&tool, argc, argv);
	check_options(&a);
	watch_init(&a.watch, &a.conf);
	start(&a);
	r = loop_run(&a.loop);
	if (r < 0)
		warn("loop: %s", strerror(errno));
	send_stop(&a, REC_HOLD, "the watch over both arms ended", clock_now());
	if (a.o.stats_us)
		print_stats(&a);
	for (int i = 0; i < a.stops; i++)
		(void)ep_close(a.stop[i]); /* lingers */
	if (a.loop.end_signal)
		msg_die_by_signal(a.loop.end_signal);
	return r < 0 ? EXIT_RUNTIME : EXIT_DONE;
}
