#include "sets.h"

static int pose_set(const struct gate_act *act, const struct set_cfg *cfg, struct can_frame *f)
{
	int n = 0;

	if (act->rebase) {
		if (piper_pose(f, act->measured) < 0)
			return -1;
		n = 3;
	}
	piper_mode(&f[n++], 1, PIPER_MOVE_P, cfg->speed_percent, 0);
	if (piper_pose(&f[n], act->pose) < 0)
		return -1;
	n += 3;
	if (!act->has_grip)
		return n;
	if (piper_gripper(&f[n], act->grip * cfg->stroke_m, cfg->effort_nm, 1) < 0)
		return -1;
	return n + 1;
}

int set_frames(const struct gate_act *act, const struct set_cfg *cfg, struct can_frame f[SET_MAX])
{
	int n = 0;

	if (act->damp)
		piper_damp(&f[n++]);
	switch (act->kind) {
	case GATE_NOTHING: return n;
	case GATE_POSE: return pose_set(act, cfg, f);
	case GATE_STILL:
	case GATE_JOINTS:
		piper_mode(&f[n++], 1, PIPER_MOVE_J, cfg->speed_percent, 0);
		return piper_joints(&f[n], act->j) < 0 ? -1 : n + 3;
	}
	return -1;
}
