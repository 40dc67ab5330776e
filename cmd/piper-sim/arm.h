/*
 * A Piper arm without its wires: takes command frames, moves, says what it feels. Pure: time is
 * an argument (us), nothing is read or written. Made from piper.md 3 to 9; what no document
 * settles is decided here and named in the page.
 *
 * Motion runs in steps of ARM_STEP_US; every other entry point works on the state as it stands,
 * so call simarm_advance(now) first.
 */
#ifndef PIPER_SIM_ARM_H
#define PIPER_SIM_ARM_H

#include <linux/can.h>
#include <stdbool.h>
#include <stdint.h>

#include "geom/chain.h"
#include "wire/piper.h"

#define ARM_JOINTS 6
#define ARM_STEP_US 1000
#define ARM_REPLY_MAX 12
#define ARM_BURST_MAX 20
#define ARM_PERIOD_US 5000 /* 200 Hz; the slow frames go out in every fifth burst (piper.md 1) */
#define ARM_SLOW_EVERY 5
#define ARM_LAG_MAX_US 500000
#define ARM_PAST (ARM_LAG_MAX_US / ARM_STEP_US + 1)

/* Statuses of 0x2A1 byte 1 that the model sets by itself (piper.md 5). */
enum {
	ARM_NORMAL = 0,
	ARM_ESTOP = 1,
	ARM_NO_SOLUTION = 2,
	ARM_SINGULAR = 3,
	ARM_OVER_LIMIT = 4,
};
enum { ARM_CTRL_STANDBY = 0, ARM_CTRL_CAN = 1, ARM_CTRL_TEACH = 2 };

struct arm_opts {
	const struct chain *dh;
	double start[ARM_JOINTS]; /* rad */
	double speed_rad_s;       /* at 100 percent; piper.md 9: 3 */
	double acc_rad_s2;        /* 5 */
	double fall_rad_s;        /* powerless joint */
	double sink_rad_s;        /* damped sink of the emergency stop */
	double gripper_m_s;       /* between fingers */
	double gripper_range_m;   /* 0.07 or 0.1 */
	double gripper_start_m;
	double singular_m;     /* wrist centre nearer to the base axis: status 3 */
	int enable_tries;      /* 0x471 a joint needs */
	int enable_never;      /* bit set of joints that never come on */
	int64_t enable_lag_us; /* until bit 6 shows */
	int64_t lag_us;        /* from a target to its effect, up to ARM_LAG_MAX_US */
	bool replan;           /* every new target starts from standstill (piper:S17) */
	bool latch_each;       /* a pose counts frame by frame, not at 0x154 (piper:S18) */
	bool refusal_latched;  /* statuses 2, 3, 4 stay until reset (piper:S8) */
	bool starts_enabled;   /* powered, enabled, CAN control */
	const char *firmware;  /* "S-V1.8-9"; "" stays silent */
};
#define ARM_OPTS_INIT                                                                              \
	{                                                                                          \
		.dh = &PIPER_DH_NEW, .speed_rad_s = 3.0, .acc_rad_s2 = 5.0, .fall_rad_s = 1.5,     \
		.sink_rad_s = 0.2, .gripper_m_s = 0.1, .gripper_range_m = 0.07,                    \
		.singular_m = 0.005, .enable_tries = 1, .enable_lag_us = 20000,                    \
		.firmware = "S-V1.8-9"                                                             \
	}

struct arm_target { /* what the controller has stored; survives everything but power off */
	bool has_pose, has_joints;
	int32_t pose[6], joints[6]; /* wire units: um, 0.001 deg */
};

struct arm {
	struct arm_opts o;
	int64_t now_us;
	bool powered;
	uint8_t ctrl, move, speed_percent, teach;
	uint8_t status, forced; /* forced: set from outside, wins until 0 or reset */
	uint8_t limit_bits;
	bool supported; /* lies where it was put until all joints were on once */
	bool enabled[ARM_JOINTS];
	int64_t shows_us[ARM_JOINTS]; /* enable bit is seen from then on */
	int tries[ARM_JOINTS], need[ARM_JOINTS];
	bool frozen[ARM_JOINTS]; /* stuck: does not move, is reported truly */
	double q[ARM_JOINTS], v[ARM_JOINTS];
	struct arm_target stored;
	int32_t part_pose[6], part_joints[6]; /* frames of a set that is not complete yet */
	bool following;                       /* goal is in force; otherwise brake and hold */
	bool refused;                         /* ... because the last target was refused */
	double goal[ARM_JOINTS];
	/* Goals of the last steps, for lag_us; past_at is the newest. */
	double past[ARM_PAST][ARM_JOINTS];
	int past_at;
	bool contact; /* a falling part lies on the table */
	struct {
		bool enabled, homed, moving;
		double width_m, goal_m, effort_nm;
	} grip;
	/* Times a target came into force where none of its kind was: judged by the log (piper:S23). */
	unsigned long wakes;
	int64_t woken_us;
};

void simarm_init(struct arm *a, const struct arm_opts *o, int64_t now_us);
/* Runs all steps up to now_us; a gap beyond 10 s is skipped. */
void simarm_advance(struct arm *a, int64_t now_us);
/* Takes one frame off the bus. Answers go to reply; returns their number. Frames the arm does
 * not know are ignored. */
int simarm_take(struct arm *a, const struct can_frame *f, struct can_frame reply[ARM_REPLY_MAX]);
/* One burst: 14 frames, with the slow ones 20; all from one state. 0 when there is no power. */
int simarm_feedback(const struct arm *a, bool slow, struct can_frame out[ARM_BURST_MAX]);

bool simarm_all_enabled(const struct arm *a);
/* What 0x2A1 says now. */
uint8_t simarm_status(const struct arm *a);
struct pose simarm_flange(const struct arm *a);
/* Largest |goal - present| over the joints; 0 when nothing is followed. */
double simarm_lead_rad(const struct arm *a);
/* Nothing moves: no joint has speed. */
bool simarm_at_rest(const struct arm *a);

/* From outside (--control): error states, the teach button, the plug. */
void simarm_force_status(struct arm *a, uint8_t status); /* 0: none, 1: as 0x150 01 */
void simarm_set_teach(struct arm *a, bool on);
void simarm_set_power(struct arm *a, bool on);

#endif
