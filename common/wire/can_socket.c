/*
 * SocketCAN.  What the kernel tells and what it does not: success of send() and even the echo
 * prove nothing in bus-off, so error frames are always on and refusals are counted; a stop on a
 * socket of its own with priority 6 overtakes a full queue (pfifo_fast's first band), with
 * priority 0 it would be lost there.
 */
#include <errno.h>
#include <linux/can/error.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run/clock.h"
#include "wire/can_impl.h"

#define URGENT_PRIORITY 6 /* highest that needs no privilege */
/* The kernel doubles it: room for about two sets, so that old motion cannot pile up behind a long
 * device queue. */
#define SEND_BUFFER 4096
#define RECEIVE_BUFFER 262144

struct can_socket {
	struct can_bus base;
	int urgent_fd;
	char name[IFNAMSIZ];
	struct can_fifo sent, sent_urgent;
	int last_n;       /* frames of the last set */
	uint32_t dropped; /* as SO_RXQ_OVFL last said */
};

static struct can_socket *self(struct can_bus *b)
{
	return (struct can_socket *)b;
}

static const struct can_socket *self_const(const struct can_bus *b)
{
	return (const struct can_socket *)b;
}

static void forget(struct can_fifo *q, uint32_t n)
{
	struct can_frame f;

	while (n-- && can_fifo_pop(q, &f))
		;
}

static void forget_all(struct can_socket *s)
{
	s->sent.n = s->sent_urgent.n = 0;
}

/* Dropped frames may have been echoes: as many are no longer waited for. */
static void note_dropped(struct can_socket *s, uint32_t total)
{
	uint32_t lost = total - s->dropped;

	s->dropped = total;
	s->base.counts.overflow += lost;
	forget(&s->sent, lost);
	forget(&s->sent_urgent, lost);
}

static void read_control(struct can_socket *s, struct msghdr *h, struct can_rx *out)
{
	out->t_us = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		struct timespec stamp;
		uint32_t total;
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SO_TIMESTAMPNS) {
			memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
			/* -1: a stamp that means nothing; t_us is old then, as wanted. */
			(void)clock_from_stamp(&stamp, &out->t_us);
		} else if (c->cmsg_type == SO_RXQ_OVFL) {
			memcpy(&total, CMSG_DATA(c), sizeof total);
			if (total != s->dropped)
				note_dropped(s, total);
		}
	}
	if (!out->t_us)
		out->t_us = clock_now();
}

static void classify(struct can_socket *s, int flags, struct can_rx *out)
{
	out->local = flags & MSG_DONTROUTE;
	out->error = out->f.can_id & CAN_ERR_FLAG;
	out->own = false;
	if (flags & MSG_CONFIRM) {
		out->own = true;
		(void)can_fifo_match(&s->sent, &out->f); /* not found: given up before */
	} else if (out->local && !out->error) {
		out->own = can_fifo_match(&s->sent_urgent, &out->f);
	}
	s->base.counts.confirmed += out->own;
	s->base.counts.received += !out->own;
	if (out->error && out->f.can_id & CAN_ERR_RESTARTED)
		forget_all(s); /* the controller's buffers were emptied */
}

static int socket_recv(struct can_bus *b, struct can_rx *out)
{
	struct can_socket *s = self(b);
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(uint32_t))];
	} control;

	for (;;) {
		struct iovec iov = { .iov_base = &out->f, .iov_len = sizeof out->f };
		struct msghdr h = { .msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof control };
		ssize_t n = recvmsg(b->fd, &h, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (n < 0) {
			forget_all(s); /* the queue went with the link */
			return -1;
		}
		read_control(s, &h, out);
		if (n != (ssize_t)sizeof out->f || out->f.len > CAN_MAX_DLEN) {
			b->counts.damaged++;
			continue;
		}
		classify(s, h.msg_flags, out);
		return 1;
	}
}

static int socket_send(
	struct can_bus *b, const struct can_frame *f, int n, int64_t t_us, bool urgent)
{
	struct can_socket *s = self(b);
	int done = 0;

	(void)t_us;
	while (done < n) {
		ssize_t w = send(urgent ? s->urgent_fd : b->fd, &f[done], sizeof *f,
			MSG_DONTWAIT | MSG_NOSIGNAL);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			break;
		can_fifo_push(urgent ? &s->sent_urgent : &s->sent, &f[done]);
		done++;
	}
	if (done)
		s->last_n = done;
	return done;
}

static int socket_unconfirmed(const struct can_bus *b)
{
	const struct can_socket *s = self_const(b);

	return s->sent.n + s->sent_urgent.n;
}

static bool socket_ready(const struct can_bus *b)
{
	int n = socket_unconfirmed(b);

	return n == 0 || n < self_const(b)->last_n;
}

static int socket_flush(struct can_bus *b)
{
	(void)b; /* what was accepted is the kernel's, also after close */
	return 1;
}

static void socket_close(struct can_bus *b)
{
	close(b->fd);
	close(self(b)->urgent_fd);
	free(b);
}

static const struct can_ops OPS = { socket_recv, socket_send, socket_ready, socket_unconfirmed,
	socket_flush, socket_close };

static void name_request(struct ifreq *r, const char *name)
{
	memset(r, 0, sizeof *r);
	snprintf(r->ifr_name, sizeof r->ifr_name, "%s", name);
}

int can_socket_txqueuelen(const struct can_bus *b)
{
	struct ifreq r;

	name_request(&r, self_const(b)->name);
	return ioctl(b->fd, SIOCGIFTXQLEN, &r) ? -1 : r.ifr_qlen;
}

static int open_raw(char *why, size_t why_n)
{
	int fd = socket(PF_CAN, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, CAN_RAW);

	if (fd >= 0)
		return fd;
	if (errno == EAFNOSUPPORT || errno == EPROTONOSUPPORT || errno == ESOCKTNOSUPPORT)
		snprintf(why, why_n,
			"this kernel has no CAN: 'modprobe can_raw', or use a serial adapter as "
			"slcan:DEV");
	else if (errno == EPERM || errno == EACCES)
		snprintf(why, why_n,
			"no permission for CAN sockets: run outside the sandbox, or as "
			"another user");
	else
		snprintf(why, why_n, "CAN socket: %s", strerror(errno));
	return -1;
}

/* Index of an interface that is there, is CAN and is up; 0 with the reason. */
static int find_interface(int fd, const char *name, char *why, size_t why_n)
{
	struct ifreq r;
	int index;

	if (!*name || strlen(name) >= IFNAMSIZ) {
		snprintf(why, why_n, "not the name of an interface; 'ip link' lists them");
		return 0;
	}
	name_request(&r, name);
	if (ioctl(fd, SIOCGIFINDEX, &r)) {
		snprintf(why, why_n,
			"no such interface; is the adapter plugged in? 'ip link' lists them");
		return 0;
	}
	index = r.ifr_ifindex;
	if (ioctl(fd, SIOCGIFHWADDR, &r) || r.ifr_hwaddr.sa_family != ARPHRD_CAN) {
		snprintf(why, why_n, "not a CAN interface; 'ip -br link show type can' lists them");
		return 0;
	}
	if (ioctl(fd, SIOCGIFFLAGS, &r) || !(r.ifr_flags & IFF_UP)) {
		snprintf(why, why_n,
			"interface is down: 'ip link set %s up type can bitrate 1000000'", name);
		return 0;
	}
	return index;
}

static bool option(int fd, int level, int name, int value)
{
	return !setsockopt(fd, level, name, &value, sizeof value);
}

static bool set_up(struct can_socket *s, int index)
{
	struct sockaddr_can a = { .can_family = AF_CAN, .can_ifindex = index };
	can_err_mask_t all = CAN_ERR_MASK;

	return !setsockopt(s->base.fd, SOL_CAN_RAW, CAN_RAW_ERR_FILTER, &all, sizeof all) &&
	       option(s->base.fd, SOL_CAN_RAW, CAN_RAW_RECV_OWN_MSGS, 1) &&
	       option(s->base.fd, SOL_SOCKET, SO_TIMESTAMPNS, 1) &&
	       option(s->base.fd, SOL_SOCKET, SO_RXQ_OVFL, 1) &&
	       option(s->base.fd, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER) &&
	       option(s->base.fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER) &&
	       option(s->urgent_fd, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER) &&
	       option(s->urgent_fd, SOL_SOCKET, SO_PRIORITY, URGENT_PRIORITY) &&
	       /* no filter: it receives nothing */
	       !setsockopt(s->urgent_fd, SOL_CAN_RAW, CAN_RAW_FILTER, NULL, 0) &&
	       !bind(s->base.fd, (struct sockaddr *)&a, sizeof a) &&
	       !bind(s->urgent_fd, (struct sockaddr *)&a, sizeof a);
}

struct can_bus *can_socket_open(const char *name, char *why, size_t why_n)
{
	struct can_socket *s = calloc(1, sizeof *s);
	int index;

	if (!s) {
		snprintf(why, why_n, "out of memory");
		return NULL;
	}
	if (!can_base_init(&s->base, &OPS, CAN_SOCKET, name)) {
		free(s);
		return NULL;
	}
	snprintf(s->name, sizeof s->name, "%.*s", IFNAMSIZ - 1, name);
	s->urgent_fd = -1;
	s->base.fd = open_raw(why, why_n);
	if (s->base.fd < 0)
		goto out;
	s->base.out_fd = s->base.fd;
	index = find_interface(s->base.fd, name, why, why_n);
	if (!index)
		goto out;
	s->urgent_fd = open_raw(why, why_n);
	if (s->urgent_fd < 0)
		goto out;
	if (set_up(s, index))
		return &s->base;
	snprintf(why, why_n, "CAN socket: %s", strerror(errno));
out:
	if (s->base.fd >= 0)
		close(s->base.fd);
	if (s->urgent_fd >= 0)
		close(s->urgent_fd);
	free(s);
	return NULL;
}
