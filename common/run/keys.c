/* See keys.h. */
#include "run/keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "run/msg.h"

static struct termios saved;
static bool is_raw;

int keys_possible(void)
{
	return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void keys_close(void)
{
	if (is_raw)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &saved); /* leaving: nothing left to do */
	is_raw = false;
}

int keys_open(char *why, size_t n)
{
	struct termios t;

	if (tcgetpgrp(STDIN_FILENO) != getpgrp()) {
		(void)snprintf(why, n, "standard input: keys need a program in the foreground");
		return EXIT_USAGE;
	}
	if (tcgetattr(STDIN_FILENO, &saved) == 0) {
		t = saved;
		t.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
		t.c_cc[VMIN] = 1;
		t.c_cc[VTIME] = 0;
		t.c_cc[VSUSP] = t.c_cc[VQUIT] = _POSIX_VDISABLE;
		(void)atexit(keys_close); /* without it the caller still closes */
		is_raw = true;
		if (tcsetattr(STDIN_FILENO, TCSANOW, &t) == 0)
			return 0;
	}
	(void)snprintf(why, n, "standard input: %s", strerror(errno));
	return EXIT_RUNTIME;
}
