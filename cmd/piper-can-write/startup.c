#include "startup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "wire/piper.h"

#define LISTEN_MORE_US 10000 /* what opening and hearing may be apart */
#define ASK_US 200000
#define ENABLE_EVERY_US 60000 /* bits arrive at 40 Hz: wait at least 50 ms (piper:R7) */
#define MODE_EVERY_US 100000
#define MODE_US 2000000
#define DH_M 0.002 /* gate:G1 */
#define ALL_JOINTS 0x3Fu

/* Exit codes of piper:R1. */
enum { X_SILENCE = 14, X_PARTIAL = 15, X_SHIFTED = 17, X_FOREIGN = 18 };

void startup_defaults(struct startup_cfg *c)
{
	*c = (struct startup_cfg){
		.listen_us = 300000,
		.silence_us = 1000000,
		.enable_us = 10000000,
		.speed_percent = 25,
		.effort_nm = 1,
		.check_dh = true,
	};
}

void startup_init(struct startup *s, const struct startup_cfg *cfg, int64_t now)
{
	*s = (struct startup){ .cfg = *cfg, .began_us = now, .phase_us = now };
}

static void go(struct startup *s, enum startup_phase p, int64_t now)
{
	s->phase = p;
	s->phase_us = now;
	s->next_us = now;
	s->tries = 0;
}

#define FAIL(out, code, ...)                                                                       \
	do {                                                                                       \
		(out)->fail = (code);                                                              \
		snprintf((out)->text, sizeof((out)->text), __VA_ARGS__);                           \
	} while (0)

static void listen_failed(const struct arm *a, struct startup_out *out)
{
	char miss[16];

	if (a->shifted_id)
		FAIL(out, X_SHIFTED,
			"feedback comes under shifted ids (0x%03X): the arm is set up with an id "
			"offset or as a leader; make it a plain follower and cycle its power",
			a->shifted_id);
	else if (a->frames == 0)
		FAIL(out, X_SILENCE,
			"nothing heard: arm switched off, wrong bitrate, adapter or cable "
			"defective, "
			"or the arm is a leader");
	else {
		arm_missing(a->slow_seen, miss, sizeof(miss));
		FAIL(out, X_PARTIAL,
			"only part of the feedback arrives (%s%s%s%s): check adapter, cable and "
			"hub",
			a->status_us ? "" : "no 0x2A1 ", a->joints_us ? "" : "no joints ",
			miss[0] ? "no motor state of joint " : "", miss);
	}
}

static void listen_step(struct startup *s, struct arm *a, int64_t now, struct startup_out *out)
{
	if (a->foreign_id) {
		FAIL(out, X_FOREIGN,
			"0x%03X comes from somebody else: another program or a leader arm commands "
			"this bus; end it first",
			a->foreign_id);
		return;
	}
	/* From the first frame on: a device may take a while to open. */
	if (arm_complete(a) && now - a->first_us > s->cfg.listen_us + LISTEN_MORE_US &&
		now - s->began_us > s->cfg.listen_us)
		go(s, START_ASK, now);
	else if (now - s->began_us > s->cfg.silence_us)
		listen_failed(a, out);
}

/* What the arm says must allow to begin (piper:R6); a refused pose (2, 3, 4) clears with the first
 * good target. */
static bool status_ok(const struct arm *a, struct startup_out *out)
{
	if (a->ctrl == 2)
		FAIL(out, 1, "the arm is in teach mode: leave it with its button");
	else if (a->ctrl == 6)
		FAIL(out, X_FOREIGN, "the arm is a leader (linkage mode): it takes no commands");
	else if (a->status == 1)
		FAIL(out, 1,
			"the arm is in its own emergency stop: support it, reset it with the "
			"maker's tool (it falls when reset), start anew");
	else if (a->status > 4)
		FAIL(out, 1, "arm status 0x%02X (%s): see to it, then start anew", a->status,
			piper_status_text(a->status));
	else if (a->comm_bits)
		FAIL(out, 1, "joint communication errors, bits 0x%02X", a->comm_bits);
	else
		return true;
	return false;
}

static void ask_step(struct startup *s, struct arm *a, int64_t now, struct startup_out *out)
{
	const char *fw = s->cfg.firmware[0] ? s->cfg.firmware : a->firmware;

	if (!fw[0] && s->tries == 0) {
		piper_ask_firmware(&out->f[out->n++]);
		s->tries++;
		return;
	}
	if (!fw[0] && now - s->phase_us < ASK_US)
		return;
	if (!fw[0])
		snprintf(out->text, sizeof(out->text),
			"the arm does not tell its firmware; kinematics of S-V1.6-3 and later "
			"assumed");
	else if (firmware_compare(fw, "S-V1.6-3") == -1)
		a->chain = &PIPER_DH_OLD;
	if (fw[0] && firmware_compare(fw, "S-V1.8-9") == -1)
		snprintf(out->text, sizeof(out->text),
			"firmware %s is older than S-V1.8-9, which its maker recommends%s", fw,
			strcmp(fw, "S-V1.8-6") == 0
				? ": after an overload a joint can be far off without any sign"
			: strcmp(fw, "S-V1.8-2") == 0 ? ": joint zeros were seen to shift"
						      : "");
	if (!status_ok(a, out))
		return;

	struct pose fk = chain_fk(a->chain, a->j);
	double off = vec_dist(fk.p, a->told.p);

	if (s->cfg.check_dh && a->pose_us && off > DH_M)
		FAIL(out, 1,
			"the arm's own pose is %.1f mm from its joints' (%s DH set): wrong "
			"firmware "
			"version or other model",
			1e3 * off, a->chain == &PIPER_DH_OLD ? "old" : "new");
	else
		go(s, START_ENABLE, now);
}

static void enable_step(struct startup *s, struct arm *a, int64_t now, struct startup_out *out)
{
	char miss[16];

	if (a->enabled == ALL_JOINTS) {
		go(s, START_MODE, now);
		return;
	}
	if (now < s->next_us)
		return;
	if (now - s->phase_us > s->cfg.enable_us) {
		arm_missing(a->enabled, miss, sizeof(miss));
		FAIL(out, 1, "joint %s could not be enabled within %lld s", miss,
			(long long)(s->cfg.enable_us / 1000000));
		return;
	}
	/* Singly: "all" would enable the gripper too and move it (piper:R7). */
	for (uint8_t i = 0; i < 6; i++)
		if (!(a->enabled & 1u << i))
			piper_enable(&out->f[out->n++], (uint8_t)(i + 1));
	s->next_us = now + ENABLE_EVERY_US;
}

static void mode_step(struct startup *s, struct arm *a, int64_t now, struct startup_out *out)
{
	bool taken = a->ctrl == 1 && a->status == 0 && a->status_us > s->phase_us;

	if (taken) {
		if (a->grip_us && !a->grip_angle && a->width_m >= 0 &&
			piper_gripper(&out->f[out->n], a->width_m, s->cfg.effort_nm, 1) == 0)
			out->n++;
		else if (a->grip_angle)
			snprintf(out->text, sizeof(out->text),
				"the gripper reports an angle, not a width: it is left alone");
		go(s, START_DONE, now);
		return;
	}
	if (now < s->next_us)
		return;
	if (now - s->phase_us > MODE_US) {
		FAIL(out, 1,
			"the arm stays in mode %d (%s), status 0x%02X (%s): it does not take CAN "
			"control; after teaching only a reset, which lets it fall, helps",
			a->ctrl, piper_ctrl_text(a->ctrl), a->status, piper_status_text(a->status));
		return;
	}
	if (now - a->joints_us > 50000)
		return;
	piper_mode(&out->f[0], 1, PIPER_MOVE_J, s->cfg.speed_percent, 0);
	if (piper_joints(&out->f[1], a->j) == 0)
		out->n = 4;
	s->next_us = now + MODE_EVERY_US;
}

bool startup_step(struct startup *s, struct arm *a, int64_t now, struct startup_out *out)
{
	out->n = 0;
	out->fail = 0;
	out->text[0] = 0;
	if (s->phase > START_LISTEN && s->phase < START_DONE &&
		now - a->last_us > s->cfg.silence_us) {
		FAIL(out, X_SILENCE, "the arm went silent during the start");
		return false;
	}
	switch (s->phase) {
	case START_LISTEN: listen_step(s, a, now, out); break;
	case START_ASK: ask_step(s, a, now, out); break;
	case START_ENABLE: enable_step(s, a, now, out); break;
	case START_MODE: mode_step(s, a, now, out); break;
	case START_DONE: break;
	}
	return s->phase == START_DONE;
}
