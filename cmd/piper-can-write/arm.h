/*
 * What is known of the arm, put together from single CAN frames (piper.md 5). Pure: frames with
 * their stamps go in. Nothing is used before it was received (piper:R2).
 */
#ifndef ARM_H
#define ARM_H

#include <stdbool.h>
#include <stdint.h>

#include "gate.h"
#include "wire/can.h"

struct arm {
	const struct chain *chain;
	double stroke_m; /* gripper opening that counts as 1 */

	int64_t first_us, last_us; /* of any frame of the arm */
	int32_t part_j[6];         /* burst of 0x2A5-0x2A7 being collected */
	int64_t part_j_us[3];
	int64_t joints_us; /* oldest stamp of the last whole burst */
	double j[CHAIN_JOINTS];
	struct pose pose; /* FK of j */
	int32_t part_p[6];
	int64_t part_p_us[3];
	int64_t pose_us; /* of the arm's own pose, 0x2A2-0x2A4 */
	struct pose told;
	double jdot[CHAIN_JOINTS]; /* 0x251-0x256, rad/s */
	unsigned fast_seen;        /* bit per joint */
	int64_t status_us;
	uint8_t ctrl, status, comm_bits;
	unsigned slow_seen, enabled; /* bit per joint, 0x261-0x266 */
	int64_t slow_us[CHAIN_JOINTS];
	int64_t grip_us;
	double width_m;
	bool grip_angle;  /* angle mode: the number is no width (piper.md 5) */
	char firmware[9]; /* "S-V1.8-9", "" not told yet */
	char fw_text[96];
	int fw_len;

	uint32_t foreign_id; /* last 0x150-0x15F, 0x470, 0x471 that we did not send (a runner's
			      * --stop is one); 0 none */
	uint32_t shifted_id; /* feedback under an id offset, 0 none */
	unsigned long frames, unknown;
};

void arm_init(struct arm *a, const struct chain *chain, double stroke_m);
/* Takes one received frame (error frames and own echoes are none of its business). */
void arm_frame(struct arm *a, const struct can_rx *rx);
/* The part the gate wants. A joint not heard of on 0x261-0x266 for ARM_SLOW_US counts as disabled;
 * after a freeze that time counts from the waking (gate:G6). */
#define ARM_SLOW_US 1000000
void arm_view(const struct arm *a, int64_t now_us, int64_t awake_us, struct gate_arm *out);
/* All of 0x2A1, 0x2A5-7, 0x261-6 have been seen. */
bool arm_complete(const struct arm *a);
/* "S-V1.6-2" is older than "S-V1.6-3"; text that is no version: -2. Else -1, 0, 1. */
int firmware_compare(const char *a, const char *b);
/* Names of joints whose bit is missing in `bits`: "2,5". */
void arm_missing(unsigned bits, char *buf, size_t n);

#endif
