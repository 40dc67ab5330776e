/*
 * Following a goal with bounded speed and acceleration: one step of one three-dimensional
 * quantity, a position or a rotation vector.  Pure.
 */
#ifndef CLAMP_PACE_H
#define CLAMP_PACE_H

#include <stdbool.h>

#include "geom/vec.h"

/* Stopping is planned with this share of the acceleration; the rest absorbs rounding and time
 * steps that differ. */
#define PACE_BRAKE 0.9

struct pace {
	double dt;          /* s, > 0 */
	double top, acc;    /* speed and acceleration; 0: free */
	double slack;       /* what rounding of the output may add to a step */
	struct vec3 was;    /* velocity of the last step */
	struct vec3 goal_v; /* velocity of the goal in this step */
	struct vec3 lead_v; /* its smoothed velocity, followed along with */
};

double pace_longest(const struct pace *c); /* step */
/* The goal, e away, can be taken in this step: within speed and acceleration, and afterwards the
 * output can stop at once or keep up with the goal. */
bool pace_may_take(const struct pace *c, struct vec3 e);
/* Smoothed velocity of a goal, after a step of dt in which it had velocity v. One that is faster
 * than may be followed (a jump) counts as standing. */
struct vec3 pace_follow(const struct pace *c, struct vec3 v);
/* The velocity the goal moves with, and along what is left of the way e (direction and length)
 * after that, d, as much more as can still be stopped at its end whatever the next time steps are:
 * u dt + u^2 / 2a <= d. Changed from the last one by no more than acceleration x dt. */
struct vec3 pace_steer(const struct pace *c, struct vec3 e);
/* The last velocity, braked. */
struct vec3 pace_slow(const struct pace *c);
/* How far it goes after a step at v, braking in a straight line; as a vector. */
struct vec3 pace_run_out(const struct pace *c, struct vec3 v);
/* Between `brake` (known to be allowed) and `want`, as far as ok says. */
typedef bool pace_ok(const void *arg, const struct pace *c, struct vec3 v);
struct vec3 pace_most(
	const struct pace *c, struct vec3 brake, struct vec3 want, pace_ok *ok, const void *arg);

#endif
