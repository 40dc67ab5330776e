/* Time between hosts: the two forms of a line, and the rule for t. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rec/endpoint_age.h"
#include "rec/record.h"
#include "tap.h"

#define POSE                                                                                       \
	",\"frame\":\"base\",\"valid\":true,\"p\":[0.000000000,0.000000000,0.000000000],"          \
	"\"q\":[0.000000000,0.000000000,0.000000000,1.000000000]}"

static char wire[300], back[300];
static struct age_conn conn;

static const char *to(const char *line, int64_t now)
{
	int n = age_to_wire(line, strlen(line), now, wire, sizeof wire - 1);

	if (n < 0)
		return "refused";
	wire[n] = '\0';
	return wire;
}

static const char *from(const char *line, int64_t now)
{
	int n = age_from_wire(&conn, line, strlen(line), now, back, sizeof back - 1);

	if (n < 0)
		return "refused";
	back[n] = '\0';
	return back;
}

static void is(const char *got, const char *want, const char *what)
{
	if (!ok(strcmp(got, want) == 0, "%s", what))
		printf("# got  %s\n# want %s\n", got, want);
}

static void test_forms(void)
{
	const char *line =
		"{\"type\":\"pose\",\"v\":1,\"src\":\"right\",\"seq\":17,\"t\":5000" POSE;
	struct rec r;

	is(to(line, 7000),
		"{\"type\":\"pose\",\"v\":1,\"src\":\"right\",\"seq\":17,\"age\":2000,\"clk\":"
		"7000" POSE,
		"t travels as age and clk, where it stood");
	conn = (struct age_conn){ 0 };
	is(from(to(line, 7000), 93000),
		"{\"type\":\"pose\",\"v\":1,\"src\":\"right\",\"seq\":17,\"t\":91000" POSE,
		"and comes back as t of this clock");
	ok(rec_parse_direct(back, strlen(back), &r) == 1 && r.t_us == 91000,
		"the line is canonical again");
	is(to("{ \"t\" : 5 , \"b\" : [1, {\"t\":2}], \"c\":\"t\\\"}\" }", 6),
		"{\"age\":1,\"clk\":6,\"b\":[1, {\"t\":2}],\"c\":\"t\\\"}\"}",
		"t first, blanks, a t inside");
	is(to("{\"t\":5}", 6), "{\"age\":1,\"clk\":6}", "t alone");
	is(to("{\"a\":1,\"t\":5}", 6), "{\"a\":1,\"age\":1,\"clk\":6}", "t last");
	is(to("{\"t\":5}", 4), "{\"age\":-1,\"clk\":4}", "t later than now stays visible");
	conn = (struct age_conn){ 0 };
	is(from("{\"clk\":50,\"a\":[],\"age\":10 , \"z\":{}}", 100), "{\"a\":[],\"t\":90,\"z\":{}}",
		"age and clk in another order");
	conn = (struct age_conn){ 0 };
	is(from("{\"age\":500,\"clk\":50}", 100), "{\"t\":0}", "older than the host: 0");
}

static void test_set_t(void)
{
	const char *line = "{\"type\":\"x\",\"t\":5,\"b\":[1, {\"t\":2}]}";
	char out[100];
	int n = age_set_t(line, strlen(line), 123456, out, sizeof out - 1);

	out[n < 0 ? 0 : n] = '\0';
	is(out, "{\"type\":\"x\",\"t\":123456,\"b\":[1, {\"t\":2}]}",
		"another t, the other bytes as they are");
	ok(age_set_t("{\"a\":1}", 7, 1, out, sizeof out) == -1 &&
			age_set_t("{\"t\":1,\"t\":2}", 15, 1, out, sizeof out) == -1 &&
			age_set_t(line, strlen(line), 123456, out, strlen(line) + 4) == -1,
		"no t, two of them, no room: refused");
}

static void test_refusals(void)
{
	static const char *const out[] = { "", "{", "{}", "[]", "{\"a\":1}", "{\"t\":1",
		"{\"t\":1}x", "{\"t\":1}}", "{\"t\":1,}", "{\"t\":1.5}", "{\"t\":\"1\"}",
		"{\"t\":}", "{\"t\":01}", "{\"t\":1,\"t\":2}", "{\"t\":99999999999999999}",
		"{\"t\" 1}", "{\"t\":1 \"a\":2}", "{\"a\":\"x,\"t\":1}", "{\"a\":[1,\"t\":1}",
		"{t:1}", "{\"t\":-}" };
	static const char *const in[] = { "{\"t\":1}", "{\"age\":1}", "{\"clk\":1}",
		"{\"age\":1,\"clk\":1,\"age\":1}", "{\"age\":1.0,\"clk\":1}",
		"{\"age\":null,\"clk\":1}" };
	int bad = 0;

	for (size_t i = 0; i < sizeof out / sizeof out[0]; i++)
		if (strcmp(to(out[i], 9), "refused") != 0) {
			printf("# taken: %s\n", out[i]);
			bad++;
		}
	ok(bad == 0, "lines without one whole t are refused");
	bad = 0;
	for (size_t i = 0; i < sizeof in / sizeof in[0]; i++)
		if (strcmp(from(in[i], 9), "refused") != 0) {
			printf("# taken: %s\n", in[i]);
			bad++;
		}
	ok(bad == 0, "lines without age and clk are refused");
	/* Every cut, in memory of the exact size. */
	const char *whole = "{\"type\":\"pose\",\"a\":\"\\\"\",\"t\":5000" POSE;
	for (size_t cut = 0; cut < strlen(whole); cut++) {
		char *copy = malloc(cut + 1);
		memcpy(copy, whole, cut);
		bad += age_to_wire(copy, cut, 9, wire, sizeof wire) != -1;
		free(copy);
	}
	ok(bad == 0, "refused when cut at any byte");
	bad = 0;
	int n = age_to_wire(whole, strlen(whole), 9, wire, sizeof wire);
	for (size_t room = 0; room < sizeof wire; room++) {
		char *small = malloc(room + 1);
		bad += age_to_wire(whole, strlen(whole), 9, small, room) !=
		       (room < (size_t)n ? -1 : n);
		free(small);
	}
	ok(bad == 0, "and when there is no room, not beyond it");
}

static void test_rule(void)
{
	struct age_conn c = { 0 };
	const int64_t s = 1000000;

	ok(age_excess(&c, 100 * s, 5 * s) == 0, "the first message sets the least");
	ok(age_excess(&c, 101 * s + 30000, 6 * s) == 30000 - 103,
		"30 ms longer is 30 ms older, less the drift meanwhile");
	ok(age_excess(&c, 102 * s - 2000, 7 * s) == 0, "a quicker one is the new least");
	ok(age_excess(&c, 103 * s - 2000, 8 * s) == 2000 - 2000, "as quick: no excess");
	ok(age_excess(&c, 104 * s, 9 * s) == 2000 - 100, "counted from the new least");
	/* A receiver that slept 4 s reads an old message: it is as old as it is. */
	ok(age_excess(&c, 108 * s, 9 * s) > 4 * s, "time spent in a queue makes old");
	struct age_conn d = { 0 };
	int64_t worst = 0;
	(void)age_excess(&d, 0, 0);
	for (int64_t i = 1; i < 36000; i++) { /* 50 ppm apart, an hour at 10 Hz */
		int64_t e = age_excess(&d, i * 100000 + i * 5, i * 100000);
		worst = e > worst ? e : worst;
	}
	ok(worst == 0, "crystals 50 ppm apart add no age");
	conn = (struct age_conn){ 0 };
	(void)from("{\"age\":0,\"clk\":1000}", 50000);
	is(from("{\"age\":700,\"clk\":2000}", 60000), "{\"t\":50301}",
		"t = now - age - excess (10 ms: the least rose by 1 us)");
}

int main(void)
{
	test_forms();
	test_set_t();
	test_refusals();
	test_rule();
	return tap_done();
}
