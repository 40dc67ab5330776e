/*
 * The recorder: which episode runs, who starts and ends it, and what goes into its file.
 */
#ifndef REC_CAT_RECORDER_H
#define REC_CAT_RECORDER_H

#include "rec-cat/control.h"
#include "rec-cat/options.h"
#include "rec-cat/store.h"

#define GO_ON (-1) /* else an exit code, and the reason was said */

struct recorder {
	const struct cat_opts *o;
	struct store store;
	struct control control;
	struct episode_last last;
	bool had_episode, has_failed;
	int64_t begun_us, look_us; /* of the running episode: its start, last look at the disk */
	int64_t seq;               /* of own records */
	struct msg_limit limit;
};

/* Folder, FIFO and, when keys says so, keys. */
int recorder_open(struct recorder *r, const struct cat_opts *o, bool keys);
/* An order of a person; QUIT gives 0. It is written to the file as an event. */
int recorder_obey(struct recorder *r, enum episode_order o);
/* All orders of the FIFO. */
int recorder_obey_fifo(struct recorder *r);
/* The order in a record, NONE: none; to be given to recorder_do before (start) or behind (keep,
 * discard) the record itself. */
enum episode_order recorder_hear(struct recorder *r, const struct rec *rec);
int recorder_do(struct recorder *r, enum episode_order o);
/* One record for the file of the running episode; the first one begins one, unless told to wait. */
int recorder_take(struct recorder *r, const char *line, size_t n);
/* When recorder_look is due, -1: not. */
int64_t recorder_due(const struct recorder *r);
int recorder_look(struct recorder *r, int64_t now_us);
/* The status line. */
void recorder_show(const struct recorder *r, int64_t now_us, unsigned long missing);
/* Keeps the running episode, unless the disk failed. The exit code: code, or that of the end. */
int recorder_close(struct recorder *r, int code);

#endif
