#include "piper-sim/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/msg.h"
#include "run/opt.h"

#define DEG (M_PI / 180.0)

/* Joint angles in degrees, inside the limits of the arm. */
static int take_start(void *dst, const char *text, char *why, size_t n)
{
	double *rad = dst, deg[ARM_JOINTS];

	if (!opt_numbers(text, ARM_JOINTS, deg)) {
		(void)snprintf(why, n, "six numbers with commas between are wanted");
		return -1;
	}
	for (int i = 0; i < ARM_JOINTS; i++)
		rad[i] = deg[i] * DEG;
	if (!chain_within(&PIPER_DH_NEW, rad, -1e-9)) {
		(void)snprintf(why, n, "outside the joint limits");
		return -1;
	}
	return 0;
}

static int take_latch(void *dst, const char *text, char *why, size_t n)
{
	bool *each = dst;

	*each = strcmp(text, "each") == 0;
	if (*each || strcmp(text, "last") == 0)
		return 0;
	(void)snprintf(why, n, "last or each");
	return -1;
}

static int take_dh(void *dst, const char *text, char *why, size_t n)
{
	const struct chain **dh = dst;

	*dh = strcmp(text, "old") == 0 ? &PIPER_DH_OLD : &PIPER_DH_NEW;
	if (*dh == &PIPER_DH_OLD || strcmp(text, "new") == 0)
		return 0;
	(void)snprintf(why, n, "new or old");
	return -1;
}

static int take_range(void *dst, const char *text, char *why, size_t n)
{
	double *metres = dst, mm;

	if (opt_number(text, 70, 100, &mm) && (mm == 70 || mm == 100)) {
		*metres = mm * 1e-3;
		return 0;
	}
	(void)snprintf(why, n, "70 or 100");
	return -1;
}

static int take_never(void *dst, const char *text, char *why, size_t n)
{
	int *bits = dst;
	int64_t joint;

	if (!opt_integer(text, 1, ARM_JOINTS, &joint)) {
		(void)snprintf(why, n, "a joint from 1 to 6 is wanted");
		return -1;
	}
	*bits |= 1 << (joint - 1);
	return 0;
}

/* The name of the bus in the log: the interface, or the last part of the path; no blanks. */
static void name_bus(struct sim_opts *o)
{
	const char *slash = strrchr(o->bus, '/');
	const char *colon = strrchr(o->bus, ':');
	const char *from = slash ? slash + 1 : colon ? colon + 1 : o->bus;

	(void)snprintf(o->log_name, sizeof o->log_name, "%.15s", *from ? from : "can");
	for (char *c = o->log_name; *c; c++)
		if (*c <= ' ')
			*c = '_';
}

void sim_options(struct sim_opts *o, int argc, char **argv)
{
	int64_t tries = 1;
	double speed = 3, acc = 5, grip_mm = 0;
	struct opt table[] = {
		{ OPT_CALL, 0, "start", o->arm.start, "J1,..,J6",
			"joints at the start, deg (default all 0)", 0, 0, take_start },
		{ OPT_FLAG, 0, "enabled", &o->arm.starts_enabled, NULL,
			"start enabled and in CAN control", 0, 0, 0 },
		{ OPT_INT, 0, "enable-tries", &tries, "N",
			"0x471 a joint needs (default 1; after a reset 2)", 1, 1000, 0 },
		{ OPT_DUR, 0, "enable-lag", &o->arm.enable_lag_us, "D",
			"until feedback shows it (default 20ms)", 0, 60e6, 0 },
		{ OPT_CALL, 0, "enable-never", &o->arm.enable_never, "J",
			"joint that never comes on, repeatable", 0, 0, take_never },
		{ OPT_CALL, 0, "latch", &o->arm.latch_each, "WHEN",
			"a target counts at its last frame or at each (default last)", 0, 0,
			take_latch },
		{ OPT_FLAG, 0, "refusal-latched", &o->arm.refusal_latched, NULL,
			"status 2, 3, 4 stay until a reset", 0, 0, 0 },
		{ OPT_NUM, 0, "speed", &speed, "V", "top joint speed, rad/s (default 3)", 0.01, 30,
			0 },
		{ OPT_NUM, 0, "acceleration", &acc, "A", "joint acceleration, rad/s2 (default 5)",
			0.01, 300, 0 },
		{ OPT_DUR, 0, "lag", &o->arm.lag_us, "D",
			"from a target to its effect (default 0ms, at most 500ms)", 0,
			ARM_LAG_MAX_US, 0 },
		{ OPT_FLAG, 0, "replan", &o->arm.replan, NULL,
			"each target starts from standstill: jerks when dense", 0, 0, 0 },
		{ OPT_NUM, 0, "fall", &o->arm.fall_rad_s, "V",
			"speed of a powerless joint, rad/s (default 1.5)", 0, 10, 0 },
		{ OPT_NUM, 0, "sink", &o->arm.sink_rad_s, "V",
			"speed in emergency stop, rad/s (default 0.2)", 0, 10, 0 },
		{ OPT_NUM, 0, "gripper", &grip_mm, "W", "opening at the start, mm (default 0)", 0,
			100, 0 },
		{ OPT_CALL, 0, "gripper-range", &o->arm.gripper_range_m, "W",
			"70 (default) or 100 mm", 0, 0, take_range },
		{ OPT_CALL, 0, "dh", &o->arm.dh, "SET",
			"kinematics of the firmware: new (default) or old", 0, 0, take_dh },
		{ OPT_STR, 0, "firmware", &o->arm.firmware, "TEXT",
			"answer to 0x4AF (default S-V1.8-9), '' none", 0, 0, 0 },
		{ OPT_DUR, 0, "feedback-delay", &o->delay_us, "D",
			"feedback is delivered late (default 0ms, at most 1s)", 0, 1e6, 0 },
		{ OPT_FLAG, 0, "feedback-pause", &o->paused, NULL, "start without feedback", 0, 0,
			0 },
		{ OPT_FLAG, 0, "mute", &o->mute, NULL, "start silent and deaf", 0, 0, 0 },
		{ OPT_INT, 0, "freeze-joint", &o->freeze_joint, "J",
			"joint that is stuck (default none)", 1, 6, 0 },
		{ OPT_STR, 0, "control", &o->control, "FIFO", "take orders from a FIFO made here",
			0, 0, 0 },
		{ OPT_STR, 0, "log", &o->log_path, "FILE",
			"write commands and violations, - is stdout", 0, 0, 0 },
		{ OPT_FLAG, 0, "log-feedback", &o->log_feedback, NULL, "log 0x2A1 to 0x2A8 too", 0,
			0, 0 },
		{ OPT_FLAG, 0, "strict-log", &o->strict_log, NULL,
			"exit 1 when there were violations", 0, 0, 0 },
		{ OPT_FLAG, 0, "allow-damp", &o->may_damp, NULL, "0x150 01 is no violation", 0, 0,
			0 },
		{ OPT_INT, 0, "thin", &o->thin, "N", "send every Nth burst of feedback (default 1)",
			1, 8, 0 },
		{ OPT_DUR, 0, "duration", &o->duration_us, "D", "end after D (default never)", 1000,
			1e12, 0 },
		{ OPT_DUR, 0, "stats", &o->stats_us, "D",
			"print counters to stderr each D and at the end", 1000, 1e12, 0 },
		{ OPT_INT, 0, "ready-fd", &o->ready_fd, "N",
			"write a line to descriptor N when serving", 1, 1023, 0 },
		{ 0 },
	};
	struct opt_tool tool = { "piper-sim", "BUS",
		"Simulates an AgileX Piper arm on BUS: slcan:PATH (a pty is made there) or an "
		"interface.",
		table, 1, 1 };

	memset(o, 0, sizeof *o);
	o->arm = (struct arm_opts)ARM_OPTS_INIT;
	o->ready_fd = -1;
	o->thin = 1;
	o->bus = argv[opt_parse(&tool, argc, argv)];
	o->arm.enable_tries = (int)tries;
	o->arm.speed_rad_s = speed;
	o->arm.acc_rad_s2 = acc;
	o->arm.gripper_start_m = grip_mm * 1e-3;
	if (o->arm.gripper_start_m > o->arm.gripper_range_m)
		die(EXIT_USAGE, "--gripper: wider than --gripper-range; try 'piper-sim --help'");
	name_bus(o);
}
