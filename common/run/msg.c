/* See msg.h. */
#include "run/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096 /* PIPE_BUF: such a write to a pipe is whole or nothing */
#define SECOND_US 1000000

/* sd-daemon(3) priorities */
enum priority { PRIO_ERR = 3, PRIO_WARNING = 4, PRIO_INFO = 6, PRIO_NONE = -1 };

static const char *tool_name = "teleop";
static int level;
static unsigned long lost;
static bool status_open; /* a status line stands on the terminal, cursor behind it */
static bool line_cut;    /* a terminal took only a part of the last line */

/* What stderr is, looked up again when descriptor 2 changes. */
static struct {
	bool known;
	dev_t dev;
	ino_t ino;
	int fd; /* own non-blocking description, or 2 */
	bool terminal, socket, journal;
} out = { .fd = STDERR_FILENO };

static bool is_journal(const struct stat *st)
{
	const char *s = getenv("JOURNAL_STREAM");
	char here[48];

	(void)snprintf(here, sizeof(here), "%llu:%llu", (unsigned long long)st->st_dev,
		(unsigned long long)st->st_ino);
	return s && strcmp(s, here) == 0;
}

/*
 * A pipe or terminal is opened once more, so that O_NONBLOCK stays ours: set on the inherited
 * description it would reach every process that shares it (PIPELINES.md 1).  Where that is not
 * possible poll decides.  A regular file keeps its description, for the sake of its offset.
 */
static void look_up(void)
{
	struct stat st;

	if (fstat(STDERR_FILENO, &st) < 0 ||
		(out.known && st.st_dev == out.dev && st.st_ino == out.ino))
		return;
	if (out.fd != STDERR_FILENO)
		close(out.fd);
	out.known = true;
	out.dev = st.st_dev;
	out.ino = st.st_ino;
	out.fd = STDERR_FILENO;
	out.terminal = S_ISCHR(st.st_mode) && isatty(STDERR_FILENO);
	out.socket = S_ISSOCK(st.st_mode);
	out.journal = is_journal(&st);
	if (out.terminal || S_ISFIFO(st.st_mode)) {
		int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

		if (fd >= 0)
			out.fd = fd;
	}
}

/* One write that does not wait; bytes taken, or -1. */
static ssize_t write_now(const char *text, size_t n)
{
	struct pollfd p = { .fd = out.fd, .events = POLLOUT };
	void (*old)(int);
	ssize_t r;

	if (out.socket)
		return send(STDERR_FILENO, text, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT))
		return -1;
	/* The reader of stderr may be gone: that must not end the process (gate:G21). */
	old = signal(SIGPIPE, SIG_IGN);
	r = write(out.fd, text, n);
	signal(SIGPIPE, old);
	return r;
}

static void put(const char *text, size_t n)
{
	ssize_t r;

	if (line_cut || status_open) {
		if (write_now("\n", 1) != 1) {
			lost++;
			return;
		}
		line_cut = status_open = false;
	}
	r = write_now(text, n);
	if (r != (ssize_t)n) {
		lost++;
		line_cut = r > 0;
	}
}

/* Control bytes of foreign text (a file name, a datagram) do not reach the terminal. */
static void make_plain(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

__attribute__((format(printf, 2, 0))) static void say(
	enum priority prio, const char *fmt, va_list ap, const char *tail)
{
	char line[LINE_MAX_BYTES];
	size_t n = 0, start;
	int r;

	look_up();
	if (out.journal)
		n = (size_t)snprintf(line, sizeof line, "<%d>", prio);
	start = n;
	n += (size_t)snprintf(line + n, sizeof line - n, "%.64s: ", tool_name);
	r = vsnprintf(line + n, sizeof line - n - 1, fmt, ap);
	if (r > 0)
		n = strlen(line);
	r = snprintf(line + n, sizeof line - n - 1, "%s", tail);
	if (r > 0)
		n = strlen(line);
	make_plain(line + start);
	line[n++] = '\n';
	put(line, n);
}

void msg_init(const char *tool)
{
	tool_name = tool;
}

const char *msg_tool(void)
{
	return tool_name;
}

void msg_set_level(int to)
{
	level = to;
}

int msg_level(void)
{
	return level;
}

void warn(const char *fmt, ...)
{
	va_list ap;

	if (level < 0)
		return;
	va_start(ap, fmt);
	say(PRIO_WARNING, fmt, ap, "");
	va_end(ap);
}

void info(const char *fmt, ...)
{
	va_list ap;

	if (level < 1)
		return;
	va_start(ap, fmt);
	say(PRIO_INFO, fmt, ap, "");
	va_end(ap);
}

void die(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(PRIO_ERR, fmt, ap, "");
	va_end(ap);
	exit(code);
}

void warn_every(struct msg_limit *limit, int64_t now_us, const char *fmt, ...)
{
	char tail[64] = "";
	va_list ap;

	if (limit->used && now_us - limit->last_us < SECOND_US) {
		limit->held++;
		return;
	}
	if (limit->held)
		snprintf(tail, sizeof tail, " (and %lu more)", limit->held);
	limit->used = 1;
	limit->last_us = now_us;
	limit->held = 0;
	if (level < 0)
		return;
	va_start(ap, fmt);
	say(PRIO_WARNING, fmt, ap, tail);
	va_end(ap);
}

int msg_has_terminal(void)
{
	look_up();
	return out.terminal && level >= 0;
}

static void end_status(void)
{
	if (status_open && write_now("\n", 1) == 1)
		status_open = false;
}

void msg_status(const char *fmt, ...)
{
	static bool registered;
	char text[512], line[560];
	struct winsize ws;
	va_list ap;
	int n;

	if (!msg_has_terminal())
		return;
	if (!registered) {
		atexit(end_status);
		registered = true;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	make_plain(text);
	/* A line that wraps cannot be overwritten in place. */
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 1 && ws.ws_col < sizeof text)
		text[ws.ws_col - 1] = '\0';
	n = snprintf(line, sizeof line, "\r%s\033[K", text);
	if (n > 0 && write_now(line, (size_t)n) > 0)
		status_open = true;
}

void msg_line(const char *text)
{
	size_t n = strlen(text);
	char line[LINE_MAX_BYTES];

	look_up();
	if (n > 0 && text[n - 1] == '\n')
		n--;
	if (n + 1 > sizeof line) {
		lost++;
		return;
	}
	memcpy(line, text, n);
	line[n] = '\n';
	put(line, n + 1);
}

unsigned long msg_lost(void)
{
	return lost;
}

void msg_die_by_signal(int sig)
{
	sigset_t set;

	end_status();
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	_exit(128 + sig); /* only for a signal whose default is not to end */
}
