/* See relative.h. */
#include "pose-xform/relative.h"

#include <string.h>

void relative_init(struct relative *s, bool with_arm, struct pose home, struct vec3 tool)
{
	*s = (struct relative){ .with_arm = with_arm, .tool = tool, .runs_changed = true };
	s->out = with_arm ? POSE_IDENTITY : home;
}

void relative_feedback(struct relative *s, const struct rec *r)
{
	const struct rec_feedback *f = &r->u.feedback;

	if (r->type != REC_FEEDBACK || !f->has_gate)
		return;
	if (!s->has_gate)
		memcpy(s->arm_src, r->src, sizeof s->arm_src);
	else if (strcmp(s->arm_src, r->src) != 0)
		return;
	if (s->has_gate && f->runs != s->runs)
		s->runs_changed = true;
	s->has_gate = true;
	s->runs = f->runs;
	s->is_run = strcmp(f->gate, "run") == 0;
	if (f->kind == REC_KIND_CARTESIAN && f->has_pose) {
		s->has_measured = true;
		s->measured = (struct pose){ f->pose.p, quat_unit(f->pose.q) };
		s->measured_t_us = r->t_us;
	}
}

static void lose_anchor(struct relative *s)
{
	s->anchored = false;
	s->runs_changed = false;
}

static void take_anchor(struct relative *s, struct pose hand, struct pose flange)
{
	s->anchored = true;
	s->runs_changed = false;
	s->hand0 = hand;
	s->tip0 = (struct pose){ pose_apply(flange, s->tool), flange.q };
	s->n.anchors++;
}

/* p = p0 + (h - h0), R = Rh Rh0^-1 R0: at the tip, seen from the base. */
static struct pose follow(const struct relative *s, struct pose hand)
{
	struct quat turn = quat_mul(hand.q, quat_conj(s->hand0.q));
	struct pose tip = { vec_add(s->tip0.p, vec_sub(hand.p, s->hand0.p)),
		quat_unit(quat_mul(turn, s->tip0.q)) };

	return (struct pose){ vec_sub(tip.p, quat_rotate(tip.q, s->tool)), tip.q };
}

static bool is_blind(const struct relative *s, int64_t t_us)
{
	return !s->has_measured || t_us - s->measured_t_us > RELATIVE_FEEDBACK_AGE_US;
}

static struct pose with_arm(struct relative *s, struct pose hand)
{
	if (!s->is_run) {
		s->anchored = false;
	} else if (s->runs_changed) {
		take_anchor(s, hand, s->measured);
		return s->measured;
	}
	if (s->anchored)
		return follow(s, hand);
	s->n.measured++;
	return s->measured;
}

static struct pose without_arm(struct relative *s, struct pose hand)
{
	if (s->anchored)
		return follow(s, hand);
	take_anchor(s, hand, s->out);
	return s->out;
}

/* What is repeated in a valid:false: the last good pose, before any p 0 and identity. */
static struct pose last_good(const struct relative *s)
{
	return s->has_out ? s->out : POSE_IDENTITY;
}

struct pose relative_pose(struct relative *s, int64_t t_us, struct pose hand, bool *valid)
{
	int64_t step = t_us - s->t_us;
	struct pose out;

	if (s->has_t && (step > RELATIVE_GAP_US || step < -RELATIVE_GAP_US))
		lose_anchor(s);
	s->has_t = true;
	s->t_us = t_us;
	if (*valid && s->with_arm && is_blind(s, t_us)) {
		*valid = false;
		s->n.blind++;
	}
	if (!*valid) {
		lose_anchor(s);
		return last_good(s);
	}
	out = s->with_arm ? with_arm(s, hand) : without_arm(s, hand);
	out.q = s->has_out ? quat_near(out.q, s->out.q) : out.q;
	s->has_out = true;
	s->out = out;
	return out;
}
