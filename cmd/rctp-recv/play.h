/*
 * Replay of recorded packets: 45 bytes each, one after the other, from a file, FIFO or pipe.
 * Paced by the packets' times (wire/rctp_tape) and stamped now, or, by input, as fast as they
 * are taken and stamped with the time of the tape.
 */
#ifndef RCTP_RECV_PLAY_H
#define RCTP_RECV_PLAY_H

#include "rctp-recv/recv.h"
#include "run/loop.h"
#include "wire/rctp_tape.h"

#define PLAY_PACKETS 64

struct play {
	/* Set by the caller before play_open. */
	const char *name; /* "-" or a path */
	bool by_input;
	struct loop *loop;
	void (*take)(void *arg, const struct recv_datagram *d);
	void (*ended)(void *arg, int code); /* once, with an exit code */
	void *arg;

	int fd, slot, timer;
	uint8_t buf[PLAY_PACKETS * RCTP_SIZE];
	size_t n;
	struct rctp_tape tape;
	bool timed; /* t_us is that of the packet at the head of buf */
	int64_t t_us;
	bool started; /* base_us turns t_us into our clock */
	int64_t base_us;
};

/* Opens and registers with the loop. 0, or -1 errno. */
int play_open(struct play *p);

#endif
