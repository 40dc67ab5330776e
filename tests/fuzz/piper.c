/*
 * Piper frames.  Any frame: decoded only when it is one of ours, and what is decoded encodes to the
 * same bytes.  Any values: refused, or a frame that decodes to them within half a wire unit.
 */
#include <math.h>

#include "fuzz.h"
#include "wire/piper.h"
#include "wire/piper_config.h"
#include "wire/piper_feedback.h"

static bool same(const struct can_frame *a, const struct can_frame *b)
{
	return a->can_id == b->can_id && a->len == b->len && memcmp(a->data, b->data, 8) == 0;
}

static void pose_or_joints(const struct can_frame *f, const struct piper_msg *m, bool pose)
{
	struct can_frame out[3] = { 0 };
	int32_t raw[6] = { 0 };

	CLAIM(m->part >= 0 && m->part < 3);
	raw[2 * m->part] = m->a;
	raw[2 * m->part + 1] = m->b;
	(pose ? piper_pose_frames : piper_joint_frames)(out, raw);
	CLAIM(memcmp(out[m->part].data, f->data, 8) == 0);
	struct pose p = piper_pose_from_raw(raw);
	CLAIM(isfinite(p.p.x) && fabs(p.q.x) <= 1 && fabs(p.q.w) <= 1);
}

/* The values of one encoder each; bytes that a kind does not use must be zero to come back. */
static void encode_feedback(const struct can_frame *f, const struct piper_msg *m)
{
	struct can_frame out;

	switch (m->kind) {
	case PIPER_FB_STATUS:
		piper_fb_status(&out,
			&(struct piper_fb_status){ m->u.status.ctrl, m->u.status.arm,
				m->u.status.move, m->u.status.teach, m->u.status.motion,
				m->u.status.track, m->u.status.limit_bits, m->u.status.comm_bits });
		break;
	case PIPER_FB_GRIPPER:
		piper_fb_gripper(&out, &(struct piper_fb_gripper){ m->u.gripper.um,
					       (int16_t)m->u.gripper.effort_mnm, m->u.gripper.code,
					       m->u.gripper.zero });
		break;
	case PIPER_FB_FAST:
		piper_fb_fast(&out, m->part + 1,
			&(struct piper_fb_fast){
				m->u.fast.speed_mrad_s, m->u.fast.current_ma, m->u.fast.position });
		break;
	case PIPER_FB_SLOW:
		piper_fb_slow(&out, m->part + 1,
			&(struct piper_fb_slow){ m->u.slow.volt_d, m->u.slow.drv_c, m->u.slow.mot_c,
				m->u.slow.bits, m->u.slow.bus_ma });
		break;
	default: return;
	}
	CLAIM(same(&out, f));
}

static void encode_command(const struct can_frame *f, const struct piper_msg *m)
{
	struct can_frame out;
	int rc = -1;

	if (m->kind == PIPER_CMD_STOP && memcmp(f->data + 3, "\0\0\0\0\0", 5) == 0)
		rc = piper_config_stop(&out, m->u.stop.stop, m->u.stop.track, m->u.stop.teach);
	else if (m->kind == PIPER_CMD_MODE && memcmp(f->data + 6, "\0\0", 2) == 0)
		rc = piper_config_mode(&out,
			&(struct piper_config_mode){ m->u.mode.ctrl, m->u.mode.move,
				m->u.mode.speed, m->u.mode.mit, m->u.mode.dwell, m->u.mode.mount });
	else if (m->kind == PIPER_CMD_GRIPPER && m->u.gripper.zero == 0)
		rc = piper_config_gripper(
			&out, m->u.gripper.um, m->u.gripper.effort_mnm, m->u.gripper.code, false);
	CLAIM(rc != 0 || same(&out, f));
}

static void any_frame(struct bytes in)
{
	struct can_frame f = { .can_id = take_u32(&in) };
	struct piper_msg m;

	f.len = take_u8(&in);
	take(&in, f.data, sizeof f.data);
	if (!piper_decode(&f, &m)) {
		CLAIM(m.kind == PIPER_UNKNOWN);
		return;
	}
	CLAIM(m.kind != PIPER_UNKNOWN && f.can_id <= CAN_SFF_MASK && f.len <= CAN_MAX_DLEN);
	CLAIM(m.part >= 0 && m.part < 8);
	if (m.kind == PIPER_CMD_POSE || m.kind == PIPER_FB_POSE)
		pose_or_joints(&f, &m, true);
	else if (m.kind == PIPER_CMD_JOINTS || m.kind == PIPER_FB_JOINTS)
		pose_or_joints(&f, &m, false);
	encode_feedback(&f, &m);
	encode_command(&f, &m);
	CLAIM(piper_status_text(f.data[1]) != NULL && piper_ctrl_text(f.data[0]) != NULL);
}

/* Three frames of six numbers. */
static void raw_of(const struct can_frame f[3], enum piper_kind kind, int32_t raw[6])
{
	for (int i = 0; i < 3; i++) {
		struct piper_msg m;
		CLAIM(piper_decode(&f[i], &m) && m.kind == kind && m.part == i);
		raw[2 * i] = m.a;
		raw[2 * i + 1] = m.b;
	}
}

static bool near(int32_t raw, double value, double slack)
{
	return fabs((double)raw - value) <= 0.5 + slack * fabs(value);
}

static void any_pose(struct bytes in)
{
	struct can_frame f[3];
	struct pose p;
	int32_t raw[6];
	double v[7];

	for (int i = 0; i < 7; i++)
		v[i] = take_f64(&in);
	p = (struct pose){ { v[0], v[1], v[2] }, { v[3], v[4], v[5], v[6] } };
	double norm = sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5] + v[6] * v[6]);
	if (piper_pose(f, p) != 0) {
		CLAIM(!(fabs(norm - 1) < 0.999e-3) ||
			!(fabs(v[0]) < 2147 && fabs(v[1]) < 2147 && fabs(v[2]) < 2147));
		return;
	}
	raw_of(f, PIPER_CMD_POSE, raw);
	for (int i = 0; i < 3; i++)
		CLAIM(near(raw[i], v[i] * 1e6, 1e-12));
	for (int i = 3; i < 6; i++)
		CLAIM(raw[i] >= -180000 && raw[i] <= 180000);
	/* The rotation the arm takes them for. */
	struct quat q = piper_pose_from_raw(raw).q;
	double dot = fabs(q.x * v[3] + q.y * v[4] + q.z * v[5] + q.w * v[6]) / norm;
	CLAIM(dot > 1 - 1e-9);
}

static void any_joints(struct bytes in)
{
	struct can_frame f[3], g;
	struct piper_msg m;
	int32_t raw[6];
	double rad[6], back[6];
	bool fits = true;

	for (int i = 0; i < 6; i++) {
		rad[i] = take_f64(&in);
		fits = fits && fabs(rad[i] * (180e3 / M_PI)) < 2147483647.0;
	}
	if (piper_joints(f, rad) == 0) {
		raw_of(f, PIPER_CMD_JOINTS, raw);
		piper_joints_from_raw(raw, back);
		for (int i = 0; i < 6; i++) {
			CLAIM(near(raw[i], rad[i] * (180e3 / M_PI), 1e-12));
			CLAIM(fabs(back[i] - rad[i]) < 1e-5);
		}
	} else {
		CLAIM(!fits);
	}
	uint8_t code = take_u8(&in);
	if (piper_gripper(&g, rad[0], rad[1], code) != 0)
		return;
	CLAIM(piper_decode(&g, &m) && m.kind == PIPER_CMD_GRIPPER && code <= 3);
	CLAIM(near(m.u.gripper.um, rad[0] * 1e6, 1e-12) && m.u.gripper.code == code);
	CLAIM(near(m.u.gripper.effort_mnm, rad[1] * 1e3, 1e-12) && m.u.gripper.effort_mnm <= 5000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct bytes in = { data, n };

	any_frame(in);
	any_pose(in);
	any_joints(in);
	return 0;
}
