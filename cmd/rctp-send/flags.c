#include "rctp-send/flags.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/opt.h"

static bool read_flags(const char *text, int *out)
{
	const char *digits = "0123456789";
	int base = 10;

	if (strncmp(text, "0x", 2) == 0) {
		digits = "0123456789abcdefABCDEF";
		base = 16;
		text += 2;
	}
	size_t n = strlen(text);
	if (n == 0 || n > 3 || strspn(text, digits) != n)
		return false;
	long v = strtol(text, NULL, base);
	if (v > 255)
		return false;
	*out = (int)v;
	return true;
}

static bool add(struct flags_plan *p, char *word)
{
	char *colon = strchr(word, ':');
	double at_s;
	int flags;

	if (colon == NULL || p->n == FLAGS_MAX)
		return false;
	*colon = 0;
	if (!opt_number(word, 0, 1e6, &at_s) || !read_flags(colon + 1, &flags))
		return false;
	int64_t at_us = (int64_t)(at_s * 1e6 + 0.5);
	if (p->n > 0 && at_us <= p->at_us[p->n - 1])
		return false;
	p->at_us[p->n] = at_us;
	p->flags[p->n++] = flags;
	return true;
}

int flags_parse(void *dst, const char *text, char *why, size_t n)
{
	char word[64];

	for (;;) {
		size_t len = strcspn(text, ",");
		snprintf(word, sizeof word, "%.*s", (int)(len < 63 ? len : 63), text);
		if (!add(dst, word)) {
			snprintf(why, n,
				"'%.63s' is not T:FLAGS with rising seconds T and FLAGS 0..255",
				text);
			return -1;
		}
		if (text[len] == 0)
			return 0;
		text += len + 1;
	}
}

int flags_at(const struct flags_plan *p, int64_t t_us)
{
	int flags = -1;
	for (int i = 0; i < p->n && p->at_us[i] <= t_us; i++)
		flags = p->flags[i];
	return flags;
}

enum flags_command flags_command(const char *line, size_t n, int *flags)
{
	char word[32];

	if (n >= sizeof word)
		return COMMAND_BAD;
	memcpy(word, line, n);
	word[n] = 0;
	if (strcmp(word, "stop") == 0)
		return COMMAND_STOP;
	if (strcmp(word, "flags auto") == 0) {
		*flags = -1;
		return COMMAND_FLAGS;
	}
	if (strncmp(word, "flags ", 6) == 0 && read_flags(word + 6, flags))
		return COMMAND_FLAGS;
	return COMMAND_BAD;
}
