/*
 * pose-smooth: takes the tremble out of the poses of a stream.
 * A filter (rec/filter.h) of pose-smooth/smooth.h.
 */
#include <stdio.h>

#include "pose-smooth/smooth.h"
#include "rec/filter.h"
#include "run/opt.h"

static int on_pose(void *arg, struct rec *r)
{
	return smooth_pose(arg, r);
}

static const char *refusal(void *arg)
{
	const struct smooth *s = arg;

	return s->refusal;
}

static void add_stats(void *arg, char *buf, size_t n)
{
	const struct smooth *s = arg;

	(void)snprintf(buf, n, ",\"poses\":%lu,\"invalid\":%lu,\"fresh\":%lu", s->n.poses,
		s->n.invalid, s->n.fresh);
}

static int take_grip(void *dst, const char *text, char *why, size_t n)
{
	struct smooth_config *c = dst;
	double v[2];

	if (!opt_numbers(text, 2, v) || !(v[0] >= 0 && v[0] < v[1] && v[1] <= 1)) {
		(void)snprintf(why, n, "two numbers LO,HI with 0 <= LO < HI <= 1");
		return -1;
	}
	c->has_grip = true;
	c->grip_lo = v[0];
	c->grip_hi = v[1];
	return 0;
}

int main(int argc, char **argv)
{
	static struct run_opts run = RUN_OPTS_INIT;
	static struct smooth_config c = SMOOTH_CONFIG_INIT;
	static struct smooth s;
	const struct opt opts[] = { OPT_IN(run), OPT_OUT(run),
		{ OPT_NUM, 0, "min-cutoff", &c.move.min_hz, "HZ",
			"cut-off at rest, position (default 8)", 0.01, 1000, 0 },
		{ OPT_NUM, 0, "beta", &c.move.beta, "HZ",
			"rise of the cut-off for each m/s (default 20)", 0, 1e6, 0 },
		{ OPT_NUM, 0, "d-cutoff", &c.move.d_hz, "HZ",
			"cut-off of the speed itself (default 1)", 0.01, 1000, 0 },
		{ OPT_NUM, 0, "rot-min-cutoff", &c.turn.min_hz, "HZ",
			"cut-off at rest, rotation (default 8)", 0.01, 1000, 0 },
		{ OPT_NUM, 0, "rot-beta", &c.turn.beta, "HZ",
			"rise of the cut-off for each rad/s (default 6)", 0, 1e6, 0 },
		{ OPT_NUM, 0, "rot-d-cutoff", &c.turn.d_hz, "HZ",
			"cut-off of the angular speed itself (default 1)", 0.01, 1000, 0 },
		{ OPT_CALL, 0, "grip", &c, "LO,HI",
			"gripper closed from LO down, open from HI up, else as before (default: "
			"passes as it is)",
			0, 0, take_grip },
		OPT_SRC(run, "smooth the poses of NAME (default: of the first src seen)"),
		OPT_CLOCK(run), OPT_COUNT(run), OPT_IDLE(run), OPT_STRICT(run), OPT_STATS(run),
		OPT_READY(run), { .kind = OPT_END } };
	const struct opt_tool tool = { "pose-smooth", "",
		"Take the tremble out of poses: a One Euro filter on position and rotation.", opts,
		0, 0 };
	const struct filter f = {
		.opts = &run, .pose = on_pose, .refusal = refusal, .stats = add_stats, .arg = &s
	};

	(void)opt_parse(&tool, argc, argv);
	smooth_init(&s, &c);
	return filter_run(&f);
}
