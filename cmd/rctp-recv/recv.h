/*
 * One hand's stream of RCTP datagrams into records (rctp.md 2, 5.3, 5.4, 6, 8; DESIGN.md 3).
 * Pure: no descriptors, no clock; a datagram comes with its source and its receive time.
 *
 * A well-formed datagram (length, magic) goes through these gates, in this order:
 *   e-stop bit   honoured first, from any source, whatever the rest holds; a held bit repeats the
 *                stop at most every RECV_STOP_US
 *   source       the first one is pinned until it is silent for RECV_PIN_US
 *   order        by the sender's time: duplicate, reordered, or a restart of the sender
 *   tracking     bit 0 clear: `valid:false` with the last good p q grip
 *   pose         not finite, out of range, no rotation: no record
 *   freshness    stale stamp, late by the sender's clock, frozen: `valid:false`
 * One `valid:false` precedes the first pose after a restart, a change of source, a gap or a jump.
 */
#ifndef RCTP_RECV_RECV_H
#define RCTP_RECV_RECV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rec/record.h"
#include "wire/rctp.h"

#define RECV_STOP_US 100000   /* DESIGN.md 2: a held e-stop bit repeats at most this often */
#define RECV_PIN_US 1000000   /* DESIGN.md 8, two senders on a port */
#define RECV_SILENT_US 500000 /* rctp.md 5.3: silence that makes the next packet a restart */
#define RECV_RESTART_S 1.0    /* rctp.md 5.3: sender time this much older is a restart */
#define RECV_GAP_US 100000    /* DESIGN.md 3 */
#define RECV_LATE_US 150000   /* DESIGN.md 3: one-way delay over its minimum */
#define RECV_LATE_RISE 1e-4   /* s of the minimum per s, DESIGN.md 3 */
#define RECV_JUMP_MPS 5.0     /* DESIGN.md 3 */
#define RECV_JUMP_MIN_S                                                                            \
	0.008           /* shortest step a speed is judged over: the sender's time may be
                                  a float with a step of 7.8 ms after a day (rctp.md 3.1) */
#define RECV_TS_MAX 9e9 /* s; beyond it the sender's time is left out (DESIGN.md 2) */
#define RECV_KEY_MAX 20
#define RECV_FOREIGN 16

/* Where a datagram came from: bytes that are equal for equal address and port. */
struct recv_from {
	uint8_t key[RECV_KEY_MAX];
};

struct recv_datagram {
	const uint8_t *bytes; /* borrowed; at least min(n, RCTP_SIZE) bytes are there */
	size_t n;             /* true length */
	struct recv_from from;
	int64_t t_us; /* receive time, us */
	bool stale;   /* the kernel stamp was unusable: t_us is only a bound */
};

struct recv_counts {
	unsigned long packets; /* all datagrams */
	unsigned long poses;   /* records valid:true */
	unsigned long invalid; /* records valid:false */
	unsigned long short_, magic, foreign, duplicate, reordered, nonfinite, range, quat;
	unsigned long restart, source, gap, jump, frozen, late, stale, untracked;
	unsigned long estop; /* packets with the bit */
	unsigned long stops; /* stop records */
	unsigned long len49; /* datagrams of exactly 49 bytes (rctp.md 1.1) */
};

/* Takes each record as it is made; r is borrowed during the call. */
typedef void recv_emit(void *arg, const struct rec *r);

struct recv_conf {
	int64_t frozen_us; /* identical pose for this long is frozen; 0: never */
	double max_m;      /* |component| of a position, m */
};

struct recv {
	struct recv_conf conf;
	const char *src; /* borrowed */
	recv_emit *emit;
	void *arg;
	struct recv_counts n;
	int64_t seq_pose, seq_stop, seq_event;

	bool pinned;
	struct recv_from from;
	int64_t seen_us; /* last well-formed packet of the pinned source */
	bool held;       /* its e-stop bit */
	bool stopped;
	int64_t stop_us; /* its last stop record */
	/* Foreign sources that hold the bit. Who made no stop for RECV_STOP_US need not be
	 * remembered: there are at most RECV_FOREIGN such stops in that time. */
	struct {
		bool held;
		struct recv_from from;
		int64_t stop_us;
	} foreign[RECV_FOREIGN];

	bool begun;               /* this source had a packet accepted */
	bool silent;              /* silence seen since the last accepted packet */
	bool moved_source;        /* pinned anew since the last accepted packet */
	bool has_time;            /* time_s holds */
	double time_s;            /* sender time of the last accepted packet */
	uint8_t bytes[RCTP_SIZE]; /* the last accepted packet */
	int64_t accepted_us;
	bool owed; /* a valid:false is owed before the next pose */

	bool has_delay;
	double delay_us, delay_at_us; /* least one-way delay, and when it was brought up to date */
	bool probation;               /* after silence: a grown delay may mean a new sender clock */
	int64_t probation_us;

	bool same; /* a run of identical poses since same_us */
	int64_t same_us;

	bool has_good; /* a valid pose was put out */
	struct pose good;
	int64_t good_us;
	double good_time_s; /* NaN: unknown or another epoch */
	bool has_grip;
	double grip;
};

/* conf is copied, src borrowed. */
void recv_init(
	struct recv *v, const struct recv_conf *conf, const char *src, recv_emit *emit, void *arg);
void recv_datagram(struct recv *v, const struct recv_datagram *d);
/* The liveness record of this hand (gate:G23): running count of stops, level of the last. */
void recv_beat(const struct recv *v, int64_t seq, int64_t t_us, struct rec *out);
/* Counters as keys of a status record, `,"key":N...`; returns the length, cut at n. */
int recv_stats(const struct recv *v, char *buf, size_t n);

#endif
