/*
 * apart: the distance of segments, edges of gates, silence, and crossings: two arms moved by the
 * writer's own slew towards each other, every record and every stop late by a random time, the
 * arms with inertia. The true distance of the tips never undercuts the smallest one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apart/watch.h"
#include "piper-can-write/slew.h"
#include "tap.h"

#define MS 1000
#define TICK_US 33333
#define STEP_US 1000
#define MIN_M 0.060

static uint64_t seed = 1;
static double uniform(double lo, double hi)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return lo + (hi - lo) * (double)(seed >> 11) / 9007199254740992.0;
}
static struct vec3 somewhere(double r)
{
	return (struct vec3){ uniform(-r, r), uniform(-r, r), uniform(-r, r) };
}

static const struct watch_conf conf = { .has_min = true,
	.min_m = MIN_M,
	.base = { { { 0, -0.3, 0 }, { 0, 0, 0, 1 } }, { { 0, 0.3, 0 }, { 0, 0, 1, 0 } } },
	.tool = { 0, 0, 0.05 },
	.speed_m = 0.25,
	.speed_rad = 1.5707963267948966,
	.accel_m = 2.5,
	.accel_rad = 15,
	.react_us = 60 * MS };

/* ---- segments ---- */

static void test_segments(void)
{
	struct vec3 a, b, o = { 0, 0, 0 }, x = { 1, 0, 0 };
	bool is_least = true, is_on = true;

	ok(fabs(watch_segments(
			o, x, (struct vec3){ 0.5, -1, 0.2 }, (struct vec3){ 0.5, 1, 0.2 }, &a, &b) -
		   0.2) < 1e-12 &&
			fabs(a.x - 0.5) < 1e-12 && fabs(b.y) < 1e-12,
		"crossing segments: inside both");
	ok(watch_segments(o, o, x, x, &a, &b) == 1, "two points");
	ok(fabs(watch_segments(o, x, (struct vec3){ 2, 1, 0 }, (struct vec3){ 3, 1, 0 }, &a, &b) -
		   sqrt(2)) < 1e-12,
		"parallel, beside each other");
	for (int k = 0; k < 2000; k++) {
		struct vec3 p[4] = { somewhere(1), somewhere(1), somewhere(1), somewhere(1) };
		double d = watch_segments(p[0], p[1], p[2], p[3], &a, &b);

		is_on = is_on && fabs(vec_dist(a, b) - d) < 1e-12;
		for (int i = 0; i <= 20; i++)
			for (int j = 0; j <= 20; j++) {
				struct vec3 u =
					vec_add(p[0], vec_scale(vec_sub(p[1], p[0]), i / 20.0));
				struct vec3 v =
					vec_add(p[2], vec_scale(vec_sub(p[3], p[2]), j / 20.0));

				is_least = is_least && vec_dist(u, v) >= d - 1e-12;
			}
	}
	ok(is_least && is_on, "no two points of 2000 random pairs are closer");
}

/* ---- records of a writer ---- */

static void tell_gate(struct watch *w, int i, const char *gate, struct pose flange, int64_t now)
{
	struct rec r;

	rec_init(&r, REC_FEEDBACK, "arm", 0, now);
	r.u.feedback.kind = REC_KIND_CARTESIAN;
	r.u.feedback.has_gate = r.u.feedback.has_pose = true;
	strcpy(r.u.feedback.gate, gate);
	r.u.feedback.pose = flange;
	watch_record(w, i, &r, now);
}

static const struct pose at_rest = { { 0.2, 0, 0.2 }, { 0, 0, 0, 1 } };

static void test_edges(void)
{
	struct watch w;
	char why[REC_TEXT_MAX];
	int64_t t = 1000 * MS;

	for (int i = 0; i < WATCH_ARMS; i++) {
		watch_init(&w, &(struct watch_conf){ .react_us = 60 * MS });
		ok(!watch_sees(&w, t) && watch_decide(&w, t, why, sizeof why) == WATCH_GO,
			"nothing heard yet: no beat, no stop");
		tell_gate(&w, 0, "run", at_rest, t);
		ok(!watch_sees(&w, t) && watch_decide(&w, t, why, sizeof why) == WATCH_HOLD,
			"one arm only: no beat, a hold");
		tell_gate(&w, 1, "run", at_rest, t);
		ok(watch_sees(&w, t) && watch_decide(&w, t, why, sizeof why) == WATCH_GO,
			"both heard, no smallest distance: go");
		tell_gate(&w, i, "estop", at_rest, t + 1);
		ok(watch_decide(&w, t + 1, why, sizeof why) == WATCH_ESTOP &&
				watch_decide(&w, t + 1, why, sizeof why) == WATCH_GO,
			"an e-stop of arm %d is one for both, once: %s", i + 1, why);
		tell_gate(&w, i, "estop", at_rest, t + 2);
		ok(watch_decide(&w, t + 2, why, sizeof why) == WATCH_GO, "and not again");
		tell_gate(&w, i, "hold", at_rest, t + 3);
		tell_gate(&w, i, "fault", at_rest, t + 4);
		ok(watch_decide(&w, t + 4, why, sizeof why) == WATCH_HOLD, "a fault holds both");
		tell_gate(&w, 1 - i, "run", at_rest, t + 101 * MS + 4);
		ok(!watch_sees(&w, t + 101 * MS + 4) &&
				watch_decide(&w, t + 101 * MS + 4, why, sizeof why) == WATCH_HOLD,
			"silence of arm %d: no beat, a hold: %s", i + 1, why);
		ok(watch_decide(&w, t + 150 * MS, why, sizeof why) == WATCH_GO &&
				watch_decide(&w, t + 202 * MS, why, sizeof why) == WATCH_HOLD,
			"repeated each 100 ms");
	}
}

/* ---- crossings ---- */

struct late { /* what is on its way */
	int64_t at;
	struct rec r;
};
struct side {
	struct slew slew;
	bool is_run;
	int64_t tick_us, stop_us; /* next tick; when a stop arrives, 0 none */
	struct pose target;
	struct pose actual; /* flange */
	struct vec3 v;
	struct pose goal; /* what the arm's own controller goes to */
	struct late late[8];
	int n;
};

static void post(struct side *s, int64_t now, const struct rec *r)
{
	if (s->n < 8)
		s->late[s->n++] = (struct late){ now + (int64_t)uniform(100, 5 * MS), *r };
}

static void tell(struct side *s, int64_t now, bool is_command)
{
	struct rec r;

	rec_init(&r, REC_FEEDBACK, "arm", 0, now);
	r.u.feedback.kind = REC_KIND_CARTESIAN;
	r.u.feedback.has_gate = r.u.feedback.has_pose = true;
	strcpy(r.u.feedback.gate, s->is_run ? "run" : "hold");
	r.u.feedback.pose = s->actual;
	post(s, now, &r);
	if (!is_command)
		return;
	rec_init(&r, REC_COMMAND, "arm", 0, now - 5 * MS);
	r.u.command.set = REC_SET_RUN;
	r.u.command.has_pose = true;
	r.u.command.age_us = 5 * MS;
	r.u.command.pose = s->slew.cmd;
	post(s, now, &r);
}

/* The arm: towards its goal, braking in time, 5 m/s2. Turns at once: the tip then swings as fast as
 * commanded. */
static void arm_moves(struct side *s, double dt)
{
	struct vec3 way = vec_sub(s->goal.p, s->actual.p), want, dv;
	double d = vec_norm(way), most = fmin(1.0, sqrt(2 * 4 * d)), k;

	want = d > 1e-6 ? vec_scale(way, fmin(most, d / 0.02) / d) : (struct vec3){ 0, 0, 0 };
	dv = vec_sub(want, s->v);
	k = vec_norm(dv);
	if (k > 5 * dt)
		dv = vec_scale(dv, 5 * dt / k);
	s->v = vec_add(s->v, dv);
	s->actual.p = vec_add(s->actual.p, vec_scale(s->v, dt));
	s->actual.q = s->goal.q;
}

static void writer_ticks(struct side *s, int64_t now)
{
	static const struct slew_limits limits = { 0.25, 1.5707963267948966, 2.5, 15, 0.0375,
		0.235619449 };
	struct slew_step out;
	struct slew_target t = { .pose = s->target, .lo = { -9, -9, -9 }, .hi = { 9, 9, 9 } };

	if (s->is_run && slew_step(&s->slew, &limits, &t, s->actual, 1e-6 * TICK_US, &out)) {
		s->slew = out.next;
		s->goal = s->slew.cmd;
	}
	tell(s, now, s->is_run);
}

static void writer_holds(struct side *s, int64_t now)
{
	s->stop_us = 0;
	if (!s->is_run)
		return;
	s->is_run = false;
	s->goal = s->actual;
	slew_reset(&s->slew, s->actual);
	tell(s, now, false);
}

static void deliver(struct watch *w, int i, struct side *s, int64_t now)
{
	int kept = 0;

	for (int k = 0; k < s->n; k++)
		if (s->late[k].at <= now)
			watch_record(w, i, &s->late[k].r, now);
		else
			s->late[kept++] = s->late[k];
	s->n = kept;
}

static struct vec3 true_tip(const struct side *s, int i)
{
	return pose_apply(pose_mul(conf.base[i], s->actual), conf.tool);
}

struct outcome {
	double least, held_at; /* m; held_at 0: never held */
	int holds, freed;
};

/* Flange pose of arm i whose flange is at p of the shared frame. */
static struct pose flange_at(int i, struct vec3 p)
{
	struct pose at = { p, quat_exp(somewhere(0.8)) };

	return pose_mul(pose_inv(conf.base[i]), at);
}

static void engage(struct side *s, struct vec3 goal, int i)
{
	s->target = flange_at(i, goal);
	slew_reset(&s->slew, s->actual);
	s->is_run = true;
}

/* Two hands that want to cross, engage again after each hold, towards each other or apart. */
static struct outcome crossing(bool watched)
{
	struct watch w;
	struct watch_conf c = conf;
	struct side s[WATCH_ARMS] = { 0 };
	struct outcome o = { .least = 9 };
	struct vec3 middle = somewhere(0.1);
	int64_t now = 1000000, again_us = 0;

	c.has_min = watched;
	watch_init(&w, &c);
	for (int i = 0; i < WATCH_ARMS; i++) {
		struct vec3 from = somewhere(0.1);

		from.y += i ? 0.3 : -0.3;
		s[i].actual = flange_at(i, from);
		s[i].goal = s[i].actual;
		s[i].tick_us = now + (int64_t)uniform(0, TICK_US);
		engage(&s[i], vec_sub(vec_scale(middle, 2), from), i);
	}
	for (int64_t end = now + 5000000; now < end; now += STEP_US) {
		char why[REC_TEXT_MAX];
		double d;

		for (int i = 0; i < WATCH_ARMS; i++) {
			arm_moves(&s[i], 1e-6 * STEP_US);
			if (s[i].stop_us && now >= s[i].stop_us)
				writer_holds(&s[i], now);
			if (now >= s[i].tick_us) {
				writer_ticks(&s[i], now);
				s[i].tick_us += TICK_US + (int64_t)uniform(-2 * MS, 2 * MS);
			}
			deliver(&w, i, &s[i], now);
		}
		d = vec_dist(true_tip(&s[0], 0), true_tip(&s[1], 1));
		o.least = fmin(o.least, d);
		if (now < 1060000) /* both were heard of */
			continue;
		if (watch_decide(&w, now, why, sizeof why) != WATCH_GO) {
			for (int i = 0; i < WATCH_ARMS; i++)
				if (!s[i].stop_us)
					s[i].stop_us = now + (int64_t)uniform(200, 10 * MS);
			o.holds++;
			if (o.held_at == 0)
				o.held_at = d;
			again_us = now + (int64_t)uniform(150 * MS, 600 * MS);
		} else if (!s[0].is_run && !s[1].is_run && now >= again_us) {
			bool apart = uniform(0, 1) < 0.5;
			int only = (int)uniform(0, 3); /* 2: both */

			for (int i = 0; i < WATCH_ARMS; i++) {
				struct vec3 to = somewhere(0.1);

				to.y += (i ? 0.4 : -0.4) * (apart ? 1 : -1);
				if (only == 2 || only == i)
					engage(&s[i], to, i);
			}
		}
		o.freed += o.holds > 0 && d > 0.3;
	}
	return o;
}

static void test_crossings(void)
{
	int n = getenv("TELEOP_LONG") ? 1000 : 100, under = 0, held = 0, freed = 0, early = 0;
	double least = 9, held_at = 0;

	for (int k = 0; k < 20; k++)
		under += crossing(false).least < MIN_M;
	ok(under >= 10, "not watched: %d of 20 crossings come too near", under);
	under = 0;
	for (int k = 0; k < n; k++) {
		struct outcome o = crossing(true);

		under += o.least < MIN_M;
		held += o.holds > 0;
		freed += o.freed > 0;
		early += o.held_at > MIN_M + 0.14;
		least = fmin(least, o.least);
		held_at = fmax(held_at, o.held_at);
	}
	printf("# least %.1f mm, first hold at most at %.1f mm, %d of %d held, %d came apart "
	       "again\n",
		least * 1e3, held_at * 1e3, held, n, freed);
	ok(under == 0, "%d crossings: never nearer than %.0f mm", n, MIN_M * 1e3);
	ok(held > n * 9 / 10, "nearly all had to be held");
	ok(early == 0, "none far from the smallest distance");
	ok(freed > held / 2, "most of those held came apart again, by engage alone");
}

int main(void)
{
	test_segments();
	test_edges();
	test_crossings();
	return tap_done();
}
