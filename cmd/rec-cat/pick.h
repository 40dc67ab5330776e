/*
 * Which records pass, and how many are missing between them. Pure: no descriptors, no clock.
 */
#ifndef REC_CAT_PICK_H
#define REC_CAT_PICK_H

#include <stdbool.h>

#include "rec/record.h"
#include "run/opt.h"

#define PICK_SEEN 64 /* src and type pairs whose seq is watched; further ones are not */

struct pick {
	struct opt_list types, srcs; /* borrowed words; empty: all */
	struct {
		char src[REC_SRC_MAX], type[32];
		int64_t seq;
	} seen[PICK_SEEN];
	int n_seen;
	unsigned long missing;
};

/* The words are names a record can have: 0; -1, the first bad one in *word. */
int pick_check(const struct pick *p, const char **word);
bool pick_takes(const struct pick *p, const struct rec *r);
/* Counts the records of this src and type that should have come before r: their seq is missing.
 * A seq that fell or stands still is a new start or a repetition. Returns how many. */
unsigned long pick_watch(struct pick *p, const struct rec *r);

#endif
