/*
 * The gate on a virtual clock, rule by rule (GATE.md). A bench plays the arm (ideal unless a test
 * says otherwise), the hand and the stop channel, in the order of a wake (gate:G2).
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "piper-can-write/gate.h"

#define DEG (M_PI / 180)
#define MS 1000LL
#define TICK 33333LL

static int tests, failed;

__attribute__((format(printf, 2, 3))) static void ok(bool cond, const char *fmt, ...)
{
	va_list ap;

	tests++;
	failed += !cond;
	printf("%sok %d - ", cond ? "" : "not ", tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

struct bench {
	struct gate g;
	struct gate_arm arm;
	int64_t now, tick;
	int64_t seq;
	bool arm_silent, arm_stuck, hand_off, hand_gone, beats, refuse_bus;
	const char *hand_src;
	struct pose hand;
	struct vec3 hand_v;
	int64_t hand_age;
	/* what came out */
	int runs, stills, joints, damps, first_rebase;
	struct gate_act last, last_still;
	int64_t last_run_us, last_still_us;
	double max_speed, max_accel, max_lead;
	char notes[4096];
};

static const double HOME[6] = { 0, 86 * DEG, -45 * DEG, 0, 24 * DEG, 0 };

static struct rec *pose_rec(struct bench *b, bool valid, int64_t t)
{
	static struct rec r;

	rec_init(&r, REC_POSE, b->hand_src, b->seq++, t);
	r.u.pose.frame = REC_BASE;
	r.u.pose.valid = valid;
	r.u.pose.pose = b->hand;
	r.u.pose.has_grip = true;
	r.u.pose.grip = 0.5;
	return &r;
}

static struct rec *event_rec(struct bench *b, const char *name, int64_t t)
{
	static struct rec r;

	rec_init(&r, REC_EVENT, "op", b->seq++, t);
	snprintf(r.u.event.name, sizeof(r.u.event.name), "%s", name);
	return &r;
}

static void beat(struct bench *b, const char *src, int64_t stops, enum rec_level level, int64_t t)
{
	static struct rec r;

	rec_init(&r, REC_BEAT, src, b->seq++, t);
	r.u.beat.stops = stops;
	r.u.beat.level = level;
	gate_beat(&b->g, &r, b->now);
}

static void collect(struct bench *b, const struct gate_act *act)
{
	struct gate_note n;
	bool sent = !b->refuse_bus;

	if (act->kind == GATE_POSE && sent) {
		double dt = 1e-6 * (double)(b->now - b->last_run_us);
		double v = vec_dist(act->pose.p, b->last.pose.p) / dt;

		if (b->runs && b->last.kind == GATE_POSE && b->last_run_us > b->g.since_us)
			b->max_speed = fmax(b->max_speed, v);
		b->max_lead = fmax(b->max_lead, act->lead_m);
		if (b->runs == 0)
			b->first_rebase = act->rebase;
		b->runs++;
		b->last_run_us = b->now;
		if (!b->arm_stuck) {
			double j[6];

			if (piper_ik_near(&PIPER_DH_NEW, act->pose, b->arm.j, j))
				memcpy(b->arm.j, j, sizeof(j));
			b->arm.pose = chain_fk(&PIPER_DH_NEW, b->arm.j);
		}
	}
	b->damps += act->damp && sent;
	if (act->kind == GATE_STILL && sent) {
		b->stills++;
		b->last_still = *act;
		b->last_still_us = b->now;
	}
	if (act->kind == GATE_JOINTS && sent) {
		b->joints++;
		if (!b->arm_stuck) {
			memcpy(b->arm.j, act->j, sizeof(act->j));
			b->arm.pose = chain_fk(&PIPER_DH_NEW, b->arm.j);
		}
	}
	if (act->kind != GATE_NOTHING || act->damp) {
		if (sent)
			b->last = *act;
		gate_sent(&b->g, act, sent, b->now);
	}
	while (gate_next_note(&b->g, &n)) {
		size_t len = strlen(b->notes);

		snprintf(b->notes + len, sizeof(b->notes) - len, "%s:%s\n", n.name, n.value);
	}
}

/* One wake every 5 ms (a burst of feedback), a pose every 20 ms, a tick every 33.333 ms. */
static void step(struct bench *b)
{
	struct gate_act act;

	b->now += 5 * MS;
	gate_wake(&b->g, b->now);
	if (b->beats && b->now % (25 * MS) < 5 * MS)
		beat(b, "right", 0, REC_HOLD, b->now);
	if (!b->arm_silent)
		b->arm.joints_us = b->arm.status_us = b->now;
	gate_arm(&b->g, &b->arm);
	b->hand.p = vec_add(b->hand.p, vec_scale(b->hand_v, 0.005));
	if (!b->hand_gone && b->now % (20 * MS) < 5 * MS)
		gate_pose(&b->g, pose_rec(b, !b->hand_off, b->now - b->hand_age), b->now);
	gate_settle(&b->g, b->now, &act);
	collect(b, &act);
	if (b->now >= b->tick) {
		b->tick += TICK;
		gate_tick(&b->g, b->now, true, &act);
		collect(b, &act);
	}
}

static void run_ms(struct bench *b, int ms)
{
	for (int i = 0; i < ms; i += 5)
		step(b);
}

static void start_init(struct bench *b, const struct gate_cfg *cfg)
{
	struct gate_cfg c;

	if (!cfg) {
		gate_defaults(&c);
		cfg = &c;
	}
	memset(b, 0, sizeof(*b));
	b->now = 1000000000;
	b->tick = b->now;
	b->hand_src = "right";
	memcpy(b->arm.j, HOME, sizeof(HOME));
	b->arm.pose = chain_fk(&PIPER_DH_NEW, HOME);
	b->arm.ctrl = 1;
	b->arm.enabled = true;
	b->arm.has_grip = true;
	b->arm.grip = 0.2;
	b->hand = b->arm.pose;
	gate_init(&b->g, cfg, b->now);
	b->beats = cfg->stop_channel;
	gate_listened(&b->g);
	gate_arm(&b->g, &b->arm);
	run_ms(b, 10);
}

static void start(struct bench *b, const struct gate_cfg *cfg)
{
	start_init(b, cfg);
	gate_ready(&b->g, b->now);
}

/* In RUN with a hand that moves at 0.1 m/s. */
static void running(struct bench *b, const struct gate_cfg *cfg)
{
	start(b, cfg);
	run_ms(b, 300);
	b->hand_v.x = -0.1;
	run_ms(b, 500);
}

static void send_event(struct bench *b, const char *name, int64_t t)
{
	gate_event(&b->g, event_rec(b, name, t), b->now);
}

static bool noted(const struct bench *b, const char *text)
{
	return strstr(b->notes, text) != NULL;
}

static struct gate_cfg channel(enum gate_engage e)
{
	struct gate_cfg c;

	gate_defaults(&c);
	c.stop_channel = true;
	c.engage = e;
	return c;
}

/* ---- G2 ---- */

static void test_order(void)
{
	struct bench b;
	struct gate_act act;

	running(&b, NULL);
	ok(b.g.state == GATE_RUN, "G4: runs with a fresh hand near the arm (%s)", b.g.why);
	b.now += 5 * MS;
	b.arm.joints_us = b.arm.status_us = b.now;
	gate_wake(&b.g, b.now);
	gate_arm(&b.g, &b.arm);
	gate_pose(&b.g, pose_rec(&b, true, b.now), b.now);
	gate_stop(&b.g, REC_ESTOP, "left", "", b.now);
	gate_pose(&b.g, pose_rec(&b, true, b.now), b.now);
	gate_settle(&b.g, b.now, &act);
	ok(b.g.state == GATE_ESTOP && act.kind == GATE_STILL,
		"G2: a stop anywhere in the batch beats every pose in it, hold set at once");

	running(&b, NULL);
	b.now += 5 * MS;
	gate_wake(&b.g, b.now);
	gate_pose(&b.g, pose_rec(&b, false, b.now), b.now);
	gate_pose(&b.g, pose_rec(&b, true, b.now), b.now);
	gate_settle(&b.g, b.now, &act);
	ok(b.g.state == GATE_HOLD,
		"G2: a valid:false in the batch is a HOLD though a pose follows");
}

/* ---- G3 ---- */

static void test_holds(void)
{
	struct bench b;
	struct gate_cfg c = channel(GATE_AUTO);

	running(&b, NULL);
	b.hand_off = true;
	run_ms(&b, 20);
	ok(b.g.state == GATE_HOLD && strstr(b.g.why, "valid"), "G3: valid:false holds (%s)",
		b.g.why);

	running(&b, NULL);
	b.hand_gone = true;
	run_ms(&b, 60);
	ok(b.g.state == GATE_RUN, "G3: 60 ms without a pose: still RUN");
	run_ms(&b, 65);
	ok(b.g.state == GATE_HOLD, "G3: older than max-age: HOLD");
	ok(b.last_run_us - b.g.newest_us <= 100 * MS, "G7: no set from a pose older than max-age");

	running(&b, &c);
	b.beats = false;
	run_ms(&b, 150);
	ok(b.g.state == GATE_HOLD && strstr(b.g.why, "beat"), "G3: a lease that ran out holds (%s)",
		b.g.why);
	b.beats = true;
	run_ms(&b, 300);
	ok(b.g.state == GATE_HOLD && strstr(b.g.why, "engage"),
		"G5: a lost lease asks for an engage");

	start(&b, &c);
	b.beats = false;
	b.g.leases.n = 0;
	run_ms(&b, 300);
	ok(b.g.state == GATE_HOLD && b.runs == 0, "G3: with -e nobody beats: HOLD");

	running(&b, NULL);
	b.arm_silent = true;
	run_ms(&b, 60);
	ok(b.g.state == GATE_HOLD, "G3: feedback silent for more than 50 ms: HOLD");
	run_ms(&b, 50);
	ok(b.g.state == GATE_FAULT, "G3: 100 ms: FAULT (%s)", b.g.why);

	running(&b, NULL);
	gate_stop(&b.g, REC_HOLD, "op", "", b.now);
	run_ms(&b, 5);
	ok(b.g.state == GATE_HOLD, "G3: stop hold");
	b.hand = b.arm.pose;
	b.hand_v.x = 0;
	run_ms(&b, 500);
	ok(b.g.state == GATE_HOLD && strstr(b.g.why, "engage"), "G5: and then needs an engage");
}

/* ---- G4, G5 ---- */

static void test_entry(void)
{
	struct bench b;
	struct gate_cfg c;

	start(&b, NULL);
	b.hand_gone = true;
	run_ms(&b, 200);
	for (int i = 0; i < 2; i++) {
		b.now += 5 * MS;
		gate_pose(&b.g, pose_rec(&b, true, b.now), b.now);
	}
	run_ms(&b, 40);
	ok(b.runs == 0, "G4: two poses are not enough (%s)", b.g.why);

	start(&b, NULL);
	b.hand.p.x += 0.06;
	run_ms(&b, 500);
	ok(b.runs == 0 && strstr(b.g.why, "60 mm"), "G4: target too far from the arm (%s)",
		b.g.why);
	start(&b, NULL);
	b.hand.q = quat_mul(quat_exp((struct vec3){ 0, 0, 25 * DEG }), b.hand.q);
	run_ms(&b, 500);
	ok(b.runs == 0 && strstr(b.g.why, "25 deg"), "G4: target turned too far (%s)", b.g.why);

	for (int i = 0; i < 3; i++) {
		start(&b, NULL);
		if (i == 0)
			b.arm.enabled = false;
		else if (i == 1)
			b.arm.ctrl = 2;
		else
			b.arm.status = 7;
		run_ms(&b, 500);
		ok(b.runs == 0 && b.g.state == GATE_FAULT, "G4: arm not %s: no RUN (%s)",
			i == 0   ? "enabled"
			: i == 1 ? "in CAN mode"
				 : "at status 0",
			b.g.why);
	}

	c = channel(GATE_FIRST);
	start(&b, &c);
	run_ms(&b, 500);
	ok(b.runs == 0 && strstr(b.g.why, "engage"), "G5 first: waits for an engage (%s)", b.g.why);
	send_event(&b, "engage", b.now);
	run_ms(&b, 100);
	ok(b.g.state == GATE_RUN, "G5 first: runs after it");
	b.hand_off = true;
	run_ms(&b, 50);
	b.hand_off = false;
	run_ms(&b, 200);
	ok(b.g.state == GATE_RUN, "G5 first: no second one after a lost hand");

	c = channel(GATE_MANUAL);
	start(&b, &c);
	run_ms(&b, 100);
	send_event(&b, "engage", b.now);
	run_ms(&b, 100);
	b.hand_off = true;
	run_ms(&b, 50);
	b.hand_off = false;
	run_ms(&b, 200);
	ok(b.g.state == GATE_HOLD && b.runs, "G5 manual: one before each RUN (%s)", b.g.why);

	c = channel(GATE_FIRST);
	start(&b, &c);
	run_ms(&b, 100);
	send_event(&b, "engage", b.g.since_us - 1);
	run_ms(&b, 100);
	ok(b.runs == 0 && noted(&b, "refused"), "G5: an engage older than the hold is refused");
	send_event(&b, "engage", b.now - 1100 * MS);
	run_ms(&b, 100);
	ok(b.runs == 0, "G5: an engage older than 1 s is refused");
	b.hand_off = true;
	send_event(&b, "engage", b.now);
	run_ms(&b, 1100);
	b.hand_off = false;
	run_ms(&b, 300);
	ok(b.runs == 0 && noted(&b, "expired"),
		"G5: the hand comes 1.1 s after the engage: refused");
	send_event(&b, "engage", b.now);
	run_ms(&b, 100);
	ok(b.g.state == GATE_RUN, "G5: a timely one counts");
}

/* ---- ESTOP, reset ---- */

static void test_estop(void)
{
	struct bench b;
	struct gate_cfg c = channel(GATE_AUTO);
	int n;

	running(&b, &c);
	n = b.stills;
	gate_stop(&b.g, REC_ESTOP, "right", "bit", b.now);
	run_ms(&b, 5);
	ok(b.g.state == GATE_ESTOP && b.stills == n + 1, "G14: one hold set on entry to ESTOP");
	gate_stop(&b.g, REC_ESTOP, "right", "bit", b.now);
	run_ms(&b, 100);
	ok(b.stills == n + 1, "G14: a further stop sends nothing");
	n = b.runs;
	run_ms(&b, 500);
	ok(b.g.state == GATE_ESTOP && b.runs == n, "latched with a valid hand");
	send_event(&b, "reset", b.now);
	run_ms(&b, 5);
	ok(b.g.state == GATE_ESTOP && noted(&b, "a hand is valid"),
		"reset while a hand is valid: refused");
	b.hand_off = true;
	run_ms(&b, 50);
	send_event(&b, "reset", b.now);
	run_ms(&b, 5);
	ok(b.g.state == GATE_HOLD, "reset without a hand: HOLD");
	b.hand_off = false;
	run_ms(&b, 1500);
	ok(b.g.state == GATE_HOLD && b.runs == n, "nothing moves after reset without an engage");
	b.hand = b.arm.pose;
	b.hand_v.x = 0;
	run_ms(&b, 50);
	send_event(&b, "engage", b.now);
	run_ms(&b, 100);
	ok(b.g.state == GATE_RUN && b.runs > n, "a timely engage moves");

	start(&b, &c);
	n = b.stills;
	b.hand_gone = true;
	gate_stop(&b.g, REC_ESTOP, "op", "", b.now);
	run_ms(&b, 5);
	ok(b.stills == n + 1, "G14: hold set also when stopped from HOLD");
	send_event(&b, "reset", b.g.since_us - 10);
	run_ms(&b, 5);
	ok(b.g.state == GATE_ESTOP, "a reset older than the stop is refused");

	running(&b, &c);
	beat(&b, "op", 1, REC_ESTOP, b.now);
	run_ms(&b, 5);
	ok(b.g.state == GATE_ESTOP, "G23: a beat whose count rose acts as the stop it tells of");

	c.damp = true;
	running(&b, &c);
	gate_stop(&b.g, REC_ESTOP, "right", "", b.now);
	run_ms(&b, 5);
	ok(b.damps == 1 && b.last_still.damp, "G14: damp goes before the hold set");

	c.damp = false;
	running(&b, &c);
	b.arm.status = 6;
	run_ms(&b, 10);
	n = b.stills;
	ok(b.g.state == GATE_FAULT, "a status is a FAULT");
	run_ms(&b, 100);
	ok(b.stills == n, "G17: FAULT sends no hold set");
	gate_stop(&b.g, REC_ESTOP, "op", "", b.now);
	run_ms(&b, 5);
	ok(b.g.state == GATE_ESTOP && b.stills == n, "G17: nor ESTOP while status is not 0");
	b.arm.status = 0;
	run_ms(&b, 5);
	ok(b.stills == n + 1, "G17: ESTOP sends it when the arm obeys again");
}

/* ---- stopping ---- */

static void test_stills(void)
{
	struct bench b;

	running(&b, NULL);
	b.arm_stuck = true; /* lags: a lead builds up */
	run_ms(&b, 100);
	ok(b.last.lead_m > 0.005, "the arm lags by %.1f mm", 1e3 * b.last.lead_m);
	b.hand_off = true;
	run_ms(&b, 25);
	ok(b.stills == 1 && memcmp(b.last_still.j, b.arm.j, sizeof(b.arm.j)) == 0,
		"G13: leaving RUN with a lead sends the measured joints");

	running(&b, NULL);
	b.hand_off = true;
	run_ms(&b, 25);
	ok(b.stills == 0, "G13: without a lead nothing is sent");

	running(&b, NULL);
	b.arm_stuck = b.arm_silent = true;
	run_ms(&b, 60);
	ok(b.g.state == GATE_HOLD && b.stills == 0, "G16: old joints are never used");
	b.arm_silent = false;
	run_ms(&b, 5);
	ok(b.stills == 1, "G16: the owed hold set goes out with the first fresh joints");

	running(&b, NULL);
	b.refuse_bus = true;
	gate_stop(&b.g, REC_ESTOP, "op", "", b.now);
	run_ms(&b, 50);
	ok(b.stills == 0 && b.g.owed, "a hold set that the bus refused stays owed");
	b.refuse_bus = false;
	run_ms(&b, 5);
	ok(b.stills == 1, "and goes out when the bus takes it");
}

static void test_leave(void)
{
	struct bench b;
	struct gate_act act;

	running(&b, NULL);
	gate_leave(&b.g, b.now, &act);
	ok(act.kind == GATE_STILL, "G18: leaving from RUN: hold set");
	start(&b, NULL);
	b.hand_gone = true;
	run_ms(&b, 100);
	gate_leave(&b.g, b.now, &act);
	ok(act.kind == GATE_NOTHING, "G18: leaving from a quiet HOLD: nothing");
}

/* ---- G6 ---- */

static void test_freeze(void)
{
	struct bench b;
	struct gate_cfg c = channel(GATE_AUTO);
	struct gate_act act;
	int n;

	running(&b, &c);
	n = b.runs;
	b.now += 3000 * MS;
	b.tick = b.now;
	gate_wake(&b.g, b.now);
	ok(b.g.state == GATE_HOLD && noted(&b, "") && b.g.need_engage, "G6: a freeze holds");
	send_event(&b, "engage", b.now - 500 * MS);
	gate_arm(&b.g, &b.arm);
	gate_pose(&b.g, pose_rec(&b, true, b.now - 2900 * MS), b.now);
	gate_settle(&b.g, b.now, &act);
	collect(&b, &act);
	gate_tick(&b.g, b.now, true, &act);
	collect(&b, &act);
	ok(b.runs == n && noted(&b, "older than this hold"),
		"G5: an engage queued before the waking is an old one");
	ok(b.g.state == GATE_HOLD, "G6: silence counts from the waking, no FAULT");
	run_ms(&b, 500);
	ok(b.runs == n && b.g.state == GATE_HOLD, "G5: after a freeze only an engage");
}

/* ---- motion ---- */

static void test_motion(void)
{
	struct bench b;
	struct gate_cfg c;

	start(&b, NULL);
	b.hand.p.x -= 0.045;
	run_ms(&b, 100);
	ok(b.first_rebase, "G10: the first set re-bases on the measured pose");
	run_ms(&b, 200);
	ok(b.max_speed <= 0.1 + 1e-9, "the ramp keeps 100 mm/s (%.4f)", b.max_speed);

	running(&b, NULL);
	b.hand_v.x = -2;
	run_ms(&b, 50);
	b.hand_v.x = 0;
	run_ms(&b, 1000);
	ok(b.max_speed <= 0.25 + 1e-9, "G8: speed %.4f", b.max_speed);
	ok(vec_dist(b.last.pose.p, b.hand.p) < 1e-4, "arrives at the target");

	running(&b, NULL);
	b.arm_stuck = true;
	b.hand_v.x = -0.4;
	run_ms(&b, 250);
	ok(b.max_lead <= 0.0375 + 1e-9, "G8: lead %.4f", b.max_lead);
	run_ms(&b, 400);
	ok(b.g.state == GATE_FAULT && strstr(b.g.why, "follow"),
		"safety:H18: an arm that stands at L for 200 ms is a FAULT (%s)", b.g.why);

	running(&b, NULL);
	b.hand_age = -5 * MS;
	run_ms(&b, 200);
	ok(b.g.state == GATE_HOLD && b.g.count.future > 0, "G7: poses from the future are refused");

	running(&b, NULL);
	b.hand_src = "left";
	run_ms(&b, 200);
	ok(b.g.state == GATE_HOLD && b.g.count.foreign > 5, "another src is counted and ignored");

	running(&b, NULL);
	b.hand.p = (struct vec3){ 0.55, 0, 0.5 };
	b.hand_v.x = 0;
	run_ms(&b, 4000);
	ok(b.g.state == GATE_HOLD && strstr(b.g.why, "mm"), "out of reach holds (%s)", b.g.why);
	ok(noted(&b, "out of the arm's reach"), "and says so");

	gate_defaults(&c);
	c.ready = true;
	start(&b, &c);
	for (int i = 0; i < 6; i++)
		b.arm.j[i] += i % 2 ? 0.3 : -0.2;
	b.arm.pose = chain_fk(&PIPER_DH_NEW, b.arm.j);
	b.hand_gone = true;
	run_ms(&b, 3000);
	ok(b.joints > 20 && b.g.state == GATE_HOLD && fabs(b.arm.j[1] - HOME[1]) < 1e-6,
		"G12: goes to ready, then holds (%s)", b.g.why);
	start(&b, &c);
	b.arm.j[0] += 0.5;
	b.arm.pose = chain_fk(&PIPER_DH_NEW, b.arm.j);
	run_ms(&b, 300);
	gate_stop(&b.g, REC_HOLD, "op", "", b.now);
	run_ms(&b, 500);
	ok(b.g.state == GATE_HOLD && fabs(b.arm.j[0]) > 0.2, "G12: a stop ends the way to ready");
}

/* What asks for an engage takes the way to ready back, whenever it comes (gate:G5, G12). */
static void test_no_ready(void)
{
	struct gate_cfg c = channel(GATE_AUTO);
	struct bench b;

	c.ready = true;
	for (int i = 0; i < 3; i++) {
		static const char *const what[] = { "stop hold", "freeze", "lost lease" };

		memset(&b, 0, sizeof(b));
		start_init(&b, &c);
		b.arm.j[0] += 0.5;
		b.arm.pose = chain_fk(&PIPER_DH_NEW, b.arm.j);
		b.hand_gone = true;
		run_ms(&b, 50);
		if (i == 0) {
			gate_stop(&b.g, REC_HOLD, "op", "", b.now);
		} else if (i == 1) {
			b.now += 5000 * MS;
			b.tick = b.now;
		} else {
			b.beats = false;
			run_ms(&b, 200);
			b.beats = true;
		}
		run_ms(&b, 50);
		gate_ready(&b.g, b.now);
		run_ms(&b, 2000);
		ok(b.joints == 0 && b.g.state == GATE_HOLD && b.g.need_engage,
			"G12: a %s before the arm was ready: no way to ready (%s)", what[i],
			b.g.why);
	}
}

static void test_old_orders(void)
{
	struct gate_cfg c = channel(GATE_AUTO);
	struct gate_act act;
	struct bench b;
	int n;

	start(&b, &c);
	b.hand_off = true;
	run_ms(&b, 100);
	b.beats = false;
	run_ms(&b, 200);
	n = b.runs;
	b.beats = true;
	b.hand_off = false;
	send_event(&b, "engage", b.now - 150 * MS);
	run_ms(&b, 300);
	ok(b.runs == n && noted(&b, "older than this hold"),
		"G5: an engage from before the lease was lost is an old one");

	/* Two leases: one lost, engaged, the other lost too, both back. */
	running(&b, &c);
	beat(&b, "b", 0, REC_HOLD, b.now);
	run_ms(&b, 150);
	n = b.runs;
	send_event(&b, "engage", b.now);
	beat(&b, "b", 0, REC_HOLD, b.now);
	run_ms(&b, 100);
	ok(b.runs == n && b.g.need_engage,
		"G5: an engage while a lease is lost does not wait for it");

	running(&b, &c);
	b.hand_off = true;
	run_ms(&b, 50);
	gate_stop(&b.g, REC_ESTOP, "op", "", b.now);
	run_ms(&b, 5);
	b.now += 10 * MS;
	send_event(&b, "reset", b.now);
	gate_pose(&b.g, pose_rec(&b, true, b.now), b.now);
	gate_settle(&b.g, b.now, &act);
	ok(b.g.state == GATE_ESTOP,
		"G2: a valid pose behind a reset in one batch speaks against it");

	c.damp = true;
	running(&b, &c);
	b.refuse_bus = true;
	gate_stop(&b.g, REC_ESTOP, "op", "", b.now);
	run_ms(&b, 20);
	b.hand_off = true;
	run_ms(&b, 20);
	send_event(&b, "reset", b.now);
	run_ms(&b, 5);
	b.refuse_bus = false;
	run_ms(&b, 100);
	ok(b.damps == 0, "G14: what damps belongs to its stop and goes with the reset");

	start(&b, NULL);
	b.hand_gone = true;
	run_ms(&b, 200);
	for (int i = 0; i < 5; i++)
		gate_pose(&b.g, pose_rec(&b, true, b.now), b.now);
	run_ms(&b, 40);
	ok(b.runs == 0, "G4: poses of one time are one pose (%s)", b.g.why);

	running(&b, NULL);
	gate_leave(&b.g, b.now, &act);
	ok(act.kind == GATE_STILL && b.g.state == GATE_HOLD, "G18: leaving RUN is a HOLD");
}

int main(void)
{
	test_order();
	test_no_ready();
	test_old_orders();
	test_holds();
	test_entry();
	test_estop();
	test_stills();
	test_leave();
	test_freeze();
	test_motion();
	printf("1..%d\n", tests);
	return failed != 0;
}
