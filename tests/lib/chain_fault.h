/* Line 5, one at a time: silences, senders, feedback, leases, old engages. */
#ifndef LIB_CHAIN_FAULT_H
#define LIB_CHAIN_FAULT_H

#include "chain_estop.h"

#define SLACK_US 10000 /* from a decision to the eye of a test */

/* True when the gate said `name` since the mark. */
static bool said_gate(const struct mark *m, const char *name)
{
	bool found = false;

	pthread_mutex_lock(&rig.lock);
	for (int i = m->said; i < rig.n_said && !found; i++)
		found = rig.said[i].type == REC_FEEDBACK && strcmp(rig.said[i].gate, name) == 0;
	pthread_mutex_unlock(&rig.lock);
	return found;
}

/* Why it was first held since the mark. */
static const char *hold_why(const struct mark *m)
{
	static char text[REC_TEXT_MAX];

	text[0] = '\0';
	pthread_mutex_lock(&rig.lock);
	for (int i = m->said; i < rig.n_said && !text[0]; i++)
		if (rig.said[i].type == REC_EVENT && strcmp(rig.said[i].name, "hold") == 0)
			memcpy(text, rig.said[i].text, sizeof text);
	pthread_mutex_unlock(&rig.lock);
	return text;
}

/* The hand sends nothing for ms. */
static int silence(const char *dir, int ms)
{
	rig_up(dir, (struct rig_opts){ .relative = true });
	rig_run();
	for (int k = 0, tries = 0; k < (ms < 100 ? 5 : 2); tries++) {
		observe(300);
		struct mark m = mark_now();
		hand_set(true, false, 0);
		observe(ms);
		hand_set(true, false, 100);
		int64_t back = clock_now();
		if (ms < 100) {
			observe(100);
			if (held_up_since(&m) && tries < 30)
				continue;
			if (said_gate(&m, "hold"))
				failed("HOLD after a silence of %d ms: %s", ms, hold_why(&m));
		} else {
			int64_t moved = last_change(0, m.seen);
			if (moved > m.t + MAX_AGE_US + TICK_US + SLACK_US)
				failed("a changed target %.1f ms into the silence",
					1e-3 * (double)(moved - m.t));
			if (!said_gate(&m, "hold"))
				failed("no HOLD in a silence of %d ms", ms);
			if (!await(is_new_run, &m, 2000))
				failed("no RUN after the silence");
			tell("silent %d ms: last changed target after %.1f ms, RUN %.0f ms after "
			     "the hand came "
			     "back",
				ms, 1e-3 * (double)(moved - m.t),
				1e-3 * (double)(clock_now() - back));
			judge_ages(&m);
		}
		k++;
	}
	return ended();
}

/* The sender's clock begins at 0 again: one HOLD, then RUN. */
static int sender_restarted(const char *dir)
{
	rig_up(dir, (struct rig_opts){ 0 });
	hand.t0 = clock_now() - 100000000;
	rig_run();
	observe(200);
	struct mark m = mark_now();
	hand_restart_at_zero();
	if (!await_event(&m, "hold", NULL, 1000))
		failed("a restart of the sender is no HOLD");
	if (!await(is_new_run, &m, 3000))
		failed("no new RUN after a restart of the sender");
	observe(200);
	judge_ages(&m);
	return ended();
}

/* Another sender on the port: its poses do nothing, its e-stop counts. */
static int second_sender(const char *dir)
{
	rig_up(dir, (struct rig_opts){ 0 });
	rig_run();
	struct mark m = mark_now();
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&hand.lock);
		hand.away.x = 0.04; /* near enough to be followed, if it were */
		struct rctp r = hand_packet(clock_now(), RCTP_VALID);
		hand.away.x = 0;
		hand_put(1, &r);
		pthread_mutex_unlock(&hand.lock);
		observe(10);
	}
	if (said_gate(&m, "hold") && !held_up_since(&m))
		failed("a second sender disturbs the first");
	int32_t far = 0;
	pthread_mutex_lock(&rig.lock);
	for (int i = m.seen; i < rig.n_seen; i++)
		if (rig.seen[i].id == 0x152) {
			const uint8_t *d = rig.seen[i].d;
			int32_t x = (int32_t)((uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 |
					      (uint32_t)d[2] << 8 | d[3]);
			int32_t off = x - (int32_t)(hand.start.p.x * 1e6);
			far = off > far ? off : far;
		}
	pthread_mutex_unlock(&rig.lock);
	tell("second sender 40 mm off: targets at most %.2f mm off", 1e-3 * (double)far);
	if (far > 5000)
		failed("the arm follows the second sender");
	m = mark_now();
	hand_send(1, RCTP_ESTOP, true);
	if (!await(is_gate, "estop", 1000))
		failed("the second sender's e-stop is not honoured");
	return ended();
}

static void feed_pose(const char *src, int64_t seq, int64_t t, struct vec3 off)
{
	static struct rec r;
	char line[REC_LINE_MAX + 1];
	struct rctp p = hand_packet(t, RCTP_VALID);

	rec_init(&r, REC_POSE, src, seq, t);
	r.u.pose.frame = REC_VR;
	r.u.pose.valid = true;
	r.u.pose.pose = p.pose;
	r.u.pose.pose.p = vec_add(p.pose.p, off);
	int n = rec_print(&r, line, sizeof line);
	if (n < 0 || write(rig_source, line, (size_t)n) != n)
		give_up("source pipe: %s", strerror(errno));
}

/* Two src in one pipe, without a stop channel: the first is followed, the other's stop counts. */
static int two_src(const char *dir)
{
	static struct rec r;
	char line[REC_LINE_MAX + 1];
	const struct vec3 off = { 0, 0, -0.04 };
	bool ran = false;
	struct mark m = { 0 };

	hand.rate = 0;
	rig_up(dir, (struct rig_opts){ .feed = true });
	for (int i = 0; i < 1000 && !(ran && clock_now() > m.t + 700 * MS); i++) {
		int64_t now = clock_now();
		feed_pose("right", i, now, (struct vec3){ 0, 0, 0 });
		feed_pose("left", i, now, off);
		observe(10);
		if (!ran && is_gate("run")) {
			ran = true;
			m = mark_now();
		}
	}
	if (!ran)
		give_up("no RUN");
	if (said_gate(&m, "hold") && !held_up_since(&m))
		failed("a second src disturbs the first");
	rec_init(&r, REC_STOP, "left", 0, clock_now());
	r.u.stop.level = REC_ESTOP;
	int n = rec_print(&r, line, sizeof line);
	int64_t t0 = clock_now();
	int at = 0;
	m = mark_now();
	if (write(rig_source, line, (size_t)n) != n)
		give_up("source pipe");
	struct want_hold hold = { m.seen, t0, &at };
	if (!await(has_hold, &hold, 1000) || !await(is_gate, "estop", 1000))
		failed("the stop of the other src is not honoured");
	else
		tell("in-band stop of the other src: %.2f ms",
			1e-3 * (double)(rig.seen[at].t - t0));
	for (int i = 1000; i < 1020; i++) {
		feed_pose("right", i, clock_now(), (struct vec3){ 0, 0, 0 });
		observe(10);
	}
	if (motion_between(at, t0 + CYCLE_US, INT64_MAX, NULL))
		failed("motion after the stop");
	return ended();
}

/* The arm's feedback pauses, or is late from now on. 60 ms: HOLD; 120 ms: FAULT (gate:G3). */
static int feedback_late(const char *dir, const char *how, int ms)
{
	char order[40];
	bool is_fault = ms >= 100;

	rig_up(dir, (struct rig_opts){ 0 });
	rig_run();
	for (int k = 0; k < 3; k++) {
		observe(200 + any_of(30));
		struct mark m = mark_now();
		snprintf(order, sizeof order, "%s %dms", how, ms);
		sim_order(order);
		if (!await_event(&m, "hold", "no feedback", 1000))
			failed("feedback silent for %d ms: no HOLD", ms);
		if (is_fault && !await(is_gate, "fault", 1000))
			failed("feedback silent for %d ms: no FAULT", ms);
		if (!is_fault && said_gate(&m, "fault") && !held_up_since(&m))
			failed("feedback silent for %d ms: FAULT", ms);
		int64_t moved = last_change(0, m.seen);
		if (moved > m.t + 50 * MS + TICK_US + SLACK_US && is_fault)
			failed("a changed target %.1f ms into the silence",
				1e-3 * (double)(moved - m.t));
		if (is_fault) {
			observe(ms);
			if (!is_gate("fault"))
				failed("FAULT is left without a reset");
			rig_reset();
			hand_set(true, false, 100);
			stands_still(100, "FAULT and reset without an engage");
			rig_engage();
		} else if (!await(is_new_run, &m, 2000)) {
			failed("no RUN when the feedback is back");
		}
		observe(200); /* also with feedback that stays late */
		judge_ages(&m);
		if (strcmp(how, "delay") == 0)
			sim_order("delay 0ms");
	}
	return ended();
}

/* A live estop is killed: HOLD until a reset drops its lease, then an engage (gate:G3, G5, G24). */
static int lease_lost(const char *dir)
{
	int in[2];
	const char *argv[] = { "estop", "--live", "--src", "pedal", "-e", NULL, NULL };

	rig_up(dir, (struct rig_opts){ 0 });
	argv[5] = rig.stop;
	rig_run();
	make_pipe(in);
	struct mark m = mark_now();
	pid_t pid = spawn(argv, in[0], -1, false);
	if (write(in[1], "hold\n", 5) != 5 || !await_event(&m, "hold", "pedal", 5000))
		give_up("the live estop is not heard");
	m = mark_now();
	rig_engage();
	observe(100);
	m = mark_now();
	kill(pid, SIGKILL);
	if (!await(is_gate, "hold", 1000))
		failed("a lost lease does not hold the arm");
	int64_t moved = last_change(0, m.seen);
	tell("lease lost: last changed target after %.1f ms", 1e-3 * (double)(moved - m.t));
	if (moved > m.t + 100 * MS + TICK_US + SLACK_US && !held_up_since(&m))
		failed("a changed target %.1f ms after the last beat",
			1e-3 * (double)(moved - m.t));
	if (!await_event(&m, "lease", "pedal", 500))
		failed("the lost lease is not named");
	talk_event("engage", clock_now());
	stands_still(1100, "engage with a lost lease");
	m = mark_now();
	talk_event("reset", clock_now());
	if (!await_event(&m, "refused", "hand is valid", 1000))
		failed("reset with a valid hand is not refused");
	rig_reset();
	hand_set(true, false, 100);
	stands_still(120, "the lease dropped, without an engage");
	rig_engage();
	return ended();
}

/* rctp-recv frozen: its poses and its beats stop; both come back; an engage is needed. */
static int receiver_frozen(const char *dir)
{
	rig_up(dir, (struct rig_opts){ .relative = true });
	rig_run();
	observe(100);
	struct mark m = mark_now();
	kill(rig.pid[RECV], SIGSTOP);
	if (!await(is_gate, "hold", 1000) || !await_event(&m, "lease", "right", 1000))
		failed("a frozen rctp-recv is no HOLD and no lost lease");
	int64_t moved = last_change(0, m.seen);
	if (moved > m.t + MAX_AGE_US + TICK_US + SLACK_US && !held_up_since(&m))
		failed("a changed target %.1f ms after the freeze", 1e-3 * (double)(moved - m.t));
	kill(rig.pid[RECV], SIGCONT);
	stands_still(300, "rctp-recv woke, no engage");
	rig_engage();
	observe(200);
	judge_ages(&m);
	return ended();
}

/* An engage waits in the queue of a frozen writer, or comes in ESTOP, or before a hold. */
static int queued_engage(const char *dir)
{
	rig_up(dir, (struct rig_opts){ 0 });
	rig_run();
	kill(rig.pid[WRITER], SIGSTOP);
	observe(200);
	talk_event("engage", clock_now());
	observe(100);
	struct mark m = mark_now();
	kill(rig.pid[WRITER], SIGCONT);
	if (!await_event(&m, "freeze", NULL, 1000) || !await_event(&m, "refused", "engage", 1000))
		failed("an engage from before the waking is not refused");
	stands_still(300, "an engage from before the waking");
	rig_engage();
	hand_send(0, RCTP_VALID | RCTP_ESTOP, true);
	if (!await(is_gate, "estop", 1000))
		failed("no ESTOP");
	m = mark_now();
	int64_t early = clock_now();
	talk_event("engage", early);
	if (!await_event(&m, "refused", "engage", 1000))
		failed("an engage in ESTOP is not refused");
	observe(60); /* a beat has told of the stop: told after the reset it would stop again */
	rig_reset();
	hand_set(true, false, 100);
	m = mark_now();
	talk_event("engage", early);
	if (!await_event(&m, "refused", "engage", 1000))
		failed("an engage from before the reset is not refused");
	stands_still(200, "an engage from before the reset");
	rig_engage();
	return ended();
}

/* A stage frozen for s seconds and continued (line 5): its queue moves nothing. */
static int freeze(const char *dir, enum role who, int s, bool hand_goes_on)
{
	rig_up(dir, (struct rig_opts){ .relative = true });
	rig_run();
	observe(200);
	struct mark start = mark_now();
	kill(rig.pid[who], SIGSTOP);
	observe(1000 * s - 300);
	if (!hand_goes_on)
		hand_set(true, false, 0);
	observe(300);
	struct mark m = mark_now();
	kill(rig.pid[who], SIGCONT);
	if (who == WRITER || who == RECV) {
		if (!await(is_gate, "hold", 1000))
			failed("no HOLD after waking");
		if (who == WRITER && !await_event(&m, "freeze", NULL, 1000))
			failed("the freeze is not told");
		stands_still(400, "waking without an engage");
		rig_engage();
	} else if (hand_goes_on) {
		if (!await(is_new_run, &m, 3000))
			failed("no RUN from fresh poses");
	} else {
		stands_still(400, "old poses arrived");
		hand_set(true, false, 100);
		if (!await(is_new_run, &m, 3000))
			failed("no RUN from fresh poses");
	}
	if (!said_gate(&start, "hold"))
		failed("RUN without a HOLD first");
	observe(300);
	judge_ages(&start);
	return ended();
}

#endif
