/* pose-xform: hand poses in the headset's frame to flange poses in the robot's base frame. */
#include <errno.h>
#include <stdio.h>

#include "pose-xform/config.h"
#include "rec/endpoint.h"
#include "rec/filter.h"
#include "run/clock.h"
#include "run/msg.h"

#define DRAIN_MAX 4096 /* lines of feedback taken before one pose: a flood must not hold it up */

struct app {
	struct config config;
	struct xform xform;
	struct ep *arm;
	bool arm_ended;
	struct rec feedback;
	unsigned long bad_feedback;
	struct msg_limit limit;
};

static void take_feedback(struct app *a, const char *line, size_t n)
{
	char why[160];

	if (rec_parse(line, n, &a->feedback, why, sizeof why) == 0) {
		xform_feedback(&a->xform, &a->feedback);
		return;
	}
	a->bad_feedback++;
	warn_every(&a->limit, clock_now(), "%s: bad line: %s", a->config.arm, why);
}

/* Everything the arm has said so far, without waiting (gate:G27 wants the newest). */
static void drain_arm(struct app *a)
{
	const char *line;
	size_t n;

	for (int i = 0; a->arm && !a->arm_ended && i < DRAIN_MAX; i++) {
		int got = ep_next(a->arm, &line, &n);

		if (got == 0)
			return;
		if (got < 0) {
			a->arm_ended = true;
			warn("%s: end of feedback: poses become invalid", a->config.arm);
			return;
		}
		take_feedback(a, line, n);
	}
}

static int on_pose(void *arg, struct rec *r)
{
	struct app *a = arg;

	drain_arm(a);
	return xform_pose(&a->xform, r);
}

static const char *refusal(void *arg)
{
	struct app *a = arg;

	return a->xform.refusal;
}

static void stats(void *arg, char *buf, size_t n)
{
	struct app *a = arg;

	if (a->config.relative)
		(void)snprintf(buf, n,
			",\"anchors\":%lu,\"measured\":%lu,\"blind\":%lu,\"bad_feedback\":%lu",
			a->xform.rel.n.anchors, a->xform.rel.n.measured, a->xform.rel.n.blind,
			a->bad_feedback);
}

static int open_arm(void *arg)
{
	struct app *a = arg;
	char why[160];

	if (!a->config.arm)
		return 0;
	a->arm = ep_open(a->config.arm, EP_IN, why, sizeof why);
	if (a->arm)
		return 0;
	int code = errno == EINVAL ? EXIT_USAGE : EXIT_RUNTIME;
	warn("%s", why);
	return code;
}

static struct app app = { .config = CONFIG_INIT };

#define CALL(name, dst, arg, help, fn)                                                             \
	{                                                                                          \
		OPT_CALL, 0, name, dst, arg, help, 0, 0, fn                                        \
	}
static const struct opt opts[] = {
	OPT_IN(app.config.run),
	OPT_OUT(app.config.run),
	{ OPT_STR, 0, "axes", &app.config.axes, "A",
		"openxr (default), unity, or a signed permutation such as \"-z,-x,y\"", 0, 0, 0 },
	{ OPT_NUM, 0, "yaw", &app.config.yaw_deg, "DEG",
		"turn the room about the base Z, after the axes (default 0)", -360, 360, 0 },
	CALL("scale", &app.config.scale, "K", "positions only, 0..100 (default 1)",
		config_take_scale),
	CALL("offset", &app.config.offset, "X,Y,Z",
		"m in the base frame, after scale (default 0,0,0)", config_take_metres),
	CALL("rot-offset", &app.config.rot_offset, "R,P,Y",
		"degrees, fixed axes, in the hand's frame (default 0,0,0)", config_take_angles),
	CALL("tool", &app.config.tool, "X,Y,Z",
		"m, tip seen from the flange: the hand moves the tip (default 0,0,0)",
		config_take_metres),
	{ OPT_STR, 0, "preset", &app.config.preset, "NAME",
		"svrc-piper: scale 0.75, offset 0,0,0.3, rot-offset 0,90,0", 0, 0, 0 },
	{ OPT_FLAG, 0, "relative", &app.config.relative, NULL,
		"move from where the arm is; offset and rot-offset have no effect", 0, 0, 0 },
	{ OPT_STR, 0, "arm", &app.config.arm, "EP",
		"the writer's feedback, for --relative (default: none, see --home)", 0, 0, 0 },
	CALL("home", &app.config.home, "J1..J6",
		"degrees, first anchor without --arm (default 0,86,-45,0,24,0)",
		config_take_joints),
	OPT_SRC(app.config.run, "take the poses of NAME (default: of the first src seen)"),
	OPT_CLOCK(app.config.run),
	OPT_COUNT(app.config.run),
	OPT_IDLE(app.config.run),
	OPT_STRICT(app.config.run),
	OPT_STATS(app.config.run),
	OPT_READY(app.config.run),
	{ 0 },
};

static const struct opt_tool tool = { "pose-xform", "",
	"Turn hand poses of a headset into flange poses of a robot.", opts, 0, 0 };

int main(int argc, char **argv)
{
	const struct filter filter = { .opts = &app.config.run,
		.pose = on_pose,
		.refusal = refusal,
		.stats = stats,
		.start = open_arm,
		.arg = &app };
	struct xform_config cfg;
	char why[256];
	int code;

	(void)opt_parse(&tool, argc, argv);
	if (config_build(&app.config, &cfg, why, sizeof why) < 0)
		die(EXIT_USAGE, "%s; try 'pose-xform --help'", why);
	xform_init(&app.xform, &cfg);
	code = filter_run(&filter);
	if (app.arm)
		(void)ep_close(app.arm); /* an input: nothing to flush */
	return code;
}
