/* See xform.h. */
#include "pose-xform/xform.h"

#include <math.h>

#define POSITION_MAX 1e6 /* m; nobody's hand: refused rather than carried on */

void xform_init(struct xform *x, const struct xform_config *cfg)
{
	*x = (struct xform){ .cfg = *cfg };
	x->yaw = rpy_to_quat((struct rpy){ 0, 0, cfg->yaw_deg });
	x->rot_offset = rpy_to_quat(cfg->rot_offset);
	relative_init(&x->rel, cfg->with_arm, cfg->home, cfg->tool);
}

void xform_feedback(struct xform *x, const struct rec *r)
{
	relative_feedback(&x->rel, r);
}

/* Axes, yaw and scale: what both modes have. */
static struct pose to_base(const struct xform *x, struct pose hand)
{
	struct pose m = axes_map(&x->cfg.axes, hand);

	m.p = vec_scale(quat_rotate(x->yaw, m.p), x->cfg.scale);
	m.q = quat_mul(x->yaw, m.q);
	return m;
}

struct pose xform_absolute(const struct xform *x, struct pose hand)
{
	struct pose m = to_base(x, hand);

	m.p = vec_add(m.p, x->cfg.offset);
	m.q = quat_unit(quat_mul(m.q, x->rot_offset));
	m.p = vec_sub(m.p, quat_rotate(m.q, x->cfg.tool));
	return m;
}

int xform_pose(struct xform *x, struct rec *r)
{
	struct rec_pose *p = &r->u.pose;

	if (p->frame != REC_VR) {
		x->refusal = "frame is not \"vr\"";
		return -1;
	}
	if (!(vec_norm(p->pose.p) <= POSITION_MAX)) {
		x->refusal = "position farther than 1e6 m";
		return -1;
	}
	if (x->cfg.relative)
		p->pose = relative_pose(&x->rel, r->t_us, to_base(x, p->pose), &p->valid);
	else
		p->pose = xform_absolute(x, p->pose);
	p->frame = REC_BASE;
	return 1;
}
