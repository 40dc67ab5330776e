#include "gate_in.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LEAD_LEFT_M 0.005 /* gate:G13 */
#define LEAD_LEFT_RAD (2 * M_PI / 180)
#define FIRST_M 0.003 /* the first step of a run is no longer */
#define FIRST_RAD 0.02

#define STOP_HOLD "stop hold"

#define DEG (M_PI / 180)

void gate_defaults(struct gate_cfg *c)
{
	*c = (struct gate_cfg){
		.max_age_us = 100000,
		.freeze_us = 100000,
		.measured_us = 50000,
		.silent_us = 50000,
		.lease_us = 100000,
		.period_us = 33333,
		.lim = { 0.25, 90 * DEG, 2.5, 15, 0.0375, 13.5 * DEG },
		.ramp_m = 0.1,
		.ramp_rad = 30 * DEG,
		.ramp_near_m = 0.005,
		.ramp_near_rad = 2 * DEG,
		.ramp_max_us = 1000000,
		.lead_joint = 0.12,
		.engage_m = 0.05,
		.engage_rad = 20 * DEG,
		.grip_rate = 2,
		.engage = GATE_AUTO,
		.ready_j = { 0, 86 * DEG, -45 * DEG, 0, 24 * DEG, 0 },
		.chain = &PIPER_DH_NEW,
	};
}

const char *gate_state_name(enum gate_state s)
{
	static const char *const name[] = { "init", "hold", "run", "estop", "fault" };

	return name[s];
}

__attribute__((format(printf, 3, 4))) void gate_say(
	struct gate *g, const char *name, const char *fmt, ...)
{
	va_list ap;

	if (g->notes == GATE_NOTES) { /* keep the newest */
		memmove(g->note, g->note + 1, sizeof(g->note) - sizeof(g->note[0]));
		g->notes--;
	}

	struct gate_note *n = &g->note[g->notes++];

	snprintf(n->name, sizeof(n->name), "%s", name);
	va_start(ap, fmt);
	vsnprintf(n->value, sizeof(n->value), fmt, ap);
	va_end(ap);
}

bool gate_next_note(struct gate *g, struct gate_note *out)
{
	if (g->notes == 0)
		return false;
	*out = g->note[0];
	memmove(g->note, g->note + 1, sizeof(g->note) - sizeof(g->note[0]));
	g->notes--;
	return true;
}

void gate_init(struct gate *g, const struct gate_cfg *cfg, int64_t now)
{
	*g = (struct gate){ .cfg = *cfg, .since_us = now, .awake_us = now };
	snprintf(g->src, sizeof(g->src), "%s", cfg->src);
	snprintf(g->why, sizeof(g->why), "starting");
	g->need_engage = cfg->engage != GATE_AUTO;
	snprintf(g->engage_why, sizeof(g->engage_why), "start");
}

bool gate_measured(const struct gate *g, int64_t now)
{
	return g->arm.joints_us && now - g->arm.joints_us <= g->cfg.measured_us;
}

static int64_t since(const struct gate *g, int64_t stamp, int64_t now)
{
	return now - (stamp > g->awake_us ? stamp : g->awake_us);
}

/* How long the arm has been silent: the older of status and joints (gate:G3, G6). */
int64_t gate_silence(const struct gate *g, int64_t now)
{
	int64_t s = since(g, g->arm.status_us, now);
	int64_t j = since(g, g->arm.joints_us, now);

	return s > j ? s : j;
}

bool gate_hand_is_valid(const struct gate *g, int64_t now)
{
	return g->hand_valid && now - g->newest_us <= g->cfg.max_age_us;
}

bool gate_arm_obeys(const struct gate *g)
{
	return g->arm.enabled && g->arm.ctrl == 1 && g->arm.status == 0 && !g->arm.joint_errors;
}

bool gate_in_motion(const struct gate *g)
{
	return g->state == GATE_RUN || g->readying;
}

/* gate:G16, G17. */
static bool may_still(const struct gate *g, int64_t now)
{
	return g->listened && !g->bus_lost[0] && gate_arm_obeys(g) && gate_measured(g, now);
}

/* The closed form has a solution within the limits, and no joint is farther than `most` from it: not
 * on another branch, not swung about by a singular wrist or shoulder. */
bool gate_reachable(const struct gate *g, struct pose p, double most)
{
	double j[CHAIN_JOINTS];

	if (!piper_ik_near(g->cfg.chain, p, g->arm.j, j))
		return false;
	for (int i = 0; i < CHAIN_JOINTS; i++)
		if (fabs(j[i] - g->arm.j[i]) > most)
			return false;
	return true;
}

/* The first steps towards the target turn no joint by much. */
static bool can_begin(const struct gate *g)
{
	struct pose step = pose_step(g->arm.pose, g->target.pose, FIRST_M, FIRST_RAD);

	return gate_reachable(g, step, g->cfg.lead_joint);
}

/* What makes a FAULT, in words; false: nothing does. */
static bool fault_cause(const struct gate *g, int64_t now, char *why, size_t n)
{
	if (g->bus_lost[0])
		snprintf(why, n, "bus: %.150s", g->bus_lost);
	else if (gate_silence(g, now) >= 2 * g->cfg.silent_us)
		snprintf(why, n, "no feedback for %lld ms",
			(long long)(gate_silence(g, now) / 1000));
	else if (g->arm.status)
		snprintf(why, n, "arm status 0x%02X", g->arm.status);
	else if (g->arm.joint_errors)
		snprintf(why, n, "joint communication errors 0x%02X", g->arm.joint_errors);
	else if (!g->arm.enabled)
		snprintf(why, n, "arm not enabled");
	else if (g->arm.ctrl != 1)
		snprintf(why, n, "arm not in CAN mode (mode %d)", g->arm.ctrl);
	else
		return false;
	return true;
}

void gate_need_engage(struct gate *g, const char *why)
{
	g->need_engage = true;
	g->engage_us = 0;
	g->cfg.ready = false; /* what asks for an engage ends the way to ready too (gate:G12) */
	snprintf(g->engage_why, sizeof(g->engage_why), "%s", why);
}

void gate_enter(struct gate *g, enum gate_state s, const char *why, int64_t now)
{
	/* Who leaves a motion owes a hold set, unless it turns out to have no lead (gate:G13). */
	if (gate_in_motion(g))
		g->owed = g->left = true;
	g->readying = false;
	if (g->state == GATE_ESTOP)
		g->owed_damp = false; /* it was for this stop */
	g->state = s;
	g->since_us = now;
	g->engage_us = 0;
	g->stuck_us = 0;
	snprintf(g->why, sizeof(g->why), "%s", why);
	gate_say(g, gate_state_name(s), "%s", why);
}

void gate_enter_hold(struct gate *g, const char *why, int64_t now)
{
	bool obliges = g->cfg.engage == GATE_MANUAL && g->state == GATE_RUN;

	g->count.holds++;
	gate_enter(g, GATE_HOLD, why, now);
	if (obliges)
		gate_need_engage(g, "hold");
}

void gate_enter_fault(struct gate *g, const char *why, int64_t now)
{
	gate_enter(g, GATE_FAULT, why, now);
	gate_need_engage(g, "fault");
}

static void enter_estop(struct gate *g, int64_t now)
{
	char why[REC_TEXT_MAX];

	if (g->state == GATE_ESTOP) /* gate:G14: a further stop sends nothing */
		return;
	snprintf(why, sizeof(why), "%.100s (%s)", g->stop_why[0] ? g->stop_why : "stop",
		g->stop_src);
	gate_enter(g, GATE_ESTOP, why, now);
	gate_need_engage(g, "estop");
	g->owed = true;
	g->owed_damp = g->cfg.damp;
	snprintf(g->cause_src, sizeof(g->cause_src), "%s", g->stop_src);
	g->cause_us = g->stop_t_us;
}

void gate_enter_init(struct gate *g, int64_t now)
{
	g->arm_ready = false;
	g->listened = false;
	g->owed = g->owed_damp = false;
	g->cfg.ready = false; /* nothing moves after a reset until an engage */
	gate_enter(g, GATE_INIT, "starting anew", now);
}

bool gate_wants_startup(const struct gate *g)
{
	return g->state == GATE_INIT && !g->arm_ready && !g->bus_lost[0];
}

void gate_listened(struct gate *g)
{
	g->listened = true;
}

void gate_ready(struct gate *g, int64_t now)
{
	if (g->state != GATE_INIT)
		return;
	g->arm_ready = true;
	g->move_p = false;
	if (!g->cfg.ready)
		gate_enter_hold(g, "started", now);
}

/* While a lease is lost no engage can wait (gate:G5). */
static void watch_leases(struct gate *g, int64_t now)
{
	const char *lost = lease_lost(&g->leases, now, g->cfg.lease_us);

	if (lost) {
		gate_need_engage(g, "a lost lease");
		if (g->state == GATE_HOLD)
			g->since_us = now; /* an engage from before it is an old one */
		if (!g->lease_down)
			gate_say(g, "lease", "%s stopped beating", lost);
	}
	g->lease_down = lost != NULL;
}

/* gate:G3 without the poses' part; true with the reason in why. */
bool gate_channel_missing(const struct gate *g, int64_t now, char *why, size_t n)
{
	const char *lost = lease_lost(&g->leases, now, g->cfg.lease_us);

	if (lost)
		snprintf(why, n, "no beat from %s", lost);
	else if (g->leases.refused)
		snprintf(why, n, "more than %d senders beat", LEASE_MAX);
	else if (g->cfg.stop_channel && lease_count(&g->leases) == 0)
		snprintf(why, n, "no beat on the stop channel");
	else if (gate_silence(g, now) > g->cfg.silent_us || !gate_measured(g, now))
		snprintf(why, n, "no feedback for %lld ms",
			(long long)(gate_silence(g, now) / 1000));
	else
		return false;
	return true;
}

static bool pose_missing(const struct gate *g, int64_t now, char *why, size_t n)
{
	int64_t age = now - g->newest_us;

	if (!g->has_pose)
		snprintf(why, n, "no pose yet");
	else if (!g->hand_valid || g->batch_invalid)
		snprintf(why, n, "hand not valid");
	else if (age > g->cfg.max_age_us)
		snprintf(why, n, "newest pose %lld ms old", (long long)(age / 1000));
	else
		return false;
	return true;
}

/* gate:G4, the first missing condition. */
static bool run_missing(const struct gate *g, int64_t now, char *why, size_t n)
{
	double m, rad;

	if (!gate_arm_obeys(g))
		snprintf(why, n, "arm not enabled in CAN mode with status 0");
	else if (gate_channel_missing(g, now, why, n) || pose_missing(g, now, why, n))
		return true;
	else if (g->owed)
		snprintf(why, n, "a hold set is owed");
	else if (g->row < GATE_ROW)
		snprintf(why, n, "%d of %d fresh poses", g->row, GATE_ROW);
	else if (slew_lead(g->target.pose, g->arm.pose, &m, &rad), m > g->cfg.engage_m)
		snprintf(why, n, "target %.0f mm from the arm", 1e3 * m);
	else if (rad > g->cfg.engage_rad)
		snprintf(why, n, "target turned %.0f deg from the arm", rad / DEG);
	else if (!gate_reachable(g, g->target.pose, GATE_BRANCH_RAD) || !can_begin(g))
		snprintf(why, n, "target out of the arm's reach");
	else if (g->need_engage && !g->engage_us)
		snprintf(why, n, "needs an engage (%s)%s", g->engage_why,
			g->cfg.stop_channel ? "" : ", which only comes with -e: start anew");
	else
		return false;
	return true;
}

/* The hold set that is due now, if any (gate:G13-G17). */
static void still(struct gate *g, int64_t now, struct gate_act *act)
{
	double m, rad;

	if (g->owed_damp && g->listened && !g->bus_lost[0])
		act->damp = true;
	if (!g->owed || g->state == GATE_FAULT || !may_still(g, now))
		return;
	slew_lead(g->slew.cmd, g->arm.pose, &m, &rad);
	act->kind = GATE_STILL;
	memcpy(act->j, g->arm.j, sizeof(act->j));
	act->pose = g->arm.pose;
	if (g->under_way) {
		act->lead_m = m;
		act->lead_rad = rad;
	}
	snprintf(act->src, sizeof(act->src), "%s", g->cause_src);
	act->t_us = g->cause_us;
}

/* A motion that was left without a lead worth mentioning owes nothing (gate:G13). When the lead
 * cannot be known the set stays owed (gate:G16). */
static void close_motion(struct gate *g, int64_t now)
{
	double m, rad;

	if (!g->left)
		return;
	g->left = false;
	if (g->state == GATE_ESTOP || !gate_measured(g, now))
		return;
	slew_lead(g->slew.cmd, g->arm.pose, &m, &rad);
	if (!g->under_way || (m <= LEAD_LEFT_M && rad <= LEAD_LEFT_RAD))
		g->owed = false;
}

static void settle_motion(struct gate *g, int64_t now)
{
	char why[REC_TEXT_MAX];
	bool left = false;

	if (gate_channel_missing(g, now, why, sizeof(why)))
		left = true;
	else if (g->state == GATE_RUN && pose_missing(g, now, why, sizeof(why)))
		left = true;
	if (!left)
		return;
	g->cause_us = g->newest_us;
	snprintf(g->cause_src, sizeof(g->cause_src), "%s", g->src);
	gate_enter_hold(g, why, now);
}

static void settle_hold(struct gate *g, int64_t now)
{
	char why[REC_TEXT_MAX];

	bool again = g->need_engage && strcmp(g->engage_why, STOP_HOLD) == 0;

	gate_need_engage(g, STOP_HOLD);
	snprintf(why, sizeof(why), "%.100s (%s)", g->stop_why, g->stop_src);
	if (gate_in_motion(g) || (g->state == GATE_INIT && g->arm_ready)) {
		g->cause_us = g->stop_t_us;
		snprintf(g->cause_src, sizeof(g->cause_src), "%s", g->stop_src);
		gate_enter_hold(g, why, now);
	} else if (g->state == GATE_HOLD) {
		g->since_us = now; /* an engage from before it is an old one */
		if (!again)
			gate_say(g, "hold", "%s", why);
	}
}

void gate_settle(struct gate *g, int64_t now, struct gate_act *act)
{
	char why[REC_TEXT_MAX];

	*act = (struct gate_act){ .kind = GATE_NOTHING };
	gate_take_reset(g, now);
	watch_leases(g, now);
	if (g->want_estop) {
		enter_estop(g, now);
	} else if (g->want_hold) {
		settle_hold(g, now);
	}
	g->want_estop = g->want_hold = false;
	if (g->state != GATE_ESTOP && g->state != GATE_FAULT &&
		(g->state != GATE_INIT || g->arm_ready || g->bus_lost[0]) &&
		fault_cause(g, now, why, sizeof(why)))
		gate_enter_fault(g, why, now);
	if (gate_in_motion(g))
		settle_motion(g, now);
	g->batch_invalid = false;
	close_motion(g, now);
	still(g, now, act);
}

void gate_tick(struct gate *g, int64_t now, bool move, struct gate_act *act)
{
	char why[REC_TEXT_MAX];

	*act = (struct gate_act){ .kind = GATE_NOTHING };
	g->due_us = now + g->cfg.period_us;
	if (g->engage_us && now - g->engage_us > GATE_ENGAGE_MAX_US) {
		g->engage_us = 0;
		run_missing(g, now, why, sizeof(why));
		gate_say(g, "refused", "engage expired: %.100s", why);
	}
	if (g->state == GATE_INIT && g->arm_ready && !g->cfg.ready) {
		gate_enter_hold(g, g->engage_why, now);
	} else if (g->state == GATE_INIT && g->arm_ready) {
		gate_ready_step(g, now, act);
	} else if (g->state == GATE_HOLD) {
		if (run_missing(g, now, why, sizeof(why)))
			snprintf(g->why, sizeof(g->why), "%s", why);
		else
			gate_enter_run(g, now);
	}
	if (g->state == GATE_RUN && move && now - g->newest_us <= g->cfg.max_age_us)
		gate_run_step(g, now, act);
	if (act->kind == GATE_NOTHING) {
		close_motion(g, now);
		still(g, now, act);
	}
}

void gate_sent(struct gate *g, const struct gate_act *act, bool ok, int64_t now)
{
	if (!ok)
		return;
	if (act->damp)
		g->owed_damp = false;
	switch (act->kind) {
	case GATE_NOTHING: return;
	case GATE_POSE:
		g->slew = act->next;
		g->has_grip = act->has_grip;
		g->grip = act->grip;
		g->move_p = true;
		break;
	case GATE_JOINTS:
		memcpy(g->ready_cmd, act->j, sizeof(g->ready_cmd));
		g->ready_speed = act->ready_speed;
		g->slew.cmd = act->pose;
		g->move_p = false;
		break;
	case GATE_STILL:
		g->owed = false;
		g->under_way = false;
		g->move_p = false;
		return;
	}
	g->sent_us = now;
	g->under_way = true;
}

void gate_torn(struct gate *g, const struct gate_act *act)
{
	if (act->kind != GATE_POSE && act->kind != GATE_JOINTS)
		return;
	g->under_way = true;
	g->move_p = false;
	g->slew.cmd = act->pose;
}

bool gate_may_repeat(const struct gate *g)
{
	return (g->state == GATE_HOLD || g->state == GATE_ESTOP) && gate_arm_obeys(g) &&
	       !g->bus_lost[0];
}

void gate_leave(struct gate *g, int64_t now, struct gate_act *act)
{
	double m, rad;

	*act = (struct gate_act){ .kind = GATE_NOTHING };
	slew_lead(g->slew.cmd, g->arm.pose, &m, &rad);
	if (gate_in_motion(g) || (g->under_way && (m > LEAD_LEFT_M || rad > LEAD_LEFT_RAD)))
		g->owed = true;
	if (gate_in_motion(g)) {
		g->cause_us = g->newest_us;
		snprintf(g->cause_src, sizeof(g->cause_src), "%s", g->src);
		gate_enter_hold(g, "leaving", now);
		g->left = false; /* from RUN in any case */
	}
	still(g, now, act);
}
