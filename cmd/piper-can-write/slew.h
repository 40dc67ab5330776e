/*
 * Motion of the commanded pose: the step from the last command towards the target, bounded in
 * speed, acceleration and lead over the measured pose (gate:G8, G9). Pure. Metres, radians,
 * seconds; linear and angular velocity in the base frame.
 */
#ifndef SLEW_H
#define SLEW_H

#include <stdbool.h>

#include "geom/pose.h"

struct slew_limits {
	double speed_m, speed_rad; /* per second */
	double accel_m, accel_rad; /* per second squared */
	double lead_m, lead_rad;   /* L: farthest ahead of the measured pose */
};

struct slew {
	struct pose cmd;  /* last command */
	struct vec3 v, w; /* its velocity, m/s and rad/s */
};

struct slew_target {
	struct pose pose;
	struct vec3 v, w;   /* how it moves, from its last two records; 0 when not known */
	struct vec3 lo, hi; /* box round all targets of this run and its start */
};

struct slew_step {
	struct slew next;
	bool behind;  /* speed or acceleration kept the command from the target */
	bool at_lead; /* L bound it */
	double lead_m, lead_rad;
};

/* Standing still at the measured pose: after any HOLD (gate:G9). */
void slew_reset(struct slew *s, struct pose measured);

/* One step of dt > 0 seconds. Order of precedence L, speed, acceleration. It pursues the target
 * along the straight line, lands on it when the limits allow, and brakes in time for a target that
 * itself brakes no harder than the limit; it leaves the box round the targets of this run only
 * where the acceleration limit leaves no other way. false: L and speed cannot both be kept (gate:G9: HOLD). */
bool slew_step(const struct slew *s, const struct slew_limits *lim, const struct slew_target *t,
	struct pose measured, double dt, struct slew_step *out);

/* Lead of a over b. */
void slew_lead(struct pose a, struct pose b, double *m, double *rad);

#endif
