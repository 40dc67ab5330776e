/* What happens to the gate: waking, stops, the stop channel (gate:G22-G25), poses. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gate_in.h"

#define FUTURE_US 1000 /* gate:G7 */

void gate_wake(struct gate *g, int64_t now)
{
	char why[REC_TEXT_MAX];

	if (!g->due_us || now - g->due_us <= g->cfg.freeze_us)
		return;
	snprintf(why, sizeof(why), "frozen for %lld ms", (long long)((now - g->due_us) / 1000));
	gate_say(g, "freeze", "%s", why);
	g->awake_us = now;
	g->due_us = now;
	g->row = 0;
	gate_need_engage(g, "freeze");
	if (gate_in_motion(g))
		gate_enter_hold(g, why, now);
	else
		g->since_us = now; /* an engage or reset from before the waking is an old one */
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

__attribute__((format(printf, 4, 5))) static void refuse(
	struct gate *g, const char *what, const char *src, const char *fmt, ...)
{
	char why[REC_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	g->count.refused++;
	gate_say(g, "refused", "%s of %s: %.100s", what, src, why);
}

static void take_engage(struct gate *g, const struct rec *r, int64_t now)
{
	if (g->state == GATE_RUN)
		return;
	if (g->state != GATE_HOLD)
		refuse(g, "engage", r->src, "too early, state is %s", gate_state_name(g->state));
	else if (r->t_us <= g->since_us || now <= g->since_us)
		refuse(g, "engage", r->src, "older than this hold");
	else if (now - r->t_us > GATE_ENGAGE_MAX_US)
		refuse(g, "engage", r->src, "%lld ms old", (long long)((now - r->t_us) / 1000));
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
	else if (gate_silence(g, now) > g->cfg.silent_us)
		snprintf(why, n, "no feedback");
	else if ((g->arm.status && !pose_refused(g)) || g->arm.joint_errors)
		snprintf(why, n, "arm status 0x%02X", g->arm.status);
	else if (g->arm.ctrl > 1)
		snprintf(why, n, "arm in mode %d", g->arm.ctrl);
	else
		return false;
	return true;
}

/* Why a reset does not count now; false: it counts. */
static bool reset_refused(const struct gate *g, int64_t now, char *why, size_t n)
{
	bool latched = g->state == GATE_FAULT || g->state == GATE_ESTOP;

	if (latched && g->reset_us <= g->since_us)
		snprintf(why, n, "older than this %s", gate_state_name(g->state));
	else if (now - g->reset_us > GATE_ENGAGE_MAX_US)
		snprintf(why, n, "%lld ms old", (long long)((now - g->reset_us) / 1000));
	else if (g->state == GATE_RUN)
		snprintf(why, n, "running");
	else if (gate_hand_is_valid(g, now))
		snprintf(why, n, "a hand is valid: take it out of sight first");
	else
		return g->state == GATE_FAULT && fault_remains(g, now, why, n);
	return true;
}

void gate_take_reset(struct gate *g, int64_t now)
{
	char why[REC_TEXT_MAX];
	bool latched = g->state == GATE_FAULT || g->state == GATE_ESTOP;

	if (!g->want_reset)
		return;
	g->want_reset = false;
	if (reset_refused(g, now, why, sizeof(why))) {
		refuse(g, "reset", g->reset_src, "%s", why);
		return;
	}
	lease_drop_lost(&g->leases, now, g->cfg.lease_us);
	gate_say(g, "reset", "by %s", g->reset_src);
	if (latched && (!g->arm_ready || !gate_arm_obeys(g)))
		gate_enter_init(g, now);
	else if (latched)
		gate_enter_hold(g, "reset", now);
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
		refuse(g, r->u.event.name, r->src, "from the future");
	else if (strcmp(r->u.event.name, "engage") == 0)
		take_engage(g, r, now);
	else if (strcmp(r->u.event.name, "reset") == 0) {
		/* Its batch may hold a pose that speaks against it (gate:G2). */
		g->want_reset = true;
		g->reset_us = r->t_us;
		snprintf(g->reset_src, sizeof(g->reset_src), "%s", r->src);
	}
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

void gate_widen(struct slew_target *t, struct vec3 p)
{
	t->lo = (struct vec3){ fmin(t->lo.x, p.x), fmin(t->lo.y, p.y), fmin(t->lo.z, p.z) };
	t->hi = (struct vec3){ fmax(t->hi.x, p.x), fmax(t->hi.y, p.y), fmax(t->hi.z, p.z) };
}

static void take_valid(struct gate *g, const struct rec *r)
{
	const struct rec_pose *p = &r->u.pose;
	double dt = 1e-6 * (double)(r->t_us - g->newest_us);
	bool later = !g->has_pose || r->t_us > g->newest_us;
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
	gate_widen(&g->target, p->pose.p);
	g->target.pose = p->pose;
	g->target.pose.q = quat_unit(p->pose.q);
	g->newest = *p;
	g->newest_us = r->t_us;
	g->has_pose = true;
	g->hand_valid = true;
	if (g->row < GATE_ROW && later)
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
