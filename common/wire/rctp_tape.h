/*
 * The time line of a recorded run of packets (one 45-byte packet after the other, nothing
 * between): from the senders' times to microseconds that never go back.
 *
 *   t = round(time x 1e6), as it stands; epoch times fit (2026 is 1.8e15 us).
 *   A time that is negative at the start: the tape begins at 0.
 *   A time >= 1 s older than the newest (rctp.md 5.3, the sender restarted): the tape goes on 1 s
 *   after the packet before, and by the new clock from there.
 *   A time less than 1 s older, not finite or beyond 9e9 s: t of the packet before (0 at first).
 */
#ifndef WIRE_RCTP_TAPE_H
#define WIRE_RCTP_TAPE_H

#include <stdbool.h>
#include <stdint.h>

struct rctp_tape {
	bool begun;
	double newest_s;  /* by the clock of the present sender */
	int64_t shift_us; /* added to round(time x 1e6) */
	int64_t t_us;     /* of the packet before */
};

#define RCTP_TAPE_INIT                                                                             \
	{                                                                                          \
		.begun = false                                                                     \
	}

/* t of the next packet, us. */
int64_t rctp_tape_next(struct rctp_tape *tape, double time_s);

#endif
