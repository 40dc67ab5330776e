/* See opt.h. The parser; help and version are opt_help.c, the numbers opt_number.c. */
#include "run/opt.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/msg.h"
#include "run/opt_help.h"
#include "run/std.h"

#define OPTS_MAX 64
#define LONG_ONLY 1000 /* val of the i-th option without a letter: beyond every char */

enum { VAL_HELP = 'h', VAL_VERSION = 'V', VAL_QUIET = 'q', VAL_VERBOSE = 'v' };

struct parser {
	const struct opt_tool *tool;
	struct option longs[OPTS_MAX + 5];
	char shorts[3 * OPTS_MAX + 16];
	int n; /* options in the table */
};

static _Noreturn void usage(const struct opt_tool *tool, const char *thing, const char *reason)
{
	die(EXIT_USAGE, "%s: %s; try '%s --help'", thing, reason, tool->name);
}

static void add_long(struct parser *p, int i, const char *name, bool arg, int val)
{
	p->longs[i] = (struct option){ name, arg ? required_argument : no_argument, NULL, val };
}

/* Two options of one name: the later one would never be seen. A mistake in a table, found by the
 * first start of its program. */
static void check_names(const struct parser *p, int n)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++)
			if (strcmp(p->longs[i].name, p->longs[k].name) == 0 ||
				p->longs[i].val == p->longs[k].val)
				die(EXIT_RUNTIME, "option table: --%s: its name or letter is taken",
					p->longs[i].name);
}

static void build(struct parser *p)
{
	/* "-": operands come in their order; ":": a missing argument is told apart. */
	char *s = stpcpy(p->shorts, "-:hVqv");
	int i;

	for (i = 0; i < OPTS_MAX && p->tool->opts[i].kind != OPT_END; i++) {
		const struct opt *o = &p->tool->opts[i];
		bool arg = o->kind != OPT_FLAG;

		add_long(p, i, o->name, arg, o->key ? o->key : LONG_ONLY + i);
		if (o->key) {
			*s++ = o->key;
			if (arg)
				*s++ = ':';
		}
	}
	*s = '\0';
	p->n = i;
	add_long(p, i++, "help", false, VAL_HELP);
	add_long(p, i++, "version", false, VAL_VERSION);
	add_long(p, i++, "quiet", false, VAL_QUIET);
	add_long(p, i++, "verbose", false, VAL_VERBOSE);
	p->longs[i] = (struct option){ 0 };
	check_names(p, i);
}

static void set_list(const struct opt *o, const char *text, char *why, size_t n)
{
	struct opt_list *list = o->dst;

	if (list->n >= OPT_LIST_MAX)
		snprintf(why, n, "more than %d times", OPT_LIST_MAX);
	else
		list->v[list->n++] = text;
}

static void set_int(const struct opt *o, const char *text, char *why, size_t n)
{
	bool range = o->lo < o->hi;

	if (opt_integer(text, range ? (int64_t)o->lo : INT64_MIN,
		    range ? (int64_t)o->hi : INT64_MAX, o->dst))
		return;
	if (range)
		snprintf(why, n, "'%.64s' is not a whole number from %.17g to %.17g", text, o->lo,
			o->hi);
	else
		snprintf(why, n, "'%.64s' is not a whole number", text);
}

static void set_num(const struct opt *o, const char *text, char *why, size_t n)
{
	if (opt_number(text, o->lo, o->hi, o->dst))
		return;
	if (o->lo < o->hi)
		snprintf(why, n, "'%.64s' is not a number from %.9g to %.9g", text, o->lo, o->hi);
	else
		snprintf(why, n, "'%.64s' is not a number", text);
}

static void set_dur(const struct opt *o, const char *text, char *why, size_t n)
{
	int64_t us;

	if (!opt_duration(text, &us))
		snprintf(why, n, "'%.64s' is not a duration (a number with us, ms or s)", text);
	else if (o->lo < o->hi && ((double)us < o->lo || (double)us > o->hi))
		snprintf(why, n, "'%.64s' is not between %.9gms and %.9gms", text, o->lo / 1000,
			o->hi / 1000);
	else
		*(int64_t *)o->dst = us;
}

/* Leaves why empty when the value was taken. */
static void set_value(const struct opt *o, const char *text, char *why, size_t n)
{
	switch (o->kind) {
	case OPT_FLAG: *(bool *)o->dst = true; break;
	case OPT_STR: *(const char **)o->dst = text; break;
	case OPT_LIST: set_list(o, text, why, n); break;
	case OPT_INT: set_int(o, text, why, n); break;
	case OPT_NUM: set_num(o, text, why, n); break;
	case OPT_DUR: set_dur(o, text, why, n); break;
	case OPT_CALL:
		if (o->call(o->dst, text, why, n) < 0 && !why[0])
			snprintf(why, n, "'%.64s' is not understood", text);
		break;
	case OPT_END: break;
	}
}

static void take(const struct parser *p, int val, const char *text)
{
	char why[256] = "", name[64];

	for (int i = 0; i < p->n; i++) {
		const struct opt *o = &p->tool->opts[i];

		if (val != (o->key ? o->key : LONG_ONLY + i))
			continue;
		set_value(o, text, why, sizeof why);
		if (why[0]) {
			snprintf(name, sizeof name, "--%s", o->name);
			usage(p->tool, name, why);
		}
		return;
	}
}

/* The word as the user wrote it: "--name" without its value, or "-x". */
static const char *word_of(const char *element, int letter, char *buf, size_t n)
{
	if (strncmp(element, "--", 2) == 0)
		snprintf(buf, n, "%.*s", (int)strcspn(element, "="), element);
	else
		snprintf(buf, n, "-%c", letter);
	return buf;
}

static _Noreturn void refuse(const struct parser *p, const char *element, int c)
{
	char buf[80];
	const char *word = word_of(element, optopt, buf, sizeof buf);

	if (c == ':')
		usage(p->tool, word, "needs an argument");
	for (int i = 0; p->longs[i].name; i++)
		if (word[1] == '-' && strcmp(p->longs[i].name, word + 2) == 0)
			usage(p->tool, word, "takes no argument");
	usage(p->tool, word, "no such option");
}

/* getopt_long takes unique beginnings for the name; we do not (a later option would break them). */
static void check_whole(const struct parser *p, const char *element, int longindex)
{
	char buf[80];
	const char *name = p->longs[longindex].name, *word = word_of(element, 0, buf, sizeof buf);

	if (strcmp(word + 2, name) != 0)
		usage(p->tool, word, "no such option");
}

static void check_operands(const struct opt_tool *tool, char **operands, int n)
{
	if (n < tool->min_operands)
		usage(tool, tool->operands[0] ? tool->operands : "operand", "missing");
	if (n > tool->max_operands)
		usage(tool, operands[tool->max_operands], "one operand too many");
}

int opt_parse(const struct opt_tool *tool, int argc, char **argv)
{
	struct parser p = { .tool = tool };
	int n = 0, c, longindex, messages = 0;
	bool quiet = false;

	std_fill();
	msg_init(tool->name);
	build(&p);
	opterr = 0;
	optind = 0; /* glibc: start anew */
	for (;;) {
		int at = optind ? optind : 1; /* the element getopt_long looks at next */

		longindex = -1;
		c = getopt_long(argc, argv, p.shorts, p.longs, &longindex);
		if (c == -1)
			break;
		if (c == '?' || c == ':')
			refuse(&p, argv[at], c);
		if (longindex >= 0)
			check_whole(&p, argv[at], longindex);
		switch (c) {
		case 1: argv[1 + n++] = optarg; break; /* slots already read */
		case VAL_HELP: opt_help(tool); exit(EXIT_DONE);
		case VAL_VERSION: opt_version(tool); exit(EXIT_DONE);
		case VAL_QUIET: quiet = true; break;
		case VAL_VERBOSE: messages++; break;
		default: take(&p, c, optarg);
		}
	}
	msg_set_level(quiet ? -1 : messages);
	/* Operands before "--" (now in front) join those behind it: one run at the end of argv. */
	memmove(argv + optind - n, argv + 1, (size_t)n * sizeof *argv);
	check_operands(tool, argv + optind - n, argc - optind + n);
	return optind - n;
}
