/*
 * The frame of a filter (pose-xform, clamp, ...): 1:1, in order, no clock, no dropping
 * (DESIGN.md 3). Reads lines from one input, hands each pose of the locked src to `pose`, writes
 * the result; every other line passes on byte for byte. A bad line is counted, dropped and
 * warned about once a second and summed up at the end; --strict exits 3. Poses of another src are counted and dropped,
 * its stops pass. Output blocks (back-pressure); a dead reader ends it with 141 also when idle.
 */
#ifndef REC_FILTER_H
#define REC_FILTER_H

#include "rec/record.h"
#include "run/opt.h"

struct filter {
	const struct run_opts *opts;
	/* Changes r->u.pose in place. Returns 1 changed (is printed anew), 0 unchanged (the bytes
	 * pass on), -1 refused: the line counts as a bad one (--strict too). */
	int (*pose)(void *arg, struct rec *r);
	/* The reason of the last -1, for people; NULL where pose never refuses. */
	const char *(*refusal)(void *arg);
	/* Adds the tool's own counters to a status line, or NULL: `,"key":N...`. */
	void (*stats)(void *arg, char *buf, size_t n);
	/* Called after descriptors and signals are set up, before the first read (to open further
	 * endpoints: nng only now), or NULL. Returns an exit code, 0 goes on. */
	int (*start)(void *arg);
	void *arg;
};

/* Runs to the end of input; returns the exit code for main. */
int filter_run(const struct filter *f);

#endif
