#include "piper-sim/motion.h"

#include <math.h>
#include <string.h>

#define STEP_S (ARM_STEP_US * 1e-6)
#define ARRIVED_RAD 1e-7
#define FALL_ACC 20.0     /* rad/s2; a fall gathers speed faster than the motors allow */
#define GRAVITY_SOFT 0.02 /* m/rad: below this pull a falling joint slows down */
#define PROBE_RAD 1e-4

double motion_speed(double dist, double v, double max_v, double acc, double dt_s)
{
	/* Highest speed from which steps of acc * dt still end at the goal:
	 * with n steps left, dist = acc dt^2 n (n + 1) / 2. */
	double unit = acc * dt_s * dt_s;
	double n = (sqrt(1.0 + 8.0 * fabs(dist) / unit) - 1.0) / 2.0;
	double want = copysign(fmin(max_v, acc * dt_s * n), dist);

	if (fabs(dist) <= unit)
		want = fabs(dist) / dt_s <= max_v ? dist / dt_s : want;
	return v + fmax(-acc * dt_s, fmin(acc * dt_s, want - v));
}

/* Heights of elbow, wrist centre and flange; elbow from its angle alone (piper.md 8.4). */
static void heights(const struct chain *c, const double q[ARM_JOINTS], double h[3])
{
	struct pose tip = chain_fk(c, q);
	struct vec3 back = quat_rotate(tip.q, (struct vec3){ 0, 0, -c->j[5].d });

	h[0] = c->j[0].d - c->j[2].a * sin(q[1] + c->j[1].offset);
	h[1] = tip.p.z + back.z;
	h[2] = tip.p.z;
}

double motion_lowest(const struct chain *c, const double q[ARM_JOINTS])
{
	double h[3];

	heights(c, q, h);
	return fmin(h[0], fmin(h[1], h[2]));
}

static double energy(const struct chain *c, const double q[ARM_JOINTS])
{
	double h[3];

	heights(c, q, h);
	return (h[0] + h[1] + h[2]) / 3.0;
}

/* Speed with which gravity turns joint i when nothing holds it. Friction holds 1, 4 and 6. */
static double fall_speed(const struct arm *a, int i, double rate)
{
	double q[ARM_JOINTS];

	if (a->supported || i == 0 || i == 3 || i == 5)
		return 0;
	memcpy(q, a->q, sizeof q);
	q[i] += PROBE_RAD;
	double up = energy(a->o.dh, q);
	q[i] -= 2 * PROBE_RAD;
	double pull = (energy(a->o.dh, q) - up) / (2 * PROBE_RAD);

	return rate * fmax(-1.0, fmin(1.0, pull / GRAVITY_SOFT));
}

/* The goal of lag_us ago. */
static const double *lagging_goal(struct arm *a)
{
	a->past_at = (a->past_at + 1) % ARM_PAST;
	memcpy(a->past[a->past_at], a->goal, sizeof a->goal);
	return a->past[(a->past_at + ARM_PAST - (int)(a->o.lag_us / ARM_STEP_US)) % ARM_PAST];
}

static void step_joint(struct arm *a, int i, double goal)
{
	bool sinks = simarm_status(a) == ARM_ESTOP;
	double top = a->o.speed_rad_s * a->speed_percent / 100.0;
	double acc = a->o.acc_rad_s2;
	double before = a->v[i];

	if (a->frozen[i]) {
		a->v[i] = 0;
		return;
	}
	if (!a->enabled[i] || sinks) {
		double want = fall_speed(a, i, a->enabled[i] ? a->o.sink_rad_s : a->o.fall_rad_s);
		double most = (a->enabled[i] ? acc : FALL_ACC) * STEP_S;
		a->v[i] += fmax(-most, fmin(most, want - a->v[i]));
	} else if (a->following) {
		a->v[i] = motion_speed(goal - a->q[i], a->v[i], top, acc, STEP_S);
	} else {
		a->v[i] -= fmax(-acc * STEP_S, fmin(acc * STEP_S, a->v[i]));
	}
	a->q[i] += a->v[i] * STEP_S;
	if (a->following && a->enabled[i] && !sinks && fabs(goal - a->q[i]) < ARRIVED_RAD &&
		fabs(before) <= acc * STEP_S) {
		a->q[i] = goal;
		a->v[i] = 0;
	}
	if (a->q[i] < a->o.dh->j[i].lo || a->q[i] > a->o.dh->j[i].hi) {
		a->q[i] = fmax(a->o.dh->j[i].lo, fmin(a->o.dh->j[i].hi, a->q[i]));
		a->v[i] = 0;
	}
}

static void step_gripper(struct arm *a)
{
	double most = a->o.gripper_m_s * STEP_S;
	double d = a->grip.goal_m - a->grip.width_m;

	a->grip.moving = a->grip.enabled && d != 0;
	if (a->grip.moving)
		a->grip.width_m =
			fabs(d) <= most ? a->grip.goal_m : a->grip.width_m + copysign(most, d);
}

void motion_step(struct arm *a)
{
	double before[ARM_JOINTS];
	const double *goal = lagging_goal(a);
	bool falls = simarm_status(a) == ARM_ESTOP || !simarm_all_enabled(a);

	memcpy(before, a->q, sizeof before);
	for (int i = 0; i < ARM_JOINTS; i++)
		step_joint(a, i, goal[i]);
	/* The table stops what falls; a driven arm is left to its commands. */
	a->contact = false;
	if (falls && motion_lowest(a->o.dh, a->q) < 0 &&
		motion_lowest(a->o.dh, a->q) < motion_lowest(a->o.dh, before)) {
		memcpy(a->q, before, sizeof before);
		memset(a->v, 0, sizeof a->v);
		a->contact = true;
	}
	step_gripper(a);
}
