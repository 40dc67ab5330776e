/*
 * The way to the ready joints (gate:G12): all joints arrive together, joint targets streamed under
 * the ramp's speed, each within L and lead_joint of the measured joints. Pure.
 */
#ifndef READY_PATH_H
#define READY_PATH_H

#include <stdbool.h>

#include "geom/chain.h"
#include "slew.h"

enum ready { READY_GO, READY_THERE, READY_LEAD };

struct ready_path {
	const double *cmd; /* last commanded joints */
	double speed;      /* of the joint that has farthest to go, rad/s */
	const double *measured;
	const double *goal;
	double ramp_m, ramp_rad; /* speed of the flange, of a joint; per second */
	double lead_joint;       /* rad */
};
struct ready_step {
	double j[CHAIN_JOINTS];
	double speed;
	bool waits; /* the lead bound it: the arm has to come after */
};

/* dt > 0. THERE: commanded and measured joints are at the goal. LEAD: the last command itself is
 * beyond the lead, the arm was moved by something else. */
enum ready ready_step(const struct chain *c, const struct slew_limits *lim,
	const struct ready_path *p, double dt, struct ready_step *out);

#endif
