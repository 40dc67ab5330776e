/*
 * Motions of a made-up right hand in OpenXR axes (x right, y up, -z forward), m and rad: position
 * and rotation start and end at rest, twice continuously differentiable; a trace of tremor is in
 * all of them, as in a real hand, so that no pose repeats for long (rctp.md 5.4).
 */
#ifndef RCTP_SEND_MOTION_H
#define RCTP_SEND_MOTION_H

#include <stdbool.h>

#include "geom/pose.h"

enum motion_kind {
	MOTION_IDLE,   /* at its place */
	MOTION_REACH,  /* forward by size and back, the gripper closing on the way */
	MOTION_CIRCLE, /* of diameter size, upright before the person */
	MOTION_GRASP,  /* down by size, close, lift, down, open, lift */
};
struct motion {
	enum motion_kind kind;
	double size_m, period_s;
	double total_s; /* at rest again by then; 0: no end */
	bool unity;     /* left-handed Unity axes (+z forward) instead, rctp.md 4.1 */
};

/* False: no such name. */
bool motion_named(const char *name, enum motion_kind *out);
/* t from the start, s; grip 0 closed..1 open. */
void motion_at(const struct motion *m, double t_s, struct pose *pose, double *grip);

#endif
