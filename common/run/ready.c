/* See ready.h. */
#include "run/ready.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "run/msg.h"

static void write_line(int fd, const char *detail)
{
	char line[256];
	int n = snprintf(line, sizeof line, "%s\n", detail);
	void (*old)(int);

	if (n < 0 || n >= (int)sizeof line) {
		warn("--ready-fd %d: line too long", fd);
	} else {
		/* Nobody may be reading any more: that is no reason to die. */
		old = signal(SIGPIPE, SIG_IGN);
		if (write(fd, line, (size_t)n) != n)
			warn("--ready-fd %d: %s", fd, strerror(errno));
		signal(SIGPIPE, old);
	}
	if (close(fd) < 0)
		warn("--ready-fd %d: %s", fd, strerror(errno));
}

void ready_say(int fd, const char *detail)
{
	if (fd >= 0)
		write_line(fd, detail ? detail : "ready");
	ready_notify("READY=1");
}

void ready_notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	size_t n;
	int fd;

	if (!path || !*path)
		return;
	n = strlen(path);
	if ((path[0] != '/' && path[0] != '@') || n >= sizeof sa.sun_path) {
		warn("NOTIFY_SOCKET: '%s': neither a path nor an abstract name", path);
		return;
	}
	memcpy(sa.sun_path, path, n);
	if (path[0] == '@')
		sa.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		warn("NOTIFY_SOCKET: %s", strerror(errno));
		return;
	}
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&sa,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
		warn("NOTIFY_SOCKET: '%s': %s", path, strerror(errno));
	close(fd);
}
