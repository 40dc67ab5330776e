/*
 * A source's output (DESIGN.md 3): never blocks. When the reader cannot take a line it keeps the
 * newest state record of each src and type, before it one pending `valid:false` pose, and every
 * stop and event (one pending stop per src and level; events up to OUTQ_EVENTS, then counted);
 * the rest is counted. Several endpoints: each has its own queue and fails for itself: one that
 * failed is written to no more, its reason is kept for outq_failed, the others are served on.
 *
 * What waits goes out stops first, then in the order it came. Feedback of different kinds are
 * different states. nng endpoints have queues of their own (endpoint.h) and are never waited for.
 */
#ifndef REC_OUTQ_H
#define REC_OUTQ_H

#include "rec/endpoint.h"
#include "rec/record.h"

#define OUTQ_EVENTS 64
struct outq;

/* Opens every endpoint of the list (none: "-"). NULL: reason in why, errno as of ep_open. */
struct outq *outq_open(const char *const *where, int n, char *why, size_t why_n);
/* Prints r for every endpoint, writes it or queues it. 0; -1 errno, once: no endpoint is left, with
 * the reason of the last one (EPIPE: its reader is gone). A record that cannot be printed counts as
 * dropped. */
int outq_put(struct outq *q, const struct rec *r);
/* The same for a line that is there already: r read from it; n bytes with the newline. */
int outq_put_line(struct outq *q, const struct rec *r, const char *line, size_t n);
/* Tries again, and finds readers that left; call when a descriptor of outq_fd reports. Same
 * return. */
int outq_flush(struct outq *q);
/* An endpoint that failed since the last call: *where its name (borrowed until outq_close), *cause
 * an errno. False: no further one. To be asked after each of the calls above. */
bool outq_failed(struct outq *q, const char **where, int *cause);
/* Descriptors to poll and the events wanted (POLLOUT while something waits; POLLERR always). */
int outq_fd(const struct outq *q, int i, short *events); /* -1: none; i from 0 to outq_n - 1 */
int outq_n(const struct outq *q);
unsigned long outq_dropped(const struct outq *q); /* lines replaced or refused */
/* Waits until nothing is queued, at most until the absolute time; for inputs that are files, where
 * nothing is live and nothing may be dropped. 0 all written, 1 time is up, -1 errno as outq_put. */
int outq_drain(struct outq *q, int64_t until_us);
/* Gives what is queued 200 ms more, then closes. 0, or -1 errno: an endpoint failed that
 * outq_failed has not told. NULL: nothing. */
int outq_close(struct outq *q);

#endif
