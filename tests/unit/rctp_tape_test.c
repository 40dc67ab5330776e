/* The time line of recorded packets: the rule of wire/rctp_tape.h, case by case. */
#include "wire/rctp_tape.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tap.h"

#define N 6

static const struct {
	const char *name;
	int n;
	double s[N];
	int64_t want[N];
} rows[] = {
	{ "times as they stand", 3, { 12.5, 12.52, 1e3 }, { 12500000, 12520000, 1000000000 } },
	{ "epoch times fit", 2, { 1754000000.25, 9e9 }, { 1754000000250000, 9000000000000000 } },
	{ "duplicates and reordered keep t", 4, { 1, 1, 0.5, 1.02 },
		{ 1000000, 1000000, 1000000, 1020000 } },
	{ "a restart goes on 1 s later", 3, { 100, 0.5, 0.52 },
		{ 100000000, 101000000, 101020000 } },
	{ "0.999 s back is none", 4, { 5, 4.001, 4.5, 5.1 },
		{ 5000000, 5000000, 5000000, 5100000 } },
	{ "back twice by less than 1 s each is a restart against the newest", 3, { 5, 4.4, 3.9 },
		{ 5000000, 5000000, 6000000 } },
	{ "a negative beginning starts at 0", 3, { -5, -4.5, 1 }, { 0, 500000, 6000000 } },
	{ "not finite, absurd: t of the packet before", 6,
		{ (double)NAN, 2, (double)INFINITY, -(double)INFINITY, 1e300, 2.5 },
		{ 0, 2000000, 2000000, 2000000, 2000000, 2500000 } },
};

int main(void)
{
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct rctp_tape tape = RCTP_TAPE_INIT;
		bool good = true;
		for (int i = 0; i < rows[k].n; i++) {
			int64_t got = rctp_tape_next(&tape, rows[k].s[i]);
			if (got == rows[k].want[i])
				continue;
			good = false;
			printf("# step %d: %" PRId64 ", expected %" PRId64 "\n", i, got,
				rows[k].want[i]);
		}
		ok(good, "%s", rows[k].name);
	}
	return tap_done();
}
