/*
 * From the axes of a headset to those of a robot base (X forward, Y left, Z up): a signed
 * permutation M of the coordinates, which may change the handedness (rctp.md 4.2).
 */
#ifndef POSE_XFORM_AXES_H
#define POSE_XFORM_AXES_H

#include <stddef.h>

#include "geom/pose.h"

struct axes {
	int from[3]; /* output x y z is input axis 0 x, 1 y, 2 z */
	int sign[3]; /* +1 -1 */
	int det;     /* +1 -1: -1 changes the handedness */
};

/* "openxr" (right-handed, = "-z,-x,y"), "unity" (left-handed, = "z,-x,y") or three of x y z, each
 * once, each with an optional sign. 0; -1 with the reason in why: not a signed permutation. */
int axes_parse(const char *text, struct axes *out, char *why, size_t n);

/* p' = M p.  R' = M R M^T, that is q' = (det(M) M (x y z), w). */
struct pose axes_map(const struct axes *a, struct pose in);

#endif
