/*
 * The sink's side of the stop channel for tests: listens on URL and prints every line it hears.
 * usage: stop_listen URL     "ready" on stderr when it listens; ends by SIGTERM.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rec/endpoint.h"
#include "run/loop.h"
#include "run/msg.h"

static void hear(void *arg, short revents)
{
	const char *line;
	size_t n;

	(void)revents;
	while (ep_next(arg, &line, &n) == 1) {
		fwrite(line, 1, n, stdout);
		putchar('\n');
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct loop loop;
	struct ep *ep;
	char why[256];

	msg_init("stop_listen");
	if (argc != 2)
		die(EXIT_USAGE, "usage: stop_listen URL");
	if (loop_init(&loop, NULL, NULL) < 0)
		die(EXIT_RUNTIME, "loop");
	ep = ep_open(argv[1], EP_STOP_IN, why, sizeof why);
	if (!ep)
		die(EXIT_RUNTIME, "%s: %s", argv[1], why);
	if (loop_add(&loop, ep_fd(ep), POLLIN, hear, ep) < 0)
		die(EXIT_RUNTIME, "loop");
	fprintf(stderr, "ready\n");
	loop_run(&loop);
	ep_close(ep);
	return 0;
}
