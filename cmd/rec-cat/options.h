/*
 * Options of rec-cat.
 */
#ifndef REC_CAT_OPTIONS_H
#define REC_CAT_OPTIONS_H

#include "rec-cat/pick.h"
#include "run/opt.h"

struct cat_opts {
	struct run_opts run; /* .in and .src are not used */
	struct opt_list in;  /* "-" when none was given */
	struct pick pick;    /* --type, --src */
	const char *dir;     /* --dir, NULL: no recording */
	const char *control; /* --control FIFO or NULL */
	bool waits;          /* --wait: no episode until a start */
	int64_t free_mib;    /* --free */
	const char *file;    /* to be replayed, or NULL */
	double speed;        /* --speed, 0: not paced */
	bool loop;           /* --loop */
	const char *arm;     /* --arm URL or NULL */
	bool has_speed;
};

/* Does not return on wrong usage (exit 2). */
void cat_options(int argc, char **argv, struct cat_opts *o);

#endif
