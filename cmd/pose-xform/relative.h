/*
 * Relative mode: the hand moves the arm from where the arm is (gate:G26-G29). Pure: time is the
 * records' t. Poses here are in the base frame and have the length unit of the arm (axes, yaw and
 * scale are done); `tool` is the tip seen from the flange.
 *
 * With an arm (its writer's feedback):
 *   feedback missing or its measured pose > 100 ms older than the pose   out: valid:false
 *   gate not RUN                                                         out: measured pose
 *   gate RUN, `runs` has changed since the last valid:false or gap       anchor here, then follow
 *   gate RUN otherwise, without an anchor                                out: measured pose
 * A valid:false of our own making drops the anchor like one that came in: it brings the gate to
 * HOLD just the same. With no valid:false or gap so far, the first feedback counts as a change.
 *
 * Without: anchor at `home` first, later (after valid:false or a gap > 500 ms) at the pose last
 * put out.
 */
#ifndef POSE_XFORM_RELATIVE_H
#define POSE_XFORM_RELATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "geom/pose.h"
#include "rec/record.h"

#define RELATIVE_GAP_US 500000          /* DESIGN.md 3 */
#define RELATIVE_FEEDBACK_AGE_US 100000 /* gate:G27 */

struct relative {
	bool with_arm;
	struct vec3 tool;
	/* the arm, as its writer reports it */
	bool has_gate, is_run, has_measured;
	char arm_src[REC_SRC_MAX]; /* the first one that reports; others are not heard */
	int64_t runs, measured_t_us;
	struct pose measured; /* flange */
	/* the clutch */
	bool runs_changed; /* since the anchor was taken or lost */
	bool anchored;
	struct pose hand0, tip0;
	/* the past */
	bool has_t, has_out;
	int64_t t_us;
	struct pose out; /* flange, last put out; home or identity before */
	struct {
		unsigned long anchors, measured,
			blind; /* blind: valid:false for want of feedback */
	} n;
};

void relative_init(struct relative *s, bool with_arm, struct pose home, struct vec3 tool);
/* Any record of the arm; all but feedback with a gate are ignored. */
void relative_feedback(struct relative *s, const struct rec *r);
/* The flange pose to put out for a hand pose at t; *valid is in and out. */
struct pose relative_pose(struct relative *s, int64_t t_us, struct pose hand, bool *valid);

#endif
