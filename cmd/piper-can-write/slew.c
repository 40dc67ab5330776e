#include "slew.h"

#include <math.h>

/* Share of the acceleration that the braking rule counts on; the rest absorbs the uneven ages of
 * the samples that a fixed tick meets. */
#define BRAKE_SHARE 0.8

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

/* Change of the velocity v, at most `most`, towards `rate` along u. While it gains speed what leads
 * aside goes first: targets along a wall of the allowed space must not be left to the outside
 * because all of the acceleration went into the way along it. */
static struct vec3 change_of(struct vec3 v, struct vec3 u, double rate, double most)
{
	double along = rate - vec_dot(v, u);
	struct vec3 aside = vec_sub(vec_scale(u, vec_dot(v, u)), v);
	double n = vec_norm(aside);

	if (along > 0 && n < most)
		along = fmin(along, sqrt(most * most - n * n));
	else if (along > 0)
		along = 0;

	struct vec3 change = vec_add(aside, vec_scale(u, along));

	n = vec_norm(change);
	return n > most ? vec_scale(change, most / n) : change;
}

/* Velocity for the next dt, given the way d still to go and the present velocity v. The speed from
 * which both we and a target receding at `away` stop at the same place, both braking at b:
 * v^2/2b + v dt = |d| + away^2/2b. */
static struct vec3 pursue(
	struct vec3 d, struct vec3 v, struct vec3 target_v, double speed, double accel, double dt)
{
	double dist = vec_norm(d);
	double b = BRAKE_SHARE * accel;
	struct vec3 u = { 0, 0, 0 };
	double rate = 0;

	if (dist > 0) {
		u = vec_scale(d, 1 / dist);

		double away = fmax(0, vec_dot(target_v, u));
		double stop = b * (sqrt(dt * dt + (2 * dist + away * away / b) / b) - dt);

		rate = fmin(speed, fmin(dist / dt, stop));
	}
	v = vec_add(v, change_of(v, u, rate, accel * dt));

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

bool slew_step(const struct slew *s, const struct slew_limits *lim, const struct slew_target *t,
	struct pose measured, double dt, struct slew_step *out)
{
	struct vec3 way = vec_sub(t->pose.p, s->cmd.p);
	struct vec3 turn = quat_log(quat_mul(t->pose.q, quat_conj(s->cmd.q)));
	struct vec3 v = pursue(way, s->v, t->v, lim->speed_m, lim->accel_m, dt);
	struct vec3 w = pursue(turn, s->w, t->w, lim->speed_rad, lim->accel_rad, dt);
	struct pose c = {
		.p = vec_add(s->cmd.p, vec_scale(v, dt)),
		.q = quat_unit(quat_mul(quat_exp(vec_scale(w, dt)), s->cmd.q)),
	};

	*out = (struct slew_step){ .behind = false };
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
