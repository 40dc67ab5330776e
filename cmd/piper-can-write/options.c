#include "options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/msg.h"

#define DEG (M_PI / 180)

static int two(
	const char *text, double a_max, double b_max, double *a, double *b, char *why, size_t n)
{
	double v[2];

	if (!opt_numbers(text, 2, v) || v[0] <= 0 || v[1] <= 0 || v[0] > a_max || v[1] > b_max) {
		snprintf(why, n, "two numbers wanted, above 0, at most %g,%g", a_max, b_max);
		return -1;
	}
	*a = v[0];
	*b = v[1];
	return 0;
}

static int two_deg(
	const char *text, double a_max, double deg_max, double *a, double *rad, char *why, size_t n)
{
	if (two(text, a_max, deg_max, a, rad, why, n) < 0)
		return -1;
	*rad *= DEG;
	return 0;
}

static int opt_within(void *dst, const char *text, char *why, size_t n)
{
	struct gate_cfg *c = dst;

	return two_deg(text, 0.5, 180, &c->engage_m, &c->engage_rad, why, n);
}

static int opt_speed(void *dst, const char *text, char *why, size_t n)
{
	struct gate_cfg *c = dst;

	return two_deg(text, 2, 720, &c->lim.speed_m, &c->lim.speed_rad, why, n);
}

static int opt_accel(void *dst, const char *text, char *why, size_t n)
{
	struct gate_cfg *c = dst;

	return two(text, 20, 100, &c->lim.accel_m, &c->lim.accel_rad, why, n);
}

static int opt_ramp(void *dst, const char *text, char *why, size_t n)
{
	struct gate_cfg *c = dst;

	return two_deg(text, 1, 360, &c->ramp_m, &c->ramp_rad, why, n);
}

static int opt_lead(void *dst, const char *text, char *why, size_t n)
{
	struct gate_cfg *c = dst;

	return two_deg(text, 0.2, 60, &c->lim.lead_m, &c->lim.lead_rad, why, n);
}

static int opt_joints(void *dst, const char *text, char *why, size_t n)
{
	double v[CHAIN_JOINTS], *out = dst;

	if (!opt_numbers(text, CHAIN_JOINTS, v)) {
		snprintf(why, n, "six joint angles in degrees wanted");
		return -1;
	}
	for (int i = 0; i < CHAIN_JOINTS; i++)
		v[i] *= DEG;
	if (!chain_within(&PIPER_DH_NEW, v, 0)) {
		snprintf(why, n, "outside the arm's joint range");
		return -1;
	}
	memcpy(out, v, sizeof(v));
	return 0;
}

static int opt_ready(void *dst, const char *text, char *why, size_t n)
{
	struct gate_cfg *c = dst;

	c->ready = true;
	return strcmp(text, "default") == 0 ? 0 : opt_joints(c->ready_j, text, why, n);
}

static int choose(const char *text, const char *const *words, char *why, size_t n)
{
	size_t used = 0;

	for (int i = 0; words[i]; i++)
		if (strcmp(text, words[i]) == 0)
			return i;
	for (int i = 0; words[i] && used < n; i++)
		used += (size_t)snprintf(why + used, n - used, "%s%s", i ? " or " : "", words[i]);
	return -1;
}

static int opt_engage(void *dst, const char *text, char *why, size_t n)
{
	static const char *const words[] = { "auto", "first", "manual", NULL };
	int i = choose(text, words, why, n);

	if (i >= 0)
		((struct gate_cfg *)dst)->engage = (enum gate_engage)i;
	return i < 0 ? -1 : 0;
}

static int opt_estop(void *dst, const char *text, char *why, size_t n)
{
	static const char *const words[] = { "hold", "damp", NULL };
	int i = choose(text, words, why, n);

	if (i >= 0)
		((struct gate_cfg *)dst)->damp = i == 1;
	return i < 0 ? -1 : 0;
}

static int opt_pace(void *dst, const char *text, char *why, size_t n)
{
	static const char *const words[] = { "tick", "arrival", NULL };
	int i = choose(text, words, why, n);

	if (i >= 0)
		*(bool *)dst = i == 1;
	return i < 0 ? -1 : 0;
}

static int opt_firmware(void *dst, const char *text, char *why, size_t n)
{
	if (firmware_compare(text, text) != 0 || strlen(text) != 8) {
		snprintf(why, n, "a version like S-V1.8-9 wanted");
		return -1;
	}
	memcpy(dst, text, 9);
	return 0;
}

static int opt_percent(void *dst, const char *text, char *why, size_t n)
{
	int64_t v;

	if (!opt_integer(text, 1, 100, &v)) {
		snprintf(why, n, "1 to 100 wanted");
		return -1;
	}
	*(uint8_t *)dst = (uint8_t)v;
	return 0;
}

static int opt_stroke(void *dst, const char *text, char *why, size_t n)
{
	int64_t v;

	if (!opt_integer(text, 1000, 150000, &v)) {
		snprintf(why, n, "1000 to 150000 um wanted");
		return -1;
	}
	*(double *)dst = 1e-6 * (double)v;
	return 0;
}

/* --ready takes its six angles or nothing (gate:G12). */
static void complete_ready(int argc, char **argv)
{
	static char text[160];
	double v[CHAIN_JOINTS];

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--ready") != 0)
			continue;
		if (i + 1 < argc && opt_numbers(argv[i + 1], CHAIN_JOINTS, v))
			i++;
		else
			snprintf(text, sizeof(text), "--ready=default"), argv[i] = text;
	}
}

bool options_ideal(const struct options *o)
{
	if (strncmp(o->bus, "slcan:", 6) == 0)
		return false;
	return strcmp(o->bus, "-") == 0 || strchr(o->bus, '/') ||
	       strncmp(o->bus, "unixgram:", 9) == 0;
}

static void check(struct options *o)
{
	const struct gate_cfg *c = &o->gate;

	if (o->run.clock_input && (o->run.stop.n || strstr(o->run.in, "://")))
		die(EXIT_USAGE, "--clock input: takes neither -e nor a network input");
	if (o->run.clock_input && o->on_arrival)
		die(EXIT_USAGE, "--clock input: sets fall at ticks, not at arrivals");
	if (o->run.clock_input && !options_ideal(o))
		die(EXIT_USAGE, "--clock input: wants an ideal arm, not %s", o->bus);
	if (c->engage != GATE_AUTO && !o->run.stop.n)
		die(EXIT_USAGE, "--engage %s: an engage comes on the stop channel: needs -e",
			c->engage == GATE_FIRST ? "first" : "manual");
	if (c->lim.lead_m > 0.5 * 0.2 || c->ramp_m > c->lim.speed_m)
		die(EXIT_USAGE, "--lead at most 0.1 m, --ramp not above --speed");
	if (o->run.src && !rec_src_ok(o->run.src))
		die(EXIT_USAGE, "--src: not a name: %s", o->run.src);
	if (!rec_src_ok(o->name))
		die(EXIT_USAGE, "--name: not a name: %s", o->name);
}

void options_parse(int argc, char **argv, struct options *o)
{
	*o = (struct options){
		.run = RUN_OPTS_INIT, .name = "arm0", .rate_hz = 30, .set = { 25, 0.07, 1 }
	};
	gate_defaults(&o->gate);
	startup_defaults(&o->startup);
	memcpy(o->home, o->gate.ready_j, sizeof(o->home));

	const struct opt table[] = {
		OPT_IN(o->run),
		OPT_OUT(o->run),
		OPT_STOP(o->run, "listen for stops, beats, reset and engage; repeatable"),
		OPT_COUNT(o->run),
		OPT_SRC(o->run, "obey poses of this src only (default: the first seen)"),
		OPT_MAX_AGE(o->run),
		OPT_IDLE(o->run),
		OPT_STRICT(o->run),
		OPT_STATS(o->run),
		OPT_READY(o->run),
		OPT_CLOCK(o->run),
		{ OPT_STR, 0, "name", &o->name, "NAME", "src of the records written (default arm0)",
			0, 0, 0 },
		{ OPT_NUM, 0, "rate", &o->rate_hz, "HZ", "tick (default 30)", 5, 200, 0 },
		{ OPT_CALL, 0, "pace", &o->on_arrival, "P", "tick (default) or arrival of a pose",
			0, 0, opt_pace },
		{ OPT_CALL, 0, "engage", &o->gate, "E", "auto (default), first or manual", 0, 0,
			opt_engage },
		{ OPT_CALL, 0, "engage-within", &o->gate, "M,DEG",
			"target near the arm to begin (default 0.05,20)", 0, 0, opt_within },
		{ OPT_CALL, 0, "speed", &o->gate, "M,DEG", "most per second (default 0.25,90)", 0,
			0, opt_speed },
		{ OPT_CALL, 0, "accel", &o->gate, "M,RAD",
			"most per second squared (default 2.5,15)", 0, 0, opt_accel },
		{ OPT_CALL, 0, "ramp", &o->gate, "M,DEG",
			"speed at the begin of a run (default 0.1,30)", 0, 0, opt_ramp },
		{ OPT_CALL, 0, "lead", &o->gate, "M,DEG",
			"never farther ahead of the arm (default 0.0375,13.5)", 0, 0, opt_lead },
		{ OPT_NUM, 0, "grip-rate", &o->gate.grip_rate, "R",
			"gripper openings per second (default 2)", 0.01, 100, 0 },
		{ OPT_DUR, 0, "lease", &o->gate.lease_us, "D",
			"longest silence of who beats (default 100ms)", 10000, 10e6, 0 },
		{ OPT_DUR, 0, "freeze", &o->gate.freeze_us, "D",
			"a tick later than this is a freeze (default 100ms)", 10000, 1e6, 0 },
		{ OPT_DUR, 0, "silent", &o->gate.silent_us, "D",
			"arm silent: hold; twice as long: fault (default 50ms)", 10000, 1e6, 0 },
		{ OPT_DUR, 0, "measured", &o->gate.measured_us, "D",
			"oldest joints that count as measured (default 50ms)", 5000, 1e6, 0 },
		{ OPT_CALL, 0, "ready", &o->gate, "[J1,..,J6]",
			"go to these joints first, degrees (default 0,86,-45,0,24,0)", 0, 0,
			opt_ready },
		{ OPT_CALL, 0, "home", o->home, "J1,..,J6",
			"where an ideal arm starts, degrees (default 0,86,-45,0,24,0)", 0, 0,
			opt_joints },
		{ OPT_CALL, 0, "estop", &o->gate, "E",
			"hold (default) or damp: the arm sinks slowly", 0, 0, opt_estop },
		{ OPT_CALL, 0, "speed-percent", &o->set.speed_percent, "N",
			"of the arm's own joint speed (default 25)", 0, 0, opt_percent },
		{ OPT_CALL, 0, "gripper-max", &o->set.stroke_m, "UM",
			"opening that grip 1 means (default 70000)", 0, 0, opt_stroke },
		{ OPT_NUM, 0, "gripper-effort", &o->set.effort_nm, "NM",
			"gripper torque (default 1)", 0.05, 5, 0 },
		{ OPT_CALL, 0, "firmware", o->startup.firmware, "V",
			"the arm's version, when it does not tell it", 0, 0, opt_firmware },
		{ OPT_FLAG, 0, "stop", &o->stop, NULL, "send one hold set to BUS and end", 0, 0,
			0 },
		{ 0 },
	};
	const struct opt_tool tool = {
		.name = "piper-can-write",
		.operands = "BUS",
		.about = "Drive one AgileX Piper over CAN; decides whether the arm may move.",
		.opts = table,
		.min_operands = 1,
		.max_operands = 1,
	};

	complete_ready(argc, argv);
	o->bus = argv[opt_parse(&tool, argc, argv)];
	o->gate.max_age_us = o->run.max_age_us;
	o->gate.stop_channel = o->run.stop.n > 0;
	o->gate.period_us = llrint(1e6 / o->rate_hz);
	if (o->run.src)
		snprintf(o->gate.src, sizeof(o->gate.src), "%s", o->run.src);
	o->startup.speed_percent = o->set.speed_percent;
	o->startup.effort_nm = o->set.effort_nm;
	check(o);
}
