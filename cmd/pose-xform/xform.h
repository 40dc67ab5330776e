/*
 * Hand poses in the headset's frame to flange poses in the robot's base frame (rctp.md 4,
 * DESIGN.md 8). In this order:
 *
 *   axes       p = M p, R = M R M^T
 *   yaw        both turned about the base Z
 *   relative   see relative.h; offset and rotation offset have no effect then
 *   scale      p = K p (never the rotation)
 *   offset     p = p + offset, base frame
 *   rotation   R = R Rz(Y) Ry(P) Rx(R), in the hand's own frame
 *   tool       the pose so far is that of the tip: p = p - R tool gives the flange
 *
 * Without relative mode every output is a function of its one record.
 */
#ifndef POSE_XFORM_XFORM_H
#define POSE_XFORM_XFORM_H

#include "geom/euler.h"
#include "pose-xform/axes.h"
#include "pose-xform/relative.h"

struct xform_config {
	struct axes axes;
	double yaw_deg;
	double scale;
	struct vec3 offset;    /* m */
	struct rpy rot_offset; /* degrees */
	struct vec3 tool;      /* m, tip seen from the flange */
	bool relative, with_arm;
	struct pose home; /* flange; relative without arm */
};

struct xform {
	struct xform_config cfg;
	struct quat yaw, rot_offset;
	struct relative rel;
	const char *refusal;
};

void xform_init(struct xform *x, const struct xform_config *cfg);
/* A record from the arm (relative mode). */
void xform_feedback(struct xform *x, const struct rec *r);
/* Changes a pose record in place: 1; -1: refused, reason in x->refusal, r and state unchanged
 * (the frame is not vr, or a number became too large). */
int xform_pose(struct xform *x, struct rec *r);
/* The steps without relative mode. */
struct pose xform_absolute(const struct xform *x, struct pose hand);

#endif
