#include "clamp/limits.h"

#include <math.h>

#include "clamp/pace.h"

/* Records carry whole nanometres and quaternions to 1e-9: what rounding may add to a step. */
#define ROUND_M 2e-9
#define ROUND_RAD 4e-9
/* Braking along the cylinder: what rounding may have turned a planned way into it, m. */
#define GRAZE 1e-6
#define TURN_PARTS 5 /* a turn that does not fit is tried at 1, 1/2 ... 1/8 and 0 */

bool limits_any(const struct limits *l)
{
	return space_any(&l->space) || l->speed > 0 || l->accel > 0 || l->aspeed > 0 ||
	       l->aaccel > 0 || l->grip_rate > 0;
}

struct place {
	const struct span *a;
	struct vec3 p;
};

static bool move_ok(const void *arg, const struct pace *c, struct vec3 v)
{
	const struct place *at = arg;
	struct vec3 step = vec_scale(v, c->dt);

	return space_clear(at->a, at->p, vec_add(at->p, vec_add(step, pace_run_out(c, v))), 0);
}

/* The space leaves no room to brake: as much of the braking step as stays inside. */
static bool at_wall(const struct place *at, const struct pace *c, struct vec3 *out)
{
	struct vec3 v = pace_slow(c), to;

	if (space_near(at->a, vec_add(at->p, vec_scale(v, c->dt)), &to) &&
		vec_dist(to, at->p) <= pace_longest(c) &&
		(space_clear(at->a, at->p, to, GRAZE) || !space_has(at->a, at->p))) {
		*out = to;
		return true;
	}
	return space_near(at->a, at->p, out) && vec_dist(*out, at->p) <= pace_longest(c);
}

/* Next position on the way to the goal inside the span; false: the span is out of reach. */
static bool move(const struct span *a, const struct pace *c, struct vec3 p, struct vec3 goal,
	struct vec3 *out, bool *blocked)
{
	struct place at = { a, p };
	struct vec3 e = vec_sub(goal, p);

	*out = goal;
	if (!(c->top > 0 || c->acc > 0))
		return true;
	if (pace_may_take(c, e) && move_ok(&at, c, vec_scale(e, 1 / c->dt)))
		return true;
	struct vec3 way = space_way(a, p, goal, blocked), brake = pace_slow(c);
	struct pace round = *c;
	if (*blocked)
		round.lead_v = (struct vec3){ 0, 0, 0 };
	struct vec3 want = pace_steer(&round, way);
	if (!move_ok(&at, c, want)) {
		if (!move_ok(&at, c, brake))
			return at_wall(&at, c, out);
		want = pace_most(c, brake, want, move_ok, &at);
	}
	*out = vec_add(p, vec_scale(want, c->dt));
	return space_has(a, *out) || at_wall(&at, c, out);
}

struct facing {
	const struct space *s;
	struct quat q;
};

static struct quat turned(struct quat q, struct vec3 r)
{
	return quat_unit(quat_mul(quat_exp(r), q));
}

static struct vec3 turn_to(struct quat from, struct quat to)
{
	return quat_log(quat_mul(to, quat_conj(from)));
}

static bool turn_ok(const void *arg, const struct pace *c, struct vec3 w)
{
	const struct facing *at = arg;

	return space_turn_clear(at->s, at->q, vec_add(vec_scale(w, c->dt), pace_run_out(c, w)));
}

static struct quat round_quat(struct quat q)
{
	return (struct quat){ rint(q.x * 1e9) / 1e9, rint(q.y * 1e9) / 1e9, rint(q.z * 1e9) / 1e9,
		rint(q.w * 1e9) / 1e9 };
}

/* Next orientation on the way to the goal, as a rotation vector from q. */
static struct vec3 turn(
	const struct space *s, const struct pace *c, struct quat q, struct quat goal)
{
	struct facing at = { s, q };
	struct vec3 e = turn_to(q, goal);

	if (!(c->top > 0 || c->acc > 0))
		return e;
	if (pace_may_take(c, e) && turn_ok(&at, c, vec_scale(e, 1 / c->dt)))
		return e;
	struct vec3 want = pace_steer(c, space_turn(s, q, goal)), brake = pace_slow(c);
	if (!turn_ok(&at, c, want))
		want = turn_ok(&at, c, brake) ? pace_most(c, brake, want, turn_ok, &at)
					      : (struct vec3){ 0, 0, 0 };
	return vec_scale(want, c->dt);
}

/* What one step works with. */
struct step {
	const struct limits *l;
	const struct limits_state *s;
	struct pose goal; /* as it would be put out */
	struct quat q;    /* last output, unit */
	double dt;
	unsigned bits;
};

static struct pace linear(const struct step *k)
{
	return (struct pace){ k->dt, k->l->speed, k->l->accel, ROUND_M, k->s->v,
		vec_scale(vec_sub(k->goal.p, k->s->goal.p), 1 / k->dt), k->s->goal_v };
}

static struct pace angular(const struct step *k)
{
	return (struct pace){ k->dt, k->l->aspeed, k->l->aaccel, ROUND_RAD, k->s->w,
		vec_scale(turn_to(quat_unit(k->s->goal.q), quat_unit(k->goal.q)), 1 / k->dt),
		k->s->goal_w };
}

/* Orientation after rotation vector r; the goal itself when r leads there. */
static struct quat face(const struct step *k, struct vec3 r)
{
	struct quat to = turned(k->q, r);

	if (quat_angle(to, quat_unit(k->goal.q)) < 1e-12)
		return k->goal.q;
	to = round_quat(quat_near(to, k->s->last.q));
	if (!space_turn_clear(&k->l->space, quat_unit(to), (struct vec3){ 0, 0, 0 }))
		return k->s->last.q;
	return to;
}

/* The next output. A turning tool narrows where the flange may be: a turn that the flange cannot
 * follow is taken in part. */
static struct pose advance(struct step *k)
{
	struct pace lin = linear(k), ang = angular(k);
	struct vec3 r = turn(&k->l->space, &ang, k->q, quat_unit(k->goal.q));
	struct pose out = k->s->last;

	for (int i = 0; i < TURN_PARTS; i++) {
		double part = i + 1 < TURN_PARTS ? 1.0 / (1 << i) : 0;
		struct quat q = part > 0 ? face(k, vec_scale(r, part)) : k->s->last.q;
		struct span a;
		struct vec3 goal, p;
		unsigned none = 0;
		bool blocked = false;
		if (!space_span(&k->l->space, quat_unit(q), &a, &none) ||
			!space_near(&a, k->goal.p, &goal))
			continue;
		if (!move(&a, &lin, k->s->last.p, goal, &p, &blocked))
			continue;
		if (vec_dist(p, k->goal.p) > 0 && !space_round(&a, p, &p))
			continue; /* the goal is in a record's digits already */
		if (blocked)
			k->bits |= CLAMP_RADIUS;
		out.p = p;
		out.q = q;
		break;
	}
	return out;
}

/* Names a shortfall: the speed when the goal was farther than it allows, the acceleration when
 * the step is shorter than the speed alone would have made it. */
static unsigned shortfall(const struct pace *c, double asked, double left, double made)
{
	double fast = c->top > 0 ? c->top * c->dt : HUGE_VAL;
	unsigned bits = 0;

	if (left <= 1e-12)
		return 0;
	if (asked > fast)
		bits |= CLAMP_SPEED;
	if (bits == 0 || made < fmin(asked, fast) - 4 * c->slack)
		bits |= c->acc > 0 ? CLAMP_ACCEL : CLAMP_SPEED;
	return bits;
}

static void name_shortfall(struct step *k, struct pose out)
{
	struct pace lin = linear(k), ang = angular(k);
	struct quat q = quat_unit(out.q), goal = quat_unit(k->goal.q);

	k->bits |= shortfall(&lin, vec_dist(k->goal.p, k->s->last.p), vec_dist(k->goal.p, out.p),
		vec_dist(out.p, k->s->last.p));
	k->bits |= shortfall(&ang, quat_angle(k->q, goal), quat_angle(q, goal), quat_angle(k->q, q))
		   << 2;
}

static bool has_rates(const struct limits *l)
{
	return l->speed > 0 || l->accel > 0 || l->aspeed > 0 || l->aaccel > 0;
}

/* The nearest allowed pose, in a record's digits, with what kept the asked one from being it.
 * false: there is none. */
static bool find_goal(const struct limits *l, struct pose in, struct pose *goal, unsigned *bits)
{
	struct span a;
	struct quat q = space_tilt(&l->space, quat_unit(in.q), bits);

	goal->q = *bits & CLAMP_TILT ? round_quat(quat_near(q, in.q)) : in.q;
	q = quat_unit(goal->q);
	if (!space_span(&l->space, q, &a, bits))
		return false;
	unsigned breach = space_breach(&l->space, q, in.p);
	*bits |= breach;
	goal->p = in.p;
	if (!breach)
		return true;
	if (space_near(&a, in.p, &goal->p)) {
		(void)space_round(&a, goal->p, &goal->p); /* unrounded is still allowed */
		return true;
	}
	*bits |= CLAMP_RADIUS;
	return false;
}

static double limit_grip(
	const struct limits *l, const struct limits_state *s, double dt, double g, unsigned *bits)
{
	double to = g < 0 ? 0 : g > 1 ? 1 : g;

	if (g < 0 || g > 1)
		*bits |= CLAMP_GRIP;
	if (!s->live || !s->has_grip || !(l->grip_rate > 0))
		return to;
	double most = l->grip_rate * fmax(0, dt);
	if (fabs(to - s->grip) <= most + 1e-12)
		return to;
	*bits |= CLAMP_GRIP_RATE;
	most = fmax(0, most - 1e-9);
	return rint((s->grip + (to > s->grip ? most : -most)) * 1e9) / 1e9;
}

static bool same_pose(struct pose a, struct pose b)
{
	return a.p.x == b.p.x && a.p.y == b.p.y && a.p.z == b.p.z && a.q.x == b.q.x &&
	       a.q.y == b.q.y && a.q.z == b.q.z && a.q.w == b.q.w;
}

static bool repeat_last(struct limits_state *s, struct rec_pose *p)
{
	bool changed = false;

	s->live = false;
	if (!s->has_last)
		return false;
	if (!same_pose(p->pose, s->last)) {
		p->pose = s->last;
		changed = true;
	}
	if (p->has_grip && s->has_grip && p->grip != s->grip) {
		p->grip = s->grip;
		changed = true;
	}
	return changed;
}

/* Where a record within a run goes. */
static struct pose run_pose(const struct limits *l, const struct limits_state *s, struct pose goal,
	double dt, unsigned *bits)
{
	struct step k = { l, s, goal, quat_unit(s->last.q), dt, *bits };
	struct pose out = s->last;

	if (!has_rates(l))
		return goal;
	if (dt > 0)
		out = advance(&k);
	else
		k.dt = 1e-9; /* no time, no way: only names what differs */
	name_shortfall(&k, out);
	*bits = k.bits;
	return out;
}

static void remember(const struct limits *l, struct limits_state *s, struct pose out,
	struct pose goal, double dt)
{
	struct step k = { l, s, goal, quat_unit(s->last.q), dt, 0 };

	if (s->live && dt > 0) {
		struct pace lin = linear(&k), ang = angular(&k);
		s->v = vec_scale(vec_sub(out.p, s->last.p), 1 / dt);
		s->w = vec_scale(turn_to(k.q, quat_unit(out.q)), 1 / dt);
		s->goal_v = pace_follow(&lin, lin.goal_v);
		s->goal_w = pace_follow(&ang, ang.goal_v);
	} else if (!s->live) {
		s->v = s->w = s->goal_v = s->goal_w = (struct vec3){ 0, 0, 0 };
	}
	if (!s->live || dt > 0)
		s->goal = goal;
	s->last = out;
	s->has_last = true;
}

static bool apply_pose(const struct limits *l, struct limits_state *s, double dt,
	struct rec_pose *p, unsigned *bits)
{
	struct pose goal, out;

	if (find_goal(l, p->pose, &goal, bits)) {
		out = s->live ? run_pose(l, s, goal, dt, bits) : goal;
	} else if (s->has_last) {
		out = s->last;
		goal = out;
	} else {
		return false;
	}
	remember(l, s, out, goal, dt);
	if (*bits)
		p->pose = out;
	return true;
}

bool limits_apply(const struct limits *l, struct limits_state *s, int64_t t_us, struct rec_pose *p)
{
	unsigned bits = 0;
	int64_t gap = t_us - s->t_us;

	if (!p->valid)
		return repeat_last(s, p);
	if (gap > LIMITS_GAP_US || gap < -LIMITS_GAP_US)
		s->live = false;
	double dt = (double)(gap > LIMITS_STEP_US ? LIMITS_STEP_US : gap) * 1e-6;
	if (!apply_pose(l, s, dt, p, &bits))
		p->valid = false;
	if (p->has_grip) {
		p->grip = limit_grip(l, s, dt, p->grip, &bits);
		s->grip = p->grip;
		s->has_grip = true;
	}
	if (!s->live || gap > 0)
		s->t_us = t_us;
	s->live = p->valid;
	for (int i = 0; i < CLAMP_BITS; i++)
		if (bits & 1u << i)
			rec_clamped_add(p->clamped, CLAMP_NAME[i]);
	return bits != 0;
}
