/* See std.h. */
#include "run/std.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "run/msg.h"

void std_fill(void)
{
	static const int mode[] = { [STDIN_FILENO] = O_RDONLY,
		[STDOUT_FILENO] = O_RDONLY, /* so that a write fails */
		[STDERR_FILENO] = O_WRONLY };

	/* From below: the lowest free number is the missing one. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
			open("/dev/null", mode[fd] | O_NOCTTY) != fd)
			_exit(EXIT_RUNTIME);
}
