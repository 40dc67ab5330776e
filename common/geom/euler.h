/*
 * Euler angles exist only in codecs (DESIGN.md 8); between stages everything is a quaternion.
 * Radians unless the name says degrees.
 */
#ifndef GEOM_EULER_H
#define GEOM_EULER_H

#include <stdbool.h>

#include "geom/quat.h"

/* The robot arms' convention: R = Rz(rz) Ry(ry) Rx(rx) (fixed axes x, y, z), piper.md 8.3:
 * atan2 forms, pole where hypot(r00, r10) < 1e-9: RZ = 0.  Degrees, rx and rz in (-180, 180],
 * ry in [-90, 90]. */
struct rpy {
	double rx, ry, rz; /* degrees */
};
struct quat rpy_to_quat(struct rpy a);
struct rpy rpy_from_quat(struct quat q);
struct rpy rpy_from_mat(struct mat3 m);

/* The twenty-four conventions: 'r' rotating (intrinsic) or 's' static (extrinsic) axes, then the
 * axis sequence, for example "rzyx", "sxyz" (vectors/README-feedback-vision.md). */
struct euler_order {
	bool rotating;
	int axis[3]; /* 0 x, 1 y, 2 z */
};
bool euler_parse(const char *code, struct euler_order *out); /* false: no such code */
struct mat3 euler_to_mat(struct euler_order o, const double deg[3]);
/* Canonical angles in degrees: outer (-180, 180]; middle [-90, 90] for three different axes,
 * [0, 180] for a repeated one; at the pole the third angle in the order written is 0. */
void euler_from_mat(struct euler_order o, struct mat3 m, double deg[3]);

#endif
