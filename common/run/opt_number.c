/* Number parsers of opt.h: one grammar, decimal only, checked to the end of the text. */
#include "run/opt.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DURATION_MAX_US 9e15 /* exact in a double, 285 years */

static size_t digits(const char *s)
{
	return strspn(s, "0123456789");
}

/* Length of [+-] digits [. digits] [e [+-] digits] at s (one digit at least before the e); 0: none. */
static size_t number_span(const char *s)
{
	const char *p = s;
	size_t whole, part = 0;

	p += *p == '+' || *p == '-';
	whole = digits(p);
	p += whole;
	if (*p == '.') {
		part = digits(p + 1);
		p += 1 + part;
	}
	if (whole + part == 0)
		return 0;
	if (*p == 'e' || *p == 'E') {
		const char *e = p + 1;

		e += *e == '+' || *e == '-';
		if (digits(e) > 0)
			p = e + digits(e);
	}
	return (size_t)(p - s);
}

static bool in_range(double x, double lo, double hi)
{
	return isfinite(x) && (!(lo < hi) || (x >= lo && x <= hi));
}

bool opt_number(const char *text, double lo, double hi, double *out)
{
	size_t n = number_span(text);
	double x;

	if (n == 0 || text[n])
		return false;
	x = strtod(text, NULL);
	if (!in_range(x, lo, hi))
		return false;
	*out = x;
	return true;
}

bool opt_integer(const char *text, int64_t lo, int64_t hi, int64_t *out)
{
	const char *p = text + (*text == '+' || *text == '-');
	long long x;

	if (digits(p) == 0 || p[digits(p)])
		return false;
	errno = 0;
	x = strtoll(text, NULL, 10);
	if (errno || (lo < hi && (x < lo || x > hi)))
		return false;
	*out = x;
	return true;
}

bool opt_duration(const char *text, int64_t *us)
{
	static const struct {
		const char *name;
		double us;
	} units[] = { { "us", 1 }, { "ms", 1e3 }, { "s", 1e6 } };
	size_t n = number_span(text);
	double x;

	if (strcmp(text, "0") == 0) {
		*us = 0;
		return true;
	}
	for (size_t i = 0; n > 0 && i < sizeof units / sizeof *units; i++) {
		if (strcmp(text + n, units[i].name) != 0)
			continue;
		x = strtod(text, NULL) * units[i].us;
		if (!(x >= 0 && x <= DURATION_MAX_US))
			return false;
		*us = llrint(x);
		return true;
	}
	return false;
}

bool opt_numbers(const char *text, int n, double *out)
{
	for (int i = 0; i < n; i++) {
		size_t len = number_span(text);

		if (len == 0 || text[len] != (i < n - 1 ? ',' : '\0'))
			return false;
		out[i] = strtod(text, NULL);
		if (!isfinite(out[i]))
			return false;
		text += len + 1;
	}
	return true;
}

int opt_clock(void *dst, const char *text, char *why, size_t n)
{
	bool input = strcmp(text, "input") == 0;

	if (!input && strcmp(text, "mono") != 0) {
		snprintf(why, n, "'%.64s' is neither mono nor input", text);
		return -1;
	}
	*(bool *)dst = input;
	return 0;
}
