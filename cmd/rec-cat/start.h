/*
 * Where a replay onto an arm begins: at the recording's first run (--arm).
 */
#ifndef REC_CAT_START_H
#define REC_CAT_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rec-cat/pick.h"

struct start {
	bool has_run, has_pose;
	int64_t from_us; /* t of the first record with gate run, else of the first valid pose */
	size_t n;
	char pose[REC_LINE_MAX]; /* the last valid pose before it, without newline */
};

/* Pure part: the next record of the recording, in order; line is its text. True: found, look no
 * further. */
bool start_see(
	struct start *s, const struct pick *p, const struct rec *r, const char *line, size_t n);
/* Looks through the file. 0; -1, reason in why: it cannot be read, or has no valid pose. */
int start_find(struct start *s, const struct pick *p, const char *file, char *why, size_t n);

#endif
