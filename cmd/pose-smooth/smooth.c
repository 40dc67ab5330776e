/* See smooth.h. */
#include "pose-smooth/smooth.h"

#include <math.h>

#define POSITION_MAX 1e6 /* m; nobody's hand: refused rather than carried on */

void smooth_init(struct smooth *s, const struct smooth_config *cfg)
{
	*s = (struct smooth){ .cfg = *cfg };
}

static bool is_same_quat(struct quat a, struct quat b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

static bool is_same(struct pose a, struct pose b)
{
	return a.p.x == b.p.x && a.p.y == b.p.y && a.p.z == b.p.z && is_same_quat(a.q, b.q);
}

/* Rotation vector from a to b, the short way, seen from a. Exactly 0 where they are one, so that
 * a hand at rest does not drift by rounding. */
static struct vec3 turn_from(struct quat a, struct quat b)
{
	if (is_same_quat(a, quat_near(b, a)))
		return (struct vec3){ 0, 0, 0 };
	return quat_log(quat_mul(quat_conj(a), b));
}

static struct quat turned(struct quat q, struct vec3 r)
{
	return vec_norm(r) > 0 ? quat_unit(quat_mul(q, quat_exp(r))) : q;
}

/* A low-pass of first order: how far its state goes towards the input in dt. */
static double gain(double hz, double dt)
{
	double w = 2 * M_PI * hz * dt;

	return w / (1 + w);
}

static void follow(struct vec3 *v, struct vec3 step, double hz, double dt)
{
	struct vec3 d = vec_sub(vec_scale(step, 1 / dt), *v);

	*v = vec_add(*v, vec_scale(d, gain(hz, dt)));
}

/* Weights of a stage's newest and previous input; that of its last output is the rest to 1. */
struct weights {
	double now, before;
};

static struct weights weigh(const struct smooth_cutoff *c, double speed, double dt)
{
	double tau = 1 / (2 * M_PI * (c->min_hz + c->beta * speed) * SMOOTH_STAGES);

	if (tau < dt / 2)
		return (struct weights){ 1 - tau / dt, tau / dt };
	return (struct weights){ dt / (2 * tau + dt), dt / (2 * tau + dt) };
}

/* One step of all stages. Each turns by half a turn at most: its q never changes sign. */
static void step(struct smooth *s, struct pose in, double dt)
{
	follow(&s->v, vec_sub(in.p, s->at[0].p), s->cfg.move.d_hz, dt);
	follow(&s->w, quat_log(quat_mul(in.q, quat_conj(s->at[0].q))), s->cfg.turn.d_hz, dt);

	struct weights m = weigh(&s->cfg.move, vec_norm(s->v), dt);
	struct weights t = weigh(&s->cfg.turn, vec_norm(s->w), dt);
	struct pose before = s->at[0];

	s->at[0] = in;
	for (int i = 1; i <= SMOOTH_STAGES; i++) {
		struct pose now = s->at[i - 1], was = s->at[i];
		struct vec3 d = vec_add(vec_scale(vec_sub(now.p, was.p), m.now),
			vec_scale(vec_sub(before.p, was.p), m.before));
		struct vec3 r = vec_add(vec_scale(turn_from(was.q, now.q), t.now),
			vec_scale(turn_from(was.q, before.q), t.before));

		s->at[i].p = vec_add(was.p, d);
		s->at[i].q = turned(was.q, r);
		before = was;
	}
}

static void start(struct smooth *s, struct pose in)
{
	for (int i = 0; i <= SMOOTH_STAGES; i++)
		s->at[i] = in;
	s->v = s->w = (struct vec3){ 0, 0, 0 };
	s->live = true;
	s->n.fresh++;
}

/* The pose to put out. One that the filter leaves alone keeps a norm that is not quite 1. */
static struct pose filter(struct smooth *s, int64_t t_us, const struct rec_pose *p)
{
	struct pose in = { p->pose.p, quat_unit(p->pose.q) }, out;
	int64_t gap = t_us - s->t_us;

	if (!s->live || gap > SMOOTH_GAP_US || gap < -SMOOTH_GAP_US || p->frame != s->frame) {
		start(s, in);
		return p->pose;
	}
	if (gap <= 0)
		return s->last;
	step(s, in, (double)(gap > SMOOTH_STEP_US ? SMOOTH_STEP_US : gap) * 1e-6);
	out = s->at[SMOOTH_STAGES];
	return is_same(out, in) ? p->pose : out;
}

static void grip(struct smooth *s, struct rec_pose *p)
{
	if (s->cfg.has_grip) {
		if (p->grip <= s->cfg.grip_lo || p->grip >= s->cfg.grip_hi) {
			s->is_grip_known = true;
			s->is_open = p->grip >= s->cfg.grip_hi;
		}
		if (s->is_grip_known)
			p->grip = s->is_open ? 1 : 0;
	}
	s->has_grip = true;
	s->grip = p->grip;
}

static void repeat(const struct smooth *s, struct rec_pose *p)
{
	if (s->has_last)
		p->pose = s->last;
	if (p->has_grip && s->has_grip)
		p->grip = s->grip;
}

int smooth_pose(struct smooth *s, struct rec *r)
{
	struct rec_pose *p = &r->u.pose, was = *p;

	if (p->valid && !(vec_norm(p->pose.p) <= POSITION_MAX)) {
		s->refusal = "position farther than 1e6 m";
		return -1;
	}
	s->n.poses++;
	if (!p->valid) {
		s->n.invalid++;
		s->live = false;
		repeat(s, p);
	} else {
		p->pose = filter(s, r->t_us, p);
		if (p->has_grip)
			grip(s, p);
		s->last = p->pose;
		s->has_last = true;
		s->frame = p->frame;
		s->t_us = r->t_us;
	}
	return !is_same(p->pose, was.pose) || p->grip != was.grip;
}
