/*
 * How fast a pose may change: speed and acceleration, linear and angular, on top of where it may
 * be (clamp/space.h), and the gripper.  Pure: time is the record's t (DESIGN.md 3).
 *
 * Every valid pose becomes a goal (its nearest allowed pose) and the output moves towards the
 * goal.  A goal that can be taken within the limits, from the last output and its velocity, is
 * taken as it is.  Otherwise the output follows it: along with the goal's own velocity, and towards
 * it as fast as it can still stop there, changed by at most acceleration x dt.  Each step leaves room to
 * brake in a straight line inside the allowed space; when there is no such step (the space of a
 * turning tool narrowed) the space rules, then the speed, and the acceleration gives way.
 *
 * Units m, rad, s, us.  A rate of 0 is no limit.
 */
#ifndef CLAMP_LIMITS_H
#define CLAMP_LIMITS_H

#include "clamp/space.h"
#include "rec/record.h"

#define LIMITS_GAP_US 500000  /* a longer gap starts afresh (DESIGN.md 3) */
#define LIMITS_STEP_US 100000 /* longest step that counts */

struct limits {
	struct space space;
	double speed, accel;   /* m/s, m/s2 */
	double aspeed, aaccel; /* rad/s, rad/s2 */
	double grip_rate;      /* 1/s */
};

struct limits_state {
	bool live;     /* t, v, w, goal belong to an unbroken run of valid poses */
	bool has_last; /* an output was ever made */
	int64_t t_us;
	struct pose last; /* the last output; q as it was put out */
	struct vec3 v, w; /* its velocity, m/s and rad/s in the base frame */
	struct pose goal; /* the last goal, and its smoothed velocity */
	struct vec3 goal_v, goal_w;
	bool has_grip;
	double grip;
};

/* Any limit set at all (the gripper's range alone does not count). */
bool limits_any(const struct limits *l);

/* Limits one pose record in place and appends the names of what was limited to its `clamped`.
 * valid:false: repeats the last output's p, q and grip and ends the run.  A pose for which there
 * is no allowed place (flange and tip want opposite things) repeats the last output, or becomes
 * valid:false when there is none yet.  Returns true when anything in the record changed. */
bool limits_apply(const struct limits *l, struct limits_state *s, int64_t t_us, struct rec_pose *p);

#endif
