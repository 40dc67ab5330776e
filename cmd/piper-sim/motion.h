/*
 * Joint motion of the simulated arm: speed and acceleration limited approach, fall and sink under
 * gravity. Pure.
 */
#ifndef PIPER_SIM_MOTION_H
#define PIPER_SIM_MOTION_H

#include "piper-sim/arm.h"

/* Speed after one step of dt_s for a joint `dist` rad short of its goal and moving at v: never
 * above max_v, never changing faster than acc, able to stop at the goal. */
double motion_speed(double dist, double v, double max_v, double acc, double dt_s);
/* Height (m) of the lowest of elbow, wrist centre and flange. */
double motion_lowest(const struct chain *c, const double q[ARM_JOINTS]);
/* One step of ARM_STEP_US. */
void motion_step(struct arm *a);

#endif
