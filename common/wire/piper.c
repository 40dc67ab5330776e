/*
 * Piper frames, piper.md 2, 3, 5.  All commands go through put32/put16, all numbers through one
 * rounding rule (nearest, ties to even: what the vendor's own programs send, piper.md 3).
 */
#include <math.h>
#include <string.h>

#include "geom/euler.h"
#include "wire/piper.h"

#define DEG (M_PI / 180.0)
#define EFFORT_MAX_NM 5.0

static void blank(struct can_frame *f, canid_t id)
{
	memset(f, 0, sizeof *f);
	f->can_id = id;
	f->len = 8;
}

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, int32_t v)
{
	put16(p, (uint16_t)((uint32_t)v >> 16));
	put16(p + 2, (uint16_t)v);
}

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static int32_t get32(const uint8_t *p)
{
	return (int32_t)((uint32_t)get16(p) << 16 | get16(p + 2));
}

static int to_i32(double v, int32_t *out)
{
	if (!(v > (double)INT32_MIN - 1 && v < (double)INT32_MAX + 1))
		return -1;
	v = rint(v);
	if (v < (double)INT32_MIN || v > (double)INT32_MAX)
		return -1;
	*out = (int32_t)v;
	return 0;
}

int piper_um(double m, int32_t *um)
{
	return to_i32(m * 1e6, um);
}

int piper_mdeg(double deg, int32_t *mdeg)
{
	return to_i32(deg * 1e3, mdeg);
}

static void three_frames(struct can_frame f[3], canid_t id, const int32_t raw[6])
{
	for (int i = 0; i < 3; i++) {
		blank(&f[i], id + (canid_t)i);
		put32(f[i].data, raw[2 * i]);
		put32(f[i].data + 4, raw[2 * i + 1]);
	}
}

void piper_pose_frames(struct can_frame f[3], const int32_t raw[6])
{
	three_frames(f, 0x152, raw);
}

void piper_joint_frames(struct can_frame f[3], const int32_t mdeg[6])
{
	three_frames(f, 0x155, mdeg);
}

void piper_mode(struct can_frame *f, uint8_t ctrl, enum piper_move move, uint8_t speed_percent,
	uint8_t mit_flag)
{
	blank(f, 0x151);
	f->data[0] = ctrl;
	f->data[1] = (uint8_t)move;
	f->data[2] = speed_percent;
	f->data[3] = mit_flag;
}

int piper_pose_raw(struct pose flange, int32_t raw[6])
{
	double norm = quat_norm(flange.q);
	struct rpy e;

	if (!(norm > 1.0 - 1e-3 && norm < 1.0 + 1e-3))
		return -1;
	e = rpy_from_quat(quat_unit(flange.q));
	if (piper_um(flange.p.x, &raw[0]) || piper_um(flange.p.y, &raw[1]) ||
		piper_um(flange.p.z, &raw[2]))
		return -1;
	if (piper_mdeg(e.rx, &raw[3]) || piper_mdeg(e.ry, &raw[4]) || piper_mdeg(e.rz, &raw[5]))
		return -1;
	return 0;
}

int piper_pose(struct can_frame f[3], struct pose flange)
{
	int32_t raw[6];

	if (piper_pose_raw(flange, raw))
		return -1;
	piper_pose_frames(f, raw);
	return 0;
}

int piper_joints(struct can_frame f[3], const double rad[6])
{
	int32_t raw[6];

	for (int i = 0; i < 6; i++)
		if (piper_mdeg(rad[i] / DEG, &raw[i]))
			return -1;
	piper_joint_frames(f, raw);
	return 0;
}

int piper_gripper(struct can_frame *f, double width_m, double effort_nm, uint8_t code)
{
	int32_t um;

	if (piper_um(width_m, &um) || !(effort_nm >= 0 && effort_nm <= EFFORT_MAX_NM) || code > 3)
		return -1;
	blank(f, 0x159);
	put32(f->data, um);
	put16(f->data + 4, (uint16_t)lrint(effort_nm * 1e3));
	f->data[6] = code;
	return 0;
}

void piper_enable(struct can_frame *f, uint8_t motor)
{
	blank(f, 0x471);
	f->data[0] = motor;
	f->data[1] = 2;
}

void piper_damp(struct can_frame *f)
{
	blank(f, 0x150);
	f->data[0] = 1;
}

void piper_ask_firmware(struct can_frame *f)
{
	blank(f, 0x4AF);
	f->data[0] = 1;
}

void piper_ask_limits(struct can_frame *f, uint8_t joint)
{
	blank(f, 0x472);
	f->data[0] = joint;
	f->data[1] = 1;
}

/* Kind by id; part is the frame of a set, the joint or the motor. */
static const struct range {
	uint16_t first, last;
	enum piper_kind kind;
} RANGES[] = {
	{ 0x121, 0x121, PIPER_CMD_OTHER },
	{ 0x150, 0x150, PIPER_CMD_STOP },
	{ 0x151, 0x151, PIPER_CMD_MODE },
	{ 0x152, 0x154, PIPER_CMD_POSE },
	{ 0x155, 0x157, PIPER_CMD_JOINTS },
	{ 0x158, 0x158, PIPER_CMD_CIRCLE },
	{ 0x159, 0x159, PIPER_CMD_GRIPPER },
	{ 0x15A, 0x15F, PIPER_CMD_OTHER },
	{ 0x181, 0x187, PIPER_CMD_OTHER },
	{ 0x191, 0x191, PIPER_CMD_OTHER },
	{ 0x251, 0x256, PIPER_FB_FAST },
	{ 0x261, 0x266, PIPER_FB_SLOW },
	{ 0x2A1, 0x2A1, PIPER_FB_STATUS },
	{ 0x2A2, 0x2A4, PIPER_FB_POSE },
	{ 0x2A5, 0x2A7, PIPER_FB_JOINTS },
	{ 0x2A8, 0x2A8, PIPER_FB_GRIPPER },
	{ 0x422, 0x422, PIPER_CMD_OTHER },
	{ 0x470, 0x470, PIPER_CMD_OTHER },
	{ 0x471, 0x471, PIPER_CMD_ENABLE },
	{ 0x472, 0x472, PIPER_CMD_OTHER },
	{ 0x473, 0x473, PIPER_FB_LIMITS },
	{ 0x474, 0x475, PIPER_CMD_OTHER },
	{ 0x476, 0x476, PIPER_FB_ACK },
	{ 0x477, 0x477, PIPER_CMD_OTHER },
	{ 0x478, 0x478, PIPER_FB_OTHER },
	{ 0x479, 0x47A, PIPER_CMD_OTHER },
	{ 0x47B, 0x47C, PIPER_FB_OTHER },
	{ 0x47D, 0x47D, PIPER_CMD_OTHER },
	{ 0x47E, 0x47E, PIPER_FB_OTHER },
	{ 0x487, 0x487, PIPER_CMD_OTHER },
	{ 0x488, 0x488, PIPER_FB_OTHER },
	{ 0x4AF, 0x4AF, PIPER_FB_FIRMWARE },
};

static const struct range *range_of(canid_t id)
{
	for (size_t i = 0; i < sizeof RANGES / sizeof *RANGES; i++)
		if (id >= RANGES[i].first && id <= RANGES[i].last)
			return &RANGES[i];
	return NULL;
}

static bool length_fits(const struct can_frame *f)
{
	if (f->len == 7)
		return f->can_id >= 0x181 && f->can_id <= 0x187;
	if (f->len == 1)
		return f->can_id == 0x4AF && f->data[0] == 1;
	return f->len == 8;
}

/* 0x4AF is question and answer; the question is 1 and zeros, the answer is text. */
static bool is_firmware_question(const struct can_frame *f)
{
	static const uint8_t ASK[8] = { 1 };

	return f->can_id == 0x4AF && !memcmp(f->data, ASK, f->len);
}

static void decode_command(const uint8_t *d, struct piper_msg *m)
{
	switch (m->kind) {
	case PIPER_CMD_STOP:
		m->u.stop.stop = d[0];
		m->u.stop.track = d[1];
		m->u.stop.teach = d[2];
		break;
	case PIPER_CMD_MODE:
		m->u.mode.ctrl = d[0];
		m->u.mode.move = d[1];
		m->u.mode.speed = d[2];
		m->u.mode.mit = d[3];
		m->u.mode.dwell = d[4];
		m->u.mode.mount = d[5];
		break;
	case PIPER_CMD_GRIPPER:
		m->u.gripper.um = get32(d);
		m->u.gripper.effort_mnm = get16(d + 4);
		m->u.gripper.code = d[6];
		m->u.gripper.zero = d[7];
		break;
	case PIPER_CMD_ENABLE:
		m->u.enable.motor = d[0];
		m->u.enable.op = d[1];
		break;
	default: memcpy(m->u.raw, d, 8);
	}
}

static void decode_feedback(const uint8_t *d, struct piper_msg *m)
{
	switch (m->kind) {
	case PIPER_FB_STATUS:
		m->u.status.ctrl = d[0];
		m->u.status.arm = d[1];
		m->u.status.move = d[2];
		m->u.status.teach = d[3];
		m->u.status.motion = d[4];
		m->u.status.track = d[5];
		m->u.status.limit_bits = d[6];
		m->u.status.comm_bits = d[7];
		break;
	case PIPER_FB_GRIPPER:
		m->u.gripper.um = get32(d);
		m->u.gripper.effort_mnm = (int16_t)get16(d + 4);
		m->u.gripper.code = d[6];
		m->u.gripper.zero = d[7];
		break;
	case PIPER_FB_FAST:
		m->u.fast.speed_mrad_s = (int16_t)get16(d);
		m->u.fast.current_ma = (int16_t)get16(d + 2);
		m->u.fast.position = get32(d + 4);
		break;
	case PIPER_FB_SLOW:
		m->u.slow.volt_d = get16(d);
		m->u.slow.drv_c = (int16_t)get16(d + 2);
		m->u.slow.mot_c = (int8_t)d[4];
		m->u.slow.bits = d[5];
		m->u.slow.bus_ma = get16(d + 6);
		break;
	case PIPER_FB_LIMITS:
		m->u.limits.joint = d[0];
		m->u.limits.max_ddeg = (int16_t)get16(d + 1);
		m->u.limits.min_ddeg = (int16_t)get16(d + 3);
		m->u.limits.speed = get16(d + 5);
		break;
	default: memcpy(m->u.raw, d, 8);
	}
}

bool piper_decode(const struct can_frame *f, struct piper_msg *m)
{
	/* Flags of extended, remote and error frames are part of can_id: such an id is in no range. */
	const struct range *r = range_of(f->can_id);

	memset(m, 0, sizeof *m);
	if (!r || !length_fits(f))
		return false;
	m->kind = r->kind;
	m->part = (int)(f->can_id - r->first);
	if (is_firmware_question(f))
		m->kind = PIPER_CMD_OTHER;
	else if (f->can_id >= 0x181 && f->can_id <= 0x187 && f->data[0] == 'a')
		m->kind = PIPER_FB_OTHER;
	switch (m->kind) {
	case PIPER_CMD_POSE:
	case PIPER_CMD_JOINTS:
	case PIPER_FB_POSE:
	case PIPER_FB_JOINTS:
		m->a = get32(f->data);
		m->b = get32(f->data + 4);
		break;
	case PIPER_CMD_STOP:
	case PIPER_CMD_MODE:
	case PIPER_CMD_CIRCLE:
	case PIPER_CMD_GRIPPER:
	case PIPER_CMD_ENABLE: decode_command(f->data, m); break;
	case PIPER_CMD_OTHER: memcpy(m->u.raw, f->data, f->len); break;
	default: decode_feedback(f->data, m);
	}
	return true;
}

struct pose piper_pose_from_raw(const int32_t raw[6])
{
	struct rpy e = { .rx = raw[3] * 1e-3, .ry = raw[4] * 1e-3, .rz = raw[5] * 1e-3 };
	struct pose p = { .p = { raw[0] * 1e-6, raw[1] * 1e-6, raw[2] * 1e-6 } };

	p.q = rpy_to_quat(e);
	return p;
}

void piper_joints_from_raw(const int32_t raw[6], double rad[6])
{
	for (int i = 0; i < 6; i++)
		rad[i] = raw[i] * 1e-3 * DEG;
}

const char *piper_status_text(uint8_t arm_status)
{
	static const char *const TEXT[] = { "normal", "emergency stop", "no IK solution",
		"singular point", "target angle over limit", "joint communication error",
		"joint brake not released", "collision", "overspeed while dragging",
		"joint status abnormal", "other error", "teach recording", "teach replay",
		"teach paused", "main board over temperature", "bleed resistor over temperature" };

	return arm_status < sizeof TEXT / sizeof *TEXT ? TEXT[arm_status] : "unknown status";
}

const char *piper_ctrl_text(uint8_t ctrl_mode)
{
	static const char *const TEXT[] = { "standby", "CAN", "teach", "Ethernet", "Wi-Fi",
		"remote", "linkage (leader)", "offline track" };

	return ctrl_mode < sizeof TEXT / sizeof *TEXT ? TEXT[ctrl_mode] : "unknown mode";
}
