#include "rctp-recv/play.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/msg.h"

/* Hands over the packets of the buffer that are due; then waits for the next or for input. */
static void pump(struct play *p)
{
	size_t at = 0;

	for (; p->n - at >= RCTP_SIZE && !p->loop->done; at += RCTP_SIZE) {
		struct rctp r;
		struct recv_datagram d = { .bytes = p->buf + at, .n = RCTP_SIZE };
		int64_t now_us = clock_now();

		if (!p->timed) {
			bool ok = rctp_decode(d.bytes, d.n, &r) == RCTP_OK;
			p->t_us = rctp_tape_next(&p->tape, ok ? r.time_s : (double)NAN);
		}
		p->timed = true;
		if (!p->started)
			p->base_us = now_us - p->t_us;
		p->started = true;
		if (!p->by_input && p->base_us + p->t_us > now_us)
			break;
		p->timed = false;
		d.t_us = p->by_input ? p->t_us : now_us;
		p->take(p->arg, &d);
	}
	p->n -= at;
	memmove(p->buf, p->buf + at, p->n);
	bool waits = p->n >= RCTP_SIZE;
	loop_set(p->loop, p->slot, waits ? -1 : p->fd, POLLIN);
	if (waits && loop_timer_set(p->loop, p->timer, p->base_us + p->t_us, 0) < 0) {
		warn("%s: timer: %s", p->name, strerror(errno));
		p->ended(p->arg, EXIT_RUNTIME);
	}
}

static void on_due(void *arg, short revents)
{
	(void)revents;
	pump(arg);
}

static void on_input(void *arg, short revents)
{
	struct play *p = arg;
	(void)revents;
	ssize_t got = read(p->fd, p->buf + p->n, sizeof p->buf - p->n);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		p->n += (size_t)got;
		pump(p);
		return;
	}
	if (got < 0)
		warn("%s: %s", p->name, strerror(errno));
	else if (p->n > 0)
		warn("%s: %zu bytes behind the last whole packet", p->name, p->n);
	p->ended(p->arg, got < 0 ? EXIT_RUNTIME : EXIT_DONE);
}

int play_open(struct play *p)
{
	p->fd = STDIN_FILENO;
	/* O_NONBLOCK: a FIFO needs no writer yet. */
	if (strcmp(p->name, "-") != 0)
		p->fd = open(p->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (p->fd < 0)
		return -1;
	p->slot = loop_add(p->loop, p->fd, POLLIN, on_input, p);
	p->timer = loop_timer(p->loop, on_due, p);
	return p->slot < 0 || p->timer < 0 ? -1 : 0;
}
