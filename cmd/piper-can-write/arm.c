#include "arm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "wire/piper.h"

/* The three frames of a burst follow each other within half a period of 200 Hz. */
#define BURST_US 2500
#define ALL_JOINTS 0x3Fu

void arm_init(struct arm *a, const struct chain *chain, double stroke_m)
{
	*a = (struct arm){ .chain = chain, .stroke_m = stroke_m };
}

/* Collects part 0, 1, 2 of a burst; true when the last made it whole. */
static bool burst(const struct piper_msg *m, int64_t t, int32_t raw[6], int64_t part_us[3])
{
	raw[2 * m->part] = m->a;
	raw[2 * m->part + 1] = m->b;
	part_us[m->part] = t;
	return m->part == 2 && part_us[0] && part_us[1] && part_us[1] >= part_us[0] &&
	       t >= part_us[1] && t - part_us[0] <= BURST_US;
}

static void take_firmware(struct arm *a, const uint8_t raw[8])
{
	const char *v;

	if (a->fw_len > (int)sizeof(a->fw_text) - 9)
		return;
	for (int i = 0; i < 8; i++)
		a->fw_text[a->fw_len++] = raw[i] >= 0x20 && raw[i] < 0x7F ? (char)raw[i] : ' ';
	v = strstr(a->fw_text, "S-V");
	if (!a->firmware[0] && v && strlen(v) >= 8)
		snprintf(a->firmware, sizeof(a->firmware), "%.8s", v);
}

static void take_joints(struct arm *a)
{
	double j[CHAIN_JOINTS];

	piper_joints_from_raw(a->part_j, j);
	memcpy(a->j, j, sizeof(j));
	a->pose = chain_fk(a->chain, j);
	a->joints_us = a->part_j_us[0];
}

static void take_gripper(struct arm *a, const struct piper_msg *m, int64_t t)
{
	a->grip_us = t;
	a->grip_angle = m->u.gripper.zero == 1;
	a->width_m = 1e-6 * (double)m->u.gripper.um;
}

static void take_slow(struct arm *a, const struct piper_msg *m, int64_t t)
{
	unsigned bit = 1u << m->part;

	a->slow_seen |= bit;
	a->slow_us[m->part] = t;
	a->enabled = m->u.slow.bits & PIPER_ENABLED ? a->enabled | bit : a->enabled & ~bit;
}

static bool is_shifted(uint32_t id)
{
	return (id >= 0x2B1 && id <= 0x2B8) || (id >= 0x2C1 && id <= 0x2C8) ||
	       (id >= 0x3A1 && id <= 0x3A8);
}

void arm_frame(struct arm *a, const struct can_rx *rx)
{
	struct piper_msg m;
	int64_t t = rx->t_us;

	if (rx->error || rx->own)
		return;
	if (is_shifted(rx->f.can_id))
		a->shifted_id = rx->f.can_id;
	if (!piper_decode(&rx->f, &m)) {
		a->unknown++;
		return;
	}
	a->frames++;
	switch (m.kind) {
	case PIPER_FB_STATUS:
		a->status_us = t;
		a->ctrl = m.u.status.ctrl;
		a->status = m.u.status.arm;
		a->comm_bits = m.u.status.comm_bits & ALL_JOINTS;
		break;
	case PIPER_FB_JOINTS:
		if (burst(&m, t, a->part_j, a->part_j_us))
			take_joints(a);
		break;
	case PIPER_FB_POSE:
		if (burst(&m, t, a->part_p, a->part_p_us)) {
			a->told = piper_pose_from_raw(a->part_p);
			a->pose_us = a->part_p_us[0];
		}
		break;
	case PIPER_FB_GRIPPER: take_gripper(a, &m, t); break;
	case PIPER_FB_FAST:
		a->jdot[m.part] = 1e-3 * m.u.fast.speed_mrad_s;
		a->fast_seen |= 1u << m.part;
		break;
	case PIPER_FB_SLOW: take_slow(a, &m, t); break;
	case PIPER_FB_FIRMWARE: take_firmware(a, m.u.raw); break;
	case PIPER_CMD_STOP:
	case PIPER_CMD_MODE:
	case PIPER_CMD_POSE:
	case PIPER_CMD_JOINTS:
	case PIPER_CMD_CIRCLE:
	case PIPER_CMD_GRIPPER:
	case PIPER_CMD_ENABLE: a->foreign_id = rx->f.can_id; return;
	default: return;
	}
	if (!a->first_us)
		a->first_us = t;
	a->last_us = t;
}

void arm_view(const struct arm *a, int64_t now, int64_t awake, struct gate_arm *out)
{
	bool enabled = a->enabled == ALL_JOINTS;

	for (int i = 0; i < CHAIN_JOINTS; i++)
		enabled = enabled &&
			  now - (a->slow_us[i] > awake ? a->slow_us[i] : awake) <= ARM_SLOW_US;
	*out = (struct gate_arm){
		.joints_us = a->joints_us,
		.pose = a->pose,
		.status_us = a->status_us,
		.ctrl = a->ctrl,
		.status = a->status,
		.joint_errors = a->comm_bits,
		.enabled = enabled,
		.has_grip = a->grip_us && !a->grip_angle,
		.grip = fmin(1, fmax(0, a->width_m / a->stroke_m)),
	};
	memcpy(out->j, a->j, sizeof(out->j));
}

bool arm_complete(const struct arm *a)
{
	return a->status_us && a->joints_us && a->slow_seen == ALL_JOINTS;
}

int firmware_compare(const char *a, const char *b)
{
	int x[3], y[3];

	/* Four digits cannot overflow. NOLINTNEXTLINE(cert-err34-c) */
	if (sscanf(a, "S-V%4d.%4d-%4d", &x[0], &x[1], &x[2]) != 3 ||
		/* NOLINTNEXTLINE(cert-err34-c) */
		sscanf(b, "S-V%4d.%4d-%4d", &y[0], &y[1], &y[2]) != 3)
		return -2;
	for (int i = 0; i < 3; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

void arm_missing(unsigned bits, char *buf, size_t n)
{
	size_t len = 0;

	buf[0] = 0;
	for (int i = 0; i < CHAIN_JOINTS && len + 3 < n; i++)
		if (!(bits & 1u << i))
			len += (size_t)snprintf(buf + len, n - len, "%s%d", len ? "," : "", i + 1);
}
