/*
 * The records of one sender on the stop channel (gate:G22-G24): counts its stops, so that a beat
 * tells of a stop that was lost. Pure: no descriptors, no clock.
 */
#ifndef ESTOP_SENDER_H
#define ESTOP_SENDER_H

#include <stdint.h>

#include "estop/orders.h"
#include "rec/record.h"

struct sender {
	char src[REC_SRC_MAX];
	int64_t stops;        /* sent so far */
	enum rec_level level; /* of the last one */
	int64_t events, beats;
};

/* src has passed rec_src_ok. */
void sender_init(struct sender *s, const char *src);

/* The record for an order; ORDER_QUIT is a hold. false: ORDER_NONE, nothing to send. A stop counts
 * up. The record keeps the order's time, so an engage that waited stays old (gate:G5). */
bool sender_order(struct sender *s, const struct order *o, struct rec *r);

void sender_beat(struct sender *s, int64_t now_us, struct rec *r);

#endif
