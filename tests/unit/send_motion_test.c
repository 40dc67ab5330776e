/* rctp-send's motions (smooth, from rest, where a hand is) and its flags (plan, control lines). */
#include "rctp-send/flags.h"
#include "rctp-send/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

#define H 1e-4 /* s, step of the differences */

static struct pose at(const struct motion *m, double t)
{
	struct pose p;
	double grip;
	motion_at(m, t, &p, &grip);
	return p;
}

static struct vec3 speed(const struct motion *m, double t)
{
	return vec_scale(vec_sub(at(m, t + H).p, at(m, t - H).p), 1 / (2 * H));
}

static struct vec3 accel(const struct motion *m, double t)
{
	struct vec3 s = vec_add(at(m, t + H).p, at(m, t - H).p);
	return vec_scale(vec_sub(s, vec_scale(at(m, t).p, 2)), 1 / (H * H));
}

static void smoothness(const char *name)
{
	struct motion m = { .size_m = 0.1, .period_s = 4, .total_s = 10 };
	double jump = 0, grip, lo = 1, hi = 0, rot = 0, reach = 0;
	struct pose p;

	ok(motion_named(name, &m.kind), "%s is a motion", name);
	ok(vec_dist(at(&m, 0).p, (struct vec3){ 0.1, 1.1, -0.4 }) == 0 && at(&m, 0).q.w == 1,
		"%s starts where a hand is", name);
	ok(vec_norm(speed(&m, 0)) < 1e-6 && vec_norm(accel(&m, 0)) < 0.02 &&
			vec_norm(speed(&m, 10)) < 1e-6 && vec_norm(accel(&m, 10)) < 0.02,
		"%s starts and ends at rest", name);
	/* a step in the acceleration would show between neighbours 2 ms apart */
	for (double t = 0; t < 10; t += 0.002) {
		double d = vec_dist(accel(&m, t), accel(&m, t + 0.002));
		jump = fmax(jump, d);
		motion_at(&m, t, &p, &grip);
		lo = fmin(lo, grip);
		hi = fmax(hi, grip);
		rot = fmax(rot, fabs(quat_norm(p.q) - 1));
		reach = fmax(reach, vec_dist(p.p, at(&m, 0).p));
	}
	ok(jump < 0.02, "%s: acceleration has no steps (%.4f m/s2)", name, jump);
	ok(rot < 1e-12, "%s: unit quaternions", name);
	bool moves = m.kind == MOTION_REACH || m.kind == MOTION_GRASP;
	ok(moves ? lo < 0.01 && hi > 0.99 : lo == 1, "%s: gripper %s", name,
		moves ? "closes and opens" : "stays open");
	ok(m.kind == MOTION_IDLE ? reach < 0.002 : reach > 0.095 && reach < 0.11, "%s: size %.3f m",
		name, reach);
}

static void never_frozen(void)
{
	static const enum motion_kind kinds[] = { MOTION_IDLE, MOTION_REACH, MOTION_CIRCLE,
		MOTION_GRASP };
	for (int k = 0; k < 4; k++) {
		struct motion m = { kinds[k], 0.1, 4, 0, false };
		int run = 0, longest = 0;
		for (int i = 1; i < 1000; i++) {
			struct pose a = at(&m, (i - 1) * 0.02), b = at(&m, i * 0.02);
			bool same = (float)a.p.x == (float)b.p.x && (float)a.p.y == (float)b.p.y &&
				    (float)a.p.z == (float)b.p.z;
			run = same ? run + 1 : 0;
			longest = run > longest ? run : longest;
		}
		ok(longest <= 5, "motion %d at 50 Hz repeats a pose for 100 ms at most (%d)", k,
			longest);
	}
}

static void unity(void)
{
	struct motion a = { MOTION_GRASP, 0.1, 4, 0, false }, b = { MOTION_GRASP, 0.1, 4, 0, true };
	struct pose p = at(&a, 3.3), q = at(&b, 3.3);
	ok(q.p.x == p.p.x && q.p.y == p.p.y && q.p.z == -p.p.z && q.q.x == -p.q.x &&
			q.q.y == -p.q.y && q.q.z == p.q.z && q.q.w == p.q.w,
		"unity axes: z of the position, x and y of the rotation negated (rctp.md 4.1)");
	ok(at(&a, 3.3).p.z < 0, "forward is -z");
}

static void plans(void)
{
	struct flags_plan p = { .n = 0 };
	char why[128] = "";

	ok(flags_parse(&p, "1:0x00,1.5:3,20:0xFf", why, sizeof why) == 0 && p.n == 3, "a plan");
	ok(flags_at(&p, 999999) == -1 && flags_at(&p, 1000000) == 0 && flags_at(&p, 1499999) == 0 &&
			flags_at(&p, 1500000) == 3 && flags_at(&p, 99000000) == 255,
		"each step holds from its time on");
	static const char *const bad[] = { "", "1", "1:", ":1", "1:256", "1:0x100", "1:-1", "x:1",
		"-1:1", "nan:1", "2:1,1:1", "1:1,1:2", "1:1,", "1:1 ", "1:1e1" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct flags_plan q = { .n = 0 };
		ok(flags_parse(&q, bad[i], why, sizeof why) == -1, "refused: '%s'", bad[i]);
	}
}

static void controls(void)
{
	int f = 7;
	ok(flags_command("stop", 4, &f) == COMMAND_STOP, "stop");
	ok(flags_command("flags 0x03", 10, &f) == COMMAND_FLAGS && f == 3, "flags 0x03");
	ok(flags_command("flags 1", 7, &f) == COMMAND_FLAGS && f == 1, "flags 1");
	ok(flags_command("flags auto", 10, &f) == COMMAND_FLAGS && f == -1, "flags auto");
	static const char *const bad[] = { "", "flags", "flags ", "flags 300", "stop now", "flag 1",
		"flags 00000000000000000000000000000001" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(flags_command(bad[i], strlen(bad[i]), &f) == COMMAND_BAD, "refused: '%s'",
			bad[i]);
}

int main(void)
{
	enum motion_kind k;
	smoothness("idle");
	smoothness("reach");
	smoothness("circle");
	smoothness("grasp");
	ok(!motion_named("dance", &k), "no other motion");
	never_frozen();
	unity();
	plans();
	controls();
	return tap_done();
}
