/*
 * A smallest filter, for tests of the frame: +1 m on x where x < 5; poses beyond pass as they
 * are; y > 5 is refused.
 */
#include <stdio.h>

#include "rec/filter.h"
#include "run/opt.h"

static unsigned long moved;

static int shift(void *arg, struct rec *r)
{
	(void)arg;
	if (r->u.pose.pose.p.y > 5)
		return -1;
	if (r->u.pose.pose.p.x >= 5)
		return 0;
	r->u.pose.pose.p.x += 1;
	moved++;
	return 1;
}

static const char *refusal(void *arg)
{
	(void)arg;
	return "y above 5";
}

static void stats(void *arg, char *buf, size_t n)
{
	(void)arg;
	(void)snprintf(buf, n, ",\"moved\":%lu", moved);
}

int main(int argc, char **argv)
{
	static struct run_opts o = RUN_OPTS_INIT;
	const struct opt opts[] = { OPT_IN(o), OPT_OUT(o), OPT_COUNT(o), OPT_SRC(o, "the only src"),
		OPT_IDLE(o), OPT_STRICT(o), OPT_STATS(o), OPT_READY(o), { .kind = OPT_END } };
	const struct opt_tool tool = {
		.name = "filter_probe", .operands = "", .about = "Test filter.", .opts = opts
	};
	const struct filter f = { .opts = &o, .pose = shift, .refusal = refusal, .stats = stats };

	(void)opt_parse(&tool, argc, argv);
	return filter_run(&f);
}
