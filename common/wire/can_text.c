/* Ideal arms: candump -L text, and frames as datagrams.  Nothing ever comes back. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire/can_impl.h"

#define BUS_NAME "can0"
#define LINE_MAX_CAN 80
#define BUFFER 65536

struct can_text {
	struct can_bus base;
	char buf[BUFFER];
	size_t n;
	int lost; /* errno of a write that failed: nothing is written after a gap */
};

static int nothing(struct can_bus *b, struct can_rx *out)
{
	(void)b, (void)out;
	return 0;
}

static bool always(const struct can_bus *b)
{
	(void)b;
	return true;
}

static int none(const struct can_bus *b)
{
	(void)b;
	return 0;
}

/* Standard output is shared, so it is not made non-blocking: poll says whether a piece of at most
 * PIPE_BUF bytes goes without waiting. After an error the bus is lost. */
static int text_flush(struct can_bus *b)
{
	struct can_text *t = (struct can_text *)b;

	errno = t->lost;
	if (t->lost)
		return -1;
	while (t->n) {
		struct pollfd p = { .fd = b->out_fd, .events = POLLOUT };
		size_t piece = t->n < 4096 ? t->n : 4096;
		ssize_t w;
		if (poll(&p, 1, 0) <= 0)
			return 0;
		w = write(b->out_fd, t->buf, piece);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && errno == EAGAIN)
			return 0;
		if (w < 0) {
			t->lost = errno;
			t->n = 0; /* refused: not to be sent later */
			return -1;
		}
		t->n -= (size_t)w;
		memmove(t->buf, t->buf + w, t->n);
	}
	return 1;
}

static int text_send(struct can_bus *b, const struct can_frame *f, int n, int64_t t_us, bool urgent)
{
	struct can_text *t = (struct can_text *)b;
	size_t at;

	(void)urgent;
	if (sizeof t->buf - t->n < (size_t)n * LINE_MAX_CAN && text_flush(b) < 0)
		return 0;
	at = t->n;
	for (int i = 0; i < n; i++) {
		int len = can_print(&f[i], t_us, BUS_NAME, t->buf + at, sizeof t->buf - at);
		if (len < 0) {
			errno = f[i].len > CAN_MAX_DLEN || t_us < 0 ? EINVAL : EAGAIN;
			return 0;
		}
		at += (size_t)len;
	}
	t->n = at;
	return text_flush(b) < 0 ? 0 : n;
}

static void text_close(struct can_bus *b)
{
	if (b->out_fd != STDOUT_FILENO)
		close(b->out_fd);
	free(b);
}

static const struct can_ops TEXT = { nothing, text_send, always, none, text_flush, text_close };

struct can_bus *can_text_open(const char *path, char *why, size_t why_n)
{
	struct can_text *t = calloc(1, sizeof *t);
	bool std = !strcmp(path, "-");

	if (!t) {
		snprintf(why, why_n, "out of memory");
		return NULL;
	}
	(void)can_base_init(&t->base, &TEXT, CAN_TEXT, path); /* length checked by can_open */
	/* Non-blocking, so that a FIFO without a reader is an error (ENXIO) and not a wait. */
	t->base.out_fd =
		std ? STDOUT_FILENO
		    : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
	if (t->base.out_fd < 0) {
		snprintf(why, why_n, "%s",
			errno == ENXIO ? "nobody reads this FIFO; start its reader first"
				       : strerror(errno));
		free(t);
		return NULL;
	}
	return &t->base;
}

static int gram_send(struct can_bus *b, const struct can_frame *f, int n, int64_t t_us, bool urgent)
{
	int done = 0;

	(void)t_us, (void)urgent;
	while (done < n) {
		ssize_t w = send(b->out_fd, &f[done], sizeof *f, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			break;
		done++;
	}
	return done;
}

static int gram_flush(struct can_bus *b)
{
	(void)b; /* what was accepted lies with the reader */
	return 1;
}

static void gram_close(struct can_bus *b)
{
	close(b->out_fd);
	free(b);
}

static const struct can_ops GRAM = { nothing, gram_send, always, none, gram_flush, gram_close };

struct can_bus *can_unixgram_open(const char *path, const char *spec, char *why, size_t why_n)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct can_bus *b;
	int fd;

	if (!*path ||
		snprintf(a.sun_path, sizeof a.sun_path, "%s", path) >= (int)sizeof a.sun_path) {
		snprintf(why, why_n, "path empty or longer than %zu characters",
			sizeof a.sun_path - 1);
		return NULL;
	}
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a)) {
		snprintf(why, why_n, "%s; start the reader of the socket first", strerror(errno));
		goto out;
	}
	b = calloc(1, sizeof *b);
	if (b) {
		(void)can_base_init(b, &GRAM, CAN_UNIXGRAM, spec); /* length checked by can_open */
		b->out_fd = fd;
		return b;
	}
	snprintf(why, why_n, "out of memory");
out:
	if (fd >= 0)
		close(fd);
	return NULL;
}
