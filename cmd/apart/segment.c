/* See watch.h: distance of two segments. */
#include <math.h>

#include "apart/watch.h"

static double unit(double x)
{
	return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* The point of a0-a1 closest to p; where on it in *s. */
static struct vec3 foot(struct vec3 a0, struct vec3 a1, struct vec3 p)
{
	struct vec3 u = vec_sub(a1, a0);
	double uu = vec_dot(u, u);

	if (uu <= 0)
		return a0;
	return vec_add(a0, vec_scale(u, unit(vec_dot(vec_sub(p, a0), u) / uu)));
}

struct pair {
	double d;
	struct vec3 a, b;
};

static void keep_closer(struct pair *best, struct vec3 a, struct vec3 b)
{
	double d = vec_dist(a, b);

	if (d < best->d)
		*best = (struct pair){ d, a, b };
}

/* The least is at an end of one of them, or inside both, where the line between is square to
 * both. */
double watch_segments(struct vec3 a0, struct vec3 a1, struct vec3 b0, struct vec3 b1,
	struct vec3 *on_a, struct vec3 *on_b)
{
	struct vec3 u = vec_sub(a1, a0), v = vec_sub(b1, b0), w = vec_sub(a0, b0);
	double uu = vec_dot(u, u), vv = vec_dot(v, v), uv = vec_dot(u, v);
	double det = uu * vv - uv * uv;
	struct pair best = { HUGE_VAL, a0, b0 };

	keep_closer(&best, a0, foot(b0, b1, a0));
	keep_closer(&best, a1, foot(b0, b1, a1));
	keep_closer(&best, foot(a0, a1, b0), b0);
	keep_closer(&best, foot(a0, a1, b1), b1);
	if (det > 0) {
		double s = (uv * vec_dot(v, w) - vv * vec_dot(u, w)) / det;
		double t = (uu * vec_dot(v, w) - uv * vec_dot(u, w)) / det;

		if (s > 0 && s < 1 && t > 0 && t < 1)
			keep_closer(
				&best, vec_add(a0, vec_scale(u, s)), vec_add(b0, vec_scale(v, t)));
	}
	*on_a = best.a;
	*on_b = best.b;
	return best.d;
}
