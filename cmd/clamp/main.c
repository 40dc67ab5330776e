/*
 * clamp: keeps the poses of a stream where the arm may be and as fast as it may go.
 * A filter (rec/filter.h); the limits are clamp/space.h and clamp/limits.h.
 */
#include <stdio.h>

#include "clamp/config.h"
#include "rec/filter.h"
#include "run/msg.h"
#include "run/opt.h"

struct clamp {
	struct limits limits;
	struct limits_state state;
	unsigned long poses, limited;
};

static int on_pose(void *arg, struct rec *r)
{
	struct clamp *c = arg;

	if (r->u.pose.frame != REC_BASE)
		return -1;
	bool was_valid = r->u.pose.valid;
	int changed = limits_apply(&c->limits, &c->state, r->t_us, &r->u.pose);
	c->poses++;
	c->limited += changed && was_valid;
	return changed;
}

static const char *refusal(void *arg)
{
	(void)arg;
	return "the pose is in frame \"vr\": the limits are in frame \"base\" (pose-xform first)";
}

static void add_stats(void *arg, char *buf, size_t n)
{
	const struct clamp *c = arg;

	snprintf(buf, n, ",\"poses\":%lu,\"limited\":%lu", c->poses, c->limited);
}

int main(int argc, char **argv)
{
	struct run_opts run = RUN_OPTS_INIT;
	struct clamp_options o = { 0 };
	static struct clamp c;
	const struct opt table[] = { { OPT_STR, 'p', "preset", &o.preset, "NAME",
					     "piper or xarm6: box, radius, rates", 0, 0, 0 },
		{ OPT_STR, 0, "x", &o.axis[0], "LO,HI", "X of flange and tip, mm, or off", 0, 0,
			0 },
		{ OPT_STR, 0, "y", &o.axis[1], "LO,HI", "Y of flange and tip, mm, or off", 0, 0,
			0 },
		{ OPT_STR, 0, "z", &o.axis[2], "LO,HI", "Z of flange and tip, mm, or off", 0, 0,
			0 },
		{ OPT_STR, 0, "tool", &o.tool, "X,Y,Z",
			"tip in the flange frame, m (default: no tip)", 0, 0, 0 },
		{ OPT_STR, 0, "tilt", &o.tilt, "DEG[,X,Y,Z]",
			"largest angle of flange Z to a direction (default 0,0,-1: down)", 0, 0,
			0 },
		{ OPT_STR, 0, "radius", &o.radius, "MM",
			"keep the flange this far from base Z, or off", 0, 0, 0 },
		{ OPT_STR, 0, "speed", &o.speed, "MM/S", "speed, or off", 0, 0, 0 },
		{ OPT_STR, 0, "accel", &o.accel, "M/S2", "acceleration, or off", 0, 0, 0 },
		{ OPT_STR, 0, "aspeed", &o.aspeed, "DEG/S", "angular speed, or off", 0, 0, 0 },
		{ OPT_STR, 0, "aaccel", &o.aaccel, "RAD/S2", "angular acceleration, or off", 0, 0,
			0 },
		{ OPT_STR, 0, "grip-rate", &o.grip_rate, "N", "gripper strokes a second, or off", 0,
			0, 0 },
		OPT_IN(run), OPT_OUT(run), OPT_COUNT(run),
		OPT_SRC(run, "limit poses of this src (default: the first seen)"), OPT_IDLE(run),
		OPT_STRICT(run), OPT_STATS(run), OPT_CLOCK(run), OPT_READY(run), { 0 } };
	const struct opt_tool tool = { "clamp", "",
		"Keep poses inside a box, a cone and a speed; give --preset or single limits.",
		table, 0, 0 };
	char why[160];

	opt_parse(&tool, argc, argv);
	if (clamp_config(&o, &c.limits, why, sizeof(why)) != 0)
		die(EXIT_USAGE, "%s", why);
	const struct filter f = {
		.opts = &run, .pose = on_pose, .refusal = refusal, .stats = add_stats, .arg = &c
	};
	return filter_run(&f);
}
