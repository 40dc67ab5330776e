#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/msg.h"

#define LINE_US 200000

void report_lost(struct report *r)
{
	if (!r->gone && errno != EPIPE) {
		warn("records: %s; none from now on", strerror(errno));
		r->failed = true;
	}
	r->gone = true;
}

static void put(struct report *r, const struct rec *rec)
{
	if (r->out && !r->gone && outq_put(r->out, rec) < 0)
		report_lost(r);
}

void report_command(struct report *r, const struct gate_act *act, int64_t now)
{
	static const enum rec_set set[] = { [GATE_POSE] = REC_SET_RUN,
		[GATE_STILL] = REC_SET_HOLD,
		[GATE_JOINTS] = REC_SET_READY };
	static struct rec rec;
	struct rec_command *c = &rec.u.command;

	rec_init(&rec, REC_COMMAND, r->name, r->seq_command++, act->t_us);
	c->set = set[act->kind];
	c->has_pose = true;
	c->pose = act->pose;
	c->has_grip = act->kind == GATE_POSE && act->has_grip;
	c->grip = act->grip;
	if (act->kind != GATE_POSE) {
		c->nj = CHAIN_JOINTS;
		memcpy(c->j, act->j, sizeof(act->j));
	}
	c->age_us = now - act->t_us;
	c->lead_m = act->lead_m;
	c->lead_rad = act->lead_rad;
	snprintf(c->clamped, sizeof(c->clamped), "%s", act->clamped);
	put(r, &rec);
	r->sets++;
	r->clamped += act->clamped[0] != 0;
	r->age_us = c->age_us;
	r->lead_m = act->lead_m;
}

static void common(
	struct report *r, struct rec *rec, const struct gate *g, enum rec_kind kind, int64_t now)
{
	struct rec_feedback *f = &rec->u.feedback;

	rec_init(rec, REC_FEEDBACK, r->name, r->seq_feedback++,
		g->arm.joints_us ? g->arm.joints_us : now);
	f->kind = kind;
	f->state = g->state == GATE_RUN ? REC_STREAMING : g->arm_ready ? REC_READY : REC_INACTIVE;
	f->has_gate = true;
	snprintf(f->gate, sizeof(f->gate), "%s", gate_state_name(g->state));
	snprintf(f->why, sizeof(f->why), "%s", g->why);
	f->runs = g->runs;
}

static void faults(const struct gate *g, char *list, size_t n)
{
	list[0] = 0;
	if (g->arm.status)
		snprintf(list, n, "status-0x%02X", g->arm.status);
	if (g->arm.joint_errors)
		snprintf(list + strlen(list), n - strlen(list), "%scomm-0x%02X", list[0] ? "," : "",
			g->arm.joint_errors);
}

static void twist(const struct gate *g, const struct arm *arm, struct rec_feedback *f)
{
	double jac[6][CHAIN_JOINTS], t[6] = { 0 };

	chain_jacobian(g->cfg.chain, g->arm.j, jac);
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < CHAIN_JOINTS; k++)
			t[i] += jac[i][k] * arm->jdot[k];
	f->has_twist = true;
	f->pdot = (struct vec3){ t[0], t[1], t[2] };
	f->omega = (struct vec3){ t[3], t[4], t[5] };
}

void report_feedback(struct report *r, const struct gate *g, const struct arm *arm, int64_t now)
{
	static struct rec rec;
	struct rec_feedback *f = &rec.u.feedback;
	bool moving = arm && arm->fast_seen == 0x3Fu;

	if (!g->arm.joints_us) /* before the listen is over there is nothing to tell */
		return;
	common(r, &rec, g, REC_KIND_CARTESIAN, now);
	f->has_pose = true;
	f->pose = g->arm.pose;
	f->has_grip = g->arm.has_grip;
	f->grip = g->arm.grip;
	f->has_mode = f->has_faults = true;
	f->mode = g->arm.ctrl;
	faults(g, f->faults, sizeof(f->faults));
	if (moving)
		twist(g, arm, f);
	put(r, &rec);

	common(r, &rec, g, REC_KIND_JOINT, now);
	f->nj = CHAIN_JOINTS;
	memcpy(f->j, g->arm.j, sizeof(g->arm.j));
	if (moving) {
		f->njdot = CHAIN_JOINTS;
		memcpy(f->jdot, arm->jdot, sizeof(arm->jdot));
	}
	put(r, &rec);
}

static bool is_news(const char *name)
{
	static const char *const quiet[] = { "hold", "run", "ready", "init", "reset", NULL };

	for (int i = 0; quiet[i]; i++)
		if (strcmp(name, quiet[i]) == 0)
			return false;
	return true;
}

bool report_notes(struct report *r, struct gate *g, int64_t now)
{
	static struct rec rec;
	struct gate_note n;
	bool any = false;

	while (gate_next_note(g, &n)) {
		any = true;
		if (is_news(n.name))
			warn("%s: %s", n.name, n.value);
		else
			info("%s%s%s", n.name, n.value[0] ? ": " : "", n.value);
		rec_init(&rec, REC_EVENT, r->name, r->seq_event, now);
		snprintf(rec.u.event.name, sizeof(rec.u.event.name), "%s", n.name);
		snprintf(rec.u.event.value, sizeof(rec.u.event.value), "%s", n.value);
		rec.u.event.n = ++r->seq_event;
		put(r, &rec);
	}
	return any;
}

void report_line(struct report *r, const struct gate *g, int64_t now)
{
	if (now - r->line_us < LINE_US || !msg_has_terminal())
		return;
	r->line_us = now;
	if (g->state == GATE_RUN)
		msg_status("RUN  age %.0f ms  lead %.1f mm  sets %lu  bounded %.0f%%",
			1e-3 * (double)r->age_us, 1e3 * r->lead_m, r->sets,
			r->sets ? 100.0 * (double)r->clamped / (double)r->sets : 0.0);
	else
		msg_status("%s  %s", gate_state_name(g->state), g->why);
}
