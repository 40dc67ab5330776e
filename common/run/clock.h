/*
 * The one clock: CLOCK_MONOTONIC in microseconds (int64_t).
 * Kernel receive stamps are CLOCK_REALTIME; they are converted once, here.
 */
#ifndef RUN_CLOCK_H
#define RUN_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Now, us of CLOCK_MONOTONIC. */
int64_t clock_now(void);

/* Turns a kernel stamp (CLOCK_REALTIME, from SO_TIMESTAMPNS) into us of CLOCK_MONOTONIC.
 * Returns 0; or -1 when the stamp lies outside 0..1 s before now (wall clock stepped, or a very
 * old datum): then *t_us = now - 1 s, so that the datum counts as stale (DESIGN.md 3). */
int clock_from_stamp(const struct timespec *stamp, int64_t *t_us);

/* Pure form for tests: real_us, now_real_us, now_mono_us. */
int clock_convert(int64_t stamp_real_us, int64_t now_real_us, int64_t now_mono_us, int64_t *t_us);

#endif
