/* One step of the arm, once the gate has decided that it may move (gate:G8-G12). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gate_in.h"
#include "ready_path.h"

#define STUCK_US 200000 /* safety:H18 */
#define STUCK_M 0.005
#define STUCK_RAD 0.02
#define STUCK_SHARE 0.98 /* of L: there for practical purposes */

void gate_enter_run(struct gate *g, int64_t now)
{
	slew_reset(&g->slew, g->arm.pose);
	g->target.lo = g->target.hi = g->arm.pose.p;
	gate_widen(&g->target, g->target.pose.p);
	g->sent_us = now - g->cfg.period_us;
	g->ramp_us = now;
	g->has_grip = g->arm.has_grip || g->newest.has_grip;
	g->grip = g->arm.has_grip ? g->arm.grip : g->newest.grip;
	g->need_engage = false;
	g->runs++;
	g->count.runs++;
	g->owed = g->owed_damp = false;
	gate_enter(g, GATE_RUN, "", now);
}

static double dt_of(const struct gate *g, int64_t now)
{
	int64_t us = now - g->sent_us;

	if (us > g->cfg.freeze_us)
		us = g->cfg.freeze_us;
	return 1e-6 * (double)(us < 1 ? 1 : us);
}

/* safety:H18. True: the arm has stood at L for too long. */
static bool stuck(struct gate *g, const struct slew_step *s, int64_t now)
{
	double turn = 0;

	if (s->lead_m < STUCK_SHARE * g->cfg.lim.lead_m &&
		s->lead_rad < STUCK_SHARE * g->cfg.lim.lead_rad) {
		g->stuck_us = 0;
		return false;
	}
	if (!g->stuck_us) {
		g->stuck_us = now;
		g->stuck_at = g->arm;
		return false;
	}
	if (now - g->stuck_us < STUCK_US)
		return false;
	for (int i = 0; i < CHAIN_JOINTS; i++)
		turn = fmax(turn, fabs(g->arm.j[i] - g->stuck_at.j[i]));
	if (vec_dist(g->arm.pose.p, g->stuck_at.pose.p) < STUCK_M && turn < STUCK_RAD)
		return true;
	g->stuck_us = now;
	g->stuck_at = g->arm;
	return false;
}

static void grip_step(const struct gate *g, double dt, struct gate_act *act)
{
	double to = g->newest.has_grip ? fmin(1, fmax(0, g->newest.grip)) : g->grip;
	double most = g->cfg.grip_rate * dt;

	act->has_grip = g->has_grip || g->newest.has_grip;
	act->grip = g->has_grip ? g->grip + fmin(most, fmax(-most, to - g->grip)) : to;
}

void gate_run_step(struct gate *g, int64_t now, struct gate_act *act)
{
	struct slew_limits lim = g->cfg.lim;
	struct slew_step s;
	double m, rad, dt = dt_of(g, now);

	slew_lead(g->target.pose, g->slew.cmd, &m, &rad);
	if (g->ramp_us && (now - g->ramp_us >= g->cfg.ramp_max_us ||
				  (m <= g->cfg.ramp_near_m && rad <= g->cfg.ramp_near_rad)))
		g->ramp_us = 0;
	if (g->ramp_us) {
		lim.speed_m = fmin(lim.speed_m, g->cfg.ramp_m);
		lim.speed_rad = fmin(lim.speed_rad, g->cfg.ramp_rad);
	}
	if (!slew_step(&g->slew, &lim, &g->target, g->arm.pose, dt, &s)) {
		gate_enter_hold(g, "lead and speed cannot both be kept", now);
	} else if (!gate_reachable(
			   g, s.next.cmd, g->move_p ? GATE_BRANCH_RAD : g->cfg.lead_joint)) {
		gate_enter_hold(g, "target out of the arm's reach", now);
	} else if (stuck(g, &s, now)) {
		gate_enter_fault(g, "arm does not follow", now);
	} else {
		act->kind = GATE_POSE;
		act->rebase = !g->move_p;
		act->pose = s.next.cmd;
		act->measured = g->arm.pose;
		act->next = s.next;
		act->lead_m = s.lead_m;
		act->lead_rad = s.lead_rad;
		snprintf(act->src, sizeof(act->src), "%s", g->src);
		act->t_us = g->newest_us;
		grip_step(g, dt, act);
		if (s.behind)
			rec_clamped_add(act->clamped, "slew");
		if (s.at_lead)
			rec_clamped_add(act->clamped, "lead");
	}
}

/* gate:G12. */
void gate_ready_step(struct gate *g, int64_t now, struct gate_act *act)
{
	char why[REC_TEXT_MAX];
	struct ready_step s;

	if (gate_channel_missing(g, now, why, sizeof(why))) {
		snprintf(g->why, sizeof(g->why), "ready: %.120s", why);
		return;
	}
	if (!g->readying) {
		g->readying = true;
		memcpy(g->ready_cmd, g->arm.j, sizeof(g->ready_cmd));
		g->ready_speed = 0;
		g->sent_us = now - g->cfg.period_us;
		snprintf(g->why, sizeof(g->why), "on the way to ready");
		gate_say(g, "ready", "going");
	}
	switch (ready_step(g->cfg.chain, &g->cfg.lim,
		&(struct ready_path){ g->ready_cmd, g->ready_speed, g->arm.j, g->cfg.ready_j,
			g->cfg.ramp_m, g->cfg.ramp_rad, g->cfg.lead_joint },
		dt_of(g, now), &s)) {
	case READY_THERE:
		g->under_way = false;
		gate_enter_hold(g, "ready", now);
		return;
	case READY_LEAD: gate_enter_hold(g, "lead and speed cannot both be kept", now); return;
	case READY_GO: break;
	}

	struct slew_step lag = { .lead_m = s.waits ? g->cfg.lim.lead_m : 0 };

	if (stuck(g, &lag, now)) {
		gate_enter_fault(g, "arm does not follow", now);
		return;
	}
	act->kind = GATE_JOINTS;
	memcpy(act->j, s.j, sizeof(act->j));
	act->ready_speed = s.speed;
	act->pose = chain_fk(g->cfg.chain, s.j);
	slew_lead(act->pose, g->arm.pose, &act->lead_m, &act->lead_rad);
	snprintf(act->src, sizeof(act->src), "%s", g->src);
	act->t_us = now;
}
