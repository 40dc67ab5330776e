/*
 * AgileX Piper frames the writer and the simulator need (piper.md 2, 3, 5). Big-endian, 0.001 mm,
 * 0.001 degrees on the wire; metres, quaternions, radians here. Rounding: lrint, range-checked.
 * What could drop the arm (0x150/2, disable) and all configuration is in piper_config.h and is
 * not linked into the writer (gate:G20).
 */
#ifndef WIRE_PIPER_H
#define WIRE_PIPER_H

#include <linux/can.h>
#include <stdbool.h>
#include <stdint.h>

#include "geom/pose.h"

enum piper_move { PIPER_MOVE_P = 0, PIPER_MOVE_J = 1, PIPER_MOVE_L = 2, PIPER_MOVE_C = 3 };

/* Commands. Each fills whole 8-byte frames. -1: a value is not finite or outside the wire's
 * range (nothing usable in f). */
void piper_mode(struct can_frame *f, uint8_t ctrl, enum piper_move move, uint8_t speed_percent,
	uint8_t mit_flag);                                    /* 0x151 */
int piper_pose(struct can_frame f[3], struct pose flange);    /* 0x152-0x154 */
int piper_joints(struct can_frame f[3], const double rad[6]); /* 0x155-0x157 */
/* 0x159: width is the whole opening; effort 0..5 N.m; code 0 off, 1 on, 2 and 3 the same with clear. */
int piper_gripper(struct can_frame *f, double width_m, double effort_nm, uint8_t code);
void piper_enable(struct can_frame *f, uint8_t motor);     /* 0x471, b1 = 2 only */
void piper_damp(struct can_frame *f);                      /* 0x150 01 */
void piper_ask_firmware(struct can_frame *f);              /* 0x4AF */
void piper_ask_limits(struct can_frame *f, uint8_t joint); /* 0x472 content 1 */

/* Wire integers of a pose, as a checker or a table wants them: um and 0.001 deg. -1 also for a
 * quaternion whose norm is not 1 within 1e-3. */
int piper_pose_raw(struct pose flange, int32_t raw[6]);
/* One length or angle: nearest, ties to even. -1 as above. */
int piper_um(double m, int32_t *um);
int piper_mdeg(double deg, int32_t *mdeg);
/* The frames of ready wire integers (a measured pose or measured joints sent back unchanged). */
void piper_pose_frames(struct can_frame f[3], const int32_t raw[6]);
void piper_joint_frames(struct can_frame f[3], const int32_t mdeg[6]);

/* Everything that may be seen on the bus, decoded one frame at a time. */
enum piper_kind {
	PIPER_UNKNOWN,
	PIPER_CMD_STOP,    /* 0x150 */
	PIPER_CMD_MODE,    /* 0x151 */
	PIPER_CMD_POSE,    /* 0x152..4, part 0..2 */
	PIPER_CMD_JOINTS,  /* 0x155..7, part 0..2 */
	PIPER_CMD_CIRCLE,  /* 0x158 */
	PIPER_CMD_GRIPPER, /* 0x159 */
	PIPER_CMD_ENABLE,  /* 0x471 */
	PIPER_CMD_OTHER, /* 0x121, 0x15A..F MIT, 0x181..7, 0x191, 0x422, 0x470, 0x472, 0x474, 0x475,
			      0x477, 0x479, 0x47A, 0x47D, 0x487, the question 0x4AF; see u.raw */
	PIPER_FB_STATUS, /* 0x2A1 */
	PIPER_FB_POSE,   /* 0x2A2..4 */
	PIPER_FB_JOINTS, /* 0x2A5..7 */
	PIPER_FB_GRIPPER,  /* 0x2A8 */
	PIPER_FB_FAST,     /* 0x251..6, part = joint 0..5 */
	PIPER_FB_SLOW,     /* 0x261..6 */
	PIPER_FB_LIMITS,   /* 0x473 */
	PIPER_FB_FIRMWARE, /* 0x4AF */
	PIPER_FB_ACK,      /* 0x476 */
	PIPER_FB_OTHER, /* known answers 0x478 0x47B 0x47C 0x47E 0x488, 0x181..7 'a'; see u.raw */
};
struct piper_msg {
	enum piper_kind kind;
	int part;     /* see kinds; motor or joint index from 0 for 0x251..6 and 0x261..6 */
	int32_t a, b; /* the two int32 of pose and joint frames, wire units */
	union {
		struct {
			uint8_t ctrl, arm, move, teach, motion, track, limit_bits, comm_bits;
		} status;
		struct {
			uint8_t stop, track, teach;
		} stop;
		struct {
			uint8_t ctrl, move, speed, mit, dwell, mount;
		} mode;
		struct {
			int32_t um;
			int32_t effort_mnm;
			uint8_t code, zero;
		} gripper; /* command and feedback; feedback: code = status byte 6, zero = byte 7 */
		struct {
			int16_t speed_mrad_s, current_ma;
			int32_t position;
		} fast;
		struct {
			uint16_t volt_d;
			int16_t drv_c;
			int8_t mot_c;
			uint8_t bits;
			uint16_t bus_ma;
		} slow; /* bits: 0x40 enabled */
		struct {
			uint8_t motor, op;
		} enable; /* op 1 disable, 2 enable */
		struct {
			uint8_t joint;
			int16_t max_ddeg, min_ddeg;
			uint16_t speed;
		} limits;
		uint8_t raw[8];
	} u;
};
#define PIPER_ENABLED 0x40u
/* True when the frame is one of ours to know: a standard data frame with the right DLC for its
 * kind (8; 0x181..7 also 7; the question 0x4AF also 1). False: *m is PIPER_UNKNOWN. */
bool piper_decode(const struct can_frame *f, struct piper_msg *m);

/* Wire units to SI: three pose parts / three joint parts. */
struct pose piper_pose_from_raw(const int32_t raw[6]);
void piper_joints_from_raw(const int32_t raw[6], double rad[6]);
const char *piper_status_text(uint8_t arm_status); /* "no IK solution"; never NULL */
const char *piper_ctrl_text(uint8_t ctrl_mode);    /* "standby", "CAN", "teach" ... */

#endif
