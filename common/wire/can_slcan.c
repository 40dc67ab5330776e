/*
 * Host side of a Lawicel serial adapter.  The tty is a queue nobody can take back from, so at most
 * one set of unanswered frames is ever in it (gate:G11), and urgent frames go before all that is
 * not yet in it.  Three sorts of adapter are served: frames answered by z, answered by a bare CR,
 * and not answered at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "run/clock.h"
#include "wire/can_impl.h"
#include "wire/slcan.h"

/* An empty line first: it ends what an earlier host left unfinished, before C could be read as its
 * data.  S8 is 1 Mbit/s.  Each line is answered, by CR or BEL. */
#define SETUP "\rC\rS8\rO\r"
#define SETUP_REPLIES 4
#define SETUP_US 200000
/* Frames of the bus heard this long after our last one, and still no answer: it was lost, or there
 * never is one. */
#define GIVE_UP_US 50000
#define GIVE_UP_HEARD 16
/* Bytes carry no stamp.  A tty that was left alone this long and holds this much is a backlog: its
 * frames came any time since, the newest may be missing.  They count as old as the last look, and
 * so does what trickles in from deeper buffers for a while. */
#define BACKLOG_GAP_US 50000
#define BACKLOG_BYTES 1024
#define BACKLOG_FOR_US 40000

struct can_slcan {
	struct can_bus base;
	struct slcan in;
	char rx[4096];
	size_t rx_n, rx_at;
	int64_t rx_us;             /* when rx was read */
	int64_t look_us;           /* when the tty was last found empty */
	int64_t old_us, old_for;   /* until old_for what is read is stamped old_us */
	char text[SLCAN_TEXT_MAX]; /* what is being written, never interrupted */
	size_t text_n, text_at;
	struct can_fifo urgent, normal; /* not yet in the tty */
	struct can_fifo sent;           /* in the tty or behind it, not answered */
	int64_t opened_us, written_us;
	int setup_left; /* replies to SETUP that are still to come */
	unsigned heard; /* bus frames since written_us */
	bool answers;   /* a frame has been answered */
	bool silent;    /* frames are not answered: the tty's own queue has to tell */
	int lost;       /* errno of a write that failed: nothing is sent any more */
};

static struct can_slcan *self(struct can_bus *b)
{
	return (struct can_slcan *)b;
}

static const struct can_slcan *self_const(const struct can_bus *b)
{
	return (const struct can_slcan *)b;
}

/* What is read is older than our setup, or an answer to it. */
static bool in_setup(const struct can_slcan *s)
{
	return s->setup_left > 0;
}

static bool tty_is_empty(const struct can_slcan *s)
{
	int n = 0;

	return !ioctl(s->base.fd, TIOCOUTQ, &n) && n == 0;
}

static bool next_text(struct can_slcan *s)
{
	struct can_frame f;

	if (!can_fifo_pop(&s->urgent, &f) && !can_fifo_pop(&s->normal, &f))
		return false;
	s->text_n = (size_t)slcan_print(&f, s->text); /* printable: checked in slcan_send */
	s->text_at = 0;
	can_fifo_push(&s->sent, &f);
	s->written_us = clock_now();
	s->heard = 0;
	return true;
}

/* After a frame that could not be written nothing may follow: it would be taken for the rest of
 * its set. Returns -1, errno as it is. */
static int lose(struct can_slcan *s)
{
	s->lost = errno;
	s->urgent.n = s->normal.n = 0;
	s->text_at = s->text_n;
	return -1;
}

/* 1 all is in the tty, 0 some is not, -1 errno. */
static int push(struct can_slcan *s)
{
	if (s->lost) {
		errno = s->lost;
		return -1;
	}
	for (;;) {
		ssize_t w;
		if (s->text_at == s->text_n && !next_text(s)) {
			s->base.events = POLLIN;
			return 1;
		}
		w = write(s->base.fd, s->text + s->text_at, s->text_n - s->text_at);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
			return lose(s);
		if (w <= 0) {
			s->base.events = POLLIN | POLLOUT;
			return 0;
		}
		s->text_at += (size_t)w;
	}
}

/* The oldest unanswered frame is answered; true when there was one. */
static bool answered(struct can_slcan *s, struct can_frame *f)
{
	s->answers = true;
	s->silent = false;
	s->heard = 0; /* the next answer has its time anew: a slow wire is no silent adapter */
	s->written_us = s->rx_us;
	return can_fifo_pop(&s->sent, f);
}

static bool on_ack(struct can_slcan *s, struct can_rx *out)
{
	if (in_setup(s)) {
		bool of_frame = s->in.cmd[0] != '\0';
		if (!of_frame)
			s->setup_left--;
		if (!of_frame || !s->sent.n) /* to a frame of an earlier host */
			return false;
	}
	s->setup_left = 0;
	if (!answered(s, &out->f))
		return false;
	s->base.counts.confirmed++;
	out->own = out->local = true;
	return true;
}

static void on_nak(struct can_slcan *s)
{
	struct can_frame f;

	if (in_setup(s))
		s->setup_left--;
	else if (answered(s, &f))
		s->base.counts.refused++;
}

static void on_frame(struct can_slcan *s)
{
	s->base.counts.received++;
	s->heard++;
	if (!s->sent.n || s->heard < GIVE_UP_HEARD || s->rx_us - s->written_us < GIVE_UP_US ||
		!tty_is_empty(s))
		return;
	if (s->answers)
		s->base.counts.damaged++;
	else
		s->silent = true;
	s->sent.n = 0;
}

/* Turns what was read into at most one frame for the caller. */
static bool parse(struct can_slcan *s, struct can_rx *out)
{
	while (s->rx_at < s->rx_n) {
		memset(out, 0, sizeof *out);
		out->t_us = s->rx_us < s->old_for ? s->old_us : s->rx_us;
		switch (slcan_byte(&s->in, s->rx[s->rx_at++], &out->f)) {
		case SLCAN_FRAME:
			if (in_setup(s))
				break;
			on_frame(s);
			return true;
		case SLCAN_STATE:
			if (in_setup(s))
				break;
			s->base.counts.received++;
			out->error = true;
			return true;
		case SLCAN_ACK:
			if (on_ack(s, out))
				return true;
			break;
		case SLCAN_NAK: on_nak(s); break;
		case SLCAN_DAMAGED: s->base.counts.damaged++; break;
		case SLCAN_COMMAND:
		case SLCAN_NONE: break;
		}
	}
	return false;
}

static void note_read(struct can_slcan *s, size_t n)
{
	s->rx_n = n;
	s->rx_at = 0;
	s->rx_us = clock_now();
	if (n > BACKLOG_BYTES && s->rx_us - s->look_us > BACKLOG_GAP_US && s->rx_us >= s->old_for) {
		s->old_us = s->look_us;
		s->old_for = s->rx_us + BACKLOG_FOR_US;
	}
}

static void note_empty(struct can_slcan *s)
{
	s->look_us = clock_now();
	if (s->look_us - s->opened_us >= SETUP_US)
		s->setup_left = 0; /* no more answers, and all that was old is read */
}

static int slcan_recv(struct can_bus *b, struct can_rx *out)
{
	struct can_slcan *s = self(b);

	(void)push(s); /* its error is told after what was received */
	for (;;) {
		ssize_t n;
		if (parse(s, out))
			return 1;
		n = read(b->fd, s->rx, sizeof s->rx);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			note_empty(s);
			errno = s->lost;
			return s->lost ? -1 : 0;
		}
		if (n <= 0) {
			if (n == 0)
				errno = EIO; /* end of file: the line hung up */
			return -1;
		}
		note_read(s, (size_t)n);
	}
}

static int slcan_unconfirmed(const struct can_bus *b)
{
	const struct can_slcan *s = self_const(b);
	int n = s->urgent.n + s->normal.n;

	return n + (s->silent && tty_is_empty(s) ? 0 : s->sent.n);
}

static bool slcan_ready(const struct can_bus *b)
{
	const struct can_slcan *s = self_const(b);

	if (in_setup(s) && clock_now() - s->opened_us < SETUP_US)
		return false;
	return s->text_at == s->text_n && slcan_unconfirmed(b) == 0;
}

static int slcan_send(
	struct can_bus *b, const struct can_frame *f, int n, int64_t t_us, bool urgent)
{
	struct can_slcan *s = self(b);
	struct can_fifo *q = urgent ? &s->urgent : &s->normal;
	char text[SLCAN_TEXT_MAX];

	(void)t_us;
	for (int i = 0; i < n; i++)
		if (slcan_print(&f[i], text) < 0) {
			errno = EINVAL;
			return 0;
		}
	if ((!urgent && !slcan_ready(b)) || q->n + n > CAN_SET_MAX) {
		errno = EAGAIN;
		return 0;
	}
	if (s->silent && tty_is_empty(s))
		s->sent.n = 0;
	for (int i = 0; i < n; i++)
		can_fifo_push(q, &f[i]);
	return push(s) < 0 ? 0 : n;
}

/* Also waits for the answers: closing a tty throws away what is still in it. */
static int slcan_flush(struct can_bus *b)
{
	struct can_slcan *s = self(b);
	struct can_rx rx;
	int r;

	while ((r = slcan_recv(b, &rx)) > 0)
		;
	if (r < 0 || push(s) < 0)
		return -1;
	return s->text_at == s->text_n && slcan_unconfirmed(b) == 0 && tty_is_empty(s);
}

static void slcan_close(struct can_bus *b)
{
	/* A serial driver may wait in close() for an adapter that hangs. */
	if (!tty_is_empty(self(b)))
		tcflush(b->fd, TCOFLUSH);
	close(b->fd);
	free(b);
}

static const struct can_ops OPS = { slcan_recv, slcan_send, slcan_ready, slcan_unconfirmed,
	slcan_flush, slcan_close };

static int open_tty(const char *dev, char *why, size_t why_n)
{
	struct termios t;
	int fd = open(dev, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		const char *remedy = errno == ENOENT
					     ? "; is the adapter plugged in, or piper-sim running?"
				     : errno == EACCES ? "; add the user to the group 'dialout'"
						       : "";
		snprintf(why, why_n, "%s%s", strerror(errno), remedy);
		return -1;
	}
	if (tcgetattr(fd, &t)) {
		snprintf(why, why_n, "not a serial device");
		close(fd);
		return -1;
	}
	cfmakeraw(&t);
	t.c_cflag |= CLOCAL | CREAD;
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	if (tcsetattr(fd, TCSANOW, &t) || tcflush(fd, TCIFLUSH)) {
		snprintf(why, why_n, "%s", strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

struct can_bus *can_slcan_open(const char *dev, const char *spec, char *why, size_t why_n)
{
	struct can_slcan *s = calloc(1, sizeof *s);

	if (!s) {
		snprintf(why, why_n, "out of memory");
		return NULL;
	}
	(void)can_base_init(&s->base, &OPS, CAN_SLCAN, spec); /* length checked by can_open */
	s->base.fd = s->base.out_fd = open_tty(dev, why, why_n);
	if (s->base.fd < 0) {
		free(s);
		return NULL;
	}
	slcan_init(&s->in, false);
	s->opened_us = s->rx_us = s->look_us = clock_now();
	s->setup_left = SETUP_REPLIES;
	s->text_n = strlen(SETUP);
	memcpy(s->text, SETUP, s->text_n);
	if (push(s) < 0) {
		snprintf(why, why_n, "%s", strerror(errno));
		slcan_close(&s->base);
		return NULL;
	}
	return &s->base;
}
