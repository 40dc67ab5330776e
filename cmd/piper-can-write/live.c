/* The live loop: order of a wake (gate:G2) signals, stop channel, CAN, input, tick. */
#include <errno.h>
#include <linux/can/error.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "run/clock.h"
#include "run/ready.h"
#include "writer.h"

#define DRAIN_US 5000   /* of one wake: then stops, the arm and the tick have their turn */
#define FLUSH_US 200000 /* gate:G18 */
#define TXQUEUE_WARN 10

static void begin(struct writer *w)
{
	if (w->awake)
		return;
	w->awake = true;
	w->now = clock_now();
	gate_wake(&w->gate, w->now);
}

static void on_signal(void *arg, int sig)
{
	struct writer *w = arg;

	begin(w);
	if (sig == SIGUSR1)
		gate_stop(&w->gate, REC_ESTOP, w->o->name, "signal USR1", w->now);
	else
		writer_stats(w);
}

static bool has_time(const struct writer *w)
{
	return clock_now() - w->now < DRAIN_US;
}

static void on_stop(void *arg, short revents)
{
	struct writer *w = arg;
	const char *line;
	size_t n;

	(void)revents;
	begin(w);
	for (int i = 0; i < w->n_stop; i++)
		while (has_time(w) && ep_next(w->stop[i], &line, &n) == 1)
			writer_line(w, line, n, true, w->now);
}

static void on_can(void *arg, short revents)
{
	struct writer *w = arg;
	struct can_rx rx;
	int got;

	(void)revents;
	begin(w);
	while ((got = can_recv(w->bus, &rx)) == 1) {
		if (rx.error && rx.f.can_id & CAN_ERR_BUSOFF)
			gate_bus_lost(&w->gate, "bus-off");
		else
			arm_frame(&w->arm, &rx);
	}
	if (got < 0)
		gate_bus_lost(&w->gate, strerror(errno));
	if (w->gate.bus_lost[0] && !w->ending) {
		w->ending = true; /* only a new start comes back from there (piper:R15) */
		w->exit_code = 16;
	}
}

static void on_input(void *arg, short revents)
{
	struct writer *w = arg;
	const char *line;
	size_t n;
	int got = 0;

	(void)revents;
	begin(w);
	w->served = true;
	while ((w->more = !has_time(w)) == false && (got = ep_next(w->in, &line, &n)) == 1) {
		writer_line(w, line, n, false, w->now);
		w->last_in_us = w->now;
	}
	if (got >= 0)
		return;
	w->ending = true;
	if (errno != 0 && w->exit_code == 0) {
		warn("%s: %s", w->o->run.in, strerror(errno));
		w->exit_code = EXIT_RUNTIME;
	}
}

static void on_out(void *arg, short revents)
{
	struct writer *w = arg;

	(void)revents;
	begin(w);
	(void)outq_flush(w->out); /* the report tells */
	report_outputs(&w->report);
}

static void on_tick(void *arg, short revents)
{
	struct writer *w = arg;

	(void)revents;
	begin(w);
	w->ticked = true;
	for (int i = 0; i < w->n_stop; i++)
		ep_tend(w->stop[i]);
}

static void on_arrival(void *arg, short revents)
{
	(void)revents;
	begin(arg);
}

/* --pace arrival: at once, not sooner than a period after the last set. */
static void pace(struct writer *w)
{
	bool fresh = w->gate.newest_us > w->taken_us;

	if (!w->o->on_arrival) {
		if (w->ticked)
			writer_tick(w, w->now, true);
		return;
	}

	int64_t due = w->gate.sent_us + w->gate.cfg.period_us;

	if (w->gate.state == GATE_RUN && fresh && w->now >= due) {
		writer_tick(w, w->now, true);
	} else {
		if (w->gate.state == GATE_RUN && fresh)
			loop_timer_set(&w->loop, w->arrival_slot, due, 0);
		if (w->ticked)
			writer_tick(w, w->now, w->gate.state != GATE_RUN);
	}
}

static void watch_out(struct writer *w)
{
	for (int i = 0; w->out && i < outq_n(w->out); i++) {
		short events = 0;
		int fd = outq_fd(w->out, i, &events);

		/* Only writability matters: a reader that left is ignored. */
		loop_set(&w->loop, w->out_slot[i], events & POLLOUT ? fd : -1, POLLOUT);
	}
}

static void watch_time(struct writer *w)
{
	const struct run_opts *r = &w->o->run;

	if (r->idle_us && w->now - w->last_in_us > r->idle_us && !w->ending) {
		warn("no input for %lld ms", (long long)(r->idle_us / 1000));
		w->ending = true;
		w->exit_code = EXIT_IDLE;
	}
	if (r->stats_us && w->now - w->stats_us >= r->stats_us) {
		w->stats_us = w->now;
		writer_stats(w);
	}
}

static int open_all(struct writer *w)
{
	const struct run_opts *r = &w->o->run;
	bool text_out = strcmp(w->o->bus, "-") == 0;
	char why[256];

	if (!(w->bus = can_open(w->o->bus, why, sizeof(why)))) {
		warn("%s: %s", w->o->bus, why);
		return EXIT_RUNTIME;
	}
	w->is_ideal = can_is_ideal(w->bus);
	if (can_txqueuelen(w->bus) > TXQUEUE_WARN)
		warn("%s: txqueuelen %d: frames could wait there and come out late; 10 is right",
			w->o->bus, can_txqueuelen(w->bus));
	if (!(w->in = ep_open(r->in, EP_IN, why, sizeof(why))))
		return writer_not_open(why);
	for (int i = 0; i < r->stop.n; i++) {
		w->stop[i] = ep_open(r->stop.v[i], EP_STOP_IN, why, sizeof(why));
		if (!w->stop[i])
			return writer_not_open(why);
		w->n_stop++;
	}
	if (!(text_out && r->out.n == 0)) {
		w->out = outq_open(r->out.v, r->out.n, why, sizeof(why));
		if (!w->out)
			return writer_not_open(why);
	}
	w->report.out = w->out;
	w->report.name = w->o->name;
	return 0;
}

static void register_all(struct writer *w)
{
	for (int i = 0; i < w->n_stop; i++)
		loop_add(&w->loop, ep_fd(w->stop[i]), POLLIN, on_stop, w);
	loop_add(&w->loop, can_fd(w->bus), POLLIN, on_can, w);
	loop_add(&w->loop, ep_fd(w->in), POLLIN, on_input, w);
	for (int i = 0; w->out && i < outq_n(w->out); i++)
		w->out_slot[i] = loop_add(&w->loop, -1, POLLOUT, on_out, w);
	w->tick_slot = loop_timer(&w->loop, on_tick, w);
	w->arrival_slot = loop_timer(&w->loop, on_arrival, w);
	/* Multiples of the period: the writers of two hands on a host tick together. */
	int64_t period = w->gate.cfg.period_us;
	loop_timer_set(&w->loop, w->tick_slot, w->now - w->now % period + period, period);
}

/* A hold set that is owed because the joints are too old goes out with the first fresh ones
 * (gate:G16). */
static void wait_for_joints(struct writer *w, int64_t until)
{
	struct gate *g = &w->gate;
	struct gate_act act;
	struct can_rx rx;

	while (g->owed && g->state != GATE_FAULT && !g->bus_lost[0] && clock_now() < until) {
		struct pollfd p = { can_fd(w->bus), can_events(w->bus), 0 };

		poll(&p, 1, 5);
		while (can_recv(w->bus, &rx) == 1)
			arm_frame(&w->arm, &rx);
		w->now = clock_now();
		writer_view(w, w->now);
		gate_leave(g, w->now, &act);
		writer_act(w, &act, w->now);
	}
	if (g->owed)
		warn("the arm was not told to hold (%s): it finishes its last target",
			g->state == GATE_FAULT || g->bus_lost[0] ? g->why : "no fresh joints");
}

/* Hold set if one is due, out of our hands before we go (gate:G18). */
static void leave(struct writer *w)
{
	struct gate_act act;
	int64_t until = clock_now() + FLUSH_US;

	w->now = clock_now();
	gate_leave(&w->gate, w->now, &act);
	writer_act(w, &act, w->now);
	wait_for_joints(w, until);
	while (w->n_again && clock_now() < until) {
		struct pollfd p = { can_fd(w->bus), can_events(w->bus), 0 };
		struct can_rx rx;

		w->ticked = false;
		if (can_unconfirmed(w->bus) == 0 &&
			can_send_urgent(w->bus, w->again, w->n_again, clock_now()) == w->n_again)
			break;
		poll(&p, 1, 5);
		while (can_recv(w->bus, &rx) == 1)
			;
	}
	if (report_notes(&w->report, &w->gate, w->now))
		report_feedback(&w->report, &w->gate, w->is_ideal ? NULL : &w->arm, w->now);
	if (w->o->run.stats_us)
		writer_stats(w);
	if (can_close(w->bus, until) < 0 && w->exit_code == 0) {
		warn("%s: %s", w->o->bus, strerror(errno));
		w->exit_code = EXIT_RUNTIME;
	}
}

static int ended(struct writer *w, int code)
{
	/* A log that cannot be written is no failure of the arm. */
	if (outq_close(w->out) < 0)
		warn("output: %s: its last records are lost", strerror(errno));
	if (w->in)
		(void)ep_close(w->in);
	for (int i = 0; i < w->n_stop; i++)
		(void)ep_close(w->stop[i]);
	if (w->loop.end_signal)
		msg_die_by_signal(w->loop.end_signal);
	return code;
}

int writer_live(struct writer *w)
{
	int code;

	if (loop_init(&w->loop, on_signal, w) < 0)
		die(EXIT_RUNTIME, "signals: %s", strerror(errno));
	if ((code = open_all(w)) != 0)
		return ended(w, code);
	w->now = w->last_in_us = w->stats_us = clock_now();
	gate_init(&w->gate, &w->o->gate, w->now);
	arm_init(&w->arm, w->o->gate.chain, w->o->set.stroke_m);
	ideal_init(&w->ideal, w->o->gate.chain, w->o->home);
	register_all(w);
	ready_say((int)w->o->run.ready_fd, NULL);
	while (!w->ending && !w->loop.end_signal) {
		bool more = w->more;

		w->awake = w->ticked = w->more = w->served = false;
		if (loop_once(&w->loop, more ? w->now : -1) < 0) {
			warn("poll: %s", strerror(errno));
			w->exit_code = EXIT_RUNTIME;
			break;
		}
		begin(w);
		if (more && !w->served)
			on_input(w, 0);
		w->now = clock_now(); /* the inputs took their time */
		writer_settle(w, w->now);
		if (!w->ending)
			pace(w); /* nothing begins or goes on at the end (gate:G3) */
		report_line(&w->report, &w->gate, w->now);
		watch_out(w);
		loop_set(&w->loop, 1 + w->n_stop, can_fd(w->bus), can_events(w->bus));
		watch_time(w);
	}
	leave(w);
	code = w->exit_code;
	if (code == 0 && w->gate.state == GATE_ESTOP)
		code = EXIT_ESTOP;
	return ended(w, code);
}
