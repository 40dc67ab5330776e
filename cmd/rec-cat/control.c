/* See control.h. */
#include "rec-cat/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/keys.h"

int control_open(struct control *c, const char *fifo, bool keys, char *why, size_t n)
{
	struct stat st;

	*c = (struct control){ .fifo = fifo, .fd = -1 };
	line_init(&c->line);
	if (fifo != NULL) {
		c->made = mkfifo(fifo, 0600) == 0;
		/* For both directions: there is no end when a writer closes it. */
		if (c->made || (stat(fifo, &st) == 0 && S_ISFIFO(st.st_mode)))
			c->fd = open(fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		else if (errno == 0 || errno == EEXIST)
			errno = EEXIST;
		if (c->fd < 0) {
			(void)snprintf(why, n, "--control %s: %s", fifo, strerror(errno));
			return -1;
		}
	}
	if (keys && keys_possible()) {
		if (keys_open(why, n) != 0)
			return -1;
		c->keys = true;
	}
	return 0;
}

enum episode_order control_line(struct control *c)
{
	const char *text;
	size_t n;

	for (;;) {
		while (line_next(&c->line, &text, &n)) {
			enum episode_order o = episode_word(text, n);
			if (o != EPISODE_NONE)
				return o;
			warn_every(&c->limit, clock_now(),
				"%s: neither start, keep, discard nor quit: '%.*s'", c->fifo,
				n > 60 ? 60 : (int)n, text);
		}
		if (line_fill(&c->line, c->fd) <= 0)
			return EPISODE_NONE;
	}
}

enum episode_order control_keys(struct control *c)
{
	char keys[64];
	ssize_t n = read(STDIN_FILENO, keys, sizeof keys);

	(void)c;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return EPISODE_NONE;
	return n > 0 ? episode_keys(keys, (size_t)n) : EPISODE_QUIT;
}

void control_close(struct control *c)
{
	if (c->keys)
		keys_close();
	if (c->fd >= 0)
		(void)close(c->fd);
	if (c->made)
		(void)unlink(c->fifo);
	*c = (struct control){ .fd = -1 };
}
