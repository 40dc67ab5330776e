#include "rctp-send/out.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* HOST and PORT of "HOST:PORT"; brackets round an IPv6 address. */
static int split(const char *text, char host[256], char port[8])
{
	const char *colon = strrchr(text, ':');
	if (colon == NULL || colon == text || strlen(colon + 1) == 0 || strlen(colon + 1) > 5)
		return -1;
	size_t n = (size_t)(colon - text);
	if (text[0] == '[' && colon[-1] == ']') {
		text++;
		n -= 2;
	}
	if (n == 0 || n >= 256)
		return -1;
	snprintf(host, 256, "%.*s", (int)n, text);
	snprintf(port, 8, "%s", colon + 1);
	return 0;
}

static int open_udp(struct out *o, const char *text, char *why, size_t n)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICSERV }, *found;
	char host[256], port[8];

	if (split(text, host, port) < 0 || port[strspn(port, "0123456789")] != 0) {
		snprintf(why, n, "'udp:%.64s' is not udp:HOST:PORT", text);
		errno = EINVAL;
		return -1;
	}
	int r = getaddrinfo(host, port, &hints, &found);
	if (r != 0) {
		snprintf(why, n, "%s port %s: %s", host, port, gai_strerror(r));
		errno = EHOSTUNREACH;
		return -1;
	}
	memcpy(&o->to, found->ai_addr, found->ai_addrlen);
	o->to_len = found->ai_addrlen;
	o->fd = socket(found->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	freeaddrinfo(found);
	if (o->fd < 0)
		snprintf(why, n, "%s port %s: %s", host, port, strerror(errno));
	return o->fd < 0 ? -1 : 0;
}

int out_open(struct out *o, const char *where, char *why, size_t n)
{
	memset(o, 0, sizeof *o);
	o->fd = -1;
	if (strncmp(where, "udp:", 4) == 0)
		return open_udp(o, where + 4, why, n);
	char path[PATH_MAX];
	/* A plain word is a file of packets here; one with a colon is a slip of the pen. */
	bool is_plain = strpbrk(where, "/:") == NULL && strcmp(where, "-") != 0;
	snprintf(path, sizeof path, "%s%s", is_plain ? "./" : "", where);
	o->ep = ep_open(path, EP_OUT, why, n);
	if (o->ep != NULL && ep_is_nng(o->ep)) {
		(void)ep_close(o->ep); /* nothing sent */
		snprintf(why, n, "%s: packets go to udp:HOST:PORT, a file or -", where);
		o->ep = NULL;
		errno = EINVAL;
	}
	return o->ep ? 0 : -1;
}

static int is_ending(void)
{
	sigset_t set;
	return sigpending(&set) == 0 &&
	       (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1 ||
		       sigismember(&set, SIGHUP) == 1);
}

static int put_stream(struct out *o, const uint8_t *packet)
{
	int r;
	while ((r = ep_try(o->ep, (const char *)packet, RCTP_SIZE)) == 0 && !is_ending()) {
		struct pollfd p = { .fd = ep_fd(o->ep), .events = POLLOUT };
		(void)poll(&p, 1, 50); /* the next try tells */
	}
	return r < 0 ? -1 : 0;
}

int out_put(struct out *o, const uint8_t packet[RCTP_SIZE])
{
	if (o->ep)
		return put_stream(o, packet);
	/* Not connected: a port where nobody listens gives no error, as for a headset. */
	ssize_t n = sendto(o->fd, packet, RCTP_SIZE, 0, (const struct sockaddr *)&o->to, o->to_len);
	return n == RCTP_SIZE ? 0 : -1;
}

int out_close(struct out *o)
{
	if (o->ep)
		return ep_close(o->ep);
	return o->fd >= 0 ? close(o->fd) : 0;
}
