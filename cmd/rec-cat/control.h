/*
 * Orders of people: lines in a FIFO, keys of the terminal.
 */
#ifndef REC_CAT_CONTROL_H
#define REC_CAT_CONTROL_H

#include <stdbool.h>

#include "rec-cat/episode.h"
#include "rec/line.h"
#include "run/msg.h"

struct control {
	const char *fifo; /* borrowed, NULL: none */
	int fd;           /* of the FIFO, -1: none */
	bool made, keys;  /* the FIFO was made here; keys are read */
	struct line line;
	struct msg_limit limit;
};

/* Opens the FIFO (makes it, 0600, when it is not there), and the keys when asked for and standard
 * input is a terminal in the foreground. 0; -1, reason in why. */
int control_open(struct control *c, const char *fifo, bool keys, char *why, size_t n);
/* The next order of the FIFO, EPISODE_NONE: none now. A word that is none is warned about. */
enum episode_order control_line(struct control *c);
/* What the keys that are there say; their end is a quit. */
enum episode_order control_keys(struct control *c);
/* Removes the FIFO if it was made here. */
void control_close(struct control *c);

#endif
