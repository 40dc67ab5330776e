/* The simulated arm: states, targets, limits of motion (piper.md 3, 5, 7; piper:S2-S9, S16-S18). */
#include <math.h>
#include <string.h>

#include "piper-sim/arm.h"
#include "piper-sim/motion.h"
#include "tap.h"

#define DEG (M_PI / 180)
#define MS 1000

static const double READY[6] = { 0, 86 * DEG, -45 * DEG, 0, 24 * DEG, 0 };

static struct can_frame frame(canid_t id, const uint8_t *data, size_t n)
{
	struct can_frame f = { .can_id = id, .can_dlc = 8 };

	memcpy(f.data, data, n);
	return f;
}

static int send(struct arm *a, canid_t id, uint8_t b0, uint8_t b1, uint8_t b2)
{
	struct can_frame reply[ARM_REPLY_MAX];
	struct can_frame f = frame(id, (uint8_t[]){ b0, b1, b2 }, 3);

	return simarm_take(a, &f, reply);
}

static void mode(struct arm *a, uint8_t move, uint8_t speed)
{
	(void)send(a, 0x151, 1, move, speed);
}

static void set3(struct arm *a, const struct can_frame f[3])
{
	struct can_frame reply[ARM_REPLY_MAX];

	for (int i = 0; i < 3; i++)
		(void)simarm_take(a, &f[i], reply);
}

static void joints(struct arm *a, const double q[6])
{
	struct can_frame f[3];

	(void)piper_joints(f, q);
	set3(a, f);
}

static void pose(struct arm *a, struct pose p)
{
	struct can_frame f[3];

	(void)piper_pose(f, p);
	set3(a, f);
}

static void run(struct arm *a, int64_t ms)
{
	simarm_advance(a, a->now_us + ms * MS);
}

static double off(const struct arm *a, const double q[6])
{
	double most = 0;

	for (int i = 0; i < 6; i++)
		most = fmax(most, fabs(a->q[i] - q[i]));
	return most;
}

/* Enabled, CAN control, at the ready pose. */
static struct arm ready_arm(void)
{
	struct arm_opts o = ARM_OPTS_INIT;
	struct arm a;

	memcpy(o.start, READY, sizeof o.start);
	o.starts_enabled = true;
	simarm_init(&a, &o, 1000000);
	return a;
}

static int shown_bits(const struct arm *a)
{
	struct can_frame f[ARM_BURST_MAX];
	struct piper_msg m;
	int n = simarm_feedback(a, true, f), bits = 0;

	for (int i = 0; i < n; i++)
		if (piper_decode(&f[i], &m) && m.kind == PIPER_FB_SLOW &&
			m.u.slow.bits & PIPER_ENABLED)
			bits |= 1 << m.part;
	return bits;
}

static void enabling(void)
{
	struct arm_opts o = ARM_OPTS_INIT;
	struct arm a;

	o.enable_tries = 3;
	simarm_init(&a, &o, 0);
	ok(send(&a, 0x471, 7, 2, 0) == 1 && !simarm_all_enabled(&a),
		"first try is acknowledged, not enough");
	(void)send(&a, 0x471, 7, 2, 0);
	(void)send(&a, 0x471, 2, 2, 0);
	ok(a.enabled[1] && !a.enabled[0], "tries count for each joint");
	(void)send(&a, 0x471, 7, 2, 0);
	ok(simarm_all_enabled(&a) && shown_bits(&a) == 0, "enabled; feedback does not show it yet");
	run(&a, 20);
	ok(shown_bits(&a) == 0x3F, "bits show after the lag");
	(void)send(&a, 0x471, 4, 1, 0);
	ok(shown_bits(&a) == 0x37, "one joint disabled shows at once");

	o.enable_tries = 1;
	o.enable_never = 1 << 4;
	simarm_init(&a, &o, 0);
	for (int i = 0; i < 20; i++)
		(void)send(&a, 0x471, 7, 2, 0);
	run(&a, 100);
	ok(shown_bits(&a) == 0x2F, "a joint that never comes on");
	ok(off(&a, o.start) == 0, "an arm that was not yet on lies where it was put");
}

static void move_joints(void)
{
	struct arm a = ready_arm();
	double to[6], top = 0, change = 0, before[6], lead;

	memcpy(to, READY, sizeof to);
	to[0] = 1.5;
	to[4] = 0.2;
	mode(&a, 1, 50);
	joints(&a, to);
	memcpy(before, a.v, sizeof before);
	lead = a.q[0];
	for (int i = 0; i < 2000; i++) {
		run(&a, 1);
		for (int k = 0; k < 6; k++) {
			top = fmax(top, fabs(a.v[k]));
			change = fmax(change, fabs(a.v[k] - before[k]) * 1000);
		}
		memcpy(before, a.v, sizeof before);
		lead = fmax(lead, a.q[0]);
	}
	ok(top > 1.4999 && top <= 1.5 + 1e-9, "top speed is 3 rad/s x 50 %% (%.4f)", top);
	ok(change > 4.99 && change <= 5 + 1e-6, "acceleration at most 5 rad/s2 (%.4f)", change);
	ok(off(&a, to) < 1e-5 && simarm_at_rest(&a), "arrives and rests (off %.1e)", off(&a, to));
	ok(lead <= to[0] + 1e-5, "does not overshoot (%.6f)", lead);
}

static void follows_newest(void)
{
	struct arm a = ready_arm();
	double far[6], near[6];

	memcpy(far, READY, sizeof far);
	memcpy(near, READY, sizeof near);
	far[0] = 2.0;
	near[0] = -0.3;
	mode(&a, 1, 100);
	joints(&a, far);
	run(&a, 300);
	joints(&a, near);
	run(&a, 2000);
	ok(off(&a, near) < 1e-5, "a newer target replaces one under way");
	run(&a, 5000);
	ok(off(&a, near) < 1e-5 && simarm_all_enabled(&a), "no watchdog: holds for ever");
}

static void move_pose(void)
{
	struct arm a = ready_arm();
	struct pose want = simarm_flange(&a), is;

	want.p.y += 0.05;
	want.p.z += 0.03;
	mode(&a, 0, 100);
	pose(&a, want);
	run(&a, 1500);
	is = simarm_flange(&a);
	ok(vec_dist(is.p, want.p) < 5e-6 && quat_angle(is.q, want.q) < 1e-4, "MOVE P arrives");
	ok(simarm_status(&a) == 0 && a.following, "status 0");
}

static struct pose arm_flange_turned(const struct arm *a, double j1)
{
	double q[6];

	memcpy(q, a->q, sizeof q);
	q[0] += j1;
	return chain_fk(a->o.dh, q);
}

/* Time until joint 1 has gone half of 0.2 rad, targets streamed each 20 ms; -1: not in 2 s. */
static int64_t half_way_ms(struct arm *a, uint8_t move_mode)
{
	struct pose want = arm_flange_turned(a, 0.2);
	double to[6];

	memcpy(to, READY, sizeof to);
	to[0] = 0.2;
	mode(a, move_mode, 100);
	for (int i = 0; i < 2000; i++) {
		want.p.z += 1e-6; /* a new target each time */
		to[5] += 1e-4;
		if (i % 20 == 0 && move_mode == 1)
			joints(a, to);
		else if (i % 20 == 0)
			pose(a, want);
		run(a, 1);
		if (a->q[0] >= 0.1)
			return i + 1;
	}
	return -1;
}

static void lag_and_replan(void)
{
	struct arm a = ready_arm();
	int64_t plain = half_way_ms(&a, 1), late, jerky;

	a = ready_arm();
	a.o.lag_us = 80000;
	late = half_way_ms(&a, 1);
	ok(plain > 0 && late - plain >= 79 && late - plain <= 81, "lag: %d ms later",
		(int)(late - plain));
	a = ready_arm();
	a.o.replan = true;
	jerky = half_way_ms(&a, 1);
	ok(jerky > 2 * plain, "replan: dense targets slow it (%d against %d ms)", (int)jerky,
		(int)plain);
	a = ready_arm();
	ok(half_way_ms(&a, 2) > 2 * plain, "  ... so does MOVE L");
	a = ready_arm();
	ok(half_way_ms(&a, 0) < 2 * plain, "  ... not MOVE P");
	a = ready_arm();
	a.o.replan = true;
	mode(&a, 1, 100);
	joints(&a, READY);
	run(&a, 100);
	ok(off(&a, READY) < 1e-5, "  ... and at rest it rests");
}

static void refusals(void)
{
	static const struct {
		struct vec3 shift;
		uint8_t status;
		const char *what;
	} rows[] = {
		{ { 1.0, 0, 0 }, ARM_NO_SOLUTION, "out of reach: no IK solution" },
		{ { -0.5, 0, 0.2 }, ARM_OVER_LIMIT, "outside the joint limits" },
	};
	struct arm a;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		a = ready_arm();
		mode(&a, 0, 100);
		struct pose good = simarm_flange(&a), bad = good;
		bad.p = vec_add(bad.p, rows[i].shift);
		pose(&a, bad);
		(void)send(&a, 0x159, 0, 0, 0x75); /* 30 mm, code still 0 */
		struct can_frame g, reply[ARM_REPLY_MAX];
		(void)piper_gripper(&g, 0.03, 1.0, 1);
		(void)simarm_take(&a, &g, reply);
		run(&a, 1000);
		ok(simarm_status(&a) == rows[i].status, "%s: status %d", rows[i].what,
			simarm_status(&a));
		ok(off(&a, READY) == 0, "  ... the arm does not move");
		ok(fabs(a.grip.width_m - 0.03) < 1e-9, "  ... the gripper does");
		good.p.z += 0.01;
		pose(&a, good);
		run(&a, 500);
		ok(simarm_status(&a) == 0 && off(&a, READY) > 0.01,
			"  ... cleared by the next good target");
	}
	a = ready_arm();
	mode(&a, 0, 100);
	pose(&a, (struct pose){ { 0.001, 0, 0.6 }, { 0, 0, 0, 1 } });
	ok(simarm_status(&a) == ARM_SINGULAR, "wrist over the base axis: singular (%d)",
		simarm_status(&a));

	a = ready_arm();
	double over[6] = { 0, 3.3, -0.5, 0, 1.3, 0 };
	mode(&a, 1, 100);
	joints(&a, over);
	ok(simarm_status(&a) == ARM_OVER_LIMIT && a.limit_bits == 0x12,
		"MOVE J over limits names joints 2, 5");
}

static void refusal_stops_a_move(void)
{
	struct arm a = ready_arm();
	double far[6], at;

	memcpy(far, READY, sizeof far);
	far[0] = 2.0;
	mode(&a, 1, 100);
	joints(&a, far);
	run(&a, 300);
	far[0] = 3.0;
	joints(&a, far);
	at = a.q[0];
	run(&a, 1000);
	ok(simarm_at_rest(&a) && a.q[0] > at && a.q[0] < at + 1.5 * 1.5 / 10 + 0.01,
		"under way: brakes and holds (%.3f from %.3f)", a.q[0], at);
	a.o.refusal_latched = true;
	joints(&a, READY);
	run(&a, 2000);
	ok(off(&a, READY) > 0.1 && simarm_status(&a) == ARM_OVER_LIMIT,
		"latched: a good target is not enough");
}

static void stored_target(void)
{
	struct arm a = ready_arm();
	struct pose old = simarm_flange(&a);
	double there[6];
	unsigned long wakes;

	old.p.z += 0.06;
	mode(&a, 0, 100);
	pose(&a, old);
	run(&a, 1000);
	memcpy(there, READY, sizeof there);
	mode(&a, 1, 100);
	joints(&a, there);
	run(&a, 2000);
	ok(off(&a, READY) < 1e-5, "MOVE J took over");
	wakes = a.wakes;
	mode(&a, 0, 100);
	run(&a, 1000);
	ok(vec_dist(simarm_flange(&a).p, old.p) < 5e-6, "0x151 alone wakes the stored pose (B14)");
	ok(a.wakes == wakes + 1, "  ... and counts as a wake");

	mode(&a, 1, 100);
	joints(&a, READY);
	run(&a, 2000);
	pose(&a, simarm_flange(&a)); /* gate:G10: the measured pose first */
	run(&a, 5);
	mode(&a, 0, 100);
	run(&a, 500);
	ok(off(&a, READY) < 1e-3, "the measured pose sent first: nothing moves");
}

static void latching(void)
{
	struct arm a = ready_arm();
	struct pose want = simarm_flange(&a);
	struct can_frame f[3], reply[ARM_REPLY_MAX];

	want.p.x += 0.03;
	mode(&a, 0, 100);
	pose(&a, simarm_flange(&a));
	(void)piper_pose(f, want);
	(void)simarm_take(&a, &f[0], reply);
	run(&a, 500);
	ok(off(&a, READY) < 1e-3, "--latch last: 0x152 alone moves nothing");
	a.o.latch_each = true;
	(void)simarm_take(&a, &f[0], reply);
	run(&a, 500);
	ok(off(&a, READY) > 0.02, "--latch each: it does");
}

static void stop_and_fall(void)
{
	struct arm a = ready_arm();
	double q1, z;

	mode(&a, 0, 100);
	pose(&a, simarm_flange(&a));
	(void)send(&a, 0x150, 1, 0, 0);
	z = simarm_flange(&a).p.z;
	run(&a, 500);
	ok(simarm_status(&a) == ARM_ESTOP && simarm_all_enabled(&a),
		"0x150 01: status 1, motors on");
	ok(simarm_flange(&a).p.z < z - 0.005 && simarm_flange(&a).p.z > z - 0.15,
		"sinks slowly (%.3f m)", z - simarm_flange(&a).p.z);
	ok(fabs(a.v[1]) <= a.o.sink_rad_s && fabs(a.v[2]) <= a.o.sink_rad_s,
		"  ... at the sink rate");
	q1 = a.q[1];
	mode(&a, 1, 100);
	joints(&a, READY);
	run(&a, 500);
	ok(simarm_status(&a) == ARM_ESTOP && fabs(a.q[1] - q1) < 0.11, "  ... and takes no target");
	(void)send(&a, 0x150, 2, 0, 0);
	ok(simarm_status(&a) == 0 && !a.enabled[0] && a.ctrl == ARM_CTRL_STANDBY,
		"0x150 02: power off");
	(void)send(&a, 0x471, 7, 2, 0);
	ok(!simarm_all_enabled(&a), "two enables after a reset");
	run(&a, 10000);
	ok(simarm_at_rest(&a) && motion_lowest(a.o.dh, a.q) > -0.01,
		"comes to rest on the table or its stops");

	a = ready_arm();
	(void)send(&a, 0x471, 7, 1, 0);
	z = simarm_flange(&a).p.z;
	run(&a, 300);
	ok(simarm_flange(&a).p.z < z - 0.05, "disable: falls at once (%.3f m in 0.3 s)",
		z - simarm_flange(&a).p.z);
	(void)send(&a, 0x471, 7, 2, 0);
	mode(&a, 1, 100);
	run(&a, 500);
	ok(simarm_at_rest(&a), "enabled again: holds where it is");
}

static void refused_states(void)
{
	struct arm a = ready_arm();
	double to[6] = { 0.5, 86 * DEG, -45 * DEG, 0, 24 * DEG, 0 };

	mode(&a, 1, 100);
	simarm_set_teach(&a, true);
	mode(&a, 1, 100);
	joints(&a, to);
	run(&a, 500);
	ok(a.ctrl == ARM_CTRL_TEACH && off(&a, READY) == 0, "teach: mode and target are ignored");
	simarm_set_teach(&a, false);
	ok(a.ctrl == ARM_CTRL_STANDBY, "  ... and standby follows");

	a = ready_arm();
	mode(&a, 1, 100);
	simarm_force_status(&a, 7);
	joints(&a, to);
	run(&a, 500);
	ok(simarm_status(&a) == 7 && off(&a, READY) == 0, "error status: no motion");
	simarm_force_status(&a, 0);
	joints(&a, to);
	run(&a, 1500);
	ok(off(&a, to) < 1e-5, "  ... ends");

	a = ready_arm();
	mode(&a, 1, 0);
	joints(&a, to);
	run(&a, 500);
	ok(off(&a, READY) == 0, "speed 0: no motion");
	mode(&a, 1, 101);
	ok(a.speed_percent == 0, "speed 101 is ignored");
	a.frozen[0] = true;
	mode(&a, 1, 100);
	run(&a, 500);
	ok(a.q[0] == 0, "frozen joint stays");
	simarm_set_power(&a, false);
	struct can_frame f[ARM_BURST_MAX];
	ok(simarm_feedback(&a, true, f) == 0 && send(&a, 0x472, 1, 1, 0) == 0, "no power: silence");
}

/* Every command id with every first byte in every control state: nothing non-finite, in limits. */
static void any_byte(void)
{
	struct arm a = ready_arm();
	struct can_frame f, reply[ARM_REPLY_MAX];
	bool good = true;

	mode(&a, 0, 100);
	for (canid_t id = 0x100; id < 0x500; id++)
		for (int b = 0; b < 256; b += 5) {
			memset(&f, b, sizeof f);
			f.can_id = id;
			f.can_dlc = 8;
			f.data[1] = (uint8_t)(b * 7);
			int n = simarm_take(&a, &f, reply);
			good = good && n >= 0 && n <= ARM_REPLY_MAX;
			f.can_dlc = (uint8_t)(b % 8);
			(void)simarm_take(&a, &f, reply);
			run(&a, 1);
		}
	for (int i = 0; i < 6; i++)
		good = good && isfinite(a.q[i]) && a.q[i] >= a.o.dh->j[i].lo &&
		       a.q[i] <= a.o.dh->j[i].hi;
	ok(good, "any byte in any frame: state stays finite and inside the limits");
}

static void feedback(void)
{
	struct arm a = ready_arm();
	struct can_frame f[ARM_BURST_MAX];
	struct piper_msg m;
	int32_t pose_raw[6] = { 0 }, joint_raw[6] = { 0 };
	double q[6];

	ok(simarm_feedback(&a, false, f) == 14 && simarm_feedback(&a, true, f) == 20,
		"14 and 20 frames");
	for (int i = 0; i < 14; i++) {
		(void)piper_decode(&f[i], &m);
		int32_t *to = m.kind == PIPER_FB_POSE ? pose_raw : joint_raw;
		if (m.kind == PIPER_FB_POSE || m.kind == PIPER_FB_JOINTS) {
			to[2 * m.part] = m.a;
			to[2 * m.part + 1] = m.b;
		}
	}
	piper_joints_from_raw(joint_raw, q);
	ok(vec_dist(chain_fk(a.o.dh, q).p, piper_pose_from_raw(pose_raw).p) < 2e-5,
		"pose and joints of a burst agree");
	struct can_frame ask = { .can_id = 0x472, .can_dlc = 8, .data = { 3, 1 } },
			 r[ARM_REPLY_MAX];
	ok(simarm_take(&a, &ask, r) == 1 && piper_decode(&r[0], &m) && m.kind == PIPER_FB_LIMITS &&
			m.u.limits.joint == 3 && m.u.limits.max_ddeg == 0 &&
			m.u.limits.min_ddeg == -1700,
		"0x472 answers the limits of joint 3");
	piper_ask_firmware(&ask);
	ok(simarm_take(&a, &ask, r) == 11 && r[10].can_id == 0x4AF, "0x4AF answers eleven frames");
}

int main(void)
{
	enabling();
	move_joints();
	follows_newest();
	move_pose();
	lag_and_replan();
	refusals();
	refusal_stops_a_move();
	stored_target();
	latching();
	stop_and_fall();
	refused_states();
	any_byte();
	feedback();
	return tap_done();
}
