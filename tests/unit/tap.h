/* TAP for unit tests: ok(claim, fmt, ...) per behaviour, `return tap_done();` at the end. */
#ifndef UNIT_TAP_H
#define UNIT_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_bad;

__attribute__((format(printf, 2, 3))) static inline bool ok(bool is_so, const char *fmt, ...)
{
	va_list ap;

	if (!is_so)
		tap_bad++;
	printf("%sok %d - ", is_so ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	return is_so;
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_bad > 0;
}

#endif
