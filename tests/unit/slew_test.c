/* Bounds of the commanded motion, for any target whatever (gate:G8, G9). Seeded, so repeatable. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "piper-can-write/lease.h"
#include "piper-can-write/ready_path.h"
#include "piper-can-write/slew.h"

#define DEG (M_PI / 180)

static int tests, failed;

static void ok(bool cond, const char *text)
{
	tests++;
	failed += !cond;
	printf("%sok %d - %s\n", cond ? "" : "not ", tests, text);
}

static unsigned long long state = 88172645463325252ULL;

#define ANYWHERE .lo = { -9, -9, -9 }, .hi = { 9, 9, 9 }

static double rnd(double lo, double hi)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return lo + (hi - lo) * (double)(state >> 11) / 9007199254740992.0;
}

static struct quat any_quat(void)
{
	return quat_unit((struct quat){ rnd(-1, 1), rnd(-1, 1), rnd(-1, 1), rnd(-1, 1) });
}

static const struct slew_limits LIM = { 0.25, 90 * DEG, 2.5, 15, 0.0375, 13.5 * DEG };

struct worst {
	double v, w, a, aw, lead, turn;
};

/* The arm follows with a lag of its own; targets jump, rest or run. */
static struct worst walk(int steps, bool lagging)
{
	struct slew s;
	struct slew_target t = { .pose = POSE_IDENTITY, ANYWHERE };
	struct pose arm = POSE_IDENTITY;
	struct worst m = { 0 };
	bool free_of_lead = true;

	slew_reset(&s, arm);
	for (int i = 0; i < steps; i++) {
		struct slew_step out;
		double dt = rnd(0.005, 0.05);

		if (rnd(0, 1) < 0.05) {
			t.pose.p = (struct vec3){ rnd(-1, 1), rnd(-1, 1), rnd(-1, 1) };
			t.pose.q = rnd(0, 1) < 0.5 ? any_quat() : quat_neg(t.pose.q);
		}
		if (rnd(0, 1) < 0.05)
			t.v = (struct vec3){ rnd(-9, 9), rnd(-9, 9), rnd(-9, 9) };
		if (!slew_step(&s, &LIM, &t, arm, dt, &out)) {
			slew_reset(&s, arm);
			continue;
		}
		m.v = fmax(m.v, vec_dist(out.next.cmd.p, s.cmd.p) / dt);
		m.w = fmax(m.w, quat_angle(out.next.cmd.q, s.cmd.q) / dt);
		if (!out.at_lead && free_of_lead) {
			m.a = fmax(m.a, vec_norm(vec_sub(out.next.v, s.v)) / dt);
			m.aw = fmax(m.aw, vec_norm(vec_sub(out.next.w, s.w)) / dt);
		}
		free_of_lead = !out.at_lead;
		m.lead = fmax(m.lead, vec_dist(out.next.cmd.p, arm.p));
		m.turn = fmax(m.turn, quat_angle(out.next.cmd.q, arm.q));
		s = out.next;
		arm = lagging ? pose_step(arm, s.cmd, 0.2 * dt, 1.0 * dt) : s.cmd;
	}
	return m;
}

static void test_bounds(void)
{
	struct worst m = walk(300000, false), l = walk(300000, true);

	ok(m.v <= 0.25 + 1e-9 && m.v > 0.24, "speed kept, and used");
	ok(m.w <= 90 * DEG + 1e-9 && m.w > 80 * DEG, "angular speed kept, and used");
	ok(m.a <= 2.5 + 1e-6 && m.a > 2.3, "acceleration kept, and used");
	ok(m.aw <= 15 + 1e-6 && m.aw > 13.5, "angular acceleration kept, and used");
	ok(l.v <= 0.25 + 1e-9 && l.lead <= 0.0375 + 1e-12 && l.lead > 0.037,
		"a lagging arm: speed and lead kept, the bound is reached");
	ok(l.turn <= 13.5 * DEG + 1e-9, "and the angular lead");
}

static void test_settles(void)
{
	struct slew s;
	struct slew_target t = { .pose = POSE_IDENTITY, ANYWHERE };
	struct slew_step out;
	double over = 0;

	t.pose.p.x = 0.2;
	t.pose.q = quat_exp((struct vec3){ 0, 0, 1 });
	slew_reset(&s, POSE_IDENTITY);
	for (int i = 0; i < 90; i++) {
		if (!slew_step(&s, &LIM, &t, s.cmd, 1 / 30.0, &out))
			break;
		s = out.next;
		over = fmax(over, s.cmd.p.x - 0.2);
	}
	ok(over <= 1e-12, "never beyond a target that stands");
	ok(vec_dist(s.cmd.p, t.pose.p) < 1e-9 && quat_angle(s.cmd.q, t.pose.q) < 1e-9,
		"and arrives there");
	ok(vec_norm(s.v) < 1e-9, "at rest");
}

/* A target that runs within the limits is followed without a lag that grows. */
static void test_follows(void)
{
	struct slew s;
	struct slew_target t = { .pose = POSE_IDENTITY, ANYWHERE };
	struct slew_step out;
	double lag = 0, x = 0, v = 0;

	slew_reset(&s, POSE_IDENTITY);
	for (int i = 0; i < 300; i++) {
		v = fmin(0.2, v + 2 / 30.0);
		x += v / 30;
		t.pose.p.x = x;
		t.v.x = v;
		if (!slew_step(&s, &LIM, &t, s.cmd, 1 / 30.0, &out))
			break;
		s = out.next;
		if (i > 30)
			lag = fmax(lag, x - s.cmd.p.x);
	}
	ok(lag < 1e-4, "a steady target is followed on the spot");
}

static void test_ready(void)
{
	const double goal[6] = { 0, 86 * DEG, -45 * DEG, 0, 24 * DEG, 0 };
	double cmd[6], arm[6], speed = 0, worst = 0, fastest = 0, lead = 0;
	struct ready_step out;
	enum ready r = READY_GO;
	int i;

	for (i = 0; i < 6; i++)
		cmd[i] = arm[i] = goal[i] + (i % 2 ? 0.7 : -0.6);
	for (i = 0; i < 1000; i++) {
		struct ready_path p = { cmd, speed, arm, goal, 0.1, 30 * DEG, 0.12 };
		double m, rad, dt = 1 / 30.0;

		r = ready_step(&PIPER_DH_NEW, &LIM, &p, dt, &out);
		if (r != READY_GO)
			break;
		slew_lead(chain_fk(&PIPER_DH_NEW, out.j), chain_fk(&PIPER_DH_NEW, arm), &m, &rad);
		lead = fmax(lead, m);
		fastest = fmax(fastest,
			vec_dist(chain_fk(&PIPER_DH_NEW, out.j).p, chain_fk(&PIPER_DH_NEW, cmd).p) /
				dt);
		for (int k = 0; k < 6; k++) {
			worst = fmax(worst, fabs(out.j[k] - arm[k]));
			cmd[k] = out.j[k];
			arm[k] += 0.4 * (cmd[k] - arm[k]);
		}
		speed = out.speed;
	}
	ok(r == READY_THERE, "G12: arrives");
	ok(worst <= 0.12 && lead <= 0.0375, "G12: within the lead all the way");
	ok(fastest <= 0.1 + 1e-4, "G12: at the speed of the ramp");
	arm[1] += 0.5;
	ok(ready_step(&PIPER_DH_NEW, &LIM,
		   &(struct ready_path){ cmd, 0, arm, goal, 0.1, 30 * DEG, 0.12 }, 1 / 30.0,
		   &out) == READY_LEAD,
		"G12: an arm that was pushed away ends it");
}

static void test_leases(void)
{
	struct leases l = { 0 };
	struct rec_beat b = { .stops = 0 };

	ok(!lease_beat(&l, "a", &b, 1000), "G23: first beat without a stop");
	b.stops = 2;
	ok(lease_beat(&l, "a", &b, 2000) && !lease_beat(&l, "a", &b, 3000),
		"G23: the count rose, once");
	ok(lease_beat(&l, "b", &b, 3000), "G23: a first beat that tells of stops counts from 0");
	b.stops = 1;
	ok(lease_beat(&l, "a", &b, 4000), "G23: a lower count is a src started anew");
	ok(!lease_lost(&l, 100000, 100000) && lease_lost(&l, 103001, 100000),
		"G24: a lease runs out");
	lease_drop_lost(&l, 103500, 100000);
	ok(lease_count(&l) == 1 && !lease_lost(&l, 103500, 100000),
		"G24: a reset drops the lost one only");
	b.stops = 2;
	ok(!lease_beat(&l, "b", &b, 110000) && lease_count(&l) == 2,
		"G24: it comes back without an old stop");
	b.stops = 0;
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "x%d", i);
		lease_beat(&l, name, &b, 110000);
	}
	b.stops = 1;
	ok(l.refused > 0 && lease_beat(&l, "one-too-many", &b, 110000),
		"a full table still hears a stop");
}

/* Targets at a wall (x = 0.23): the speed with which we came to it is gone first, however much the
 * way along the wall asks for. */
static void test_wall(void)
{
	struct slew s = { .cmd = { { 0.2300267, 0, 0 }, { 0, 0, 0, 1 } }, .v = { -0.0056, 0, 0 } };
	struct slew_target t = { .pose = { { 0.23, 0.02, 0 }, { 0, 0, 0, 1 } },
		.v = { 0, 0.25, 0 },
		.lo = { 0.23, -9, -9 },
		.hi = { 9, 9, 9 } };
	struct slew_step out = { .behind = false };
	double least = 1;

	for (int i = 0; i < 30; i++) {
		if (!slew_step(&s, &LIM, &t, s.cmd, 1.0 / 30, &out))
			break;
		s = out.next;
		least = fmin(least, s.cmd.p.x);
		t.pose.p.y += 0.25 / 30;
	}
	ok(least >= 0.23 - 1e-12, "a target that runs along a wall is not left to the outside");
	ok(vec_dist(s.cmd.p, t.pose.p) < 0.04, "and it is followed");
}

int main(void)
{
	test_bounds();
	test_wall();
	test_settles();
	test_follows();
	test_ready();
	test_leases();
	printf("1..%d\n", tests);
	return failed != 0;
}
