#include "clamp/pace.h"

#include <math.h>

#define BISECT 24
#define FOLLOW_S 0.03 /* time constant of the smoothed velocity of a goal */

double pace_longest(const struct pace *c)
{
	return c->top > 0 ? fmax(0, c->top * c->dt - c->slack) : HUGE_VAL;
}

static double dv_most(const struct pace *c)
{
	double dv = c->acc * c->dt;

	return c->acc > 0 ? dv - fmin(2 * c->slack / c->dt, dv / 2) : HUGE_VAL;
}

/* v times what is left of it when it is cut to n. */
static struct vec3 cut(struct vec3 v, double n)
{
	double len = vec_norm(v);

	return len > n ? vec_scale(v, n / len) : v;
}

struct vec3 pace_run_out(const struct pace *c, struct vec3 v)
{
	return c->acc > 0 ? vec_scale(v, vec_norm(v) / (2 * PACE_BRAKE * c->acc))
			  : (struct vec3){ 0, 0, 0 };
}

bool pace_may_take(const struct pace *c, struct vec3 e)
{
	struct vec3 u = vec_scale(e, 1 / c->dt);
	double dv = c->acc * c->dt, tiny = 1e-10;

	if (c->top > 0 && vec_norm(u) > c->top + tiny)
		return false;
	if (!(c->acc > 0))
		return true;
	return vec_dist(u, c->was) <= dv + tiny &&
	       (vec_norm(u) <= dv / 2 || vec_dist(u, c->goal_v) <= dv + tiny);
}

struct vec3 pace_follow(const struct pace *c, struct vec3 v)
{
	double part = c->dt / (FOLLOW_S + c->dt);

	if (!(c->top > 0 && c->acc > 0) || vec_norm(v) > 1.5 * c->top)
		return (struct vec3){ 0, 0, 0 };
	return vec_add(c->lead_v, vec_scale(vec_sub(v, c->lead_v), part));
}

struct vec3 pace_steer(const struct pace *c, struct vec3 e)
{
	struct vec3 behind = vec_sub(e, vec_scale(c->lead_v, c->dt));
	double d = vec_norm(behind), a = PACE_BRAKE * c->acc;
	double u = c->acc > 0 ? a * (sqrt(c->dt * c->dt + 2 * d / a) - c->dt) : d / c->dt;
	struct vec3 more = d > 0 ? vec_scale(behind, u / d) : behind;
	struct vec3 want = cut(vec_add(c->lead_v, more), pace_longest(c) / c->dt);
	struct vec3 v = vec_add(c->was, cut(vec_sub(want, c->was), dv_most(c)));

	return cut(v, pace_longest(c) / c->dt);
}

struct vec3 pace_slow(const struct pace *c)
{
	double left = fmax(0, vec_norm(c->was) - dv_most(c));

	return cut(c->was, fmin(left, pace_longest(c) / c->dt));
}

struct vec3 pace_most(
	const struct pace *c, struct vec3 brake, struct vec3 want, pace_ok *ok, const void *arg)
{
	double good = 0, bad = 1;

	for (int i = 0; i < BISECT; i++) {
		double mid = (good + bad) / 2;
		if (ok(arg, c, vec_add(brake, vec_scale(vec_sub(want, brake), mid))))
			good = mid;
		else
			bad = mid;
	}
	return vec_add(brake, vec_scale(vec_sub(want, brake), good));
}
