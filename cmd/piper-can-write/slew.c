#include "slew.h"

#include <math.h>

/* Share of the acceleration that the braking rule counts on; the rest absorbs the uneven ages of
 * the samples that a fixed tick meets. */
#define BRAKE_SHARE 0.8
/* The same for one axis towards a face of the box round the targets. */
#define AXIS_SHARE 0.8
#define LEAST_SHARE 0.5
/* And what pursuing may use at all; the rest is for staying within the box round the targets. */
#define PURSUE_SHARE 0.95

/* Worth telling of. */
#define BEHIND_M 1e-3
#define BEHIND_RAD 0.01

void slew_reset(struct slew *s, struct pose measured)
{
	*s = (struct slew){ .cmd = measured };
}

void slew_lead(struct pose a, struct pose b, double *m, double *rad)
{
	*m = vec_dist(a.p, b.p);
	*rad = quat_angle(a.q, b.q);
}

/* Speed from which we, braking at b, stop within `way` of a place that itself recedes at `away` and
 * brakes at up to a: v^2/2b + v dt = way + away^2/2a. */
static double stopping_speed(double way, double away, double a, double b, double dt)
{
	return b * (sqrt(dt * dt + (2 * way + away * away / a) / b) - dt);
}

/* base and as much of `more` as keeps the sum within `most`. */
static struct vec3 add_within(struct vec3 base, struct vec3 more, double most)
{
	double left = most * most - vec_dot(base, base);
	double a = vec_dot(more, more), b = vec_dot(base, more);

	if (left <= 0)
		return vec_scale(base, most / vec_norm(base));
	if (a <= 0)
		return base;
	return vec_add(base, vec_scale(more, fmin(1, (sqrt(b * b + a * left) - b) / a)));
}

struct course {
	struct vec3 way; /* still to go */
	struct vec3 v;   /* present velocity */
	struct vec3 target_v;
	struct vec3 below, above; /* room within the box round the targets, >= 0 */
};

/* One axis: the wanted speed, so that it can stop within its room, moved on by a target that runs
 * there; and what of the change must come first (room), then next (braking), then last. */
struct axis {
	double room, brake, gain;
};

/* Share of the acceleration that is this axis' when all brake together, by its share of v. */
static double axis_share(double v_axis, struct vec3 v)
{
	double n = vec_norm(v);

	return AXIS_SHARE * fmax(LEAST_SHARE, n > 0 ? fabs(v_axis) / n : 1);
}

static double axis_most(double room, double away, double share, double accel, double dt)
{
	return stopping_speed(
		fmax(0, room), fmax(0, away), accel / PURSUE_SHARE, share * accel, dt);
}

static struct axis axis_change(double v, double want, double most_up, double most_down)
{
	struct axis c;
	double to = fmin(most_up, fmax(-most_down, v));

	want = fmin(most_up, fmax(-most_down, want));
	c.room = to - v;
	/* From `to`: towards zero is braking, beyond it gaining. */
	c.brake = to * (want - to) >= 0 ? 0 : fabs(want - to) > fabs(to) ? -to : want - to;
	c.gain = want - to - c.brake;
	return c;
}

/* Velocity for the next dt. */
static struct vec3 pursue(const struct course *c, double speed, double accel, double dt)
{
	double dist = vec_norm(c->way), b = BRAKE_SHARE * accel;
	struct vec3 want = { 0, 0, 0 };

	if (dist > 0) {
		double away = fmax(0, vec_dot(c->target_v, c->way) / dist);

		want = vec_scale(c->way,
			fmin(speed, fmin(dist / dt, stopping_speed(dist, away, b, b, dt))) / dist);
	}

#define AXIS(k)                                                                                    \
	axis_change(c->v.k, want.k,                                                                \
		axis_most(c->above.k, c->target_v.k, axis_share(c->v.k, c->v), accel, dt),         \
		axis_most(c->below.k, -c->target_v.k, axis_share(c->v.k, c->v), accel, dt))
	struct axis x = AXIS(x), y = AXIS(y), z = AXIS(z);
	struct vec3 change = { x.room, y.room, z.room };

	change = add_within(change, (struct vec3){ x.brake, y.brake, z.brake }, accel * dt);
	change = add_within(change, (struct vec3){ x.gain, y.gain, z.gain }, accel * dt);
#undef AXIS
	struct vec3 v = vec_add(c->v, change);
	double n = vec_norm(v);

	return n > speed ? vec_scale(v, speed / n) : v;
}

/* The point of the step ball round `from` (radius step) and the lead ball round `centre` (radius
 * lead) nearest to `want`, or the point on the way from `from` to `centre`. */
static bool bound_point(struct vec3 from, struct vec3 centre, double step, double lead,
	struct vec3 *want, bool *bound)
{
	double far = vec_dist(*want, centre);

	if (far <= lead)
		return true;
	*bound = true;

	struct vec3 at = vec_add(centre, vec_scale(vec_sub(*want, centre), lead / far));

	if (vec_dist(at, from) > step) {
		double gap = vec_dist(from, centre);

		if (gap > lead + step)
			return false;
		at = vec_add(from, vec_scale(vec_sub(centre, from), fmin(1, step / gap)));
	}
	*want = at;
	return true;
}

static bool bound_turn(struct quat from, struct quat centre, double step, double lead,
	struct quat *want, bool *bound)
{
	double far = quat_angle(*want, centre);

	if (far <= lead)
		return true;
	*bound = true;

	struct quat at = quat_slerp(centre, *want, lead / far);

	if (quat_angle(at, from) > step) {
		double gap = quat_angle(from, centre);

		if (gap > lead + step)
			return false;
		at = quat_slerp(from, centre, fmin(1, step / gap));
	}
	*want = at;
	return true;
}

static double within(double x, double lo, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/* Back into the box round the targets, where the limits allow it: what clamp keeps in, a bend of
 * ours does not leave by a hair. */
static void stay_inside(const struct slew *s, const struct slew_limits *lim,
	const struct slew_target *t, double dt, struct vec3 *p)
{
	struct vec3 in = { within(p->x, t->lo.x, t->hi.x), within(p->y, t->lo.y, t->hi.y),
		within(p->z, t->lo.z, t->hi.z) };
	struct vec3 v = vec_scale(vec_sub(in, s->cmd.p), 1 / dt);

	if (vec_norm(v) <= lim->speed_m && vec_dist(v, s->v) <= lim->accel_m * dt)
		*p = in;
}

bool slew_step(const struct slew *s, const struct slew_limits *lim, const struct slew_target *t,
	struct pose measured, double dt, struct slew_step *out)
{
	const struct vec3 no_end = { HUGE_VAL, HUGE_VAL, HUGE_VAL };
	struct course go = { vec_sub(t->pose.p, s->cmd.p), s->v, t->v, vec_sub(s->cmd.p, t->lo),
		vec_sub(t->hi, s->cmd.p) };
	struct course turn = { quat_log(quat_mul(t->pose.q, quat_conj(s->cmd.q))), s->w, t->w,
		no_end, no_end };
	struct vec3 v = pursue(&go, lim->speed_m, PURSUE_SHARE * lim->accel_m, dt);
	struct vec3 w = pursue(&turn, lim->speed_rad, PURSUE_SHARE * lim->accel_rad, dt);
	struct pose c = {
		.p = vec_add(s->cmd.p, vec_scale(v, dt)),
		.q = quat_unit(quat_mul(quat_exp(vec_scale(w, dt)), s->cmd.q)),
	};

	*out = (struct slew_step){ .behind = false };
	stay_inside(s, lim, t, dt, &c.p);
	if (!bound_point(
		    s->cmd.p, measured.p, lim->speed_m * dt, lim->lead_m, &c.p, &out->at_lead) ||
		!bound_turn(s->cmd.q, measured.q, lim->speed_rad * dt, lim->lead_rad, &c.q,
			&out->at_lead))
		return false;
	out->next.cmd = c;
	out->next.v = vec_scale(vec_sub(c.p, s->cmd.p), 1 / dt);
	out->next.w = vec_scale(quat_log(quat_mul(c.q, quat_conj(s->cmd.q))), 1 / dt);
	out->behind =
		vec_dist(c.p, t->pose.p) > BEHIND_M || quat_angle(c.q, t->pose.q) > BEHIND_RAD;
	slew_lead(c, measured, &out->lead_m, &out->lead_rad);
	return true;
}
