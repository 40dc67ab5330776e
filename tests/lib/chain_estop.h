/* Line 4: from the packet with bit 1 to the hold set at the bus, and what stays true after it. */
#ifndef LIB_CHAIN_ESTOP_H
#define LIB_CHAIN_ESTOP_H

#include <sys/ioctl.h>

#include "chain_judge.h"

#define CYCLE_US 33000 /* GATE.md: stop reaction, worst */

struct stop_said {
	const struct mark *m;
	int64_t t0, *write_us;
};
static struct {
	int64_t received, written; /* after the packet left, as the writer tells it */
} last_stop;
static bool is_void; /* the last trial: the machine was late, or the arm stood still before */

/* The hold command of a stop that came in after t0. */
static bool has_stop_command(const void *arg)
{
	const struct stop_said *w = arg;

	for (int i = w->m->said; i < rig.n_said; i++)
		if (rig.said[i].type == REC_COMMAND && rig.said[i].set == REC_SET_HOLD &&
			rig.said[i].t >= w->t0) {
			*w->write_us = rig.said[i].t + rig.said[i].age;
			last_stop.received = rig.said[i].t - w->t0;
			last_stop.written = *w->write_us - w->t0;
			return true;
		}
	return false;
}

static bool is_full(const void *arg)
{
	int told = 0;

	(void)arg;
	if (ioctl(rig.writer_out, FIONREAD, &told) < 0 || told < 4096)
		return false;
	for (int i = 0; i < 2; i++) {
		struct pollfd p = { rig.fill[i], POLLOUT, 0 };
		if (poll(&p, 1, 0) != 0)
			return false;
	}
	return true;
}

/* What is stopped when the packet comes. */
enum estop_case { ESTOP_RUNNING, ESTOP_XFORM_STOPPED, ESTOP_FULL };

static void before_stop(enum estop_case c)
{
	if (c == ESTOP_RUNNING) {
		observe(any_of(50));
	} else if (c == ESTOP_XFORM_STOPPED) {
		kill(rig.pid[XFORM], SIGSTOP);
		observe(any_of(250)); /* from RUN, and from the HOLD that follows */
	} else {
		__atomic_store_n(&rig.deaf, true, __ATOMIC_RELAXED);
		kill(rig.pid[CLAMP], SIGSTOP);
		pthread_mutex_lock(&hand.lock);
		hand.rate = 800;
		pthread_mutex_unlock(&hand.lock);
		if (!await(is_full, NULL, 5000))
			give_up("the pipes do not fill");
		hand_set(true, false, 100);
		observe(any_of(40));
	}
}

static void after_stop(enum estop_case c)
{
	__atomic_store_n(&rig.deaf, false, __ATOMIC_RELAXED);
	if (c == ESTOP_XFORM_STOPPED)
		kill(rig.pid[XFORM], SIGCONT);
	if (c == ESTOP_FULL)
		kill(rig.pid[CLAMP], SIGCONT);
}

/* Sends the bit; by the hand, without bit 0, from another source, beside a broken pose. */
static int64_t send_stop(int k)
{
	uint8_t flags = k % 4 == 1 ? RCTP_ESTOP : RCTP_VALID | RCTP_ESTOP;
	int64_t t0 = hand_send(k % 4 == 2, flags, k % 4 != 3);

	if (k % 3 == 0) { /* held for a few packets */
		hand_set(true, true, 100);
		observe(25);
	}
	hand_set(true, false, 100);
	return t0;
}

/* One trial from RUN to ESTOP: latency, or -1 when it did not work. */
static int64_t estop_trial(enum estop_case c, int k)
{
	struct mark m;
	struct stop_said said;
	struct want_hold hold;
	int64_t t0, write_us = 0, moved = 0;
	int at = 0;

	before_stop(c);
	m = mark_now();
	is_void = c == ESTOP_RUNNING && !was_moving(&m);
	t0 = send_stop(k);
	if (c == ESTOP_FULL)
		observe(60); /* the writer says nothing to a reader that does not read */
	after_stop(c);
	said = (struct stop_said){ &m, t0, &write_us };
	if (!await(has_stop_command, &said, 2000))
		return failed("trial %d: no hold set told", k), -1;
	hold = (struct want_hold){ m.seen, write_us - MS, &at };
	if (!await(has_hold, &hold, 2000))
		return failed("trial %d: no hold set at the bus", k), -1;
	if (!await(is_gate, "estop", 500))
		return failed("trial %d: not in ESTOP", k), -1;
	is_void = is_void || (rig.seen[at].t - t0 > CYCLE_US && held_up_since(&m));
	/* The bit is 0 again and the hand valid: for some time, with the packets that waited. */
	observe(c == ESTOP_RUNNING ? 40 : 120);
	if (motion_between(at, rig.seen[at].t, INT64_MAX, &moved))
		failed("trial %d: motion %.2f ms behind the hold set", k,
			1e-3 * (double)(moved - rig.seen[at].t));
	if (!is_gate("estop"))
		failed("trial %d: left ESTOP by itself", k);
	return rig.seen[at].t - t0;
}

/* A reset while the hand is valid, a reset that is taken, an engage that is too old. */
static void estop_left_only_so(int k)
{
	struct mark m = mark_now();

	talk_event("reset", clock_now());
	if (!await_event(&m, "refused", "hand is valid", 1000) || !is_gate("estop"))
		failed("trial %d: reset with a valid hand is not refused", k);
	rig_reset();
	hand_set(true, false, 100);
	stands_still(120, "reset without an engage");
	m = mark_now();
	talk_event("engage", clock_now() - 1500 * MS);
	if (!await_event(&m, "refused", "engage", 1000))
		failed("trial %d: an old engage is not refused", k);
	stands_still(60, "an engage that was too old");
}

static int campaign_estop(const char *dir, enum estop_case c, int n)
{
	static const char *const name[] = { "running", "pose-xform stopped", "pipes full" };
	static struct figures f;

	rig_up(dir, (struct rig_opts){ .keep_pipes = c == ESTOP_FULL });
	rig_run();
	observe(150); /* in motion */
	for (int k = 0; f.n < n && rig.failures < 5; k++) {
		int64_t us = estop_trial(c, k);

		if (us >= 0 && is_void)
			f.repeated++;
		else if (us >= 0)
			figure(&f, us);
		repeats_bounded(&f, n);
		if (us > CYCLE_US)
			tell("trial %d: %.2f ms; stop received after %.2f, hold set written after "
			     "%.2f",
				k, 1e-3 * (double)us, 1e-3 * (double)last_stop.received,
				1e-3 * (double)last_stop.written);
		if (k % 10 == 0)
			estop_left_only_so(k);
		else
			rig_reset();
		rig_engage();
		observe(100); /* in motion */
	}
	figures_tell(&f, name[c]);
	if (f.n && f.v[f.n - 1] > CYCLE_US)
		failed("worst %.2f ms", 1e-3 * (double)f.v[f.n - 1]);
	return ended();
}

/* Neither stdin nor packets: SIGUSR1 to the writer, `beat` and `stop` of the channel. */
static int campaign_other_stops(const char *dir, int n)
{
	static struct figures f[2];
	static const char *const name[] = { "SIGUSR1", "a beat that tells of a lost stop" };
	int stops = 0;

	rig_up(dir, (struct rig_opts){ 0 });
	rig_run();
	for (int k = 0; f[1].n < n && rig.failures < 5; k++) {
		struct figures *into = &f[k % 2];
		struct mark m;
		int64_t t0;
		int at = 0;

		talk_beat(stops, REC_ESTOP); /* the count before */
		observe(20 + any_of(40));
		if (!is_gate("run"))
			give_up("trial %d: not running", k);
		m = mark_now();
		t0 = clock_now();
		if (k % 2)
			talk_beat(++stops, REC_ESTOP); /* the stop record itself never came */
		else
			kill(rig.pid[WRITER], SIGUSR1);
		struct want_hold hold = { m.seen, t0, &at };
		if (!await(has_hold, &hold, 2000) || !await(is_gate, "estop", 500)) {
			failed("trial %d: %s: no ESTOP with a hold set", k, name[k % 2]);
			return ended();
		}
		int64_t us = rig.seen[at].t - t0;
		if (us > CYCLE_US && held_up_since(&m))
			into->repeated++;
		else
			figure(into, us);
		repeats_bounded(into, n);
		observe(110); /* the lease of these beats runs out, so that the reset drops it */
		rig_reset();
		rig_engage();
	}
	for (int i = 0; i < 2; i++) {
		figures_tell(&f[i], name[i]);
		if (f[i].n && f[i].v[f[i].n - 1] > CYCLE_US)
			failed("%s: worst %.2f ms", name[i], 1e-3 * (double)f[i].v[f[i].n - 1]);
	}
	return ended();
}

/* gate:G23: what was asked of a frozen writer holds when it wakes. how: 0 one packet and the bit
 * taken back, 1 a beat alone tells, 2 one stop and then more messages than its queue takes. */
static int frozen_stop(const char *dir, int ms, int how)
{
	struct mark m;
	int at = 0;

	rig_up(dir, (struct rig_opts){ 0 });
	rig_run();
	talk_beat(0, REC_ESTOP);
	observe(50);
	kill(rig.pid[WRITER], SIGSTOP);
	observe(20);
	if (how == 1)
		talk_beat(1, REC_ESTOP);
	else
		hand_send(0, RCTP_VALID | RCTP_ESTOP, true);
	if (how == 2)
		for (int i = 0; i < 2000; i++)
			talk_beat(0, REC_ESTOP);
	observe(ms);
	m = mark_now();
	kill(rig.pid[WRITER], SIGCONT);
	struct want_hold hold = { m.seen, m.t, &at };
	if (!await(is_gate, "estop", 2000) || !await(has_hold, &hold, 500))
		failed("asked to stop while frozen: woke without ESTOP and hold set");
	hand_set(true, false, 100);
	observe(150);
	if (motion_between(m.seen, m.t, INT64_MAX, NULL))
		failed("motion after waking");
	if (!is_gate("estop"))
		failed("did not stay in ESTOP");
	rig_reset();
	stands_still(100, "reset");
	rig_engage();
	observe(300);
	judge_ages(&m);
	return ended();
}

#endif
