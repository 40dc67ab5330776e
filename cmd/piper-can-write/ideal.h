/*
 * An arm that obeys at once (gate:G30): for text and datagram buses and for --clock input. Its
 * joints follow by own inverse kinematics nearest the last ones; feedback is never old. Pure.
 */
#ifndef IDEAL_H
#define IDEAL_H

#include "gate.h"

struct ideal {
	const struct chain *chain;
	double j[CHAIN_JOINTS];
	bool has_grip;
	double grip;
};

void ideal_init(struct ideal *a, const struct chain *chain, const double home[CHAIN_JOINTS]);
/* What a set that went out did to it. */
void ideal_obey(struct ideal *a, const struct gate_act *act);
void ideal_view(const struct ideal *a, int64_t now_us, struct gate_arm *out);

#endif
