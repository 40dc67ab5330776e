/*
 * Episodes: what starts and ends one, and how its file is named. Pure: no descriptors, no clock.
 *
 *   20261130T194501Z-0001.ndjson.part        while it runs, or after the recorder was killed
 *   20261130T194501Z-0001.ndjson             kept
 *   20261130T194501Z-0001.ndjson.discarded   discarded
 */
#ifndef REC_CAT_EPISODE_H
#define REC_CAT_EPISODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "rec/record.h"

#define EPISODE_NAME_MAX 64
#define EPISODE_PART ".part"
#define EPISODE_DISCARDED ".discarded"

enum episode_order { EPISODE_NONE, EPISODE_START, EPISODE_KEEP, EPISODE_DISCARD, EPISODE_QUIT };

/* "start", "keep", "discard", "quit"; EPISODE_NONE for any other word. */
enum episode_order episode_word(const char *text, size_t n);
const char *episode_order_name(enum episode_order o);
/* s k d q of one read; the last one counts, and a quit before all. */
enum episode_order episode_keys(const char *keys, size_t n);

/* The last order that came as a record: one that is sent several times counts once. */
struct episode_last {
	bool any;
	char src[REC_SRC_MAX];
	int64_t seq, t_us;
};
/* An event named "episode": start, keep or discard. Anything else is EPISODE_NONE, also a
 * repetition; *is_unknown: such an event with another value. */
enum episode_order episode_event(const struct rec *r, struct episode_last *last, bool *is_unknown);

/* wall_s: seconds of the wall clock, UTC in the name. Without PART. */
void episode_name(char *out, size_t room, time_t wall_s, long number);
/* The number in a file's name of any of the three forms, 0: not one of ours. */
long episode_number(const char *name);

#endif
