#include "ready_path.h"

#include <math.h>
#include <string.h>

#define ACCEL 2.0     /* rad/s2 of the joint that has farthest to go */
#define NEAR_RAD 0.02 /* measured joints at the goal */

static double farthest(const double *a, const double *b)
{
	double m = 0;

	for (int i = 0; i < CHAIN_JOINTS; i++)
		m = fmax(m, fabs(a[i] - b[i]));
	return m;
}

static bool within(const struct chain *c, const struct slew_limits *lim, const struct ready_path *p,
	const double *j)
{
	double m, rad;

	slew_lead(chain_fk(c, j), chain_fk(c, p->measured), &m, &rad);
	return m <= lim->lead_m && rad <= lim->lead_rad &&
	       farthest(j, p->measured) <= p->lead_joint;
}

static void along(const struct ready_path *p, double share, double *j)
{
	for (int i = 0; i < CHAIN_JOINTS; i++)
		j[i] = p->cmd[i] + share * (p->goal[i] - p->cmd[i]);
}

enum ready ready_step(const struct chain *c, const struct slew_limits *lim,
	const struct ready_path *p, double dt, struct ready_step *out)
{
	double way = farthest(p->goal, p->cmd);

	*out = (struct ready_step){ .waits = false };
	if (way < 1e-9 && farthest(p->goal, p->measured) < NEAR_RAD)
		return READY_THERE;

	double stop = ACCEL * (sqrt(dt * dt + 2 * way / ACCEL) - dt);
	double speed = fmin(fmin(p->speed + ACCEL * dt, p->ramp_rad), stop);
	double step = fmin(way, fmax(speed, 1e-3) * dt);
	double share = way > 0 ? step / way : 0;

	along(p, share, out->j);

	double moved = vec_dist(chain_fk(c, out->j).p, chain_fk(c, p->cmd).p);

	if (moved > p->ramp_m * dt) {
		share *= 0.999 * p->ramp_m * dt / moved;
		along(p, share, out->j);
	}
	if (!within(c, lim, p, out->j)) {
		out->waits = true;
		share = 0;
		memcpy(out->j, p->cmd, sizeof(out->j));
		if (!within(c, lim, p, out->j))
			return READY_LEAD;
	}
	out->speed = share * way / dt;
	return READY_GO;
}
