/* Endpoints; see endpoint.h. Here: streams, and which of the two a call goes to. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rec/endpoint.h"
#include "rec/endpoint_nng.h"
#include "rec/line.h"

#define CLOSE_WAIT_MS 1000 /* for the rest of a line that a terminal or socket took in part */

struct ep {
	struct ep_nng *nng; /* else a stream */
	int fd;
	bool is_own, is_input, is_socket;
	struct ep_counts counts;
	/* Outputs: what a terminal or socket has not taken yet of a line it began. */
	char rest[REC_LINE_MAX];
	size_t rest_n;
	struct line *in; /* inputs */
};

/* Whether where is an URL this role can have. */
static bool is_url(const char *where, enum ep_role role)
{
	static const char *const schemes[] = { "ipc://", "tcp://", "tls+tcp://", "ws://",
		"wss://" };

	if ((role == EP_OUT && strncmp(where, "push+", 5) == 0) ||
		(role == EP_IN && strncmp(where, "pull+", 5) == 0))
		where += 5;
	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
		if (strncmp(where, schemes[i], strlen(schemes[i])) == 0)
			return true;
	return false;
}

/* INT, TERM or HUP waits behind the mask (see loop_init). */
static bool is_ending(void)
{
	sigset_t set;

	return sigpending(&set) == 0 &&
	       (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1 ||
		       sigismember(&set, SIGHUP) == 1);
}

/* Never inside open(): a FIFO without its other end would hold us there, deaf to signals. A FIFO
 * to read needs no writer yet; one to write waits here for its reader. */
static int open_path(const char *path, bool is_input)
{
	int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd;

	flags |= is_input ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
	while ((fd = open(path, flags, 0666)) < 0 && errno == ENXIO && !is_input) {
		struct stat st;
		if (stat(path, &st) != 0 || !S_ISFIFO(st.st_mode)) {
			errno = ENXIO;
			return -1;
		}
		if (is_ending()) {
			errno = EINTR;
			return -1;
		}
		(void)nanosleep(
			&(struct timespec){ 0, 10000000 }, NULL); /* a signal ends it early */
	}
	if (fd >= 0)
		(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK); /* ours alone */
	return fd;
}

/* A terminal that stands still (^S) says it is writable and then blocks: it gets a description
 * of its own that does not. */
static int own_terminal(int fd)
{
	char path[32];

	if (!isatty(fd))
		return -1;
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static int open_stream(struct ep *e, const char *where)
{
	struct stat st;

	if (strcmp(where, "-") != 0) {
		e->fd = open_path(where, e->is_input);
		e->is_own = true;
	} else {
		e->fd = e->is_input ? STDIN_FILENO : STDOUT_FILENO;
	}
	if (e->fd < 0 || fstat(e->fd, &st) != 0)
		return -1;
	e->is_socket = S_ISSOCK(st.st_mode);
	int terminal = e->is_input ? -1 : own_terminal(e->fd);
	if (terminal >= 0) {
		if (e->is_own)
			(void)close(e->fd); /* nothing written yet */
		e->fd = terminal;
		e->is_own = true;
	}
	if (!e->is_input)
		return 0;
	e->in = malloc(sizeof *e->in);
	if (e->in == NULL)
		return -1;
	line_init(e->in);
	return 0;
}

struct ep *ep_open(const char *where, enum ep_role role, char *why, size_t why_n)
{
	bool url = is_url(where, role);
	struct ep *e;
	int cause;

	if (!url && (role == EP_STOP_IN || role == EP_STOP_OUT)) {
		(void)snprintf(why, why_n, "%s: not an nng URL", where);
		errno = EINVAL;
		return NULL;
	}
	if (!url && strcmp(where, "-") != 0 &&
		(strchr(where, '/') == NULL || strstr(where, "://") != NULL)) {
		(void)snprintf(why, why_n,
			"%s: neither -, a path with /, nor an ipc, tcp, tls+tcp, ws or wss URL",
			where);
		errno = EINVAL;
		return NULL;
	}
	e = calloc(1, sizeof *e);
	if (e == NULL) {
		(void)snprintf(why, why_n, "%s: out of memory", where);
		errno = ENOMEM;
		return NULL;
	}
	e->fd = -1;
	e->is_input = role == EP_IN || role == EP_STOP_IN;
	if (url) {
		e->nng = ep_nng_open(where, role, &e->counts, why, why_n);
		if (e->nng != NULL)
			return e;
		cause = errno;
	} else {
		if (open_stream(e, where) == 0)
			return e;
		cause = errno;
		(void)snprintf(why, why_n, "%s: %s", where, strerror(cause));
		if (cause == EINVAL)
			cause = EIO; /* the word is an endpoint */
		if (e->is_own && e->fd >= 0)
			(void)close(e->fd); /* nothing written */
	}
	free(e);
	errno = cause;
	return NULL;
}

bool ep_is_nng(const struct ep *e)
{
	return e->nng != NULL;
}

int ep_fd(const struct ep *e)
{
	return e->nng != NULL ? ep_nng_fd(e->nng) : e->fd;
}

int ep_lost(const struct ep *e)
{
	return e->nng == NULL ? 0 : ep_nng_lost(e->nng);
}

void ep_tend(struct ep *e)
{
	if (e->nng != NULL)
		ep_nng_tend(e->nng);
}

int ep_peers(const struct ep *e)
{
	return e->nng != NULL ? ep_nng_peers(e->nng) : 0;
}

struct ep_counts ep_counts(const struct ep *e)
{
	struct ep_counts c = e->counts;

	if (e->in != NULL) {
		c.overlong = e->in->overlong;
		c.partial = e->in->partial;
	}
	return c;
}

int ep_next(struct ep *e, const char **line, size_t *n)
{
	if (e->nng != NULL)
		return ep_nng_next(e->nng, line, n);
	for (;;) {
		struct pollfd p = { .fd = e->fd, .events = POLLIN };
		if (line_next(e->in, line, n)) {
			e->counts.lines++;
			return 1;
		}
		if (e->in->eof) {
			errno = 0;
			return -1;
		}
		if (poll(&p, 1, 0) <= 0)
			return 0;
		long got = line_fill(e->in, e->fd);
		if (got < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
	}
}

static long write_some(struct ep *e, const char *bytes, size_t n)
{
	return e->is_socket ? send(e->fd, bytes, n, MSG_DONTWAIT) : write(e->fd, bytes, n);
}

/* 1 nothing is left of the line begun, 0 something is, -1 errno. */
static int write_rest(struct ep *e)
{
	while (e->rest_n > 0) {
		long n = write_some(e, e->rest, e->rest_n);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		e->rest_n -= (size_t)n;
		memmove(e->rest, e->rest + n, e->rest_n);
	}
	return 1;
}

/* Waits up to ms for room, or for the reader's end. 1, 0 none yet, -1 errno. */
static int wait_room(const struct ep *e, int ms)
{
	struct pollfd p = { .fd = e->fd, .events = POLLOUT };
	int rc = poll(&p, 1, ms);

	return rc < 0 && errno == EINTR ? 0 : rc;
}

static unsigned long count_lines(const char *s, size_t n)
{
	unsigned long count = 0;

	for (size_t i = 0; i < n; i++)
		count += s[i] == '\n';
	return count;
}

bool ep_has_rest(const struct ep *e)
{
	return e->rest_n > 0;
}

int ep_try(struct ep *e, const char *line, size_t n)
{
	if (e->nng != NULL)
		return ep_nng_send(e->nng, line, n) == 0 ? 1 : -1;
	if (n > REC_LINE_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	int room = wait_room(e, 0);
	if (room <= 0)
		return room;
	room = write_rest(e);
	if (room <= 0 || n == 0)
		return room;
	/* A pipe with POLLOUT takes 4096 bytes whole; a file takes all it is given. */
	long done = write_some(e, line, n);
	if (done < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	e->rest_n = n - (size_t)done;
	memcpy(e->rest, line + done, e->rest_n);
	e->counts.lines += count_lines(line, n);
	return 1;
}

/* As many whole lines as fit one write. */
static size_t batch(const char *lines, size_t n)
{
	if (n <= REC_LINE_MAX)
		return n;
	const char *newline = memrchr(lines, '\n', REC_LINE_MAX);
	return newline == NULL ? REC_LINE_MAX : (size_t)(newline - lines) + 1;
}

int ep_put(struct ep *e, const char *line, size_t n)
{
	while (n > 0) {
		size_t part = e->nng != NULL ? n : batch(line, n);
		int rc = ep_try(e, line, part);
		if (rc < 0)
			return -1;
		if (rc == 0) {
			if (wait_room(e, -1) < 0)
				return -1;
			continue;
		}
		line += part;
		n -= part;
	}
	return 0;
}

/* The reader of stdout sees its end now, not when what else there is has been closed; the
 * descriptor itself stays taken. */
static void let_go(int fd)
{
	int none = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (none < 0)
		return;
	(void)dup2(none, fd); /* the end of the process closes it otherwise */
	(void)close(none);
}

static int close_stream(struct ep *e)
{
	int rc = 0, fd;

	if (e->rest_n > 0) {
		(void)wait_room(e, CLOSE_WAIT_MS); /* the write tells */
		rc = write_rest(e);
		if (rc == 0)
			errno = EAGAIN;
		rc = rc == 1 ? 0 : -1;
	}
	/* Closing is where some file systems report; stdin stays open for the process. */
	fd = e->is_own ? e->fd : e->is_input ? -1 : dup(e->fd);
	if (fd >= 0 && close(fd) != 0 && errno != EINTR)
		rc = -1;
	if (!e->is_own && !e->is_input)
		let_go(e->fd);
	return rc;
}

int ep_close(struct ep *e)
{
	int rc = 0;

	if (e == NULL)
		return 0;
	if (e->nng != NULL)
		ep_nng_close(e->nng);
	else
		rc = close_stream(e);
	int saved = errno;
	free(e->in);
	free(e);
	errno = saved;
	return rc;
}
