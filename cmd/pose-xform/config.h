/* Options of pose-xform: a preset gives defaults, an option given by hand wins wherever it
 * stands on the line. */
#ifndef POSE_XFORM_CONFIG_H
#define POSE_XFORM_CONFIG_H

#include "pose-xform/xform.h"
#include "run/opt.h"

struct config {
	struct run_opts run;
	const char *axes; /* checked by config_build */
	const char *preset;
	const char *arm;
	bool relative;
	double yaw_deg;
	struct given {
		bool is_given;
		double v[6];
	} scale, offset, rot_offset, tool, home;
};
#define CONFIG_INIT                                                                                \
	{                                                                                          \
		.run = RUN_OPTS_INIT, .axes = "openxr"                                             \
	}

/* For OPT_CALL into a struct given. */
opt_call config_take_scale;  /* 0..100 */
opt_call config_take_metres; /* X,Y,Z within 10 m */
opt_call config_take_angles; /* R,P,Y within 360 degrees */
opt_call config_take_joints; /* J1..J6, degrees, inside the Piper's ranges */

/* 0, or -1 with the reason in why. */
int config_build(const struct config *c, struct xform_config *out, char *why, size_t n);

#endif
