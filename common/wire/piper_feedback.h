/*
 * What a Piper arm says (piper.md 4 and 5): the encoders of its feedback and answers, for whoever
 * plays the arm. Big-endian; every function fills whole 8-byte frames.
 */
#ifndef WIRE_PIPER_FEEDBACK_H
#define WIRE_PIPER_FEEDBACK_H

#include <linux/can.h>
#include <stdint.h>

#include "geom/pose.h"

#define PIPER_FIRMWARE_FRAMES 11

struct piper_fb_status {
	uint8_t ctrl, arm, move, teach, motion, track;
	uint8_t limit_bits, comm_bits; /* bit 0 is joint 1 */
};
struct piper_fb_gripper {
	int32_t stroke_um;
	int16_t effort_mnm;
	uint8_t bits, mode; /* bits: 0x40 enabled, 0x80 homed; mode 1: stroke is an angle */
};
struct piper_fb_fast {
	int16_t speed_mrad_s, current_ma;
	int32_t position_mrad;
};
struct piper_fb_slow {
	uint16_t volt_d; /* 0.1 V */
	int16_t driver_c;
	int8_t motor_c;
	uint8_t bits; /* 0x40 enabled */
	uint16_t bus_ma;
};

void piper_fb_status(struct can_frame *f, const struct piper_fb_status *s); /* 0x2A1 */
/* 0x2A2-0x2A4 and 0x2A5-0x2A7. -1: not finite or outside the wire's range. */
int piper_fb_pose(struct can_frame f[3], struct pose flange);
int piper_fb_joints(struct can_frame f[3], const double rad[6]);
void piper_fb_gripper(struct can_frame *f, const struct piper_fb_gripper *g); /* 0x2A8 */
/* joint 1..6 */
void piper_fb_fast(struct can_frame *f, int joint, const struct piper_fb_fast *m); /* 0x251.. */
void piper_fb_slow(struct can_frame *f, int joint, const struct piper_fb_slow *m); /* 0x261.. */

/* Answers. Angles in 0.1 degrees, speed and acceleration as they stand on the wire. */
void piper_fb_limits(struct can_frame *f, int joint, int16_t max_ddeg, int16_t min_ddeg,
	uint16_t speed);                                                     /* 0x473 */
void piper_fb_acceleration(struct can_frame *f, int joint, uint16_t acc);    /* 0x47C */
void piper_fb_ack(struct can_frame *f, uint8_t acked_low, uint8_t zero_set); /* 0x476 */
void piper_fb_end_limits(struct can_frame *f, const uint16_t v[4]);          /* 0x478 */
void piper_fb_collision(struct can_frame *f, const uint8_t level[6]);        /* 0x47B */
void piper_fb_gripper_setup(
	struct can_frame *f, uint8_t teach_percent, uint8_t range_mm, uint8_t friction); /* 0x47E */
/* 0x4AF: 88 bytes of text in eleven frames. Strings longer than their field (8, 8, 6 characters)
 * are cut. */
void piper_fb_firmware(struct can_frame f[PIPER_FIRMWARE_FRAMES], const char *hardware,
	const char *software, const char *date);

#endif
