/* Kernel stamps become monotonic times once; outside 0..1 s they count as stale (DESIGN.md 3). */
#include <stdbool.h>
#include <stdio.h>

#include "run/clock.h"

static int n, failed;

static void ok(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++n, what);
	failed += !good;
}

static void convert(const char *what, int64_t stamp, int ret, int64_t t)
{
	int64_t got = -1;
	int r = clock_convert(stamp, 1700000000000000, 5000000, &got);

	ok(r == ret && got == t, what);
}

int main(void)
{
	int64_t now = 1700000000000000, t, before, after;
	struct timespec ts;

	convert("a stamp of now", now, 0, 5000000);
	convert("250 us old", now - 250, 0, 4999750);
	convert("exactly 1 s old", now - 1000000, 0, 4000000);
	convert("1 s and 1 us old: stale", now - 1000001, -1, 4000000);
	convert("an hour old (wall clock stepped): stale", now - 3600000000, -1, 4000000);
	convert("1 us in the future: stale", now + 1, -1, 4000000);
	convert("stamp 0 (no stamp): stale", 0, -1, 4000000);
	convert("most negative stamp: stale, no overflow", INT64_MIN, -1, 4000000);
	convert("largest stamp: stale", INT64_MAX, -1, 4000000);

	before = clock_now();
	clock_gettime(CLOCK_REALTIME, &ts);
	after = clock_now();
	ok(clock_from_stamp(&ts, &t) == 0 && t >= before - 1000 && t <= after + 1000,
		"a stamp taken now converts to now");
	ts.tv_sec += 5;
	ok(clock_from_stamp(&ts, &t) == -1 && t <= clock_now() - 1000000, "5 s ahead: stale");
	ts.tv_sec = INT64_MAX;
	ok(clock_from_stamp(&ts, &t) == -1 && t <= clock_now() - 1000000,
		"a stamp beyond 64 bits of us: stale");
	printf("1..%d\n", n);
	return failed != 0;
}
