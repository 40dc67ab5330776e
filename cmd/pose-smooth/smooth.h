/*
 * One Euro filter for poses: a low-pass whose cut-off rises with the speed, so that a hand at
 * rest is steady and a moving one is not late (Casiez, Roussel, Vogel: 1 Euro Filter, CHI 2012).
 * Pure: time is the record's t (DESIGN.md 3).
 *
 *   speed    |v|, v the velocity from input to input through a first-order low-pass of d_hz
 *   cut-off  f = min_hz + beta |v|
 *   filter   SMOOTH_STAGES equal first-order low-passes one after another, each of time constant
 *            1 / (2 pi f SMOOTH_STAGES): together late by 1 / (2 pi f), as one of first order
 *            and cut-off f would be, but far stronger on noise above it
 *
 * A stage takes the last two inputs (trapezoidal rule), which leaves nothing of noise that turns
 * from sample to sample; with a time constant below half a step it is a weighted mean of these
 * two. Either way its weights are never negative: no overshoot.
 *
 * Rotations are filtered on the sphere: the same weights, applied to rotation vectors seen from
 * the stage's last output, the short way: q and -q are one, and the result does not depend on
 * the frame.
 */
#ifndef POSE_SMOOTH_SMOOTH_H
#define POSE_SMOOTH_SMOOTH_H

#include <stdbool.h>
#include <stdint.h>

#include "rec/record.h"

#define SMOOTH_GAP_US 500000  /* a longer gap starts afresh (DESIGN.md 3) */
#define SMOOTH_STEP_US 100000 /* longest step that counts */
#define SMOOTH_STAGES 3

struct smooth_cutoff {
	double min_hz; /* at rest */
	double beta;   /* Hz per m/s, or per rad/s */
	double d_hz;   /* of the speed itself */
};

struct smooth_config {
	struct smooth_cutoff move, turn;
	/* Gripper: at most grip_lo gives 0, at least grip_hi gives 1, between them what it was. */
	bool has_grip;
	double grip_lo, grip_hi;
};

/* The defaults of the tool; the figures are in its page. */
#define SMOOTH_CONFIG_INIT                                                                         \
	{                                                                                          \
		{ 8, 20, 1 }, { 8, 6, 1 }, false, 0, 0                                             \
	}

struct smooth {
	struct smooth_config cfg;
	bool live;     /* what follows, up to `last`, belongs to an unbroken run of valid poses */
	int64_t t_us;  /* of the last valid pose */
	struct vec3 v; /* filtered velocity, m/s */
	struct vec3 w; /* filtered angular velocity, rad/s */
	struct pose at[SMOOTH_STAGES + 1]; /* input, then the output of each stage */
	bool has_last;
	enum rec_frame frame;
	struct pose last; /* last output, valid poses only; q as it was put out */
	bool has_grip;
	double grip;        /* last output */
	bool is_grip_known; /* a threshold was reached: is_open holds */
	bool is_open;
	struct {
		unsigned long poses, invalid, fresh;
	} n;
	const char *refusal;
};

void smooth_init(struct smooth *s, const struct smooth_config *cfg);

/* Filters a pose record in place. 1: changed; 0: unchanged, its bytes may pass on; -1: refused
 * (valid, and farther than 1e6 m), reason in s->refusal, record and state unchanged.
 *
 * valid:false repeats the last output's p, q and grip (before any: as it is) and ends the run;
 * it is never an input of the filter. The first valid pose after it, after a gap of more than
 * SMOOTH_GAP_US, after t fell back by more than that, and in another frame, passes as it is. Where
 * no time has passed the last p and q are repeated. A gripper that is absent stays absent; its
 * thresholds remember across all this. */
int smooth_pose(struct smooth *s, struct rec *r);

#endif
