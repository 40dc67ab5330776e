/* Rigid transforms. */
#include "geom/pose.h"

const struct pose POSE_IDENTITY = { { 0, 0, 0 }, { 0, 0, 0, 1 } };

struct pose pose_mul(struct pose a, struct pose b)
{
	return (struct pose){ pose_apply(a, b.p), quat_mul(a.q, b.q) };
}

struct pose pose_inv(struct pose a)
{
	struct quat q = quat_conj(a.q);

	return (struct pose){ quat_rotate(q, vec_scale(a.p, -1)), q };
}

struct vec3 pose_apply(struct pose a, struct vec3 v)
{
	return vec_add(a.p, quat_rotate(a.q, v));
}

struct pose pose_step(struct pose from, struct pose to, double max_m, double max_rad)
{
	double dist = vec_dist(from.p, to.p), angle = quat_angle(from.q, to.q);
	struct pose out = to;

	if (dist > max_m)
		out.p = vec_add(
			from.p, vec_scale(vec_sub(to.p, from.p), max_m > 0 ? max_m / dist : 0));
	if (angle > max_rad)
		out.q = quat_slerp(from.q, to.q, max_rad > 0 ? max_rad / angle : 0);
	return out;
}
