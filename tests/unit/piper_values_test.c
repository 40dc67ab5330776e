/* wire/piper and wire/piper_config: numbers, ranges, refusals. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/piper.h"
#include "wire/piper_config.h"

static int count, failed;

static void ok(bool good, const char *text)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++count, text);
	failed += !good;
}

static void test_numbers(void)
{
	int32_t v, raw[6];
	struct can_frame f[3];
	struct pose p = { { 0.28, 0, 0.199 }, { 0, 0, 0, 1 } };
	double rad[6] = { 0 };
	bool good = true;

	ok(!piper_um(2147.483647, &v) && v == INT32_MAX, "the largest length");
	ok(!piper_um(-2147.483648, &v) && v == INT32_MIN, "the smallest length");
	ok(piper_um(2147.4836476, &v) == -1 && piper_um(-2147.4836486, &v) == -1,
		"beyond: refused");
	ok(!piper_um(2.5e-6, &v) && v == 2 && !piper_um(3.5e-6, &v) && v == 4, "ties go to even");
	ok(piper_um(nan(""), &v) && piper_um(HUGE_VAL, &v) && piper_mdeg(-HUGE_VAL, &v),
		"what is not finite is refused");
	for (int i = 0; i < 7; i++) {
		struct pose bad = p;
		double *field[7] = { &bad.p.x, &bad.p.y, &bad.p.z, &bad.q.x, &bad.q.y, &bad.q.z,
			&bad.q.w };
		*field[i] = nan("");
		good &= piper_pose(f, bad) == -1 && piper_pose_raw(bad, raw) == -1;
		*field[i] = HUGE_VAL;
		good &= piper_pose(f, bad) == -1;
	}
	ok(good, "a pose with NaN or infinity in any place is refused");
	p.q.w = 0;
	ok(piper_pose(f, p) == -1, "a quaternion of norm 0 is refused");
	p.q.w = 1.01;
	ok(piper_pose(f, p) == -1, "and one of norm 1.01");
	rad[5] = nan("");
	ok(piper_joints(f, rad) == -1, "a joint that is NaN is refused");
	rad[5] = 40000;
	ok(piper_joints(f, rad) == -1, "a joint beyond the wire is refused");
	ok(piper_gripper(f, nan(""), 1, 1) && piper_gripper(f, 0, nan(""), 1) &&
			piper_gripper(f, 0, -0.001, 1) && piper_gripper(f, 0, 5.001, 1) &&
			piper_gripper(f, 0, 1, 4) && piper_gripper(f, 3000, 1, 1),
		"gripper: each value has its range");
	ok(!piper_gripper(f, 0.07, 5, 3) && f[0].data[4] == 0x13 && f[0].data[5] == 0x88,
		"and 5 N.m is inside");
}

static void test_back(void)
{
	const int32_t raw[6] = { 280123, -4567, 199001, 179999, 30001, -179998 };
	const int32_t mdeg[6] = { 1, -2, 150000, -170000, 0, 120000 };
	int32_t again[6];
	double rad[6];
	struct can_frame f[3];
	struct piper_msg m;
	bool good = true;

	ok(!piper_pose_raw(piper_pose_from_raw(raw), again) && !memcmp(raw, again, sizeof raw),
		"pose: wire integers to a pose and back");
	piper_joints_from_raw(mdeg, rad);
	good = !piper_joints(f, rad);
	for (int i = 0; i < 3; i++)
		good &= piper_decode(&f[i], &m) && m.kind == PIPER_CMD_JOINTS && m.part == i &&
			m.a == mdeg[2 * i] && m.b == mdeg[2 * i + 1];
	ok(good, "joints: wire integers to radians and back");
	for (int i = 0; i < 256; i++)
		good &= piper_status_text((uint8_t)i)[0] && piper_ctrl_text((uint8_t)i)[0];
	ok(good && !strcmp(piper_status_text(2), "no IK solution") &&
			!strcmp(piper_ctrl_text(2), "teach"),
		"every code has a text");
}

static void test_random(void)
{
	struct piper_msg m;
	long known = 0;

	srand(3);
	for (long i = 0; i < 300000; i++) {
		struct can_frame f = { .can_id = (canid_t)rand() & 0x7FF,
			.len = (uint8_t)(rand() % 16) };
		if (rand() % 4 == 0)
			f.can_id |= (canid_t)rand() << 11;
		for (int k = 0; k < 8; k++)
			f.data[k] = (uint8_t)rand();
		known += piper_decode(&f, &m);
	}
	ok(known > 100, "random frames are decoded or not, without harm");
}

/* Configuration: refused, not wrapped. */

static void test_config_ranges(void)
{
	struct can_frame f;
	struct piper_mit m = { 0, 0, 10, 0.8, 0 };
	struct piper_config_mode mode = { 1, 0, 100, 0, 0, 0 };
	struct piper_config_joint j = {
		.joint = 7, .acc_crad_s2 = PIPER_KEEP, .clear_error = true
	};
	struct piper_config_param p = { .load = 3 };
	int lv[6] = { 0, 1, 2, 3, 8, 9 }, end[4] = { 0, 1, PIPER_KEEP, 0x8000 };

	ok(piper_config_stop(&f, 3, 0, 0) && piper_config_stop(&f, 0, 9, 0) &&
			piper_config_stop(&f, 0, 0, 8) && piper_config_stop(&f, -1, 0, 0),
		"0x150 ranges");
	ok(!piper_config_stop(&f, 2, 0, 0) && f.can_id == 0x150 && f.data[0] == 2, "0x150 reset");
	ok(!piper_config_mode(&f, &mode), "0x151 ordinary");
	mode.ctrl = 2;
	ok(piper_config_mode(&f, &mode), "0x151: teach cannot be asked for");
	mode.ctrl = 1, mode.speed = 101;
	ok(piper_config_mode(&f, &mode), "0x151: speed 101");
	mode.speed = 1, mode.mit = 1;
	ok(piper_config_mode(&f, &mode), "0x151: MIT flag 1");
	m.torque_nm = 8.001;
	ok(piper_config_mit(&f, 1, &m, false) == -1 && !piper_config_mit(&f, 1, &m, true),
		"MIT: 8 N.m before, 16 N.m from S-V1.8-8 on");
	m.torque_nm = 16;
	ok(!piper_config_mit(&f, 6, &m, true) && f.can_id == 0x15F && f.data[7] == 0xFF &&
			(f.data[6] & 15) == 15,
		"MIT: twelve bits of torque, no check nibble");
	m.torque_nm = nan("");
	ok(piper_config_mit(&f, 1, &m, true) && piper_config_mit(&f, 1, &m, false), "MIT: NaN");
	m.torque_nm = 0, m.velocity_rad_s = 45.1;
	ok(piper_config_mit(&f, 1, &m, true) && piper_config_mit(&f, 7, &m, true),
		"MIT: velocity, joint");
	ok(!piper_config_cpv(&f, 7, true, "po", -2) && f.can_id == 0x187 && f.len == 7 &&
			!memcmp(f.data, "wpo\xff\xff\xff\xfe", 7),
		"CPV write");
	ok(piper_config_cpv(&f, 8, true, "po", 0) && piper_config_cpv(&f, 1, true, "P0", 0) &&
			piper_config_cpv(&f, 1, false, "po", 1),
		"CPV ranges");
	ok(piper_config_home(&f, 3) && piper_config_circle(&f, 4) && piper_config_query(&f, 7, 1) &&
			piper_config_query(&f, 1, 3),
		"0x191, 0x158, 0x472 ranges");
	ok(!piper_config_home(&f, 2) && f.data[0] == 1 && f.data[1] == 0 && f.data[2] == 1,
		"0x191 both home");
	ok(piper_config_linkage(&f, 1, 0, 0, 0) && piper_config_linkage(&f, 0xFC, 0x11, 0, 0),
		"0x470 ranges");
	ok(piper_config_motor(&f, 0, true) && piper_config_motor(&f, 8, false), "0x471 ranges");
	ok(piper_config_limits(&f, 1, 32768, 0, 0) && piper_config_limits(&f, 1, 0, 0, 3001) &&
			piper_config_limits(&f, 1, -1, 1, 0) && piper_config_limits(&f, 7, 1, 0, 0),
		"0x474 ranges");
	ok(!piper_config_joint(&f, &j) && !memcmp(f.data, "\x07\0\0\x7f\xff\xae\0\0", 8),
		"0x475 clears errors of all joints");
	j.acc_crad_s2 = 501;
	ok(piper_config_joint(&f, &j) == -1, "0x475: acceleration 501");
	p.set = 3;
	ok(piper_config_param(&f, &p) == -1, "0x477: set 3");
	ok(piper_config_end(&f, end) == -1, "0x479: 0x8000");
	end[3] = 3000;
	ok(!piper_config_end(&f, end) && f.data[6] == 0x0B && f.data[7] == 0xB8, "0x479: 3 rad/s2");
	ok(piper_config_collision(&f, lv) == -1 && !piper_config_assist(&f, lv) &&
			f.can_id == 0x487 && f.data[5] == 9,
		"0x47A stops at 8");
	lv[0] = 11;
	ok(piper_config_assist(&f, lv) == -1, "0x487 stops at 10");
	ok(piper_config_pendant(&f, 99, 70, 1) && piper_config_pendant(&f, 100, 80, 1) &&
			piper_config_pendant(&f, 100, 70, 0) &&
			!piper_config_pendant(&f, 200, 0, 10),
		"0x47D ranges");
	ok(piper_config_gripper(&f, 0, 5001, 1, false) && piper_config_gripper(&f, 0, 0, 8, false),
		"0x159 ranges");
}

int main(void)
{
	test_numbers();
	test_back();
	test_random();
	test_config_ranges();
	printf("1..%d\n", count);
	return failed != 0;
}
