/*
 * The arms a sender talks to: one dialled stop channel each (gate:G22).
 */
#ifndef ESTOP_ARMS_H
#define ESTOP_ARMS_H

#include "rec/endpoint.h"
#include "rec/record.h"
#include "run/loop.h"
#include "run/opt.h"

#define ARMS_REPEATS 3        /* gate:G22: a stop is sent three times ... */
#define ARMS_APART_US 10000   /* ... */
#define ARMS_LINGER_US 100000 /* ... and then lingered for: nng does not (PIPELINES.md 4) */
#define ARMS_DIAL_US 1000000  /* gate:G22: a one-shot gives up after this */

struct arms {
	struct arm {
		const char *url; /* borrowed */
		struct ep *ep;
		bool up;    /* as last seen by arms_look */
		int sent;   /* of the record being delivered */
		int64_t at; /* when last, us */
		int lost;   /* connections that had ended when it began */
	} arm[OPT_LIST_MAX];
	int n;
	unsigned long failed; /* sends that were refused */
};

/* Dials every URL in the background. 0, or -1: reason with its URL in why,
 * errno as of ep_open. */
int arms_open(struct arms *a, const struct opt_list *urls, char *why, size_t n);
/* Asks for the connections; says in words which arm went since the last look. Returns how many
 * are up. */
int arms_look(struct arms *a);
/* Once to every arm; never waits. */
void arms_send(struct arms *a, const struct rec *r);
/* Three times to every arm as soon as it is connected, for at most dial_us, then the linger; anew
 * where the connection ended meanwhile. `l` is served all the time. Returns how many arms got all;
 * warns about each other one. */
int arms_deliver(struct arms *a, struct loop *l, const struct rec *r, int64_t dial_us);
void arms_close(struct arms *a);

#endif
