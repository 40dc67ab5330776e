#include "lock.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int lock_bus(const char *bus)
{
	static const char slcan[] = "slcan:";
	const size_t skip = sizeof(slcan) - 1;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char real[PATH_MAX];
	const char *name = bus;
	int fd, n;

	if (strncmp(bus, slcan, skip) == 0 && realpath(bus + skip, real))
		name = real;
	/* A leading NUL: abstract. A long path keeps its end, which tells devices apart. */
	if (strlen(name) > 80)
		name += strlen(name) - 80;
	n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "piper-can-write %s", name);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&a,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) < 0) {
		int e = errno;

		close(fd);
		errno = e;
		return -1;
	}
	return 0;
}
