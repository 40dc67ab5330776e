/* Feedback encoders against the arm-to-host rows of piper-frames.ndjson (piper.md 13). */
#include <stdlib.h>
#include <string.h>

#include "geom_fixture.h"
#include "tap.h"
#include "wire/piper.h"
#include "wire/piper_feedback.h"

static double num(const json_t *fields, const char *key)
{
	return json_number_value(json_object_get(fields, key));
}

static int scaled(const json_t *fields, const char *key, double per_unit)
{
	double v = num(fields, key) * per_unit;

	return (int)(v < 0 ? v - 0.5 : v + 0.5);
}

static void hex_of(const struct can_frame *f, char out[17])
{
	for (int i = 0; i < 8; i++)
		snprintf(out + 2 * i, 3, "%02x", f->data[i]);
}

/* Encodes what the row's fields say. false: not a row of ours. */
static bool encode(canid_t id, const json_t *v, struct can_frame *f)
{
	if (id == 0x2A8) {
		struct piper_fb_gripper g = { scaled(v, "stroke_m", 1e6),
			(int16_t)scaled(v, "effort_nm", 1e3), (uint8_t)num(v, "status_byte"), 0 };
		piper_fb_gripper(f, &g);
	} else if (id >= 0x251 && id <= 0x256) {
		struct piper_fb_fast m = { (int16_t)scaled(v, "velocity_rad_s", 1e3),
			(int16_t)scaled(v, "current_a", 1e3),
			(int32_t)scaled(v, "position_rad", 1e3) };
		piper_fb_fast(f, (int)num(v, "motor"), &m);
	} else if (id >= 0x261 && id <= 0x266) {
		struct piper_fb_slow m = { (uint16_t)scaled(v, "voltage_v", 10),
			(int16_t)num(v, "driver_temp_c"), (int8_t)num(v, "motor_temp_c"),
			(uint8_t)num(v, "status_byte"), (uint16_t)scaled(v, "bus_current_a", 1e3) };
		piper_fb_slow(f, (int)num(v, "motor"), &m);
	} else if (id == 0x473) {
		piper_fb_limits(f, (int)num(v, "motor"), (int16_t)scaled(v, "max_angle_deg", 10),
			(int16_t)scaled(v, "min_angle_deg", 10), (uint16_t)num(v, "max_speed_raw"));
	} else if (id == 0x47C) {
		piper_fb_acceleration(f, (int)num(v, "motor"), (uint16_t)num(v, "max_acc_raw"));
	} else if (id == 0x476) {
		piper_fb_ack(
			f, (uint8_t)num(v, "acked_id_low_byte"), (uint8_t)num(v, "set_zero_ok"));
	} else if (id == 0x478) {
		uint16_t e[4] = { (uint16_t)scaled(v, "max_linear_m_s", 1e3),
			(uint16_t)scaled(v, "max_angular_rad_s", 1e3),
			(uint16_t)scaled(v, "max_linear_acc_m_s2", 1e3),
			(uint16_t)scaled(v, "max_angular_acc_rad_s2", 1e3) };
		piper_fb_end_limits(f, e);
	} else if (id == 0x47B) {
		double said[6];
		uint8_t level[6];
		numbers(json_object_get(v, "levels"), 6, said);
		for (int i = 0; i < 6; i++)
			level[i] = (uint8_t)said[i];
		piper_fb_collision(f, level);
	} else if (id == 0x47E) {
		piper_fb_gripper_setup(f, (uint8_t)num(v, "teach_range_percent"),
			(uint8_t)num(v, "max_range_mm"), (uint8_t)num(v, "teach_friction"));
	} else {
		return false;
	}
	return true;
}

static void status_row(const char *name, const char *data)
{
	struct can_frame in = { .can_id = 0x2A1, .can_dlc = 8 }, f;
	struct piper_msg m;
	char hex[17];

	for (int i = 0; i < 8; i++) {
		char two[3] = { data[2 * i], data[2 * i + 1], 0 };
		in.data[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	bool known = piper_decode(&in, &m);
	struct piper_fb_status s = { m.u.status.ctrl, m.u.status.arm, m.u.status.move,
		m.u.status.teach, m.u.status.motion, m.u.status.track, m.u.status.limit_bits,
		m.u.status.comm_bits };
	piper_fb_status(&f, &s);
	hex_of(&f, hex);
	ok(known && strcmp(hex, data) == 0 && f.can_id == 0x2A1, "%s", name);
}

static int one_row(const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "name"));
	const char *data = json_string_value(json_object_get(row, "data"));
	canid_t id = (canid_t)strtoul(json_string_value(json_object_get(row, "id")), NULL, 16);
	struct can_frame f;
	char hex[17];

	if (strcmp(json_string_value(json_object_get(row, "dir")), "rx") != 0)
		return 0;
	if (id == 0x2A1) {
		status_row(name, data);
		return 1;
	}
	if (!encode(id, json_object_get(row, "fields"), &f))
		return 0;
	if (id == 0x2A8) /* the SDK has no field for byte 7 */
		f.data[7] = (uint8_t)strtoul(data + 14, NULL, 16);
	hex_of(&f, hex);
	ok(f.can_id == id && f.can_dlc == 8 && strcmp(hex, data) == 0, "%s: %s", name, hex);
	return 1;
}

static int rows(void)
{
	FILE *file = fixture_open("piper-frames.ndjson");
	json_t *row;
	int n = 0;

	while ((row = fixture_row(file)) != NULL) {
		n += one_row(row);
		json_decref(row);
	}
	fclose(file);
	return n;
}

static void pose_and_joints(void)
{
	const double joints[6] = { 0.1, -0.2, 0.3, 0, 0.5, -2.0 };
	struct pose tip = { { 0.056128, 0, 0.213266 }, { 0, 0.675590208, 0, 0.737277337 } };
	struct can_frame p[3], j[3];
	struct piper_msg m;
	char hex[17];

	ok(piper_fb_pose(p, tip) == 0 && piper_fb_joints(j, joints) == 0, "pose and joints encode");
	hex_of(&p[0], hex);
	ok(p[0].can_id == 0x2A2 && strcmp(hex, "0000db4000000000") == 0, "endpose_xy_home: %s",
		hex);
	hex_of(&p[1], hex);
	ok(p[1].can_id == 0x2A3 && strcmp(hex, "0003411200000000") == 0, "endpose_zrx_home: %s",
		hex);
	hex_of(&p[2], hex);
	ok(p[2].can_id == 0x2A4 && strcmp(hex, "00014c0800000000") == 0, "endpose_ryrz_home: %s",
		hex);
	ok(j[2].can_id == 0x2A7 && piper_decode(&j[2], &m) && m.kind == PIPER_FB_JOINTS &&
			m.part == 2 && m.a == 28648 && m.b == -114592,
		"joints 5 and 6 in thousandths of a degree");
	tip.p.x = 3000;
	ok(piper_fb_pose(p, tip) == -1, "a pose beyond the wire is refused");
}

static void firmware(void)
{
	struct can_frame f[PIPER_FIRMWARE_FRAMES];
	char all[89] = "", hex[17];

	piper_fb_firmware(f, "H-V1.2-1", "S-V1.8-8", "250925");
	hex_of(&f[0], hex);
	ok(strcmp(hex, "482d56312e322d31") == 0, "firmware_part_00");
	hex_of(&f[4], hex);
	ok(strcmp(hex, "41524d5f4d430000") == 0, "firmware_part_04");
	hex_of(&f[7], hex);
	ok(strcmp(hex, "00000000532d5631") == 0, "firmware_part_07");
	hex_of(&f[8], hex);
	ok(strcmp(hex, "2e382d3832353039") == 0, "firmware_part_08");
	hex_of(&f[9], hex);
	ok(strcmp(hex, "3235000031350000") == 0, "firmware_part_09");
	for (int i = 0; i < PIPER_FIRMWARE_FRAMES; i++)
		memcpy(all + 8 * i, f[i].data, 8);
	ok(memcmp(all + 60, "S-V1.8-8", 8) == 0, "version at offset 60");
}

int main(void)
{
	int n = rows();

	ok(n >= 80, "%d rows of the arm's own frames were there", n);
	pose_and_joints();
	firmware();
	return tap_done();
}
