/* See options.h. */
#include "rec-cat/options.h"

#include <stdio.h>
#include <string.h>

#include "run/msg.h"

static int opt_speed(void *dst, const char *text, char *why, size_t n)
{
	struct cat_opts *o = dst;

	if (!opt_number(text, 0, 1000, &o->speed) || (o->speed > 0 && o->speed < 0.001)) {
		(void)snprintf(why, n, "0, or 0.001 to 1000 wanted");
		return -1;
	}
	o->has_speed = true;
	return 0;
}

static _Noreturn void usage(const char *what)
{
	die(EXIT_USAGE, "%s; try 'rec-cat --help'", what);
}

static void check(const struct cat_opts *o)
{
	const char *word;

	if (pick_check(&o->pick, &word) != 0)
		die(EXIT_USAGE, "%s: no type or src; try 'rec-cat --help'", word);
	if (!o->dir && (o->control || o->waits))
		usage("--control, --wait: need --dir");
	if (o->file && (o->in.n || o->dir))
		usage("FILE: not with -i or --dir");
	if (!o->file && (o->has_speed || o->loop || o->arm))
		usage("--speed, --loop, --arm: need a FILE");
	if (o->loop && o->arm)
		usage("--loop: not with --arm: the arm is not where the recording begins");
	if (o->arm && o->speed == 0)
		usage("--arm: not with --speed 0");
}

void cat_options(int argc, char **argv, struct cat_opts *o)
{
	static char path[4096];

	*o = (struct cat_opts){ .run = RUN_OPTS_INIT, .free_mib = 256, .speed = 1 };
	const struct opt table[] = {
		{ OPT_LIST, 'i', "input", &o->in, "EP",
			"input, repeatable: -, a file, an nng URL (default -)", 0, 0, 0 },
		OPT_OUT(o->run),
		{ OPT_LIST, 0, "type", &o->pick.types, "TYPE",
			"only records of this type, repeatable (default: all)", 0, 0, 0 },
		{ OPT_LIST, 0, "src", &o->pick.srcs, "NAME",
			"only records of this src, repeatable (default: all)", 0, 0, 0 },
		OPT_COUNT(o->run),
		{ OPT_STR, 0, "dir", &o->dir, "DIR",
			"record into files in DIR, one per episode (default: no recording)", 0, 0,
			0 },
		{ OPT_STR, 0, "control", &o->control, "FIFO",
			"take start, keep, discard, quit from lines there (default: none)", 0, 0,
			0 },
		{ OPT_FLAG, 0, "wait", &o->waits, NULL,
			"no episode before a start (default: it begins with the first record)", 0,
			0, 0 },
		{ OPT_INT, 0, "free", &o->free_mib, "MIB",
			"end when less than this is free on the disk (default 256, 0: never)", 0,
			1e9, 0 },
		{ OPT_CALL, 0, "speed", o, "K",
			"replay K times as fast (default 1); 0: without waiting", 0, 0, opt_speed },
		{ OPT_FLAG, 0, "loop", &o->loop, NULL, "replay again and again", 0, 0, 0 },
		{ OPT_STR, 0, "arm", &o->arm, "URL",
			"replay from the first run on, when the arm runs (default: at once)", 0, 0,
			0 },
		OPT_IDLE(o->run),
		OPT_STRICT(o->run),
		OPT_STATS(o->run),
		OPT_READY(o->run),
		{ 0 },
	};
	const struct opt_tool tool = {
		.name = "rec-cat",
		.operands = "[FILE]",
		.about = "Pass on, record and replay records; a replay never resets or engages.",
		.opts = table,
		.min_operands = 0,
		.max_operands = 1,
	};
	int first = opt_parse(&tool, argc, argv);

	if (first < argc) {
		/* An operand is a file, also without a slash. */
		bool bare = strchr(argv[first], '/') == NULL && strcmp(argv[first], "-") != 0;
		if (snprintf(path, sizeof path, "%s%s", bare ? "./" : "", argv[first]) >=
			(int)sizeof path)
			usage("FILE: the name is too long");
		o->file = path;
	}
	check(o);
	if (o->in.n == 0)
		o->in.v[o->in.n++] = "-";
}
