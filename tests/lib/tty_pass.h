/*
 * Witness of the kernel's worker that carries bytes through terminals and serial lines: who polls
 * or reads one waits in the kernel until that worker has run, also with O_NONBLOCK.
 */
#ifndef LIB_TTY_PASS_H
#define LIB_TTY_PASS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "run/clock.h"

/* fd[0] reads what is written to fd[1]; false: no pseudo-terminal here. */
static bool tty_pair(int fd[2])
{
	struct termios t;
	char name[64];

	fd[1] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd[1] < 0 || grantpt(fd[1]) || unlockpt(fd[1]) || ptsname_r(fd[1], name, sizeof name))
		return false;
	fd[0] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd[0] < 0 || tcgetattr(fd[0], &t))
		return false;
	cfmakeraw(&t);
	return tcsetattr(fd[0], TCSANOW, &t) == 0;
}

/* One byte through it: us, -1 on error. */
static int64_t tty_pass(const int fd[2])
{
	int64_t begin = clock_now();
	char c = 0;

	if (write(fd[1], &c, 1) != 1 || read(fd[0], &c, 1) != 1)
		return -1;
	return clock_now() - begin;
}

#endif
