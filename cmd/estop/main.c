/*
 * estop: stop, hold, reset and engage one or several arms on their stop channels; live mode beats
 * (gate:G22-G25).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "estop/arms.h"
#include "estop/live.h"
#include "estop/orders.h"
#include "estop/sender.h"
#include "run/clock.h"
#include "run/keys.h"
#include "run/msg.h"
#include "run/opt.h"

static struct run_opts o = RUN_OPTS_INIT;
static const char *why_text;
static bool live_mode;

static const struct opt options[] = {
	OPT_STOP(o, "stop channel of an arm, repeatable: one for each arm"),
	OPT_IN(o),
	{ OPT_FLAG, 0, "live", &live_mode, NULL,
		"stay and beat every 25ms; orders from keys or lines (implied by -i)", 0, 0, NULL },
	{ OPT_STR, 0, "why", &why_text, "TEXT", "reason that is sent along (default operator)", 0,
		0, NULL },
	OPT_SRC(o, "name of this sender (default estop-PID)"),
	OPT_READY(o),
	OPT_STATS(o),
	{ OPT_END, 0, NULL, NULL, NULL, NULL, 0, 0, NULL },
};
static const struct opt_tool tool = {
	"estop",
	"[stop|hold|reset|engage]",
	"Stop, hold, reset or engage arms on their stop channels, once or live.",
	options,
	0,
	1,
};

static _Noreturn void usage(const char *what)
{
	die(EXIT_USAGE, "%s; try 'estop --help'", what);
}

static const char *src_name(void)
{
	static char name[REC_SRC_MAX];

	if (o.src) {
		if (!rec_src_ok(o.src))
			usage("--src: 1 to 31 letters, digits, . _ -");
		return o.src;
	}
	(void)snprintf(name, sizeof name, "estop-%d", (int)getpid());
	return name;
}

/* What the command line asks for once; ORDER_NONE: live mode. Does not return on wrong usage. */
static struct order command(const char *operand)
{
	struct order order = { .t_us = clock_now() };

	if (o.stop.n == 0)
		usage("-e: missing: the stop channel of an arm");
	if (why_text && strlen(why_text) >= sizeof order.why)
		usage("--why: too long (159 bytes)");
	if (live_mode && operand)
		die(EXIT_USAGE, "%s: not with --live or -i; try 'estop --help'", operand);
	if (live_mode)
		return order;
	if (!operand)
		usage("stop, hold, reset or engage: missing");
	order.kind = order_word(operand);
	if (order.kind == ORDER_NONE)
		die(EXIT_USAGE, "%s: neither stop, hold, reset nor engage; try 'estop --help'",
			operand);
	(void)snprintf(order.why, sizeof order.why, "%s", why_text ? why_text : "");
	return order;
}

static int once(struct live *l, const struct order *order)
{
	struct rec r;

	sender_order(&l->sender, order, &r);
	return arms_deliver(&l->arms, &l->loop, &r, ARMS_DIAL_US) == l->arms.n ? EXIT_DONE
									       : EXIT_RUNTIME;
}

static int stay(struct live *l)
{
	char why[256];

	if (strcmp(o.in, "-") == 0 && isatty(STDIN_FILENO)) {
		int code = keys_open(why, sizeof why);
		if (code != 0)
			die(code, "%s", why);
		return live_run(l);
	}
	l->in = ep_open(o.in, EP_IN, why, sizeof why);
	if (!l->in)
		die(errno == EINVAL ? EXIT_USAGE : EXIT_RUNTIME, "%s", why);
	return live_run(l);
}

int main(int argc, char **argv)
{
	static struct live l;
	struct order order;
	char why[320];
	int first, code;

	o.in = NULL;
	first = opt_parse(&tool, argc, argv);
	live_mode = live_mode || o.in;
	if (!o.in)
		o.in = "-";
	order = command(first < argc ? argv[first] : NULL);
	l.opts = &o;
	l.why = why_text;
	sender_init(&l.sender, src_name());
	if (loop_init(&l.loop, live_mode ? live_signal : NULL, &l) < 0)
		die(EXIT_RUNTIME, "loop: %s", strerror(errno));
	if (arms_open(&l.arms, &o.stop, why, sizeof why) < 0)
		die(errno == EINVAL ? EXIT_USAGE : EXIT_RUNTIME, "-e %s", why);
	code = live_mode ? stay(&l) : once(&l, &order);
	keys_close();
	arms_close(&l.arms);
	if (l.loop.end_signal)
		msg_die_by_signal(l.loop.end_signal);
	return code;
}
