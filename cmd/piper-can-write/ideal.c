#include "ideal.h"

#include <string.h>

void ideal_init(struct ideal *a, const struct chain *chain, const double home[CHAIN_JOINTS])
{
	*a = (struct ideal){ .chain = chain };
	memcpy(a->j, home, sizeof(a->j));
}

void ideal_obey(struct ideal *a, const struct gate_act *act)
{
	double j[CHAIN_JOINTS];

	switch (act->kind) {
	case GATE_POSE:
		/* The gate lets no pose through that has no solution here. */
		if (piper_ik_near(a->chain, act->pose, a->j, j))
			memcpy(a->j, j, sizeof(j));
		if (act->has_grip) {
			a->has_grip = true;
			a->grip = act->grip;
		}
		break;
	case GATE_STILL:
	case GATE_JOINTS: memcpy(a->j, act->j, sizeof(a->j)); break;
	case GATE_NOTHING: break;
	}
}

void ideal_view(const struct ideal *a, int64_t now, struct gate_arm *out)
{
	*out = (struct gate_arm){
		.joints_us = now,
		.pose = chain_fk(a->chain, a->j),
		.status_us = now,
		.ctrl = 1,
		.enabled = true,
		.has_grip = a->has_grip,
		.grip = a->grip,
	};
	memcpy(out->j, a->j, sizeof(out->j));
}
