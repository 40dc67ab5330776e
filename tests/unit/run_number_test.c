/* Number and duration texts: taken whole or refused. */
#include <stdio.h>
#include <string.h>

#include "run/opt.h"

static int n, failed;

static void ok(bool good, const char *what, const char *text)
{
	printf("%sok %d - %s '%s'\n", good ? "" : "not ", ++n, what, text);
	failed += !good;
}

static void numbers(void)
{
	static const struct {
		const char *text;
		double value;
	} good[] = { { "0", 0 }, { "-1.5", -1.5 }, { "+2", 2 }, { ".5", 0.5 }, { "1e3", 1000 },
		{ "1E-2", 0.01 }, { "0.010", 0.01 } };
	static const char *const bad[] = { "", " 1", "1 ", "1e", "1e+", "nan", "NaN", "inf", "-inf",
		"0x10", "1,5", ".", "-", "+-1", "1..2", "1e999", "1e5.0", "one" };
	double x;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		ok(opt_number(good[i].text, 0, 0, &x) && x == good[i].value, "number",
			good[i].text);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		x = 77;
		ok(!opt_number(bad[i], 0, 0, &x) && x == 77, "no number", bad[i]);
	}
	ok(opt_number("5", 1, 5, &x), "upper end of the range", "5");
	ok(!opt_number("5.0001", 1, 5, &x), "above the range", "5.0001");
	ok(!opt_number("0.9", 1, 5, &x), "below the range", "0.9");
}

static void integers(void)
{
	static const char *const bad[] = { "", " 1", "1 ", "1.0", "1e3", "0x10", "nan", "-", "1_0",
		"9223372036854775808", "-9223372036854775809" };
	int64_t v;

	ok(opt_integer("9223372036854775807", 0, 0, &v) && v == INT64_MAX, "integer", "2^63-1");
	ok(opt_integer("-3", 0, 0, &v) && v == -3, "integer", "-3");
	ok(opt_integer("010", 0, 0, &v) && v == 10, "decimal, not octal", "010");
	ok(!opt_integer("0", 1, 1023, &v), "below the range", "0");
	ok(opt_integer("1023", 1, 1023, &v) && v == 1023, "end of the range", "1023");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!opt_integer(bad[i], 0, 0, &v), "no integer", bad[i]);
}

static void durations(void)
{
	static const struct {
		const char *text;
		int64_t us;
	} good[] = { { "100ms", 100000 }, { "1s", 1000000 }, { "25us", 25 }, { "0.5s", 500000 },
		{ "1e-3s", 1000 }, { "0", 0 }, { "0ms", 0 }, { "33.3333ms", 33333 } };
	static const char *const bad[] = { "", "100", "ms", "100 ms", "100ms ", " 1s", "1m", "1S",
		"-1ms", "nans", "infs", "1e999s", "0x1s", "1sms", "00" };
	int64_t us;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		ok(opt_duration(good[i].text, &us) && us == good[i].us, "duration", good[i].text);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!opt_duration(bad[i], &us), "no duration", bad[i]);
}

static void lists(void)
{
	static const char *const bad[] = { "1,2", "1,2,3,4", "1,2,", ",2,3", "1, 2,3", "1,2,nan",
		"1,2,3,", "1;2;3", "1,2,1e999", "" };
	double v[3];

	ok(opt_numbers("0,86,-45", 3, v) && v[0] == 0 && v[1] == 86 && v[2] == -45, "three numbers",
		"0,86,-45");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!opt_numbers(bad[i], 3, v), "not three numbers", bad[i]);
}

int main(void)
{
	numbers();
	integers();
	durations();
	lists();
	printf("1..%d\n", n);
	return failed != 0;
}
