/*
 * Leases of the stop channel (gate:G23, G24): every src that beats has to go on beating. Pure.
 */
#ifndef LEASE_H
#define LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "rec/record.h"

#define LEASE_MAX 16

struct lease {
	char src[REC_SRC_MAX];
	int64_t t_us;  /* of its newest beat */
	int64_t stops; /* count in its newest beat; remembered when the lease is dropped */
	bool dropped;  /* until it beats again */
};
struct leases {
	struct lease of[LEASE_MAX];
	int n;
	unsigned long refused; /* beats of one src too many */
};

/* Takes a beat. True when it tells of a stop not acted on yet: its count rose. The first beat of
 * a src counts from 0, and so does a lower count (the src was started anew). A full table: the
 * beat's stop still counts. */
bool lease_beat(struct leases *l, const char *src, const struct rec_beat *b, int64_t t_us);
/* A src whose newest beat is older than lease_us, or NULL. */
const char *lease_lost(const struct leases *l, int64_t now_us, int64_t lease_us);
/* Leases that run or ran out, without the dropped ones. */
int lease_count(const struct leases *l);
/* Drops those that ran out (gate:G24: a reset does). */
void lease_drop_lost(struct leases *l, int64_t now_us, int64_t lease_us);

#endif
