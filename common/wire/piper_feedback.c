#include "wire/piper_feedback.h"

#include <string.h>

#include "wire/piper.h"

static void frame_new(struct can_frame *f, canid_t id)
{
	memset(f, 0, sizeof *f);
	f->can_id = id;
	f->can_dlc = 8;
}

static void put16(uint8_t *at, uint16_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static void put32(uint8_t *at, int32_t v)
{
	put16(at, (uint16_t)((uint32_t)v >> 16));
	put16(at + 2, (uint16_t)(uint32_t)v);
}

void piper_fb_status(struct can_frame *f, const struct piper_fb_status *s)
{
	frame_new(f, 0x2A1);
	f->data[0] = s->ctrl;
	f->data[1] = s->arm;
	f->data[2] = s->move;
	f->data[3] = s->teach;
	f->data[4] = s->motion;
	f->data[5] = s->track;
	f->data[6] = s->limit_bits;
	f->data[7] = s->comm_bits;
}

/* Pose and joint feedback have the layout of the commands (piper.md 5). */
static int renumber(struct can_frame f[3], int rc, canid_t first)
{
	for (canid_t i = 0; i < 3; i++)
		f[i].can_id = first + i;
	return rc;
}

int piper_fb_pose(struct can_frame f[3], struct pose flange)
{
	return renumber(f, piper_pose(f, flange), 0x2A2);
}

int piper_fb_joints(struct can_frame f[3], const double rad[6])
{
	return renumber(f, piper_joints(f, rad), 0x2A5);
}

void piper_fb_gripper(struct can_frame *f, const struct piper_fb_gripper *g)
{
	frame_new(f, 0x2A8);
	put32(f->data, g->stroke_um);
	put16(f->data + 4, (uint16_t)g->effort_mnm);
	f->data[6] = g->bits;
	f->data[7] = g->mode;
}

void piper_fb_fast(struct can_frame *f, int joint, const struct piper_fb_fast *m)
{
	frame_new(f, 0x250u + (canid_t)joint);
	put16(f->data, (uint16_t)m->speed_mrad_s);
	put16(f->data + 2, (uint16_t)m->current_ma);
	put32(f->data + 4, m->position_mrad);
}

void piper_fb_slow(struct can_frame *f, int joint, const struct piper_fb_slow *m)
{
	frame_new(f, 0x260u + (canid_t)joint);
	put16(f->data, m->volt_d);
	put16(f->data + 2, (uint16_t)m->driver_c);
	f->data[4] = (uint8_t)m->motor_c;
	f->data[5] = m->bits;
	put16(f->data + 6, m->bus_ma);
}

void piper_fb_limits(
	struct can_frame *f, int joint, int16_t max_ddeg, int16_t min_ddeg, uint16_t speed)
{
	frame_new(f, 0x473);
	f->data[0] = (uint8_t)joint;
	put16(f->data + 1, (uint16_t)max_ddeg);
	put16(f->data + 3, (uint16_t)min_ddeg);
	put16(f->data + 5, speed);
}

void piper_fb_acceleration(struct can_frame *f, int joint, uint16_t acc)
{
	frame_new(f, 0x47C);
	f->data[0] = (uint8_t)joint;
	put16(f->data + 1, acc);
}

void piper_fb_ack(struct can_frame *f, uint8_t acked_low, uint8_t zero_set)
{
	frame_new(f, 0x476);
	f->data[0] = acked_low;
	f->data[1] = zero_set;
}

void piper_fb_end_limits(struct can_frame *f, const uint16_t v[4])
{
	frame_new(f, 0x478);
	for (int i = 0; i < 4; i++)
		put16(f->data + 2 * i, v[i]);
}

void piper_fb_collision(struct can_frame *f, const uint8_t level[6])
{
	frame_new(f, 0x47B);
	memcpy(f->data, level, 6);
}

void piper_fb_gripper_setup(
	struct can_frame *f, uint8_t teach_percent, uint8_t range_mm, uint8_t friction)
{
	frame_new(f, 0x47E);
	f->data[0] = teach_percent;
	f->data[1] = range_mm;
	f->data[2] = friction;
}

static void text_at(uint8_t *at, const char *text, size_t room)
{
	memcpy(at, text, strnlen(text, room));
}

void piper_fb_firmware(struct can_frame f[PIPER_FIRMWARE_FRAMES], const char *hardware,
	const char *software, const char *date)
{
	uint8_t all[8 * PIPER_FIRMWARE_FRAMES] = { 0 };

	text_at(all, hardware, 8);
	text_at(all + 32, "ARM_MC", 6);
	text_at(all + 60, software, 8);
	text_at(all + 68, date, 6);
	text_at(all + 76, "15", 2); /* node number */
	for (int i = 0; i < PIPER_FIRMWARE_FRAMES; i++) {
		frame_new(&f[i], 0x4AF);
		memcpy(f[i].data, all + 8 * i, 8);
	}
}
