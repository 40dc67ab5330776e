/* See slcan_pty.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "run/clock.h"
#include "wire/can_impl.h"
#include "wire/slcan.h"
#include "wire/slcan_pty.h"

#define OUT_MAX 8192
#define OUT_KEPT 4096 /* of it for answers */
/* A host that left this many bytes unread gets no more bus frames: what it reads after a pause is
 * then at most a few dozen frames old, as from an adapter with a small buffer. */
#define UNREAD_MAX 2048

struct slcan_pty {
	struct can_bus base;
	int slave; /* held open, so that a host that goes is no hangup */
	char path[CAN_SPEC_MAX];
	char slave_name[64];
	struct slcan in;
	char rx[1024];
	size_t rx_n, rx_at;
	char out[OUT_MAX];
	size_t out_n;
	unsigned long openings;
	bool is_open, listen_only, stalled, refuses;
	int64_t delay_us;
	struct can_rx held; /* on the wire until due_us */
	int64_t due_us;     /* -1: none */
};

static struct slcan_pty *self(struct can_bus *b)
{
	return (struct slcan_pty *)b;
}

static const struct slcan_pty *self_const(const struct can_bus *b)
{
	return (const struct slcan_pty *)b;
}

static void set_events(struct slcan_pty *p)
{
	/* Not POLLIN while nothing would be read: the caller's poll must not spin. */
	bool reads = !p->stalled && p->due_us < 0;

	p->base.events = (short)((reads ? POLLIN : 0) | (p->out_n && !p->stalled ? POLLOUT : 0));
}

static int push(struct slcan_pty *p)
{
	size_t at = 0;
	int err = 0;

	while (at < p->out_n && !p->stalled) {
		ssize_t w = write(p->base.fd, p->out + at, p->out_n - at);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
			err = -1;
		if (w <= 0)
			break;
		at += (size_t)w;
	}
	memmove(p->out, p->out + at, p->out_n - at);
	p->out_n -= at;
	set_events(p);
	return err ? -1 : p->out_n == 0;
}

static bool append(struct slcan_pty *p, const char *text, size_t n, size_t room)
{
	if (p->out_n + n > room)
		return false;
	memcpy(p->out + p->out_n, text, n);
	p->out_n += n;
	return true;
}

/* There is room: nothing is read while there is none for its answer. */
static void answer(struct slcan_pty *p, const char *text)
{
	(void)append(p, text, strlen(text), OUT_MAX);
}

static void command(struct slcan_pty *p, const char *cmd)
{
	bool wrong = false;

	switch (cmd[0]) {
	case 'O':
	case 'L':
		wrong = p->is_open;
		if (!wrong) {
			p->openings++;
			p->is_open = true;
			p->listen_only = cmd[0] == 'L';
		}
		break;
	case 'C':
		wrong = !p->is_open;
		p->is_open = false;
		break;
	case 'S':
	case 's': wrong = p->is_open; break;
	case 'F': answer(p, "F00\r"); return;
	case 'V': answer(p, "V1013\r"); return;
	case 'N': answer(p, "NTELE\r"); return;
	case '\0':
	case 'Z':
	case 'M':
	case 'm': break;
	default: wrong = true;
	}
	answer(p, wrong ? "\a" : "\r");
}

/* A frame of the host reaches the bus. */
static void deliver(struct slcan_pty *p, struct can_rx *out)
{
	*out = p->held;
	out->t_us = clock_now();
	p->due_us = -1;
	p->base.counts.received++;
	answer(p, out->f.can_id & CAN_EFF_FLAG ? "Z\r" : "z\r");
}

static void take(struct slcan_pty *p, const struct can_frame *f)
{
	if (!p->is_open || p->listen_only || p->refuses) {
		p->base.counts.refused++;
		answer(p, "\a");
		return;
	}
	memset(&p->held, 0, sizeof p->held);
	p->held.f = *f;
	p->due_us = clock_now() + p->delay_us;
}

static void parse(struct slcan_pty *p)
{
	struct can_frame f;

	while (p->rx_at < p->rx_n && p->due_us < 0) {
		switch (slcan_byte(&p->in, p->rx[p->rx_at++], &f)) {
		case SLCAN_FRAME: take(p, &f); break;
		case SLCAN_COMMAND: command(p, p->in.cmd); break;
		case SLCAN_DAMAGED:
			p->base.counts.damaged++;
			answer(p, "\a");
			break;
		default: break;
		}
	}
}

/* True when the answers to a full read buffer would fit: the longest is six bytes for a line of two. */
static bool has_room(const struct slcan_pty *p)
{
	return p->out_n + 3 * sizeof p->rx <= OUT_MAX;
}

static int pty_recv(struct can_bus *b, struct can_rx *out)
{
	struct slcan_pty *p = self(b);

	if (push(p) < 0)
		return -1;
	while (!p->stalled) {
		ssize_t n;
		parse(p);
		if (p->due_us >= 0) {
			bool due = clock_now() >= p->due_us;
			if (due)
				deliver(p, out);
			return push(p) < 0 ? -1 : due;
		}
		if (!has_room(p) && !push(p) && !has_room(p))
			break;
		n = read(b->fd, p->rx, sizeof p->rx);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n <= 0) {
			if (n == 0)
				errno = EIO;
			return -1;
		}
		p->rx_n = (size_t)n;
		p->rx_at = 0;
	}
	return push(p) < 0 ? -1 : 0;
}

static bool host_reads(const struct slcan_pty *p)
{
	int unread = 0;

	return !ioctl(p->slave, FIONREAD, &unread) && unread < UNREAD_MAX;
}

static int pty_send(struct can_bus *b, const struct can_frame *f, int n, int64_t t_us, bool urgent)
{
	struct slcan_pty *p = self(b);
	char text[SLCAN_TEXT_MAX];
	bool reads = host_reads(p);

	(void)t_us, (void)urgent;
	for (int i = 0; i < n && p->is_open; i++) {
		int len = slcan_print(&f[i], text);
		if (len < 0 || p->stalled || !reads ||
			!append(p, text, (size_t)len, OUT_MAX - OUT_KEPT))
			b->counts.overflow++;
	}
	return push(p) < 0 ? 0 : n;
}

static bool pty_ready(const struct can_bus *b)
{
	(void)b;
	return true;
}

static int pty_unconfirmed(const struct can_bus *b)
{
	(void)b;
	return 0;
}

static int pty_flush(struct can_bus *b)
{
	return push(self(b));
}

static void pty_close(struct can_bus *b)
{
	struct slcan_pty *p = self(b);
	char target[sizeof p->slave_name] = "";

	/* Only our own link: another simulator may have taken the path over. */
	if (p->path[0] && readlink(p->path, target, sizeof target - 1) > 0 &&
		!strcmp(target, p->slave_name))
		unlink(p->path);
	if (p->slave >= 0)
		close(p->slave);
	if (b->fd >= 0)
		close(b->fd);
	free(p);
}

static const struct can_ops OPS = { pty_recv, pty_send, pty_ready, pty_unconfirmed, pty_flush,
	pty_close };

/* The mark of a running adapter, on its terminal: the number of a pty comes again, a lock goes with
 * the process. Nobody else's, so that it is no matter for hosts. */
static int lock(int fd, int how)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, how, &l))
		return -1;
	return how == F_OFD_GETLK && l.l_type != F_UNLCK ? 1 : 0;
}

static int open_pair(struct slcan_pty *p)
{
	struct termios t;

	p->base.fd = p->base.out_fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (p->base.fd < 0 || grantpt(p->base.fd) || unlockpt(p->base.fd) ||
		ptsname_r(p->base.fd, p->slave_name, sizeof p->slave_name))
		return -1;
	p->slave = open(p->slave_name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (p->slave < 0 || lock(p->slave, F_OFD_SETLK) || tcgetattr(p->slave, &t))
		return -1;
	cfmakeraw(&t);
	return tcsetattr(p->slave, TCSANOW, &t);
}

/* Does the link lead to a pty that an adapter holds? When in doubt it does. */
static bool is_held(const char *path)
{
	char target[64] = "";
	int fd;

	if (readlink(path, target, sizeof target - 1) < 0 || strncmp(target, "/dev/pts/", 9) != 0)
		return false;
	fd = open(target, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT && errno != ENXIO && errno != EIO;
	int rc = lock(fd, F_OFD_GETLK);
	close(fd);
	return rc != 0;
}

/* The link appears at once and whole: made beside its place, then renamed. */
static int make_link(struct slcan_pty *p, const char *path)
{
	char tmp[CAN_SPEC_MAX + 16];
	struct stat st;

	if (!lstat(path, &st) && !S_ISLNK(st.st_mode)) {
		errno = EEXIST;
		return -1;
	}
	if (is_held(path)) {
		errno = EADDRINUSE;
		return -1;
	}
	snprintf(tmp, sizeof tmp, "%s.%ld", path, (long)getpid());
	if (symlink(p->slave_name, tmp))
		return -1;
	if (rename(tmp, path)) {
		int err = errno;
		unlink(tmp);
		errno = err;
		return -1;
	}
	snprintf(p->path, sizeof p->path, "%s", path);
	return 0;
}

struct can_bus *slcan_pty_open(const char *path, char *why, size_t why_n)
{
	struct slcan_pty *p = calloc(1, sizeof *p);
	char spec[CAN_SPEC_MAX + 8];

	if (!p) {
		snprintf(why, why_n, "out of memory");
		return NULL;
	}
	snprintf(spec, sizeof spec, "slcan:%s", path);
	p->slave = -1;
	p->due_us = -1;
	slcan_init(&p->in, true);
	if (!can_base_init(&p->base, &OPS, CAN_SLCAN, spec)) {
		snprintf(why, why_n, "path too long");
		goto out;
	}
	if (open_pair(p)) {
		snprintf(why, why_n, "no pseudo-terminal: %s; is /dev/pts mounted?",
			strerror(errno));
		goto out;
	}
	if (make_link(p, path)) {
		snprintf(why, why_n, "%s", strerror(errno));
		goto out;
	}
	set_events(p);
	return &p->base;
out:
	pty_close(&p->base);
	return NULL;
}

void slcan_pty_delay(struct can_bus *b, int64_t us)
{
	self(b)->delay_us = us;
}

int64_t slcan_pty_wake(const struct can_bus *b)
{
	return self_const(b)->stalled ? -1 : self_const(b)->due_us;
}

void slcan_pty_stall(struct can_bus *b, bool on)
{
	self(b)->stalled = on;
	set_events(self(b));
}

void slcan_pty_refuse(struct can_bus *b, bool on)
{
	self(b)->refuses = on;
}

void slcan_pty_state(struct can_bus *b, char state, unsigned rx_errors, unsigned tx_errors)
{
	char text[16];

	snprintf(text, sizeof text, "s%c%03u%03u\r", state, rx_errors % 1000, tx_errors % 1000);
	answer(self(b), text);
	(void)push(self(b)); /* a lost line shows in can_recv */
}

bool slcan_pty_is_open(const struct can_bus *b)
{
	return self_const(b)->is_open;
}

unsigned long slcan_pty_openings(const struct can_bus *b)
{
	return self_const(b)->openings;
}
