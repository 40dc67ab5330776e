#include "piper-sim/control.h"

#include <string.h>

#include "piper-sim/delay.h"
#include "run/opt.h"

#define LINE_MAX_CHARS 80
#define WORDS_MAX 4

static bool one_of(const char *word, const char *yes, const char *no, bool *out)
{
	*out = strcmp(word, yes) == 0;
	return *out || strcmp(word, no) == 0;
}

static bool duration(const char *word, int64_t lo, int64_t hi, int64_t *us)
{
	return opt_duration(word, us) && *us >= lo && *us <= hi;
}

static bool silence(int n, char *const w[], struct control *c)
{
	return n == 1 || (n == 2 && duration(w[1], 1, INT64_C(3600000000), &c->us));
}

static bool numbered(const char *word, int lo, int hi, int *out)
{
	int64_t v;

	if (!opt_integer(word, lo, hi, &v))
		return false;
	*out = (int)v;
	return true;
}

static bool parse_words(int n, char *const w[], struct control *c)
{
	static const struct {
		const char *name;
		enum control_kind kind;
	} orders[] = { { "delay", CONTROL_DELAY }, { "pause", CONTROL_PAUSE },
		{ "mute", CONTROL_MUTE }, { "resume", CONTROL_RESUME },
		{ "status", CONTROL_STATUS }, { "joint", CONTROL_JOINT },
		{ "teach", CONTROL_TEACH }, { "power", CONTROL_POWER } };
	size_t i = 0;

	while (i < sizeof orders / sizeof *orders && strcmp(orders[i].name, w[0]) != 0)
		i++;
	if (i == sizeof orders / sizeof *orders)
		return false;
	c->kind = orders[i].kind;
	switch (c->kind) {
	case CONTROL_DELAY: return n == 2 && duration(w[1], 0, DELAY_MAX_US, &c->us);
	case CONTROL_PAUSE:
	case CONTROL_MUTE: return silence(n, w, c);
	case CONTROL_RESUME: return n == 1;
	case CONTROL_STATUS: return n == 2 && numbered(w[1], 0, 255, &c->value);
	case CONTROL_JOINT:
		return n == 3 && numbered(w[1], 1, ARM_JOINTS, &c->value) &&
		       one_of(w[2], "freeze", "free", &c->on);
	case CONTROL_TEACH:
	case CONTROL_POWER: return n == 2 && one_of(w[1], "on", "off", &c->on);
	}
	return false;
}

bool control_parse(const char *line, struct control *out)
{
	char text[LINE_MAX_CHARS], *words[WORDS_MAX], *rest = NULL;
	int n = 0;

	memset(out, 0, sizeof *out);
	if (strlen(line) >= sizeof text)
		return false;
	memcpy(text, line, strlen(line) + 1);
	for (char *w = strtok_r(text, " \t\r\n", &rest); w; w = strtok_r(NULL, " \t\r\n", &rest)) {
		if (n == WORDS_MAX)
			return false;
		words[n++] = w;
	}
	return n > 0 && parse_words(n, words, out);
}
