/*
 * Time of a replay: t' = base + (t - first) / speed, one constant for each pass over the recording
 * (at speed 1 t' - t is one number). And what a replay leaves out. Pure; times in us.
 */
#ifndef REC_CAT_RESTAMP_H
#define REC_CAT_RESTAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "rec/record.h"

#define RESTAMP_APART_US 1000000 /* --loop: filters start afresh after 500 ms (DESIGN.md 3) */

struct restamp {
	double speed; /* > 0, or 0: not paced, t moves as at 1 */
	int64_t first_us, base_us;
	int64_t last_us; /* the latest t' so far */
};

void restamp_init(struct restamp *s, double speed);
/* A pass whose first record has first_us begins at base_us. */
void restamp_begin(struct restamp *s, int64_t first_us, int64_t base_us);
/* Where the next pass begins. */
int64_t restamp_next_base(const struct restamp *s);
/* t' of a record; never below 0. */
int64_t restamp_t(struct restamp *s, int64_t t_us);
/* False: it could reset or engage an arm, or prove a sender alive that is not there (gate:G24,
 * G25): beats, and events named reset or engage. */
bool restamp_plays(const struct rec *r);

#endif
