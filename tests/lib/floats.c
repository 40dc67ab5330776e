/*
 * Every float through each limit that takes one number: nothing that is not finite comes out, and
 * what comes out is within the limit or refused.
 *
 *   floats FIRST STEP     the bit patterns FIRST, FIRST + STEP ... below 2^32, and the edges
 *
 * Where a float goes: RCTP position and gripper fields (decoded and checked); each axis and the
 * gripper of clamp, afresh and in a run with speed limits; the Piper wire's lengths and angles.
 * Every 64th goes to clamp and from it as a line.  Exit 0: all held, 1: some did not (the first ten
 * are printed), 2 usage.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clamp/config.h"
#include "clamp/limits.h"
#include "rec/record.h"
#include "wire/piper.h"
#include "wire/rctp.h"

#define MAX_M 10.0
#define RECORD_MAX 9e9 /* teleop-record(5) */
#define EPS 1e-9       /* clamp puts out whole nanometres */
#define STEP_US 10000

static struct limits box, all; /* without and with rates */
static unsigned long bad, cases;

static void expect(bool so, const char *what, uint32_t bits, int field)
{
	cases++;
	if (!so && bad++ < 10)
		printf("%s, field %d: pattern %08X\n", what, field, (unsigned)bits);
}

static double value_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof f);
	return (double)f;
}

static void put(uint8_t *b, uint32_t bits)
{
	for (int i = 0; i < 4; i++)
		b[i] = (uint8_t)(bits >> 8 * i);
}

static void through_packet(uint32_t bits)
{
	struct rctp zero = { .pose = POSE_IDENTITY, .grip = 0.5, .flags = RCTP_VALID }, r;
	uint8_t b[RCTP_SIZE];
	double x = value_of(bits);
	int grip_ok;

	for (int field = 0; field < 3; field++) {
		rctp_encode(&zero, b);
		put(b + 12 + 4 * field, bits);
		expect(rctp_decode(b, sizeof b, &r) == RCTP_OK, "decode", bits, field);
		enum rctp_pose verdict = rctp_check(&r, MAX_M, &grip_ok);
		double out = field == 0 ? r.pose.p.x : field == 1 ? r.pose.p.y : r.pose.p.z;
		enum rctp_pose want = !isfinite(x)      ? RCTP_POSE_NONFINITE
				      : fabs(x) > MAX_M ? RCTP_POSE_RANGE
							: RCTP_POSE_OK;
		expect(verdict == want && grip_ok, "packet position", bits, field);
		expect(verdict != RCTP_POSE_OK || out == x, "packet position kept", bits, field);
	}
	rctp_encode(&zero, b);
	put(b + 40, bits);
	expect(rctp_decode(b, sizeof b, &r) == RCTP_OK, "decode", bits, 3);
	expect(rctp_check(&r, MAX_M, &grip_ok) == RCTP_POSE_OK, "packet gripper", bits, 3);
	double want = x < 0 ? 0 : x > 1 ? 1 : x;
	expect(grip_ok ? isfinite(x) && r.grip == want : !isfinite(x), "gripper value", bits, 3);
}

static struct rec_pose pose_with(int axis, double x)
{
	struct rec_pose p = {
		.frame = REC_BASE, .valid = true, .pose = { { 0.25, 0, 0.3 }, { 0, 0, 0, 1 } }
	};

	if (axis == 0)
		p.pose.p.x = x;
	else if (axis == 1)
		p.pose.p.y = x;
	else if (axis == 2)
		p.pose.p.z = x;
	p.has_grip = true;
	p.grip = axis == 3 ? x : 0.5;
	return p;
}

static bool is_allowed(const struct rec_pose *p)
{
	const double v[3] = { p->pose.p.x, p->pose.p.y, p->pose.p.z };
	const struct space *s = &box.space;

	for (int i = 0; i < 3; i++)
		if (!(v[i] >= s->lo[i] - EPS && v[i] <= s->hi[i] + EPS))
			return false;
	return p->valid && hypot(v[0], v[1]) >= s->radius - EPS && p->grip >= 0 && p->grip <= 1;
}

/* As lines on both sides of clamp. False: the reader or the writer refuses it. */
static bool as_line(struct rec_pose *p)
{
	static struct rec r;
	static char line[REC_LINE_MAX + 1];

	rec_init(&r, REC_POSE, "right", 0, 0);
	r.u.pose = *p;
	int n = rec_print(&r, line, sizeof line);
	if (n < 0 || !rec_parse_direct(line, (size_t)n - 1, &r))
		return false;
	*p = r.u.pose;
	return true;
}

static void through_clamp(uint32_t bits, bool lines)
{
	double x = value_of(bits);

	for (int axis = 0; axis < 4; axis++) {
		struct limits_state fresh = { 0 };
		struct rec_pose p = pose_with(axis, x), in;
		bool can_be = fabs(x) <= RECORD_MAX; /* no record holds another */
		if (lines)
			expect(as_line(&p) == can_be, "record", bits, axis);
		if (!can_be)
			continue;
		in = p;
		bool changed = limits_apply(&box, &fresh, 0, &p);
		expect(is_allowed(&p), "clamp", bits, axis);
		expect(is_allowed(&in) == !changed, "clamp says so", bits, axis);
		expect(!lines || (as_line(&p) && is_allowed(&p)), "clamp's line", bits, axis);
	}
}

/* One step of a run that stands in the middle. */
static void through_rates(uint32_t bits, int axis)
{
	struct limits_state run = { 0 };
	struct rec_pose from = pose_with(-1, 0), p = pose_with(axis, value_of(bits));

	if (!(fabs(value_of(bits)) <= RECORD_MAX))
		return;
	(void)limits_apply(&all, &run, 0, &from);
	(void)limits_apply(&all, &run, STEP_US, &p);
	double dt = 1e-6 * STEP_US;
	double way = sqrt(pow(p.pose.p.x - from.pose.p.x, 2) + pow(p.pose.p.y - from.pose.p.y, 2) +
			  pow(p.pose.p.z - from.pose.p.z, 2));
	expect(is_allowed(&p), "clamp in a run", bits, axis);
	expect(way <= all.speed * dt + EPS, "speed", bits, axis);
	expect(way <= all.accel * dt * dt + EPS, "acceleration", bits, axis);
	expect(fabs(p.grip - from.grip) <= all.grip_rate * dt + EPS, "grip rate", bits, axis);
}

static void through_wire(uint32_t bits)
{
	double x = value_of(bits);
	int32_t um = 0, mdeg = 0;
	int rc = piper_um(x, &um);

	expect((rc == 0) == (fabs(rint(x * 1e6) + 0.5) < 2147483648.0), "length fits", bits, 0);
	expect(rc != 0 || fabs(um - x * 1e6) <= 0.5, "length", bits, 0);
	rc = piper_mdeg(x, &mdeg);
	expect((rc == 0) == (fabs(rint(x * 1e3) + 0.5) < 2147483648.0), "angle fits", bits, 0);
	expect(rc != 0 || fabs(mdeg - x * 1e3) <= 0.5, "angle", bits, 0);
}

static void through_all(uint32_t bits, bool lines)
{
	through_packet(bits);
	through_clamp(bits, lines);
	through_rates(bits, (int)(bits % 4));
	through_wire(bits);
}

/* Patterns round the numbers where something changes, both signs. */
static void edges(void)
{
	static const float at[] = { 0, 0.05F, 0.1F, 0.25F, 0.3F, 0.4F, 0.7F, 0.5F, 1, 10, 9e9F,
		2147.483648F, 2147483.648F, 1.1754944e-38F, 3.4028235e38F, HUGE_VALF };

	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
		for (int d = -3; d <= 3; d++) {
			uint32_t bits;
			memcpy(&bits, &at[i], sizeof bits);
			through_all(bits + (uint32_t)d, true);
			through_all((bits + (uint32_t)d) ^ 0x80000000U, true);
		}
	through_all(0x7FC00000U, true);
	through_all(0xFFFFFFFFU, true);
}

int main(int argc, char **argv)
{
	struct clamp_options o = { .preset = "piper" };
	char why[200];
	unsigned long n = 0;
	uint64_t first = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t step = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	if (step == 0) {
		fprintf(stderr, "usage: floats FIRST STEP\n");
		return 2;
	}
	if (clamp_config(&o, &all, why, sizeof why) != 0) {
		fprintf(stderr, "floats: %s\n", why);
		return 2;
	}
	box = all;
	box.speed = box.accel = box.aspeed = box.aaccel = box.grip_rate = 0;
	edges();
	for (uint64_t bits = first; bits <= UINT32_MAX; bits += step)
		through_all((uint32_t)bits, n++ % 64 == 0);
	printf("patterns %lu, claims %lu, broken %lu\n", n, cases, bad);
	return bad > 0;
}
