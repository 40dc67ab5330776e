/*
 * Unit quaternions, x y z w (Hamilton, active rotations). q and -q are one rotation: every
 * function that measures or interpolates takes the short way.
 */
#ifndef GEOM_QUAT_H
#define GEOM_QUAT_H

#include "geom/vec.h"

struct quat {
	double x, y, z, w;
};
struct mat3 {
	double m[3][3]; /* row, column */
};

extern const struct quat QUAT_IDENTITY;

struct quat quat_mul(struct quat a, struct quat b); /* first b, then a */
struct quat quat_conj(struct quat a);
double quat_norm(struct quat a);
struct quat quat_unit(struct quat a); /* norm 0 or not finite: identity */
struct quat quat_neg(struct quat a);
/* a or -a, whichever is in the hemisphere of `near`. */
struct quat quat_near(struct quat a, struct quat near);
struct vec3 quat_rotate(struct quat q, struct vec3 v);
/* Angle of the rotation from a to b, 0..pi rad; exact near 0 (atan2 form). */
double quat_angle(struct quat a, struct quat b);
/* Rotation vector (axis x angle, rad, |v| <= pi) and back. */
struct vec3 quat_log(struct quat q);
struct quat quat_exp(struct vec3 v);
/* Spherical interpolation the short way; t 0..1. */
struct quat quat_slerp(struct quat a, struct quat b, double t);
struct mat3 quat_to_mat(struct quat q);
struct quat quat_from_mat(struct mat3 m); /* proper rotation; w >= 0 */

#endif
