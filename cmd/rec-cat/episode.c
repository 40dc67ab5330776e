/* See episode.h. */
#include "rec-cat/episode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 999999999L

static const char *const order_names[] = { "", "start", "keep", "discard", "quit" };

enum episode_order episode_word(const char *text, size_t n)
{
	for (int i = EPISODE_START; i <= EPISODE_QUIT; i++)
		if (strlen(order_names[i]) == n && memcmp(text, order_names[i], n) == 0)
			return (enum episode_order)i;
	return EPISODE_NONE;
}

const char *episode_order_name(enum episode_order o)
{
	return order_names[o];
}

enum episode_order episode_keys(const char *keys, size_t n)
{
	enum episode_order last = EPISODE_NONE;

	for (size_t i = 0; i < n && last != EPISODE_QUIT; i++)
		switch (keys[i]) {
		case 's':
		case 'S': last = EPISODE_START; break;
		case 'k':
		case 'K': last = EPISODE_KEEP; break;
		case 'd':
		case 'D': last = EPISODE_DISCARD; break;
		case 'q':
		case 'Q': last = EPISODE_QUIT; break;
		default: break;
		}
	return last;
}

enum episode_order episode_event(const struct rec *r, struct episode_last *last, bool *is_unknown)
{
	enum episode_order o;

	*is_unknown = false;
	if (r->type != REC_EVENT || strcmp(r->u.event.name, "episode") != 0)
		return EPISODE_NONE;
	o = episode_word(r->u.event.value, strlen(r->u.event.value));
	*is_unknown = o == EPISODE_NONE || o == EPISODE_QUIT;
	if (*is_unknown)
		return EPISODE_NONE;
	if (last->any && last->seq == r->seq && last->t_us == r->t_us &&
		strcmp(last->src, r->src) == 0)
		return EPISODE_NONE;
	*last = (struct episode_last){ .any = true, .seq = r->seq, .t_us = r->t_us };
	memcpy(last->src, r->src, sizeof last->src);
	return o;
}

void episode_name(char *out, size_t room, time_t wall_s, long number)
{
	struct tm tm = { 0 };

	(void)gmtime_r(&wall_s, &tm); /* fails in years beyond int only */
	(void)snprintf(out, room, "%04d%02d%02dT%02d%02d%02dZ-%04ld.ndjson", tm.tm_year + 1900,
		tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, number);
}

long episode_number(const char *name)
{
	static const char shape[] = "dddddddd:dddddd:-";
	static const char *const tails[] = { ".ndjson", ".ndjson" EPISODE_PART,
		".ndjson" EPISODE_DISCARDED };
	const char *digits = name + 17;
	char *end;

	for (int i = 0; i < 17; i++) {
		bool is_digit = name[i] >= '0' && name[i] <= '9';
		if (shape[i] == 'd' ? !is_digit : name[i] != (i == 8 ? 'T' : i == 15 ? 'Z' : '-'))
			return 0;
	}
	if (*digits < '0' || *digits > '9')
		return 0;
	long n = strtol(digits, &end, 10);
	if (end - digits < 4 || end - digits > 9 || n < 1 || n > NUMBER_MAX)
		return 0;
	for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++)
		if (strcmp(end, tails[i]) == 0)
			return n;
	return 0;
}
