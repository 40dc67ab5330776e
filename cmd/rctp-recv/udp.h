/*
 * The UDP sockets of one hand: kernel stamps, read empty on every wake (DESIGN.md 3).
 */
#ifndef RCTP_RECV_UDP_H
#define RCTP_RECV_UDP_H

#include "rctp-recv/recv.h"

#define UDP_MAX 2 /* "any" is one socket for IPv4 and one for IPv6 */
#define UDP_NAME_MAX 64

struct udp {
	int fd[UDP_MAX];
	int n;
	int port;
	uint32_t lost[UDP_MAX]; /* datagrams the kernel had no room for, so far */
};

typedef void udp_take(void *arg, const struct recv_datagram *d);

/* address: "any", or one IPv4 or IPv6 address; port 0: a free one, put in u->port. 0, or -1 with
 * the reason in why. */
int udp_open(struct udp *u, const char *address, int port, char *why, size_t n);
/* Hands over everything socket i holds. 0, or -1 errno. */
int udp_drain(struct udp *u, int i, udp_take *take, void *arg);
void udp_close(struct udp *u);
/* "127.0.0.1:40000" or "[::1]:40000" in buf. */
const char *udp_name(const struct recv_from *from, char buf[UDP_NAME_MAX]);

#endif
