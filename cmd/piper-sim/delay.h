/*
 * Bursts of feedback on their way to the host, delivered late by a delay that may change while
 * bursts are under way: order is kept, none is lost. Pure.
 */
#ifndef PIPER_SIM_DELAY_H
#define PIPER_SIM_DELAY_H

#include "piper-sim/arm.h"

#define DELAY_MAX_US 1000000
#define DELAY_BURSTS 256 /* more than DELAY_MAX_US / ARM_PERIOD_US */

struct delay_burst {
	int64_t made_us;
	int n;
	bool fit; /* simlog_fit when it was made */
	struct can_frame f[ARM_BURST_MAX];
};
struct delay {
	int64_t delay_us; /* 0..DELAY_MAX_US, change at will */
	unsigned head, tail;
	struct delay_burst b[DELAY_BURSTS];
};

/* Room for one burst, to be filled by the caller; the oldest is given up when there is none. */
struct delay_burst *delay_put(struct delay *d);
/* The oldest burst that is due, or NULL; it stays valid until the next delay_put. */
const struct delay_burst *delay_get(struct delay *d, int64_t now_us);
void delay_clear(struct delay *d);

#endif
