/* See orders.h. */
#include "estop/orders.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	enum order_kind kind;
} words[] = {
	{ "stop", ORDER_STOP },
	{ "estop", ORDER_STOP },
	{ "hold", ORDER_HOLD },
	{ "reset", ORDER_RESET },
	{ "engage", ORDER_ENGAGE },
};

enum order_kind order_word(const char *text)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(text, words[i].word) == 0)
			return words[i].kind;
	return ORDER_NONE;
}

static enum order_kind order_key(char key)
{
	switch (key) {
	case ' ':
	case 0x1b: return ORDER_STOP;
	case 'h':
	case 'H': return ORDER_HOLD;
	case 'r':
	case 'R': return ORDER_RESET;
	case 'e':
	case 'E': return ORDER_ENGAGE;
	case 'q':
	case 'Q': return ORDER_QUIT;
	default: return ORDER_NONE;
	}
}

enum order_kind order_keys(const char *keys, size_t n)
{
	enum order_kind last = ORDER_NONE;

	for (size_t i = 0; i < n; i++) {
		enum order_kind k = order_key(keys[i]);

		if (k == ORDER_STOP)
			return ORDER_STOP;
		/* Quitting holds; a hold is not undone by a key of the same moment. */
		if (k == ORDER_QUIT || last == ORDER_QUIT)
			last = ORDER_QUIT;
		else if (k == ORDER_HOLD || last == ORDER_HOLD)
			last = ORDER_HOLD;
		else if (k != ORDER_NONE)
			last = k;
	}
	return last;
}

static void from_record(const struct rec *r, struct order *o)
{
	o->t_us = r->t_us;
	if (r->type == REC_STOP) {
		o->kind = r->u.stop.level == REC_ESTOP ? ORDER_STOP : ORDER_HOLD;
		snprintf(o->why, sizeof o->why, "%s", r->u.stop.why);
	} else if (r->type == REC_EVENT && strcmp(r->u.event.name, "reset") == 0) {
		o->kind = ORDER_RESET;
	} else if (r->type == REC_EVENT && strcmp(r->u.event.name, "engage") == 0) {
		o->kind = ORDER_ENGAGE;
	}
	if (o->kind == ORDER_RESET || o->kind == ORDER_ENGAGE)
		snprintf(o->why, sizeof o->why, "%s", r->u.event.value);
}

int order_line(const char *line, size_t n, int64_t now_us, struct order *o, char *why, size_t why_n)
{
	struct rec r;
	char word[16];

	*o = (struct order){ .kind = ORDER_NONE, .t_us = now_us };
	if (n > 0 && line[0] == '{') {
		if (rec_parse(line, n, &r, why, why_n) == 0) {
			from_record(&r, o);
			return 0;
		}
	} else {
		if (n < sizeof word && !memchr(line, '\0', n)) {
			memcpy(word, line, n);
			word[n] = '\0';
			o->kind = order_word(word);
		}
		if (o->kind != ORDER_NONE)
			return 0;
		snprintf(why, why_n, "neither stop, hold, reset or engage nor a record");
	}
	o->kind = ORDER_HOLD;
	snprintf(o->why, sizeof o->why, "line not understood");
	return -1;
}
