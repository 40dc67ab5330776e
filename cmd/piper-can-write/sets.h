/* An action of the gate as CAN frames: always a whole set in order (gate:G10, G11, G13). Pure. */
#ifndef SETS_H
#define SETS_H

#include "gate.h"
#include "wire/piper.h"

#define SET_MAX 9 /* 0x152-4 re-base, 0x151, 0x152-4, 0x159 and one to spare */

struct set_cfg {
	uint8_t speed_percent; /* 1..100 */
	double stroke_m;       /* opening that grip 1 means */
	double effort_nm;
};

/* Number of frames; 0 for GATE_NOTHING without damp; -1: a value cannot be put on the wire. */
int set_frames(const struct gate_act *act, const struct set_cfg *cfg, struct can_frame f[SET_MAX]);

#endif
