/*
 * Piper frames that can drop the arm, change what is stored in it, or bypass its planner (piper.md
 * 3, 4).  The writer of motion never links this (gate:G20).  Arguments are wire units; every value
 * outside what piper.md allows is refused (-1, nothing usable in f), never wrapped or clamped.
 */
#ifndef WIRE_PIPER_CONFIG_H
#define WIRE_PIPER_CONFIG_H

#include <linux/can.h>
#include <stdbool.h>
#include <stdint.h>

#define PIPER_KEEP 0x7FFF /* "leave unchanged" of 0x474, 0x475, 0x479 */

/* 0x150: stop 0 nothing, 1 emergency stop (sinks damped), 2 reset (THE ARM FALLS); track 0..8;
 * teach 0..7. */
int piper_config_stop(struct can_frame *f, int stop, int track, int teach);
/* 0x151 with every value: ctrl 0 1 3 4 7; move 0..6 or 255 (unchanged); speed 0..100 %; mit 0, 0xAD,
 * 0xFF; dwell 0..255 s (255 end of track); mount 0..3. */
struct piper_config_mode {
	int ctrl, move, speed, mit, dwell, mount;
};
int piper_config_mode(struct can_frame *f, const struct piper_config_mode *m);
int piper_config_circle(
	struct can_frame *f, int point); /* 0x158: 0 invalid, 1 start, 2 mid, 3 end */
/* 0x159 in um and 0.001 N.m (0..5000), code 0..7 (4..7: angle mode), zero: define as closed. */
int piper_config_gripper(struct can_frame *f, int32_t um, int effort_mnm, int code, bool zero);
/* 0x15A..F, SI units. 12-bit torque of +-16 N.m and no check nibble from S-V1.8-8 on, before that
 * 8 bits of +-8 N.m: the caller must know the firmware. */
struct piper_mit {
	double position_rad, velocity_rad_s, kp, kd, torque_nm;
};
int piper_config_mit(struct can_frame *f, int joint, const struct piper_mit *m, bool torque12);
/* 0x181..7, DLC 7: two letters of code; a read carries value 0. */
int piper_config_cpv(struct can_frame *f, int motor, bool write, const char code[2], int32_t value);
/* 0x191: 0 restore linkage, 1 leader goes home, 2 both. */
int piper_config_home(struct can_frame *f, int mode);
/* 0x470: role 0, 0xFA leader, 0xFC follower; each id offset 0, 0x10, 0x20. */
int piper_config_linkage(struct can_frame *f, int role, int feedback, int command, int target);
/* 0x471: motor 1..7 or 255. Disabled motors LET THE ARM FALL. */
int piper_config_motor(struct can_frame *f, int motor, bool enable);
/* 0x472: joint 1..6; content 1 angle and speed, 2 acceleration. */
int piper_config_query(struct can_frame *f, int joint, int content);
/* 0x474 (flash): joint 1..6, 0.1 deg within +-3600 with min <= max, 0.001 rad/s 0..3000; each may be
 * PIPER_KEEP. */
int piper_config_limits(
	struct can_frame *f, int joint, int max_ddeg, int min_ddeg, int speed_mrad_s);
/* 0x475 (flash): joint 1..7 (7 all), acceleration 0..500 in 0.01 rad/s2 or PIPER_KEEP. */
struct piper_config_joint {
	int joint, acc_crad_s2;
	bool set_zero, set_acc, clear_error;
};
int piper_config_joint(struct can_frame *f, const struct piper_config_joint *j);
/* 0x477: query 0..5, set 0..2 (2: ALL joint limits to default), feedback 0..2, payload 0..3. */
struct piper_config_param {
	int query, set, feedback, load;
	bool load_valid;
};
int piper_config_param(struct can_frame *f, const struct piper_config_param *p);
/* 0x479: linear 0.001 m/s, angular 0.001 rad/s, their accelerations; 0..0x7FFE or PIPER_KEEP. */
int piper_config_end(struct can_frame *f, const int v[4]);
int piper_config_collision(struct can_frame *f, const int level[6]); /* 0x47A: 0..8 each */
/* 0x47D: pendant stroke 100..200 %, gripper range 0 (keep), 70, 100 mm, friction 1..10. */
int piper_config_pendant(struct can_frame *f, int stroke_percent, int range_mm, int friction);
/* 0x487: assistance of each joint, 0..10 here; piper.md states no range. */
int piper_config_assist(struct can_frame *f, const int level[6]);

#endif
