/* Which bus a word means, and what all kinds share. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/clock.h"
#include "wire/can_impl.h"
#include "wire/slcan_pty.h"

#define SLCAN "slcan:"
#define UNIXGRAM "unixgram:"

static const char *after(const char *spec, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(spec, prefix, n) ? NULL : spec + n;
}

static bool too_long(const char *spec, char *why, size_t why_n)
{
	if (strlen(spec) < CAN_SPEC_MAX)
		return false;
	snprintf(why, why_n, "name longer than %d characters", CAN_SPEC_MAX - 1);
	return true;
}

struct can_bus *can_open(const char *spec, char *why, size_t why_n)
{
	const char *rest;

	if (too_long(spec, why, why_n))
		return NULL;
	if ((rest = after(spec, SLCAN)))
		return can_slcan_open(rest, spec, why, why_n);
	if ((rest = after(spec, UNIXGRAM)))
		return can_unixgram_open(rest, spec, why, why_n);
	if (!strcmp(spec, "-") || strchr(spec, '/'))
		return can_text_open(spec, why, why_n);
	return can_socket_open(spec, why, why_n);
}

struct can_bus *can_open_device(const char *spec, char *why, size_t why_n)
{
	const char *rest = after(spec, SLCAN);

	if (too_long(spec, why, why_n))
		return NULL;
	if (rest)
		return slcan_pty_open(rest, why, why_n);
	if (!strcmp(spec, "-") || strchr(spec, '/') || after(spec, UNIXGRAM)) {
		snprintf(why, why_n,
			"an arm needs a bus that carries frames both ways: a CAN interface "
			"or slcan:PATH");
		return NULL;
	}
	return can_socket_open(spec, why, why_n);
}

bool can_base_init(
	struct can_bus *b, const struct can_ops *ops, enum can_kind kind, const char *spec)
{
	b->ops = ops;
	b->kind = kind;
	b->fd = b->out_fd = -1;
	b->events = POLLIN;
	return snprintf(b->spec, sizeof b->spec, "%s", spec) < (int)sizeof b->spec;
}

enum can_kind can_kind(const struct can_bus *b)
{
	return b->kind;
}

bool can_is_ideal(const struct can_bus *b)
{
	return b->kind == CAN_TEXT || b->kind == CAN_UNIXGRAM;
}

const char *can_spec(const struct can_bus *b)
{
	return b->spec;
}

int can_fd(const struct can_bus *b)
{
	return b->fd;
}

short can_events(const struct can_bus *b)
{
	return b->events;
}

int can_recv(struct can_bus *b, struct can_rx *out)
{
	return b->ops->recv(b, out);
}

static int send_frames(
	struct can_bus *b, const struct can_frame *f, int n, int64_t t_us, bool urgent)
{
	int done;

	if (n < 0 || n > CAN_SET_MAX) {
		errno = EINVAL;
		return 0;
	}
	done = n ? b->ops->send(b, f, n, t_us, urgent) : 0;
	b->counts.sent += (unsigned long)done;
	b->counts.refused += (unsigned long)(n - done);
	return done;
}

int can_send_set(struct can_bus *b, const struct can_frame *f, int n, int64_t t_us)
{
	return send_frames(b, f, n, t_us, false);
}

int can_send_urgent(struct can_bus *b, const struct can_frame *f, int n, int64_t t_us)
{
	return send_frames(b, f, n, t_us, true);
}

bool can_ready(const struct can_bus *b)
{
	return b->ops->ready(b);
}

int can_unconfirmed(const struct can_bus *b)
{
	return b->ops->unconfirmed(b);
}

struct can_counts can_counts(const struct can_bus *b)
{
	return b->counts;
}

int can_txqueuelen(const struct can_bus *b)
{
	return b->kind == CAN_SOCKET ? can_socket_txqueuelen(b) : -1;
}

int can_drain(struct can_bus *b, int64_t deadline_us)
{
	int r;

	while ((r = b->ops->flush(b)) == 0) {
		struct pollfd p = { .fd = b->out_fd, .events = POLLOUT };
		int64_t left = deadline_us - clock_now();
		if (left <= 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		/* Woken by room or by time; what to do is decided by flush. */
		(void)poll(&p, 1, (int)(left / 1000 + 1 > 1000 ? 1000 : left / 1000 + 1));
	}
	return r < 0 ? -1 : 0;
}

int can_close(struct can_bus *b, int64_t deadline_us)
{
	int r, err;

	if (!b)
		return 0;
	r = can_drain(b, deadline_us);
	err = errno;
	b->ops->close(b);
	errno = err;
	return r;
}

void can_fifo_push(struct can_fifo *q, const struct can_frame *f)
{
	struct can_frame old;

	if (q->n == CAN_SET_MAX)
		(void)can_fifo_pop(q, &old); /* full: the oldest is given up */
	q->f[(q->head + q->n++) % CAN_SET_MAX] = *f;
}

bool can_fifo_pop(struct can_fifo *q, struct can_frame *f)
{
	if (!q->n)
		return false;
	*f = q->f[q->head];
	q->head = (q->head + 1) % CAN_SET_MAX;
	q->n--;
	return true;
}

bool can_fifo_match(struct can_fifo *q, const struct can_frame *f)
{
	for (int i = 0; i < q->n; i++) {
		const struct can_frame *g = &q->f[(q->head + i) % CAN_SET_MAX];
		if (g->can_id == f->can_id && g->len == f->len &&
			!memcmp(g->data, f->data, g->len)) {
			q->head = (q->head + i + 1) % CAN_SET_MAX;
			q->n -= i + 1;
			return true;
		}
	}
	return false;
}
