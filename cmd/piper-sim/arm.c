#include "piper-sim/arm.h"

#include <math.h>
#include <string.h>

#include "piper-sim/motion.h"
#include "wire/piper_feedback.h"

#define GAP_MAX_US 10000000
#define RESET_TRIES 2 /* piper.md 7.1: at least two enables after a reset */
#define KEEP 255      /* 0x151 byte 1: leave unchanged */
#define ALL_JOINTS 7  /* 0x471 byte 0; 0xFF in one comment of the vendor */
#define MARK 0xAE

void simarm_init(struct arm *a, const struct arm_opts *o, int64_t now_us)
{
	memset(a, 0, sizeof *a);
	a->o = *o;
	a->now_us = now_us;
	a->powered = true;
	a->supported = !o->starts_enabled;
	memcpy(a->q, o->start, sizeof a->q);
	memcpy(a->goal, o->start, sizeof a->goal);
	a->grip.width_m = a->grip.goal_m = o->gripper_start_m;
	a->grip.homed = true;
	for (int i = 0; i < ARM_JOINTS; i++) {
		a->need[i] = o->enable_tries;
		a->enabled[i] = o->starts_enabled && !((o->enable_never >> i) & 1);
	}
	if (o->starts_enabled)
		a->ctrl = ARM_CTRL_CAN;
}

void simarm_advance(struct arm *a, int64_t now_us)
{
	if (now_us - a->now_us > GAP_MAX_US)
		a->now_us = now_us - GAP_MAX_US;
	while (a->now_us + ARM_STEP_US <= now_us) {
		a->now_us += ARM_STEP_US;
		motion_step(a);
	}
}

bool simarm_all_enabled(const struct arm *a)
{
	for (int i = 0; i < ARM_JOINTS; i++)
		if (!a->enabled[i])
			return false;
	return true;
}

uint8_t simarm_status(const struct arm *a)
{
	return a->forced ? a->forced : a->status;
}

struct pose simarm_flange(const struct arm *a)
{
	return chain_fk(a->o.dh, a->q);
}

double simarm_lead_rad(const struct arm *a)
{
	double most = 0;

	for (int i = 0; i < ARM_JOINTS && a->following; i++)
		most = fmax(most, fabs(a->goal[i] - a->q[i]));
	return most;
}

bool simarm_at_rest(const struct arm *a)
{
	for (int i = 0; i < ARM_JOINTS; i++)
		if (a->v[i] != 0)
			return false;
	return true;
}

static void stop_following(struct arm *a)
{
	a->following = false;
	a->refused = false;
}

/* Refused targets stop the arm where it is; the gripper is not touched (piper:S8). */
static void refuse(struct arm *a, uint8_t status, uint8_t limit_bits)
{
	a->status = status;
	a->limit_bits = limit_bits;
	a->following = false;
	a->refused = true;
}

/* What was aimed at before has no after-effect, whatever the lag. */
static void forget_goals(struct arm *a)
{
	for (int i = 0; i < ARM_PAST; i++)
		memcpy(a->past[i], a->q, sizeof a->q);
}

static bool same_goal(const struct arm *a, const double goal[ARM_JOINTS])
{
	for (int i = 0; i < ARM_JOINTS; i++)
		if (a->goal[i] != goal[i])
			return false;
	return true;
}

static void accept(struct arm *a, const double goal[ARM_JOINTS], bool other_kind)
{
	if (other_kind || (!a->following && !a->refused)) {
		a->wakes++;
		a->woken_us = a->now_us;
	}
	if (other_kind || !a->following)
		forget_goals(a);
	/* The plan of MOVE L begins anew with every target (piper.md 3, 0x151). */
	if ((a->o.replan || a->move == PIPER_MOVE_L) && !same_goal(a, goal))
		memset(a->v, 0, sizeof a->v);
	memcpy(a->goal, goal, sizeof a->goal);
	a->status = ARM_NORMAL;
	a->limit_bits = 0;
	a->following = true;
	a->refused = false;
}

static bool may_move(const struct arm *a)
{
	if (!a->powered || a->ctrl != ARM_CTRL_CAN || a->forced || !simarm_all_enabled(a))
		return false;
	return a->status == ARM_NORMAL || (a->status != ARM_ESTOP && !a->o.refusal_latched);
}

static void follow_pose(struct arm *a, bool other_kind)
{
	struct pose want = piper_pose_from_raw(a->stored.pose);
	struct vec3 back = quat_rotate(want.q, (struct vec3){ 0, 0, -a->o.dh->j[5].d });
	double all[PIPER_IK_MAX][CHAIN_JOINTS], goal[ARM_JOINTS];

	if (hypot(want.p.x + back.x, want.p.y + back.y) < a->o.singular_m)
		refuse(a, ARM_SINGULAR, 0);
	else if (piper_ik_near(a->o.dh, want, a->q, goal))
		accept(a, goal, other_kind);
	else
		refuse(a, piper_ik(a->o.dh, want, all) ? ARM_OVER_LIMIT : ARM_NO_SOLUTION, 0);
}

static void follow_joints(struct arm *a, bool other_kind)
{
	double goal[ARM_JOINTS];
	uint8_t over = 0;

	piper_joints_from_raw(a->stored.joints, goal);
	for (int i = 0; i < ARM_JOINTS; i++)
		if (goal[i] < a->o.dh->j[i].lo - 1e-9 || goal[i] > a->o.dh->j[i].hi + 1e-9)
			over = (uint8_t)(over | 1u << i);
	if (over)
		refuse(a, ARM_OVER_LIMIT, over);
	else
		accept(a, goal, other_kind);
}

static bool by_pose(uint8_t move)
{
	return move == PIPER_MOVE_P || move == PIPER_MOVE_L;
}

/* The stored target of the present move mode comes into force, if there is one. */
static void follow_stored(struct arm *a, bool other_kind)
{
	if (!may_move(a))
		return;
	if (by_pose(a->move) && a->stored.has_pose)
		follow_pose(a, other_kind);
	else if (a->move == PIPER_MOVE_J && a->stored.has_joints)
		follow_joints(a, other_kind);
	else if (other_kind)
		stop_following(a);
}

static void take_set(struct arm *a, const struct piper_msg *m, bool is_pose)
{
	int32_t *part = is_pose ? a->part_pose : a->part_joints;
	int32_t *whole = is_pose ? a->stored.pose : a->stored.joints;

	part[2 * m->part] = m->a;
	part[2 * m->part + 1] = m->b;
	if (m->part != 2 && !a->o.latch_each)
		return;
	memcpy(whole, part, sizeof a->part_pose);
	*(is_pose ? &a->stored.has_pose : &a->stored.has_joints) = true;
	if (is_pose ? by_pose(a->move) : a->move == PIPER_MOVE_J)
		follow_stored(a, false);
}

static void take_mode(struct arm *a, const struct piper_msg *m)
{
	uint8_t ctrl = m->u.mode.ctrl, move = m->u.mode.move;
	bool known_ctrl = ctrl <= 1 || ctrl == 3 || ctrl == 4 || ctrl == 7;
	bool changed;

	if (!known_ctrl || (move > 6 && move != KEEP) || m->u.mode.speed > 100)
		return;
	/* The teach button has the highest priority; an emergency stop ends only by reset. */
	if (a->ctrl == ARM_CTRL_TEACH || simarm_status(a) == ARM_ESTOP)
		return;
	if (move == KEEP)
		move = a->move;
	changed = move != a->move || ctrl != a->ctrl;
	a->ctrl = ctrl;
	a->move = move;
	a->speed_percent = m->u.mode.speed;
	if (ctrl != ARM_CTRL_CAN)
		stop_following(a);
	else if (changed || !a->following)
		follow_stored(a, changed);
}

static void lose_joint(struct arm *a, int i, int need)
{
	a->enabled[i] = false;
	a->tries[i] = 0;
	a->need[i] = need;
	stop_following(a);
}

static void take_stop(struct arm *a, const struct piper_msg *m)
{
	if (m->u.stop.stop == 1) {
		a->status = ARM_ESTOP;
		stop_following(a);
	} else if (m->u.stop.stop == 2) {
		for (int i = 0; i < ARM_JOINTS; i++)
			lose_joint(a, i,
				a->o.enable_tries > RESET_TRIES ? a->o.enable_tries : RESET_TRIES);
		a->status = ARM_NORMAL;
		a->forced = 0;
		a->limit_bits = 0;
		a->ctrl = ARM_CTRL_STANDBY;
		a->teach = 0;
	}
}

static void enable_joint(struct arm *a, int i)
{
	if (a->enabled[i] || simarm_status(a) == ARM_ESTOP || simarm_status(a) > ARM_OVER_LIMIT)
		return;
	if (++a->tries[i] < a->need[i] || ((a->o.enable_never >> i) & 1))
		return;
	a->enabled[i] = true;
	a->v[i] = 0;
	a->shows_us[i] = a->now_us + a->o.enable_lag_us;
	if (simarm_all_enabled(a))
		a->supported = false;
}

static int take_enable(struct arm *a, const struct piper_msg *m, struct can_frame *reply)
{
	int motor = m->u.enable.motor, op = m->u.enable.op;
	bool all = motor == ALL_JOINTS || motor == 0xFF;

	if ((op != 1 && op != 2) || (!all && (motor < 1 || motor > ARM_JOINTS)))
		return 0;
	for (int i = 0; i < ARM_JOINTS; i++) {
		if (!all && motor != i + 1)
			continue;
		if (op == 2)
			enable_joint(a, i);
		else
			lose_joint(a, i, a->o.enable_tries);
	}
	if (all) /* 7 reaches the gripper too (piper.md 4) */
		a->grip.enabled = op == 2;
	piper_fb_ack(reply, 0x71, 0);
	return 1;
}

static int take_gripper(struct arm *a, const struct piper_msg *m, struct can_frame *reply)
{
	if (m->u.gripper.zero == MARK) {
		a->grip.width_m = a->grip.goal_m = 0;
		piper_fb_ack(reply, 0x75, 1);
		return 1;
	}
	if (m->u.gripper.code > 3 || m->u.gripper.effort_mnm > 5000)
		return 0; /* codes 4..7 are the angle mode of newer grippers: not this one */
	a->grip.enabled = m->u.gripper.code & 1;
	a->grip.effort_nm = m->u.gripper.effort_mnm * 1e-3;
	a->grip.goal_m = a->grip.enabled
				 ? fmax(0, fmin(a->o.gripper_range_m, m->u.gripper.um * 1e-6))
				 : a->grip.width_m;
	return 0;
}

static int answer_limits(const struct arm *a, const uint8_t d[8], struct can_frame *reply)
{
	int joint = d[0];

	if (joint < 1 || joint > ARM_JOINTS)
		return 0;
	if (d[1] == 1)
		piper_fb_limits(reply, joint,
			(int16_t)lrint(a->o.dh->j[joint - 1].hi * 1800 / M_PI),
			(int16_t)lrint(a->o.dh->j[joint - 1].lo * 1800 / M_PI),
			(uint16_t)lrint(a->o.speed_rad_s * 1000));
	else if (d[1] == 2)
		piper_fb_acceleration(reply, joint, (uint16_t)lrint(a->o.acc_rad_s2 * 100));
	else
		return 0;
	return 1;
}

static int answer_query(const struct arm *a, const uint8_t d[8], struct can_frame *reply)
{
	static const uint16_t end[4] = { 500, 1000, 2000, 3000 };
	static const uint8_t collision[6] = { 0 };

	if (d[1] != 0 || d[2] != 0 || d[3] == MARK) {
		piper_fb_ack(reply, 0x77, 0);
		return 1;
	}
	if (d[0] == 1)
		piper_fb_end_limits(reply, end);
	else if (d[0] == 2)
		piper_fb_collision(reply, collision);
	else if (d[0] == 4)
		piper_fb_gripper_setup(reply, 100, (uint8_t)lrint(a->o.gripper_range_m * 1000), 1);
	else
		return 0;
	return 1;
}

/* Settings are acknowledged and, but for the clearing of errors, change nothing here. */
static int take_other(struct arm *a, const struct can_frame *f, struct can_frame *reply)
{
	switch (f->can_id) {
	case 0x4AF:
		if (!*a->o.firmware)
			return 0;
		piper_fb_firmware(reply, "H-V1.2-1", a->o.firmware, "250925");
		return PIPER_FIRMWARE_FRAMES;
	case 0x472: return answer_limits(a, f->data, reply);
	case 0x477: return answer_query(a, f->data, reply);
	case 0x475:
		if (f->data[5] == MARK && a->forced > ARM_OVER_LIMIT)
			a->forced = 0;
		piper_fb_ack(reply, 0x75, f->data[1] == MARK);
		return 1;
	case 0x470:
	case 0x474:
	case 0x479:
	case 0x47A:
	case 0x47D:
	case 0x487: piper_fb_ack(reply, (uint8_t)f->can_id, 0); return 1;
	default: return 0;
	}
}

int simarm_take(struct arm *a, const struct can_frame *f, struct can_frame reply[ARM_REPLY_MAX])
{
	struct piper_msg m;

	if (!a->powered)
		return 0;
	if (!piper_decode(f, &m))
		return 0;
	switch (m.kind) {
	case PIPER_CMD_STOP: take_stop(a, &m); return 0;
	case PIPER_CMD_MODE: take_mode(a, &m); return 0;
	case PIPER_CMD_POSE: take_set(a, &m, true); return 0;
	case PIPER_CMD_JOINTS: take_set(a, &m, false); return 0;
	case PIPER_CMD_GRIPPER: return take_gripper(a, &m, reply);
	case PIPER_CMD_ENABLE: return take_enable(a, &m, reply);
	case PIPER_CMD_OTHER: return take_other(a, f, reply);
	default: return 0;
	}
}

void simarm_force_status(struct arm *a, uint8_t status)
{
	if (status == ARM_NORMAL)
		a->status = ARM_NORMAL;
	if (status == ARM_ESTOP)
		a->status = ARM_ESTOP;
	a->forced = status == ARM_ESTOP ? 0 : status;
	stop_following(a);
}

void simarm_set_teach(struct arm *a, bool on)
{
	a->ctrl = on ? ARM_CTRL_TEACH : ARM_CTRL_STANDBY;
	a->teach = on;
	stop_following(a);
}

void simarm_set_power(struct arm *a, bool on)
{
	if (on == a->powered)
		return;
	a->powered = on;
	for (int i = 0; i < ARM_JOINTS; i++)
		lose_joint(a, i, a->o.enable_tries);
	memset(&a->stored, 0, sizeof a->stored);
	memset(a->part_pose, 0, sizeof a->part_pose);
	memset(a->part_joints, 0, sizeof a->part_joints);
	a->status = a->forced = a->limit_bits = 0;
	a->ctrl = ARM_CTRL_STANDBY;
	a->move = PIPER_MOVE_P;
	a->teach = 0;
	a->grip.enabled = false;
}
