/*
 * Options: one table per tool gives parsing (getopt_long), --help and the check that page and
 * help agree.  Wrong usage prints one line naming the bad thing and exits 2; --help goes to
 * stdout and exits 0; --version too.  -q and -v (repeatable) set the message level; -h, -V, -q,
 * -v are added to every tool by itself.
 */
#ifndef RUN_OPT_H
#define RUN_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_kind {
	OPT_END = 0,
	OPT_FLAG, /* bool *       set true */
	OPT_STR,  /* const char ** borrowed from argv */
	OPT_LIST, /* struct opt_list *, repeatable */
	OPT_INT,  /* int64_t *    lo..hi */
	OPT_NUM,  /* double *     finite, lo..hi */
	OPT_DUR, /* int64_t * us; a number with us, ms or s (of bare ones only "0"); lo..hi in us */
	OPT_CALL, /* call(dst, text, why, n) */
};

#define OPT_LIST_MAX 16
struct opt_list {
	const char *v[OPT_LIST_MAX];
	int n;
};

/* 0, or -1 with a reason in why. */
typedef int opt_call(void *dst, const char *text, char *why, size_t n);

struct opt {
	enum opt_kind kind;
	char key;         /* short letter or 0 */
	const char *name; /* long name, always present */
	void *dst;
	const char *arg;  /* what --help shows for the argument; NULL for flags */
	const char *help; /* with the default and the unit; wraps at 78 columns */
	double lo, hi;    /* used when lo < hi */
	opt_call *call;
};

struct opt_tool {
	const char *name;       /* "clamp" */
	const char *operands;   /* "BUS" or "" */
	const char *about;      /* one sentence, ends with a full stop */
	const struct opt *opts; /* ends with OPT_END */
	int min_operands, max_operands;
};

/* Returns the index of the first operand in argv (operands are moved to its end). Calls std_fill and
 * msg_init(tool->name) first: nothing is opened before. Long names count in full only. */
int opt_parse(const struct opt_tool *tool, int argc, char **argv);

/* Number parsers with end and range check (lo < hi: the range counts); false when the text is not
 * exactly one decimal number: no blanks, no hexadecimal, no nan or inf. No locale. */
bool opt_number(const char *text, double lo, double hi, double *out);
bool opt_integer(const char *text, int64_t lo, int64_t hi, int64_t *out);
bool opt_duration(const char *text, int64_t *us); /* never negative */
/* Exactly n numbers with commas between ("0,86,-45"); finite. */
bool opt_numbers(const char *text, int n, double *out);

/* Options that mean the same everywhere (DESIGN.md 5). A tool lists in its table those it has. */
struct run_opts {
	const char *in;       /* -i EP, default "-" */
	struct opt_list out;  /* -o EP, repeatable; none: "-" */
	struct opt_list stop; /* -e URL */
	int64_t count;        /* -n N, 0: no limit */
	const char *src;      /* --src NAME */
	int64_t max_age_us;   /* --max-age D */
	int64_t idle_us;      /* --idle-timeout D, 0: none */
	bool strict;          /* --strict */
	int64_t stats_us;     /* --stats D: a status record on stderr each D and at the end */
	int64_t ready_fd;     /* --ready-fd N, -1: none */
	bool clock_input;     /* --clock input */
};
int opt_clock(void *dst, const char *text, char *why, size_t n); /* mono | input -> bool */

/* clang-format off */
#define RUN_OPTS_INIT { .in = "-", .max_age_us = 100000, .ready_fd = -1 }

#define OPT_IN(o) { OPT_STR, 'i', "input", &(o).in, "EP", "input: -, a file, an nng URL (default -)", 0, 0, 0 }
#define OPT_OUT(o) { OPT_LIST, 'o', "output", &(o).out, "EP", "output, repeatable: -, a file, an nng URL (default -)", 0, 0, 0 }
#define OPT_STOP(o, text) { OPT_LIST, 'e', "stop-channel", &(o).stop, "URL", text, 0, 0, 0 }
#define OPT_COUNT(o) { OPT_INT, 'n', "count", &(o).count, "N", "end after N records (default 0: no limit)", 0, 9e15, 0 }
#define OPT_SRC(o, text) { OPT_STR, 0, "src", &(o).src, "NAME", text, 0, 0, 0 }
#define OPT_MAX_AGE(o) { OPT_DUR, 0, "max-age", &(o).max_age_us, "D", "oldest pose that is used (default 100ms)", 1000, 10e6, 0 }
#define OPT_IDLE(o) { OPT_DUR, 0, "idle-timeout", &(o).idle_us, "D", "exit 4 after D without input (default: never)", 1000, 1e12, 0 }
#define OPT_STRICT(o) { OPT_FLAG, 0, "strict", &(o).strict, NULL, "exit 3 on the first bad line", 0, 0, 0 }
#define OPT_STATS(o) { OPT_DUR, 0, "stats", &(o).stats_us, "D", "print counters to stderr each D and at the end", 1000, 1e12, 0 }
#define OPT_READY(o) { OPT_INT, 0, "ready-fd", &(o).ready_fd, "N", "write a line to descriptor N, close it, when serving", 1, 1023, 0 }
#define OPT_CLOCK(o) { OPT_CALL, 0, "clock", &(o).clock_input, "C", "mono (default) or input: time comes from the records", 0, 0, opt_clock }
/* clang-format on */

#endif
