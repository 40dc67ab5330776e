#include "gate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ready_path.h"

#define FUTURE_US 1000        /* gate:G7 */
#define ENGAGE_MAX_US 1000000 /* gate:G5 */
#define ROW 3                 /* gate:G4 */
#define LEAD_LEFT_M 0.005     /* gate:G13 */
#define LEAD_LEFT_RAD (2 * M_PI / 180)
#define STUCK_US 200000 /* safety:H18 */
#define STUCK_M 0.005
#define STUCK_RAD 0.02
#define STUCK_SHARE 0.98 /* of L: there for practical purposes */
#define BRANCH_RAD 1.0   /* a joint that would turn farther than this at once: another branch */

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

__attribute__((format(printf, 3, 4))) static void note(
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

/* ---- what is true now ---- */

bool gate_measured(const struct gate *g, int64_t now)
{
	return g->arm.joints_us && now - g->arm.joints_us <= g->cfg.measured_us;
}

static int64_t since(const struct gate *g, int64_t stamp, int64_t now)
{
	return now - (stamp > g->awake_us ? stamp : g->awake_us);
}

/* How long the arm has been silent: the older of status and joints (gate:G3, G6). */
static int64_t silence(const struct gate *g, int64_t now)
{
	int64_t s = since(g, g->arm.status_us, now);
	int64_t j = since(g, g->arm.joints_us, now);

	return s > j ? s : j;
}

static bool hand_is_valid(const struct gate *g, int64_t now)
{
	return g->hand_valid && now - g->newest_us <= g->cfg.max_age_us;
}

static bool arm_obeys(const struct gate *g)
{
	return g->arm.enabled && g->arm.ctrl == 1 && g->arm.status == 0 && !g->arm.joint_errors;
}

static bool in_motion(const struct gate *g)
{
	return g->state == GATE_RUN || g->readying;
}

/* gate:G16, G17. */
static bool may_still(const struct gate *g, int64_t now)
{
	return g->listened && !g->bus_lost[0] && arm_obeys(g) && gate_measured(g, now);
}

/* The closed form has a solution within the limits on the branch the arm is on. */
static bool reachable(const struct gate *g, struct pose p)
{
	double j[CHAIN_JOINTS];

	if (!piper_ik_near(g->cfg.chain, p, g->arm.j, j))
		return false;
	for (int i = 0; i < CHAIN_JOINTS; i++)
		if (fabs(j[i] - g->arm.j[i]) > BRANCH_RAD)
			return false;
	return true;
}

/* What makes a FAULT, in words; false: nothing does. */
static bool fault_cause(const struct gate *g, int64_t now, char *why, size_t n)
{
	if (g->bus_lost[0])
		snprintf(why, n, "bus: %.150s", g->bus_lost);
	else if (silence(g, now) >= 2 * g->cfg.silent_us)
		snprintf(why, n, "no feedback for %lld ms", (long long)(silence(g, now) / 1000));
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

/* ---- changes of state ---- */

static void need_engage(struct gate *g, const char *why)
{
	g->need_engage = true;
	g->engage_us = 0;
	snprintf(g->engage_why, sizeof(g->engage_why), "%s", why);
}

static void enter(struct gate *g, enum gate_state s, const char *why, int64_t now)
{
	/* Who leaves a motion owes a hold set, unless it turns out to have no lead (gate:G13). */
	if (in_motion(g))
		g->owed = g->left = true;
	g->readying = false;
	g->state = s;
	g->since_us = now;
	g->engage_us = 0;
	g->stuck_us = 0;
	snprintf(g->why, sizeof(g->why), "%s", why);
	note(g, gate_state_name(s), "%s", why);
}

static void enter_hold(struct gate *g, const char *why, int64_t now)
{
	bool obliges = g->cfg.engage == GATE_MANUAL && g->state == GATE_RUN;

	g->count.holds++;
	enter(g, GATE_HOLD, why, now);
	if (obliges)
		need_engage(g, "hold");
}

static void enter_fault(struct gate *g, const char *why, int64_t now)
{
	enter(g, GATE_FAULT, why, now);
	need_engage(g, "fault");
}

static void enter_estop(struct gate *g, int64_t now)
{
	char why[REC_TEXT_MAX];

	if (g->state == GATE_ESTOP) /* gate:G14: a further stop sends nothing */
		return;
	snprintf(why, sizeof(why), "%.100s (%s)", g->stop_why[0] ? g->stop_why : "stop",
		g->stop_src);
	enter(g, GATE_ESTOP, why, now);
	need_engage(g, "estop");
	g->owed = true;
	g->owed_damp = g->cfg.damp;
	snprintf(g->cause_src, sizeof(g->cause_src), "%s", g->stop_src);
	g->cause_us = g->stop_t_us;
}

static void enter_init(struct gate *g, int64_t now)
{
	g->arm_ready = false;
	g->listened = false;
	g->owed = g->owed_damp = false;
	g->cfg.ready = false; /* nothing moves after a reset until an engage */
	enter(g, GATE_INIT, "starting anew", now);
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
		enter_hold(g, "started", now);
}

/* ---- inputs ---- */

void gate_wake(struct gate *g, int64_t now)
{
	char why[REC_TEXT_MAX];

	if (!g->due_us || now - g->due_us <= g->cfg.freeze_us)
		return;
	snprintf(why, sizeof(why), "frozen for %lld ms", (long long)((now - g->due_us) / 1000));
	note(g, "freeze", "%s", why);
	g->awake_us = now;
	g->due_us = now;
	g->row = 0;
	need_engage(g, "freeze");
	if (in_motion(g))
		enter_hold(g, why, now);
	else if (g->state == GATE_HOLD)
		g->since_us = now; /* an engage from before the waking is an old one */
}

void gate_stop(struct gate *g, enum rec_level level, const char *src, const char *why, int64_t t)
{
	if (g->want_estop && level != REC_ESTOP)
		return;
	*(level == REC_ESTOP ? &g->want_estop : &g->want_hold) = true;
	snprintf(g->stop_why, sizeof(g->stop_why), "%s%s%s", rec_level_name(level),
		why && why[0] ? ": " : "", why ? why : "");
	snprintf(g->stop_src, sizeof(g->stop_src), "%s", src);
	g->stop_t_us = t;
}

void gate_beat(struct gate *g, const struct rec *r, int64_t now)
{
	int64_t t = r->t_us > now ? now : r->t_us;

	if (lease_beat(&g->leases, r->src, &r->u.beat, t))
		gate_stop(g, r->u.beat.level, r->src, "told by its beat", t);
}

__attribute__((format(printf, 3, 4))) static void refuse(
	struct gate *g, const struct rec *r, const char *fmt, ...)
{
	char why[REC_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	g->count.refused++;
	note(g, "refused", "%s of %s: %.100s", r->u.event.name, r->src, why);
}

static void take_engage(struct gate *g, const struct rec *r, int64_t now)
{
	if (g->state == GATE_RUN)
		return;
	if (g->state != GATE_HOLD)
		refuse(g, r, "too early, state is %s", gate_state_name(g->state));
	else if (r->t_us <= g->since_us)
		refuse(g, r, "older than this hold");
	else if (now - r->t_us > ENGAGE_MAX_US)
		refuse(g, r, "%lld ms old", (long long)((now - r->t_us) / 1000));
	else if (g->need_engage)
		g->engage_us = r->t_us;
}

/* A refused pose (status 2, 3, 4) clears with the next good target, which only INIT may send. */
static bool pose_refused(const struct gate *g)
{
	return g->arm.status >= 2 && g->arm.status <= 4;
}

/* What a reset cannot mend: the cause is still there (states: FAULT, ESTOP). */
static bool fault_remains(const struct gate *g, int64_t now, char *why, size_t n)
{
	if (g->bus_lost[0])
		snprintf(why, n, "bus: %.150s", g->bus_lost);
	else if (silence(g, now) > g->cfg.silent_us)
		snprintf(why, n, "no feedback");
	else if ((g->arm.status && !pose_refused(g)) || g->arm.joint_errors)
		snprintf(why, n, "arm status 0x%02X", g->arm.status);
	else if (g->arm.ctrl > 1)
		snprintf(why, n, "arm in mode %d", g->arm.ctrl);
	else
		return false;
	return true;
}

static void take_reset(struct gate *g, const struct rec *r, int64_t now)
{
	char why[REC_TEXT_MAX];
	bool latched = g->state == GATE_FAULT || g->state == GATE_ESTOP;

	if (latched && r->t_us <= g->since_us) {
		refuse(g, r, "older than this %s", gate_state_name(g->state));
	} else if (now - r->t_us > ENGAGE_MAX_US) {
		refuse(g, r, "%lld ms old", (long long)((now - r->t_us) / 1000));
	} else if (g->state == GATE_RUN) {
		refuse(g, r, "running");
	} else if (hand_is_valid(g, now)) {
		refuse(g, r, "a hand is valid: take it out of sight first");
	} else if (g->state == GATE_FAULT && fault_remains(g, now, why, sizeof(why))) {
		refuse(g, r, "%s", why);
	} else {
		lease_drop_lost(&g->leases, now, g->cfg.lease_us);
		note(g, "reset", "by %s", r->src);
		if (latched && (!g->arm_ready || !arm_obeys(g)))
			enter_init(g, now);
		else if (latched)
			enter_hold(g, "reset", now);
	}
}

void gate_event(struct gate *g, const struct rec *r, int64_t now)
{
	bool repeat = g->last_seq == r->seq && g->last_t_us == r->t_us &&
		      strcmp(g->last_src, r->src) == 0;

	if (repeat) /* a one-shot sends three times (gate:G22) */
		return;
	g->last_seq = r->seq;
	g->last_t_us = r->t_us;
	snprintf(g->last_src, sizeof(g->last_src), "%s", r->src);
	if (r->t_us > now + FUTURE_US)
		refuse(g, r, "from the future");
	else if (strcmp(r->u.event.name, "engage") == 0)
		take_engage(g, r, now);
	else if (strcmp(r->u.event.name, "reset") == 0)
		take_reset(g, r, now);
}

void gate_arm(struct gate *g, const struct gate_arm *arm)
{
	g->arm = *arm;
}

void gate_bus_lost(struct gate *g, const char *why)
{
	if (!g->bus_lost[0])
		snprintf(g->bus_lost, sizeof(g->bus_lost), "%s", why);
	g->arm_ready = false;
}

void gate_bus_back(struct gate *g)
{
	g->bus_lost[0] = 0;
}

static void take_valid(struct gate *g, const struct rec *r)
{
	const struct rec_pose *p = &r->u.pose;
	double dt = 1e-6 * (double)(r->t_us - g->newest_us);
	bool continues =
		g->has_pose && g->hand_valid && r->t_us - g->newest_us <= g->cfg.max_age_us;

	if (continues && dt > 0) {
		g->target.v = vec_scale(vec_sub(p->pose.p, g->target.pose.p), 1 / dt);
		g->target.w = vec_scale(
			quat_log(quat_mul(p->pose.q, quat_conj(g->target.pose.q))), 1 / dt);
	} else if (!continues) {
		g->target.v = g->target.w = (struct vec3){ 0, 0, 0 };
		g->row = 0;
	}
	g->target.pose = p->pose;
	g->target.pose.q = quat_unit(p->pose.q);
	g->newest = *p;
	g->newest_us = r->t_us;
	g->has_pose = true;
	g->hand_valid = true;
	if (g->row < ROW)
		g->row++;
}

void gate_pose(struct gate *g, const struct rec *r, int64_t now)
{
	if (!g->src[0])
		snprintf(g->src, sizeof(g->src), "%s", r->src);
	if (strcmp(g->src, r->src) != 0) {
		g->count.foreign++;
		return;
	}
	g->count.poses++;
	if (!r->u.pose.valid) {
		g->batch_invalid = true;
		g->hand_valid = false;
		g->row = 0;
	} else if (r->t_us > now + FUTURE_US) {
		g->count.future++;
		g->row = 0;
	} else if (now - r->t_us > g->cfg.max_age_us) {
		g->count.stale++;
		g->row = 0;
	} else if (g->has_pose && r->t_us < g->newest_us) {
		g->count.backwards++;
	} else {
		take_valid(g, r);
	}
}

/* ---- what follows from them ---- */

static void watch_leases(struct gate *g, int64_t now)
{
	bool down = lease_lost(&g->leases, now, g->cfg.lease_us) != NULL;

	if (down && !g->lease_down) {
		need_engage(g, "a lost lease");
		note(g, "lease", "%s stopped beating",
			lease_lost(&g->leases, now, g->cfg.lease_us));
	}
	g->lease_down = down;
}

/* gate:G3 without the poses' part; true with the reason in why. */
static bool channel_missing(const struct gate *g, int64_t now, char *why, size_t n)
{
	const char *lost = lease_lost(&g->leases, now, g->cfg.lease_us);

	if (lost)
		snprintf(why, n, "no beat from %s", lost);
	else if (g->cfg.stop_channel && lease_count(&g->leases) == 0)
		snprintf(why, n, "no beat on the stop channel");
	else if (silence(g, now) > g->cfg.silent_us || !gate_measured(g, now))
		snprintf(why, n, "no feedback for %lld ms", (long long)(silence(g, now) / 1000));
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

	if (!arm_obeys(g))
		snprintf(why, n, "arm not enabled in CAN mode with status 0");
	else if (channel_missing(g, now, why, n) || pose_missing(g, now, why, n))
		return true;
	else if (g->owed)
		snprintf(why, n, "a hold set is owed");
	else if (g->row < ROW)
		snprintf(why, n, "%d of %d fresh poses", g->row, ROW);
	else if (slew_lead(g->target.pose, g->arm.pose, &m, &rad), m > g->cfg.engage_m)
		snprintf(why, n, "target %.0f mm from the arm", 1e3 * m);
	else if (rad > g->cfg.engage_rad)
		snprintf(why, n, "target turned %.0f deg from the arm", rad / DEG);
	else if (!reachable(g, g->target.pose))
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

	if (channel_missing(g, now, why, sizeof(why)))
		left = true;
	else if (g->state == GATE_RUN && pose_missing(g, now, why, sizeof(why)))
		left = true;
	if (!left)
		return;
	g->cause_us = g->newest_us;
	snprintf(g->cause_src, sizeof(g->cause_src), "%s", g->src);
	enter_hold(g, why, now);
}

static void settle_hold(struct gate *g, int64_t now)
{
	char why[REC_TEXT_MAX];

	bool again = g->need_engage && strcmp(g->engage_why, STOP_HOLD) == 0;

	need_engage(g, STOP_HOLD);
	snprintf(why, sizeof(why), "%.100s (%s)", g->stop_why, g->stop_src);
	if (in_motion(g) || (g->state == GATE_INIT && g->arm_ready)) {
		g->cause_us = g->stop_t_us;
		snprintf(g->cause_src, sizeof(g->cause_src), "%s", g->stop_src);
		enter_hold(g, why, now);
	} else if (g->state == GATE_HOLD) {
		g->since_us = now; /* an engage from before it is an old one */
		if (!again)
			note(g, "hold", "%s", why);
	}
}

void gate_settle(struct gate *g, int64_t now, struct gate_act *act)
{
	char why[REC_TEXT_MAX];

	*act = (struct gate_act){ .kind = GATE_NOTHING };
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
		enter_fault(g, why, now);
	if (in_motion(g))
		settle_motion(g, now);
	g->batch_invalid = false;
	close_motion(g, now);
	still(g, now, act);
}

/* ---- motion ---- */

static void enter_run(struct gate *g, int64_t now)
{
	slew_reset(&g->slew, g->arm.pose);
	g->sent_us = now - g->cfg.period_us;
	g->ramp_us = now;
	g->has_grip = g->arm.has_grip || g->newest.has_grip;
	g->grip = g->arm.has_grip ? g->arm.grip : g->newest.grip;
	g->need_engage = false;
	g->runs++;
	g->count.runs++;
	g->owed = false;
	enter(g, GATE_RUN, "", now);
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

static void run_step(struct gate *g, int64_t now, struct gate_act *act)
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
		enter_hold(g, "lead and speed cannot both be kept", now);
	} else if (!reachable(g, s.next.cmd)) {
		enter_hold(g, "target out of the arm's reach", now);
	} else if (stuck(g, &s, now)) {
		enter_fault(g, "arm does not follow", now);
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
static void ready_tick(struct gate *g, int64_t now, struct gate_act *act)
{
	char why[REC_TEXT_MAX];
	struct ready_step s;

	if (channel_missing(g, now, why, sizeof(why))) {
		snprintf(g->why, sizeof(g->why), "ready: %.120s", why);
		return;
	}
	if (!g->readying) {
		g->readying = true;
		memcpy(g->ready_cmd, g->arm.j, sizeof(g->ready_cmd));
		g->ready_speed = 0;
		g->sent_us = now - g->cfg.period_us;
		snprintf(g->why, sizeof(g->why), "on the way to ready");
		note(g, "ready", "going");
	}
	switch (ready_step(g->cfg.chain, &g->cfg.lim,
		&(struct ready_path){ g->ready_cmd, g->ready_speed, g->arm.j, g->cfg.ready_j,
			g->cfg.ramp_m, g->cfg.ramp_rad, g->cfg.lead_joint },
		dt_of(g, now), &s)) {
	case READY_THERE:
		g->under_way = false;
		enter_hold(g, "ready", now);
		return;
	case READY_LEAD: enter_hold(g, "lead and speed cannot both be kept", now); return;
	case READY_GO: break;
	}

	struct slew_step lag = { .lead_m = s.waits ? g->cfg.lim.lead_m : 0 };

	if (stuck(g, &lag, now)) {
		enter_fault(g, "arm does not follow", now);
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

void gate_tick(struct gate *g, int64_t now, bool move, struct gate_act *act)
{
	char why[REC_TEXT_MAX];

	*act = (struct gate_act){ .kind = GATE_NOTHING };
	g->due_us = now + g->cfg.period_us;
	if (g->engage_us && now - g->engage_us > ENGAGE_MAX_US) {
		g->engage_us = 0;
		run_missing(g, now, why, sizeof(why));
		note(g, "refused", "engage expired: %.100s", g->why);
	}
	if (g->state == GATE_INIT && g->arm_ready) {
		ready_tick(g, now, act);
	} else if (g->state == GATE_HOLD && !g->input_ended) {
		if (run_missing(g, now, why, sizeof(why)))
			snprintf(g->why, sizeof(g->why), "%s", why);
		else
			enter_run(g, now);
	}
	if (g->state == GATE_RUN && move && now - g->newest_us <= g->cfg.max_age_us)
		run_step(g, now, act);
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

void gate_leave(struct gate *g, int64_t now, struct gate_act *act)
{
	double m, rad;

	*act = (struct gate_act){ .kind = GATE_NOTHING };
	slew_lead(g->slew.cmd, g->arm.pose, &m, &rad);
	if (in_motion(g) || (g->under_way && (m > LEAD_LEFT_M || rad > LEAD_LEFT_RAD)))
		g->owed = true;
	if (in_motion(g)) {
		g->cause_us = g->newest_us;
		snprintf(g->cause_src, sizeof(g->cause_src), "%s", g->src);
	}
	still(g, now, act);
}
