/* clamp: box, tip, cone, cylinder, speeds and accelerations, recomputed here from the output. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clamp/limits.h"
#include "tap.h"

#define RAD(d) ((d) * (M_PI / 180))

static uint64_t seed = 88172645463325252u;
static double rnd(double lo, double hi)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return lo + (hi - lo) * (double)(seed >> 11) / 9007199254740992.0;
}

/* Rotation of v by a quaternion of any norm, by its matrix: not the code under test. */
static void turn_vec(struct quat q, const double v[3], double out[3])
{
	double s = 2 / (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
	double m[3][3] = {
		{ 1 - s * (q.y * q.y + q.z * q.z), s * (q.x * q.y - q.z * q.w),
			s * (q.x * q.z + q.y * q.w) },
		{ s * (q.x * q.y + q.z * q.w), 1 - s * (q.x * q.x + q.z * q.z),
			s * (q.y * q.z - q.x * q.w) },
		{ s * (q.x * q.z - q.y * q.w), s * (q.y * q.z + q.x * q.w),
			1 - s * (q.x * q.x + q.y * q.y) },
	};
	for (int i = 0; i < 3; i++)
		out[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
}

/* Rotation vector from a to b in the base frame. */
static void turn_between(struct quat a, struct quat b, double out[3])
{
	double x = b.w * -a.x + b.x * a.w + b.y * -a.z - b.z * -a.y;
	double y = b.w * -a.y - b.x * -a.z + b.y * a.w + b.z * -a.x;
	double z = b.w * -a.z + b.x * -a.y - b.y * -a.x + b.z * a.w;
	double w = b.w * a.w + b.x * a.x + b.y * a.y + b.z * a.z;
	double s = sqrt(x * x + y * y + z * z), ang = 2 * atan2(s, fabs(w)) * (w < 0 ? -1 : 1);
	double k = s > 0 ? ang / s : 0;
	out[0] = k * x;
	out[1] = k * y;
	out[2] = k * z;
}

static double len(const double v[3])
{
	return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static struct limits piper(void)
{
	struct limits l = {
		.speed = 0.25, .accel = 2.5, .aspeed = RAD(90), .aaccel = 15, .grip_rate = 2
	};
	space_free(&l.space);
	for (int i = 0; i < 2; i++) {
		l.space.lo[i] = -0.4;
		l.space.hi[i] = 0.4;
	}
	l.space.lo[2] = 0.05;
	l.space.hi[2] = 0.7;
	l.space.radius = 0.1;
	return l;
}

static struct rec_pose at(double x, double y, double z)
{
	return (struct rec_pose){
		.frame = REC_BASE, .valid = true, .pose = { { x, y, z }, { 0, 0, 0, 1 } }
	};
}

/* As a line carries it. */
static double nine(double x)
{
	return rint(x * 1e9) / 1e9;
}

static struct quat any_turn(double deg)
{
	double a = RAD(rnd(-deg, deg)) / 2, v[3] = { rnd(-1, 1), rnd(-1, 1), rnd(-1, 1) };
	double k = sin(a) / fmax(1e-9, len(v));
	return (struct quat){ nine(k * v[0]), nine(k * v[1]), nine(k * v[2]), nine(cos(a)) };
}

struct seen {
	double box, tip, tilt, radius, speed, aspeed, accel, aaccel, grip;
	long walls, changed, steps;
};

static void see_space(const struct limits *l, const struct rec_pose *p, struct seen *s)
{
	const double pos[3] = { p->pose.p.x, p->pose.p.y, p->pose.p.z };
	const double t[3] = { l->space.tool.x, l->space.tool.y, l->space.tool.z };
	const double up[3] = { 0, 0, 1 };
	const double ax[3] = { l->space.tilt_axis.x, l->space.tilt_axis.y, l->space.tilt_axis.z };
	double tip[3], z[3];
	turn_vec(p->pose.q, t, tip);
	turn_vec(p->pose.q, up, z);
	for (int i = 0; i < 3; i++) {
		s->box = fmax(s->box, fmax(l->space.lo[i] - pos[i], pos[i] - l->space.hi[i]));
		if (l->space.has_tool)
			s->tip = fmax(s->tip, fmax(l->space.lo[i] - pos[i] - tip[i],
						      pos[i] + tip[i] - l->space.hi[i]));
	}
	double dot = z[0] * ax[0] + z[1] * ax[1] + z[2] * ax[2];
	double c[3] = { z[1] * ax[2] - z[2] * ax[1], z[2] * ax[0] - z[0] * ax[2],
		z[0] * ax[1] - z[1] * ax[0] };
	if (l->space.tilt >= 0)
		s->tilt = fmax(s->tilt, atan2(len(c), dot) - l->space.tilt);
	s->radius = fmax(s->radius, l->space.radius - hypot(pos[0], pos[1]));
}

struct trail {
	bool any;
	int64_t t;
	struct rec_pose p;
	double v[3], w[3];
};

/* Speeds between consecutive outputs, and how far the velocity changed beyond its budget. */
static void see_rates(const struct limits *l, const struct rec_pose *p, int64_t t, struct trail *k,
	struct seen *s)
{
	double v[3] = { 0 }, w[3] = { 0 }, dv[3], dw[3];
	if (k->any) {
		double dt = (double)(t - k->t > 100000 ? 100000 : t - k->t) * 1e-6;
		v[0] = (p->pose.p.x - k->p.pose.p.x) / dt;
		v[1] = (p->pose.p.y - k->p.pose.p.y) / dt;
		v[2] = (p->pose.p.z - k->p.pose.p.z) / dt;
		turn_between(k->p.pose.q, p->pose.q, w);
		for (int i = 0; i < 3; i++) {
			w[i] /= dt;
			dv[i] = (v[i] - k->v[i]) / dt;
			dw[i] = (w[i] - k->w[i]) / dt;
		}
		s->speed = fmax(s->speed, len(v) - l->speed);
		s->aspeed = fmax(s->aspeed, len(w) - l->aspeed);
		if (len(dv) > l->accel + 1e-3 || len(dw) > l->aaccel + 1e-3)
			s->walls++;
		s->accel = fmax(s->accel, len(dv) - l->accel);
		s->aaccel = fmax(s->aaccel, len(dw) - l->aaccel);
		if (p->has_grip)
			s->grip = fmax(s->grip, fabs(p->grip - k->p.grip) / dt - l->grip_rate);
	}
	k->any = true;
	k->t = t;
	k->p = *p;
	memcpy(k->v, v, sizeof(v));
	memcpy(k->w, w, sizeof(w));
}

/* Inputs: a random walk, jumps, a sine at the limits, a jittery hand; changed every 500 steps. */
static void drive(int kind, long i, struct rec_pose *in)
{
	double s = (double)i * 0.01;
	if (kind == 0) {
		in->pose.p.x = nine(in->pose.p.x + rnd(-0.01, 0.01));
		in->pose.p.y = nine(in->pose.p.y + rnd(-0.01, 0.01));
		in->pose.p.z = nine(in->pose.p.z + rnd(-0.01, 0.01));
	} else if (kind == 1 && i % 40 == 0) {
		in->pose.p = (struct vec3){ nine(rnd(-0.8, 0.8)), nine(rnd(-0.8, 0.8)),
			nine(rnd(-0.3, 1)) };
		in->pose.q = any_turn(180);
	} else if (kind == 2) {
		in->pose.p = (struct vec3){ nine(0.3 + 0.2 * sin(1.3 * s)),
			nine(0.2 * cos(2.7 * s)), nine(0.3 + 0.3 * sin(s)) };
		double a = sin(2.5 * s) * 0.7;
		in->pose.q = (struct quat){ nine(sin(a)), 0, 0, nine(cos(a)) };
	} else if (kind == 3) {
		in->pose.p = (struct vec3){ nine(0.25 * cos(0.7 * s) + rnd(-0.001, 0.001)),
			nine(0.25 * sin(0.9 * s) + rnd(-0.001, 0.001)), nine(0.3) };
		in->pose.q = any_turn(20);
	}
	in->has_grip = true;
	in->grip = nine(0.5 + 0.9 * sin(3 * s));
}

static struct seen campaign(const struct limits *l, long steps, bool jitter)
{
	struct seen seen = { 0 };
	struct limits_state st = { 0 };
	struct trail tr = { 0 };
	struct rec_pose in = at(0.28, 0, 0.2);
	int64_t t = 1000000;
	in.pose.q = (struct quat){ 0, nine(sin(1.3)), 0, nine(cos(1.3)) };
	for (long i = 0; i < steps; i++) {
		drive((int)(i / 500 % 4), i, &in);
		struct rec_pose p = in;
		bool changed = limits_apply(l, &st, t, &p);
		seen.changed += changed;
		seen.steps++;
		if (changed) { /* what is printed */
			struct pose *o = &p.pose;
			o->p = (struct vec3){ nine(o->p.x), nine(o->p.y), nine(o->p.z) };
			o->q = (struct quat){ nine(o->q.x), nine(o->q.y), nine(o->q.z),
				nine(o->q.w) };
			p.grip = nine(p.grip);
		}
		see_space(l, &p, &seen);
		see_rates(l, &p, t, &tr, &seen);
		t += jitter ? (int64_t)rnd(4000, 150000) : 10000;
	}
	return seen;
}

static void report(const char *name, struct seen s)
{
	ok(s.box <= 0 && s.tip < 5e-9 && s.tilt < 5e-9 && s.radius < 1e-11,
		"%s: space held at every output (box %.1e tip %.1e tilt %.1e radius %.1e)", name,
		s.box, s.tip, s.tilt, s.radius);
	ok(s.speed < 1e-9 && s.aspeed < 1e-9 && s.grip < 1e-9,
		"%s: speeds within 1e-9 (%.1e m/s, %.1e rad/s, grip %.1e)", name, s.speed, s.aspeed,
		s.grip);
}

static void test_campaigns(void)
{
	struct limits l = piper();
	struct seen s = campaign(&l, 60000, false);
	report("box and cylinder", s);
	ok(s.walls == 0, "box and cylinder: acceleration held at every step (%.1e, %.1e; %ld over)",
		s.accel, s.aaccel, s.walls);
	s = campaign(&l, 20000, true);
	report("uneven time", s);
	ok(s.walls == 0, "uneven time: acceleration held (%.1e, %.1e; %ld over)", s.accel, s.aaccel,
		s.walls);
	l.space.tilt = RAD(40);
	l.space.tilt_axis = (struct vec3){ 0.6, 0, -0.8 };
	s = campaign(&l, 20000, false);
	report("cone", s);
	ok(s.walls * 1000 <= s.steps,
		"cone: acceleration gives way in %ld of %ld steps (at most 0.1 %%)", s.walls,
		s.steps);
	l.space.tilt = -1;
	l.space.has_tool = true;
	l.space.tool = (struct vec3){ 0.02, 0, 0.145 };
	s = campaign(&l, 40000, true);
	report("tip", s);
	ok(s.walls * 20 <= s.steps,
		"tip: acceleration gives way in %ld of %ld steps (at most 5 %%)", s.walls, s.steps);
	l.space.tilt = RAD(60);
	s = campaign(&l, 40000, false);
	report("everything", s);
}

static void test_settles(void)
{
	const double goal[3] = { 0.38, 0.21, 0.55 };
	struct limits l = piper();
	struct limits_state st = { 0 };
	struct rec_pose p = at(0.2, -0.1, 0.2);
	double last = 9, over = 0, d = 9;
	int turns = 0, i, settled = -1;
	limits_apply(&l, &st, 0, &p);
	for (i = 1; i < 600; i++) {
		p = at(goal[0], goal[1], goal[2]);
		limits_apply(&l, &st, i * 10000, &p);
		double e[3] = { p.pose.p.x - goal[0], p.pose.p.y - goal[1], p.pose.p.z - goal[2] };
		d = len(e);
		over = fmax(over, e[0]);
		turns += d > last;
		last = d;
		if (settled < 0 && d == 0)
			settled = i;
	}
	/* 0.5 m at 0.25 m/s with 0.1 s each to get going and to brake: 2.1 s. */
	ok(turns == 0 && over <= 0 && d == 0, "a constant goal is reached without passing it");
	ok(settled > 195 && settled < 230, "and in the time its limits ask for (%d of 210 steps)",
		settled);
}

static void test_moving_stop(void)
{
	struct limits l = piper();
	struct limits_state st = { 0 };
	double goal = 0.15, over = 0, v = 0;
	int signs = 0, prev = 0, limited = 0;
	for (int i = 0; i < 300; i++) {
		if (i > 0 && i < 100) {
			v = fmin(0.2, v + 0.02);
			goal += v * 0.01;
		}
		struct rec_pose p = at(goal, 0.2, 0.3);
		limited += limits_apply(&l, &st, i * 10000, &p) && i < 100;
		double e = p.pose.p.x - goal;
		int sg = e > 1e-9 ? 1 : e < -1e-9 ? -1 : 0;
		signs += sg && prev && sg != prev;
		prev = sg ? sg : prev;
		over = fmax(over, e);
		if (i == 299)
			ok(e == 0, "a goal that stops dead is reached");
	}
	ok(limited == 0, "a motion within the limits passes unchanged");
	ok(over < 0.0105 && signs == 0, "it is passed once, by the braking distance (%.4f m)",
		over);
}

/* A hand that is already moving when the stream begins, then stops as a hand does. */
static void test_catches_up(void)
{
	struct limits l = piper();
	struct limits_state st = { 0 };
	double y = -0.2, v = 0.15, over = 0;
	int caught = -1, again = 0;
	for (int i = 0; i < 300; i++) {
		if (i > 200)
			v = fmax(0, v - 0.02);
		y += v * 0.01;
		struct rec_pose p = at(0.3, nine(y), 0.3);
		bool limited = limits_apply(&l, &st, i * 10000, &p);
		if (!limited && i > 0 && caught < 0)
			caught = i;
		again += limited && caught >= 0;
		over = fmax(over, p.pose.p.y - y);
	}
	/* 6 steps to get as fast as the hand; 4.5 mm behind by then. */
	ok(caught > 6 && caught < 60 && again == 0,
		"the output catches up with a moving goal (after %d steps) and stays with it",
		caught);
	ok(over < 1e-3, "and hardly passes it (%.6f m)", over);
}

static void test_wall(void)
{
	struct limits l = piper();
	struct limits_state st = { 0 };
	struct seen s = { 0 };
	struct trail tr = { 0 };
	double x = 0.2, v = 0;
	bool named = false;
	for (int i = 0; i < 300; i++) {
		v = fmin(0.25, v + 0.02);
		x += v * 0.01;
		struct rec_pose p = at(nine(x), 0.2, 0.3);
		limits_apply(&l, &st, i * 10000, &p);
		see_space(&l, &p, &s);
		see_rates(&l, &p, i * 10000, &tr, &s);
		named = named || strstr(p.clamped, "x");
	}
	ok(s.box <= 0 && s.walls == 0 && tr.p.pose.p.x == 0.4 && named,
		"running into a face: brakes before it, stands at it, says x");
}

static double cross_base(double gx, double gy, double *r_least, double *moved, char *names)
{
	struct limits l = piper();
	struct limits_state st = { 0 };
	struct rec_pose p = at(0.3, 0, 0.3);
	limits_apply(&l, &st, 0, &p);
	*r_least = 9;
	for (int i = 1; i < 1500; i++) {
		p = at(gx, gy, 0.3);
		limits_apply(&l, &st, i * 10000, &p);
		*r_least = fmin(*r_least, hypot(p.pose.p.x, p.pose.p.y));
		if (i == 1)
			strcpy(names, p.clamped);
	}
	*moved = hypot(p.pose.p.x - 0.3, p.pose.p.y);
	return hypot(p.pose.p.x - gx, p.pose.p.y - gy);
}

static void test_cylinder(void)
{
	double r, moved;
	char names[REC_CLAMPED_MAX];
	double d = cross_base(-0.3, 0.001, &r, &moved, names);
	ok(r >= 0.1 - 1e-12 && d > 0.39 && fabs(moved - 0.2) < 1e-4 && strstr(names, "radius"),
		"a goal behind the base axis is waited for at the cylinder (r %.6f)", r);
	d = cross_base(-0.2, 0.05, &r, &moved, names);
	ok(r >= 0.1 - 1e-12 && d > 0.05,
		"149 degrees round from where the way meets it: waited for");
	d = cross_base(0.0175, 0.0995, &r, &moved, names);
	ok(r >= 0.1 - 1e-12 && d == 0 && strstr(names, "radius"),
		"80 degrees round: reached, round the cylinder (r %.6f)", r);
	d = cross_base(0.05, 0.02, &r, &moved, names);
	ok(r >= 0.1 - 1e-12 && fabs(d - (0.1 - hypot(0.05, 0.02))) < 1e-8,
		"a goal inside the cylinder: nearest point of its wall");
}

static void test_fresh_and_invalid(void)
{
	struct limits l = piper();
	struct limits_state st = { 0 };
	struct rec_pose p = at(0.2, 0, 0.3), q;
	ok(!limits_apply(&l, &st, 0, &p) && !p.clamped[0], "first pose: as it is");
	p = at(0.35, 0, 0.3);
	p.valid = false;
	ok(limits_apply(&l, &st, 10000, &p) && p.pose.p.x == 0.2 && !p.valid && !p.clamped[0],
		"valid:false repeats the last output");
	p = at(0.35, 0, 0.3);
	ok(!limits_apply(&l, &st, 20000, &p) && p.pose.p.x == 0.35, "after valid:false: afresh");
	p = at(0.39, 0.1, 0.3);
	ok(limits_apply(&l, &st, 520000, &p) && p.pose.p.x < 0.36,
		"a gap of 500 ms is a step of 100 ms");
	p = at(0.2, 0.1, 0.3);
	ok(!limits_apply(&l, &st, 1020001, &p) && p.pose.p.x == 0.2, "a longer gap: afresh");
	q = at(0.21, 0.1, 0.3);
	ok(limits_apply(&l, &st, 1020001, &q) && q.pose.p.x == 0.2 && !strcmp(q.clamped, "speed"),
		"no time passed: the last output again (%s)", q.clamped);
	q = at(0.2001, 0.1, 0.3);
	limits_apply(&l, &st, 1010000, &q);
	ok(q.pose.p.x == 0.2, "time backwards: the last output again");
	p = at(0.5, 0.1, 0.02);
	p.has_grip = true;
	p.grip = 1.5;
	limits_apply(&l, &st, 100, &p);
	ok(p.pose.p.x == 0.4 && p.pose.p.z == 0.05 && p.grip == 1 && !strcmp(p.clamped, "x,z,grip"),
		"clock restarted: afresh, limited, named in order (%s)", p.clamped);
	p = at(0.4, 0.1, 0.05);
	p.has_grip = true;
	p.grip = 0;
	limits_apply(&l, &st, 50100, &p);
	ok(fabs(p.grip - 0.9) < 2e-9 && !strcmp(p.clamped, "grip-rate"), "gripper rate (%.9f)",
		p.grip);
}

static void test_tip_conflict(void)
{
	struct limits l = piper();
	struct limits_state st = { 0 };
	l.space.hi[2] = 0.15; /* a box 100 mm high */
	l.space.has_tool = true;
	l.space.tool = (struct vec3){ 0, 0, 0.145 };
	struct rec_pose p = at(0.2, 0.2, 0.1);
	limits_apply(&l, &st, 0, &p);
	ok(!p.valid && !strcmp(p.clamped, "z,tip-z"),
		"no allowed place and no last output: not valid");
	p = at(0.2, 0.2, 0.1);
	p.pose.q = (struct quat){ 0, sin(RAD(45)), 0, cos(RAD(45)) };
	ok(!limits_apply(&l, &st, 10000, &p) && p.valid, "tool level: fits");
	p = at(0.25, 0.2, 0.1);
	limits_apply(&l, &st, 20000, &p);
	ok(p.valid && p.pose.p.x == 0.2 && p.pose.q.y == sin(RAD(45)) &&
			!strcmp(p.clamped, "z,tip-z"),
		"tool up: the last output is held (%s)", p.clamped);
}

static void test_q_kept(void)
{
	struct limits l = piper();
	struct limits_state st = { 0 };
	struct rec_pose p = at(0.2, 0.2, 0.1);
	p.pose.q.w = 0.995;
	ok(!limits_apply(&l, &st, 0, &p) && p.pose.q.w == 0.995,
		"a quaternion a little off 1 is not rewritten");
	p = at(0.2, 0.2, 0.1);
	p.pose.q.w = -1;
	ok(!limits_apply(&l, &st, 10000, &p), "-q is the same rotation");
	l.space.tilt = RAD(30);
	memset(&st, 0, sizeof(st));
	p = at(0.2, 0.2, 0.1); /* tool straight up, allowed: 30 degrees round down */
	limits_apply(&l, &st, 0, &p);
	const double up[3] = { 0, 0, 1 };
	double z[3];
	turn_vec(p.pose.q, up, z);
	ok(fabs(acos(-z[2]) - RAD(30)) < 1e-7 && !strcmp(p.clamped, "tilt"),
		"opposite to the cone: its rim");
}

int main(void)
{
	struct limits none = { 0 };
	space_free(&none.space);
	ok(!limits_any(&none), "no limits: known as such");
	test_campaigns();
	test_settles();
	test_moving_stop();
	test_catches_up();
	test_wall();
	test_cylinder();
	test_fresh_and_invalid();
	test_tip_conflict();
	test_q_kept();
	return tap_done();
}
