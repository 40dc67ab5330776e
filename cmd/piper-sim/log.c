#include "piper-sim/log.h"

#include <stdio.h>
#include <string.h>

#define FAST_FOLLOW 0xAD
#define STILL_FRAMES 4 /* 0x151, 0x155-0x157 */

void simlog_init(struct log *l, log_say *say, void *arg, bool may_damp)
{
	memset(l, 0, sizeof *l);
	l->say = say;
	l->arg = arg;
	l->may_damp = may_damp;
	l->opened_us = l->unfit_us = l->spoken_us = -1;
}

const char *simlog_kind_text(enum log_kind k)
{
	static const char *const text[LOG_KINDS] = { "forbidden", "malformed", "torn", "far",
		"early", "after-fault", "unheard" };

	return text[k];
}

unsigned long simlog_violations(const struct log *l)
{
	unsigned long n = 0;

	for (int i = 0; i < LOG_KINDS; i++)
		n += l->found[i];
	return n;
}

static void found(struct log *l, int64_t now_us, enum log_kind kind, const char *text)
{
	l->found[kind]++;
	if (l->say)
		l->say(l->arg, now_us, kind, text);
}

void simlog_opened(struct log *l, int64_t now_us)
{
	l->opened_us = now_us;
	l->was_early = false;
	l->still = 0;
}

void simlog_closed(struct log *l)
{
	l->opened_us = -1;
}

/* Why a well-formed frame is one of piper:R8, or NULL. */
static const char *why_forbidden(const struct log *l, canid_t id, const struct piper_msg *m)
{
	const uint8_t *raw = m->u.raw;

	if (m->kind == PIPER_CMD_STOP) {
		if (m->u.stop.stop == 2)
			return "0x150 reset lets the arm fall";
		if (m->u.stop.stop == 1 && !m->u.stop.track && !m->u.stop.teach && l->may_damp)
			return NULL;
		return "0x150";
	}
	if (m->kind == PIPER_CMD_MODE)
		return m->u.mode.mit == FAST_FOLLOW ? "0x151 with fast follow (0xAD)" : NULL;
	if (m->kind == PIPER_CMD_ENABLE)
		return m->u.enable.op == 1 ? "0x471 disable lets the arm fall" : NULL;
	if (m->kind == PIPER_CMD_CIRCLE)
		return "0x158 MOVE C";
	if (m->kind == PIPER_CMD_GRIPPER)
		return m->u.gripper.zero ? "0x159 sets the gripper's zero" : NULL;
	if (m->kind != PIPER_CMD_OTHER || id == 0x472 || id == 0x4AF)
		return NULL;
	if (id == 0x477) /* a plain query is read-only */
		return raw[1] || raw[2] || raw[3] || raw[4] ? "0x477 changes settings" : NULL;
	if (id >= 0x15A && id <= 0x15F)
		return "MIT frame";
	if (id >= 0x181 && id <= 0x187)
		return "CPV frame";
	return "configuration frame";
}

static const char *why_malformed(const struct can_frame *f, bool decoded, const struct piper_msg *m)
{
	if (f->can_id & (CAN_EFF_FLAG | CAN_RTR_FLAG | CAN_ERR_FLAG))
		return "not a standard data frame";
	if (!decoded || m->kind == PIPER_UNKNOWN)
		return "unknown identifier or wrong length";
	if (m->kind > PIPER_CMD_OTHER)
		return "feedback identifier sent by the host";
	if (m->kind == PIPER_CMD_MODE && (m->u.mode.speed > 100 || m->u.mode.move > 6))
		return "0x151 with a value out of range";
	return NULL;
}

static void torn(struct log *l, int64_t now_us, struct log_set *s, const char *text)
{
	s->next = 0;
	found(l, now_us, LOG_TORN, text);
}

static void track_set(struct log *l, struct log_set *s, int part, const char *name, int64_t now_us)
{
	char text[80];

	if (part != s->next) {
		(void)snprintf(text, sizeof text, "%s part %d where part %d was due", name,
			part + 1, s->next + 1);
		torn(l, now_us, s, text);
		if (part != 0)
			return;
	}
	if (part == 0)
		s->open_us = now_us;
	s->next = part == 2 ? 0 : part + 1;
}

static void track(struct log *l, const struct piper_msg *m, int64_t now_us)
{
	bool is_hold_part = m->kind == PIPER_CMD_JOINTS ||
			    (m->kind == PIPER_CMD_MODE && m->u.mode.move == PIPER_MOVE_J);

	if (m->kind == PIPER_CMD_POSE) {
		l->mode_waits = false;
		track_set(l, &l->pose, m->part, "pose", now_us);
		return;
	}
	if (l->pose.next && !is_hold_part)
		torn(l, now_us, &l->pose, "another frame inside a pose set");
	if (l->joints.next && m->kind != PIPER_CMD_JOINTS)
		torn(l, now_us, &l->joints, "another frame inside a joint set");
	if (m->kind == PIPER_CMD_JOINTS)
		track_set(l, &l->joints, m->part, "joint", now_us);
	if (l->mode_waits && !is_hold_part) {
		l->mode_waits = false;
		found(l, now_us, LOG_TORN, "0x151 MOVE P without its pose");
	}
	if (m->kind == PIPER_CMD_MODE && m->u.mode.ctrl == ARM_CTRL_CAN &&
		m->u.mode.move == PIPER_MOVE_P) {
		l->mode_waits = true;
		l->mode_us = now_us;
	}
}

static void judge_target(struct log *l, int64_t now_us)
{
	if (l->unfit_us >= 0 && now_us - l->unfit_us > LOG_GRACE_US && !l->said_unfit) {
		l->said_unfit = true;
		found(l, now_us, LOG_AFTER_FAULT,
			"target to an arm that reported a fault or no power");
	}
	if (l->spoken_us >= 0 && now_us - l->spoken_us > LOG_GRACE_US && !l->said_silent) {
		l->said_silent = true;
		found(l, now_us, LOG_UNHEARD, "target to a silent arm");
	}
}

static void early(struct log *l, int64_t now_us)
{
	if (l->was_early)
		return;
	l->was_early = true;
	found(l, now_us, LOG_EARLY, "command before 300 ms of listening");
}

/* The one hold set of a runner's last stop may come without listening (gate:G19). */
static bool last_word(struct log *l, const struct piper_msg *m, int64_t now_us)
{
	bool next = l->still == 0 ? m->kind == PIPER_CMD_MODE && m->u.mode.move == PIPER_MOVE_J
				  : m->kind == PIPER_CMD_JOINTS && m->part == l->still - 1;

	if (l->still == 0)
		l->still_us = now_us;
	if (next)
		l->still++;
	return next;
}

void simlog_command(struct log *l, const struct can_frame *f, int64_t now_us)
{
	struct piper_msg m = { .kind = PIPER_UNKNOWN };
	bool decoded = piper_decode(f, &m);
	const char *why = why_malformed(f, decoded, &m);

	l->commands++;
	if (l->opened_us >= 0 && now_us - l->opened_us < LOG_LISTEN_US && !last_word(l, &m, now_us))
		early(l, now_us);
	if (why) {
		found(l, now_us, LOG_MALFORMED, why);
		return;
	}
	why = why_forbidden(l, f->can_id, &m);
	if (why)
		found(l, now_us, LOG_FORBIDDEN, why);
	track(l, &m, now_us);
	if (m.kind == PIPER_CMD_POSE || m.kind == PIPER_CMD_JOINTS)
		judge_target(l, now_us);
}

bool simlog_fit(const struct arm *a)
{
	uint8_t s = simarm_status(a);

	if (s == ARM_ESTOP || s > ARM_OVER_LIMIT || a->ctrl == ARM_CTRL_TEACH)
		return false;
	for (int i = 0; i < ARM_JOINTS; i++)
		if (!a->enabled[i] || a->now_us < a->shows_us[i])
			return false;
	return a->powered;
}

void simlog_spoken(struct log *l, bool fit, int64_t now_us)
{
	l->spoken_us = now_us;
	l->said_silent = false;
	if (fit) {
		l->unfit_us = -1;
		l->said_unfit = false;
	} else if (l->unfit_us < 0) {
		l->unfit_us = now_us;
	}
}

void simlog_tick(struct log *l, const struct arm *a, int64_t now_us)
{
	if (l->pose.next && now_us - l->pose.open_us > LOG_SET_US)
		torn(l, now_us, &l->pose, "pose set not completed");
	if (l->joints.next && now_us - l->joints.open_us > LOG_SET_US)
		torn(l, now_us, &l->joints, "joint set not completed");
	if (l->still > 0 && l->still < STILL_FRAMES && now_us - l->still_us > LOG_SET_US) {
		l->still = STILL_FRAMES;
		early(l, now_us);
	}
	if (l->mode_waits && now_us - l->mode_us > LOG_SET_US) {
		l->mode_waits = false;
		found(l, now_us, LOG_TORN, "0x151 MOVE P without its pose");
	}
	if (a->wakes != l->wakes) {
		l->wakes = a->wakes;
		l->wake_open = true;
	}
	if (l->wake_open && now_us - a->woken_us >= LOG_SETTLE_US) {
		char text[80];

		l->wake_open = false;
		if (simarm_lead_rad(a) > LOG_NEAR_RAD) {
			(void)snprintf(text, sizeof text, "first target %.3f rad from the joints",
				simarm_lead_rad(a));
			found(l, now_us, LOG_FAR, text);
		}
	}
}

void simlog_end(struct log *l, int64_t now_us)
{
	if (l->pose.next)
		torn(l, now_us, &l->pose, "pose set not completed");
	if (l->joints.next)
		torn(l, now_us, &l->joints, "joint set not completed");
}
