/* Piper configuration and other dangerous frames, piper.md 3 and 4: checked, then packed. */
#include <ctype.h>
#include <string.h>

#include "wire/piper_config.h"

#define SET 0xAE /* "do it" of 0x159, 0x475, 0x477 */

static void blank(struct can_frame *f, canid_t id)
{
	memset(f, 0, sizeof *f);
	f->can_id = id;
	f->len = 8;
}

static void put16(uint8_t *p, int v)
{
	p[0] = (uint8_t)((unsigned)v >> 8);
	p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, int32_t v)
{
	put16(p, (int)((uint32_t)v >> 16));
	put16(p + 2, (int)((uint32_t)v & 0xFFFF));
}

static bool in(int v, int lo, int hi)
{
	return v >= lo && v <= hi;
}

static bool in_or_keep(int v, int lo, int hi)
{
	return v == PIPER_KEEP || in(v, lo, hi);
}

int piper_config_stop(struct can_frame *f, int stop, int track, int teach)
{
	if (!in(stop, 0, 2) || !in(track, 0, 8) || !in(teach, 0, 7))
		return -1;
	blank(f, 0x150);
	f->data[0] = (uint8_t)stop;
	f->data[1] = (uint8_t)track;
	f->data[2] = (uint8_t)teach;
	return 0;
}

int piper_config_mode(struct can_frame *f, const struct piper_config_mode *m)
{
	if (!(in(m->ctrl, 0, 1) || in(m->ctrl, 3, 4) || m->ctrl == 7) ||
		!(in(m->move, 0, 6) || m->move == 255) || !in(m->speed, 0, 100) ||
		!(m->mit == 0 || m->mit == 0xAD || m->mit == 0xFF) || !in(m->dwell, 0, 255) ||
		!in(m->mount, 0, 3))
		return -1;
	blank(f, 0x151);
	f->data[0] = (uint8_t)m->ctrl;
	f->data[1] = (uint8_t)m->move;
	f->data[2] = (uint8_t)m->speed;
	f->data[3] = (uint8_t)m->mit;
	f->data[4] = (uint8_t)m->dwell;
	f->data[5] = (uint8_t)m->mount;
	return 0;
}

int piper_config_circle(struct can_frame *f, int point)
{
	if (!in(point, 0, 3))
		return -1;
	blank(f, 0x158);
	f->data[0] = (uint8_t)point;
	return 0;
}

int piper_config_gripper(struct can_frame *f, int32_t um, int effort_mnm, int code, bool zero)
{
	if (!in(effort_mnm, 0, 5000) || !in(code, 0, 7))
		return -1;
	blank(f, 0x159);
	put32(f->data, um);
	put16(f->data + 4, effort_mnm);
	f->data[6] = (uint8_t)code;
	f->data[7] = zero ? SET : 0;
	return 0;
}

/* Truncated, in this order of operations (piper.md 3). */
static bool mit_field(double x, double limit_lo, double limit_hi, int bits, uint64_t *word)
{
	double full = (double)((1u << bits) - 1);

	if (!(x >= limit_lo && x <= limit_hi))
		return false;
	*word = *word << bits | (uint64_t)((x - limit_lo) * full / (limit_hi - limit_lo));
	return true;
}

int piper_config_mit(struct can_frame *f, int joint, const struct piper_mit *m, bool torque12)
{
	uint64_t w = 0;
	unsigned check = 0;

	if (!in(joint, 1, 6) || !mit_field(m->position_rad, -12.5, 12.5, 16, &w) ||
		!mit_field(m->velocity_rad_s, -45, 45, 12, &w) ||
		!mit_field(m->kp, 0, 500, 12, &w) || !mit_field(m->kd, -5, 5, 12, &w))
		return -1;
	if (torque12) {
		if (!mit_field(m->torque_nm, -16, 16, 12, &w))
			return -1;
	} else {
		if (!mit_field(m->torque_nm, -8, 8, 8, &w))
			return -1;
		w <<= 4;
	}
	blank(f, 0x15A + (canid_t)(joint - 1));
	for (int i = 0; i < 8; i++)
		f->data[i] = (uint8_t)(w >> (56 - 8 * i));
	for (int i = 0; i < 7; i++)
		check ^= f->data[i];
	if (!torque12)
		f->data[7] = (uint8_t)((f->data[7] & 0xF0u) | (check & 0x0Fu));
	return 0;
}

int piper_config_cpv(struct can_frame *f, int motor, bool write, const char code[2], int32_t value)
{
	if (!in(motor, 1, 7) || !islower((unsigned char)code[0]) ||
		!islower((unsigned char)code[1]) || (!write && value))
		return -1;
	blank(f, 0x181 + (canid_t)(motor - 1));
	f->len = 7;
	f->data[0] = write ? 'w' : 'r';
	f->data[1] = (uint8_t)code[0];
	f->data[2] = (uint8_t)code[1];
	put32(f->data + 3, value);
	return 0;
}

int piper_config_home(struct can_frame *f, int mode)
{
	if (!in(mode, 0, 2))
		return -1;
	blank(f, 0x191);
	f->data[0] = 1;
	f->data[1] = mode == 1;
	f->data[2] = mode != 0;
	return 0;
}

static bool is_offset(int v)
{
	return v == 0 || v == 0x10 || v == 0x20;
}

int piper_config_linkage(struct can_frame *f, int role, int feedback, int command, int target)
{
	if (!(role == 0 || role == 0xFA || role == 0xFC) || !is_offset(feedback) ||
		!is_offset(command) || !is_offset(target))
		return -1;
	blank(f, 0x470);
	f->data[0] = (uint8_t)role;
	f->data[1] = (uint8_t)feedback;
	f->data[2] = (uint8_t)command;
	f->data[3] = (uint8_t)target;
	return 0;
}

int piper_config_motor(struct can_frame *f, int motor, bool enable)
{
	if (!in(motor, 1, 7) && motor != 255)
		return -1;
	blank(f, 0x471);
	f->data[0] = (uint8_t)motor;
	f->data[1] = enable ? 2 : 1;
	return 0;
}

int piper_config_query(struct can_frame *f, int joint, int content)
{
	if (!in(joint, 1, 6) || !in(content, 1, 2))
		return -1;
	blank(f, 0x472);
	f->data[0] = (uint8_t)joint;
	f->data[1] = (uint8_t)content;
	return 0;
}

int piper_config_limits(
	struct can_frame *f, int joint, int max_ddeg, int min_ddeg, int speed_mrad_s)
{
	bool both = max_ddeg != PIPER_KEEP && min_ddeg != PIPER_KEEP;

	if (!in(joint, 1, 6) || !in_or_keep(max_ddeg, -3600, 3600) ||
		!in_or_keep(min_ddeg, -3600, 3600) || !in_or_keep(speed_mrad_s, 0, 3000) ||
		(both && min_ddeg > max_ddeg))
		return -1;
	blank(f, 0x474);
	f->data[0] = (uint8_t)joint;
	put16(f->data + 1, max_ddeg);
	put16(f->data + 3, min_ddeg);
	put16(f->data + 5, speed_mrad_s);
	return 0;
}

int piper_config_joint(struct can_frame *f, const struct piper_config_joint *j)
{
	if (!in(j->joint, 1, 7) || !in_or_keep(j->acc_crad_s2, 0, 500))
		return -1;
	blank(f, 0x475);
	f->data[0] = (uint8_t)j->joint;
	f->data[1] = j->set_zero ? SET : 0;
	f->data[2] = j->set_acc ? SET : 0;
	put16(f->data + 3, j->acc_crad_s2);
	f->data[5] = j->clear_error ? SET : 0;
	return 0;
}

int piper_config_param(struct can_frame *f, const struct piper_config_param *p)
{
	if (!in(p->query, 0, 5) || !in(p->set, 0, 2) || !in(p->feedback, 0, 2) ||
		!in(p->load, 0, 3))
		return -1;
	blank(f, 0x477);
	f->data[0] = (uint8_t)p->query;
	f->data[1] = (uint8_t)p->set;
	f->data[2] = (uint8_t)p->feedback;
	f->data[3] = p->load_valid ? SET : 0;
	f->data[4] = (uint8_t)p->load;
	return 0;
}

int piper_config_end(struct can_frame *f, const int v[4])
{
	blank(f, 0x479);
	for (int i = 0; i < 4; i++) {
		if (!in(v[i], 0, PIPER_KEEP))
			return -1;
		put16(f->data + 2 * i, v[i]);
	}
	return 0;
}

static int levels(struct can_frame *f, canid_t id, const int level[6], int top)
{
	blank(f, id);
	for (int i = 0; i < 6; i++) {
		if (!in(level[i], 0, top))
			return -1;
		f->data[i] = (uint8_t)level[i];
	}
	return 0;
}

int piper_config_collision(struct can_frame *f, const int level[6])
{
	return levels(f, 0x47A, level, 8);
}

int piper_config_pendant(struct can_frame *f, int stroke_percent, int range_mm, int friction)
{
	if (!in(stroke_percent, 100, 200) ||
		!(range_mm == 0 || range_mm == 70 || range_mm == 100) || !in(friction, 1, 10))
		return -1;
	blank(f, 0x47D);
	f->data[0] = (uint8_t)stroke_percent;
	f->data[1] = (uint8_t)range_mm;
	f->data[2] = (uint8_t)friction;
	return 0;
}

int piper_config_assist(struct can_frame *f, const int level[6])
{
	return levels(f, 0x487, level, 10);
}
