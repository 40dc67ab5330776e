/* Rigid transforms: p in metres, q unit. */
#ifndef GEOM_POSE_H
#define GEOM_POSE_H

#include "geom/quat.h"

struct pose {
	struct vec3 p;
	struct quat q;
};

extern const struct pose POSE_IDENTITY;

struct pose pose_mul(struct pose a, struct pose b); /* b expressed in a's frame, in a's parent */
struct pose pose_inv(struct pose a);
struct vec3 pose_apply(struct pose a, struct vec3 v);
/* From `from` towards `to`, at most max_m and max_rad, each separately; a part within its bound is
 * that of `to` as it stands, a bound <= 0 keeps that of `from`. */
struct pose pose_step(struct pose from, struct pose to, double max_m, double max_rad);

#endif
