/*
 * The nng side of an endpoint; only endpoint.c includes this. One record is one message: a line
 * with its newline. On the way in, a body of several whole lines is taken too, and the last
 * newline may be missing, since the message ends the line.
 */
#ifndef REC_ENDPOINT_NNG_H
#define REC_ENDPOINT_NNG_H

#include "rec/endpoint.h"

struct ep_nng;

/* counts is borrowed and outlives the handle. NULL: reason in why. */
struct ep_nng *ep_nng_open(
	const char *url, enum ep_role role, struct ep_counts *counts, char *why, size_t why_n);
int ep_nng_fd(const struct ep_nng *e);                           /* inputs; -1 for outputs */
int ep_nng_next(struct ep_nng *e, const char **line, size_t *n); /* 1 or 0, as ep_next */
/* Whole lines, each a message of its own. Always 0: what cannot go is counted. */
int ep_nng_send(struct ep_nng *e, const char *lines, size_t n);
int ep_nng_peers(const struct ep_nng *e);
int ep_nng_lost(const struct ep_nng *e);
void ep_nng_tend(struct ep_nng *e); /* as ep_tend */
/* Waits until 100 ms after the last send: nng has no linger of its own. */
void ep_nng_close(struct ep_nng *e);

#endif
