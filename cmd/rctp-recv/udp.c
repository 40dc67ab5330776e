#include "rctp-recv/udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "run/clock.h"

#define BATCH 32
#define ROUNDS_MAX 64 /* in a flood the other descriptors get their turn */
#define READ_MAX 64   /* only the first 45 bytes mean anything; the true length comes apart */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int open_one(const union address *a, socklen_t len)
{
	int on = 1;
	int fd = socket(a->any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if ((a->any.sa_family == AF_INET6 &&
		    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) < 0) ||
		setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on) < 0 ||
		bind(fd, &a->any, len) < 0) {
		int e = errno;
		(void)close(fd); /* the first error is the one to tell */
		errno = e;
		return -1;
	}
	return fd;
}

static int port_of(int fd)
{
	union address a;
	socklen_t len = sizeof a;
	memset(&a, 0, sizeof a);
	if (getsockname(fd, &a.any, &len) < 0)
		return -1;
	return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

static int add(struct udp *u, int family, const void *host, int port)
{
	union address a;
	socklen_t len = sizeof a.v4;

	memset(&a, 0, sizeof a);
	if (family == AF_INET6) {
		len = sizeof a.v6;
		a.v6.sin6_family = AF_INET6;
		a.v6.sin6_port = htons((uint16_t)port);
		memcpy(&a.v6.sin6_addr, host, sizeof a.v6.sin6_addr);
	} else {
		a.v4.sin_family = AF_INET;
		a.v4.sin_port = htons((uint16_t)port);
		memcpy(&a.v4.sin_addr, host, sizeof a.v4.sin_addr);
	}
	int fd = open_one(&a, len);
	if (fd < 0)
		return -1;
	u->fd[u->n++] = fd;
	u->port = port_of(fd);
	return 0;
}

int udp_open(struct udp *u, const char *address, int port, char *why, size_t n)
{
	struct in_addr v4 = { .s_addr = htonl(INADDR_ANY) };
	struct in6_addr v6 = in6addr_any;
	int r;

	memset(u, 0, sizeof *u);
	if (strcmp(address, "any") == 0) {
		r = add(u, AF_INET, &v4, port);
		/* A host without IPv6 is served by IPv4 alone. */
		if (r == 0 && add(u, AF_INET6, &v6, u->port) < 0 && errno != EAFNOSUPPORT &&
			errno != EADDRNOTAVAIL)
			r = -1;
	} else if (inet_pton(AF_INET, address, &v4) == 1) {
		r = add(u, AF_INET, &v4, port);
	} else if (inet_pton(AF_INET6, address, &v6) == 1) {
		r = add(u, AF_INET6, &v6, port);
	} else {
		snprintf(why, n, "'%.64s' is neither any nor an IPv4 or IPv6 address", address);
		errno = EINVAL;
		return -1;
	}
	if (r == 0)
		return 0;
	int e = errno;
	snprintf(why, n, "%.64s port %d: %s", address, port, strerror(e));
	udp_close(u);
	errno = e;
	return -1;
}

void udp_close(struct udp *u)
{
	for (int i = 0; i < u->n; i++)
		(void)close(u->fd[i]); /* nothing is buffered in a receiving socket */
	u->n = 0;
}

/* Address as 16 bytes (IPv4 mapped), port, scope. */
static struct recv_from key_of(const union address *a)
{
	struct recv_from f = { { 0 } };
	uint8_t *k = f.key;

	if (a->any.sa_family == AF_INET6) {
		uint16_t scope = (uint16_t)a->v6.sin6_scope_id;
		memcpy(k, &a->v6.sin6_addr, 16);
		memcpy(k + 16, &a->v6.sin6_port, 2);
		memcpy(k + 18, &scope, 2);
	} else {
		k[10] = k[11] = 0xff;
		memcpy(k + 12, &a->v4.sin_addr, 4);
		memcpy(k + 16, &a->v4.sin_port, 2);
	}
	return f;
}

const char *udp_name(const struct recv_from *from, char buf[UDP_NAME_MAX])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char host[INET6_ADDRSTRLEN] = "";
	const uint8_t *k = from->key;
	unsigned port = (unsigned)k[16] << 8 | k[17];

	if (memcmp(k, mapped, sizeof mapped) == 0) {
		(void)inet_ntop(AF_INET, k + 12, host, sizeof host); /* cannot fail: room enough */
		snprintf(buf, UDP_NAME_MAX, "%s:%u", host, port);
	} else {
		(void)inet_ntop(AF_INET6, k, host, sizeof host);
		snprintf(buf, UDP_NAME_MAX, "[%s]:%u", host, port);
	}
	return buf;
}

struct batch {
	struct mmsghdr msg[BATCH];
	struct iovec iov[BATCH];
	union address from[BATCH];
	uint8_t bytes[BATCH][READ_MAX];
	_Alignas(struct cmsghdr) char control[BATCH][128];
};

static void prepare(struct batch *b)
{
	memset(b->msg, 0, sizeof b->msg);
	for (int k = 0; k < BATCH; k++) {
		b->iov[k] = (struct iovec){ b->bytes[k], READ_MAX };
		b->msg[k].msg_hdr = (struct msghdr){ .msg_name = &b->from[k],
			.msg_namelen = sizeof b->from[k],
			.msg_iov = &b->iov[k],
			.msg_iovlen = 1,
			.msg_control = b->control[k],
			.msg_controllen = sizeof b->control[k] };
	}
}

/* Receive time and overflow count out of the control data. */
static void read_control(struct msghdr *h, struct recv_datagram *d, uint32_t *lost)
{
	bool stamped = false;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SO_TIMESTAMPNS) {
			struct timespec ts;
			memcpy(&ts, CMSG_DATA(c), sizeof ts);
			d->stale = clock_from_stamp(&ts, &d->t_us) < 0;
			stamped = true;
		} else if (c->cmsg_type == SO_RXQ_OVFL) {
			memcpy(lost, CMSG_DATA(c), sizeof *lost);
		}
	}
	/* A stamp is missing: how long the datagram waited is unknown. */
	if (!stamped) {
		d->t_us = clock_now() - 1000000;
		d->stale = true;
	}
}

int udp_drain(struct udp *u, int i, udp_take *take, void *arg)
{
	struct batch b;
	int got, rounds = 0;

	do {
		prepare(&b);
		got = recvmmsg(u->fd[i], b.msg, BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL);
		for (int k = 0; k < got; k++) {
			struct recv_datagram d = { .bytes = b.bytes[k],
				.n = b.msg[k].msg_len,
				.from = key_of(&b.from[k]) };
			read_control(&b.msg[k].msg_hdr, &d, &u->lost[i]);
			take(arg, &d);
		}
	} while (++rounds < ROUNDS_MAX && (got == BATCH || (got < 0 && errno == EINTR)));
	return got >= 0 || errno == EAGAIN || errno == EINTR ? 0 : -1;
}
