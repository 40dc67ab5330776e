/*
 * A recording, again at its own pace.
 */
#ifndef REC_CAT_PLAY_H
#define REC_CAT_PLAY_H

#include "rec-cat/options.h"

/* Replays o->file to its end (or again and again); returns the exit code for main, or ends by the
 * signal that ended it. */
int play_run(struct cat_opts *o);

#endif
