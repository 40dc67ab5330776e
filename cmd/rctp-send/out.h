/* Where packets go: a UDP address, or a file, FIFO or stdout as a run of 45-byte packets. */
#ifndef RCTP_SEND_OUT_H
#define RCTP_SEND_OUT_H

#include <netinet/in.h>
#include <stdint.h>

#include "rec/endpoint.h"
#include "wire/rctp.h"

struct out {
	int fd; /* UDP; -1: ep */
	struct sockaddr_storage to;
	socklen_t to_len;
	struct ep *ep;
};

/* "udp:HOST:PORT", "udp:[IPV6]:PORT", or an endpoint that is a stream. 0, or -1 with the reason,
 * errno EINVAL when the word is neither. */
int out_open(struct out *o, const char *where, char *why, size_t n);
/* UDP never waits and does not care whether anybody listens; a stream waits for its reader, but
 * not longer than an ending signal. 0, or -1 errno. */
int out_put(struct out *o, const uint8_t packet[RCTP_SIZE]);
int out_close(struct out *o);

#endif
