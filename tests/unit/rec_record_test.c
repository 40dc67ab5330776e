/* Records: the canonical pose line byte for byte, what is refused, and that both readers agree. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rec/record.h"
#include "rec/record_parts.h"
#include "tap.h"

/* DESIGN.md 2, byte for byte. */
static const char canonical[] =
	"{\"type\":\"pose\",\"v\":1,\"src\":\"right\",\"seq\":17,\"t\":5924123456,\"frame\":"
	"\"base\","
	"\"valid\":true,\"p\":[0.280000000,0.000000000,0.199000000],\"q\":[0.000000000,0.965925826,"
	"0.000000000,0.258819045],\"grip\":0.750000000,\"ts\":12.500000000,\"flags\":1,\"clamped\":"
	"[\"x\"]}";
#define HEAD(type) "{\"type\":\"" type "\",\"v\":1,\"src\":\"arm0\",\"seq\":3,\"t\":99"

static char why[200], out[REC_LINE_MAX + 1];
static struct rec r, r2;

static uint64_t seed = 88172645463325252u;
static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static bool is_same(const struct rec *a, const struct rec *b)
{
	return memcmp(a, b, offsetof(struct rec, extra)) == 0 && a->extra_len == b->extra_len &&
	       memcmp(a->extra, b->extra, a->extra_len) == 0;
}

static bool is_read(const char *line)
{
	return rec_parse(line, strlen(line), &r, why, sizeof why) == 0;
}

/* Read, print: the same line again. */
static bool is_kept(const char *line)
{
	size_t n = strlen(line);

	return is_read(line) && rec_print(&r, out, sizeof out) == (int)n + 1 &&
	       memcmp(out, line, n) == 0 && strcmp(out + n, "\n") == 0;
}

static void test_canonical(void)
{
	size_t n = strlen(canonical);

	rec_init(&r, REC_POSE, "right", 17, 5924123456);
	r.u.pose = (struct rec_pose){ .frame = REC_BASE,
		.valid = true,
		.pose = { { 0.28, -1e-10, 0.199 },
			{ -0.0, 0.965925826289068, 0, 0.258819045102521 } },
		.has_grip = true,
		.grip = 0.75,
		.has_ts = true,
		.ts = 12.5,
		.has_flags = true,
		.flags = 1,
		.clamped = "x" };
	ok(rec_print(&r, out, sizeof out) == (int)n + 1 && memcmp(out, canonical, n) == 0 &&
			strcmp(out + n, "\n") == 0,
		"the canonical line is written byte for byte, without -0.000000000");
	ok(rec_print(&r, out, n + 2) == (int)n + 1 && rec_print(&r, out, n + 1) == -1,
		"a buffer one byte short is refused");
	ok(rec_parse_direct(canonical, n, &r) == 1 && r.u.pose.pose.p.z == 0.199 && r.seq == 17 &&
			r.t_us == 5924123456 && strcmp(r.src, "right") == 0 &&
			strcmp(r.u.pose.clamped, "x") == 0 && r.u.pose.flags == 1,
		"the direct reader takes it");
	ok(rec_parse_json(canonical, n, &r2, why, sizeof why) == 0 && is_same(&r, &r2),
		"jansson means the same");
	r.u.pose.has_grip = r.u.pose.has_ts = r.u.pose.has_flags = false;
	r.u.pose.clamped[0] = '\0';
	ok(rec_print(&r, out, sizeof out) > 0 && strstr(out, "grip") == NULL &&
			strstr(out, "258819045]}\n") != NULL &&
			rec_parse_direct(out, strlen(out) - 1, &r2) == 1 && !r2.u.pose.has_grip &&
			!r2.u.pose.has_ts && !r2.u.pose.has_flags && r2.u.pose.clamped[0] == 0,
		"optional keys are left out and read as absent");
}

static void test_truncation(void)
{
	size_t n = strlen(canonical), bad = 0;
	char *copy;

	for (size_t cut = 0; cut < n; cut++) {
		copy = malloc(cut + 1); /* exact size: a sanitizer sees a read beyond it */
		memcpy(copy, canonical, cut);
		bad += rec_parse_direct(copy, cut, &r) != 0;
		bad += rec_parse_json(copy, cut, &r, why, sizeof why) != -1;
		free(copy);
	}
	ok(bad == 0, "refused when cut at any of %zu bytes", n);
}

static void test_numbers(void)
{
	size_t bad_print = 0, bad_read = 0;
	char ours[32], theirs[64];
	const double edge[] = { 0, 0.5e-9, 1.5e-9, 2.5e-9, 9e9, 9007199.254740993,
		8999999999.999999, 5e-324, 2.2250738585072014e-308, 0.1, 1e-9, 999999999.9999999995,
		4503599627.3704955 };

	for (int i = 0; i < 200000; i++) {
		double x;
		if (i < (int)(sizeof edge / sizeof edge[0]))
			x = edge[i];
		else if (i % 2) /* decimal ties are the dyadic ones with few bits */
			x = ldexp((double)(rnd() >> (11 + rnd() % 52)), -(int)(rnd() % 80));
		else
			x = (double)(rnd() >> 11) * 0x1p-53 * pow(10, (double)(rnd() % 22) - 11);
		if (!(x <= 9e9))
			continue;
		if (rnd() % 2)
			x = -x;
		*rec_put_fixed9(ours, x) = '\0';
		(void)snprintf(theirs, sizeof theirs, "%.9f", x);
		bad_print += strcmp(ours, strcmp(theirs, "-0.000000000") == 0 ? theirs + 1
									      : theirs) != 0;
		(void)snprintf(out, sizeof out,
			"{\"type\":\"pose\",\"v\":1,\"src\":\"a\",\"seq\":0,\"t\":0,\"frame\":"
			"\"vr\",\"valid\":"
			"true,\"p\":[%s,0.000000000,0.000000000],\"q\":[0.000000000,0.000000000,0."
			"000000000,"
			"1.000000000]}",
			ours);
		bad_read += rec_parse_direct(out, strlen(out), &r) != 1 ||
			    r.u.pose.pose.p.x != strtod(ours, NULL);
	}
	ok(bad_print == 0, "nine decimals as the exact value rounds (%zu differ)", bad_print);
	ok(bad_read == 0, "numbers are read as strtod reads them (%zu differ)", bad_read);
}

/* One key of the canonical line replaced by something else. */
static const char *with(const char *from, const char *to)
{
	static char line[REC_LINE_MAX];
	const char *at = strstr(canonical, from);

	if (at == NULL) {
		ok(false, "test names a part that is not there: %s", from);
		return "";
	}
	(void)snprintf(line, sizeof line, "%.*s%s%s", (int)(at - canonical), canonical, to,
		at + strlen(from));
	return line;
}

static void test_refusals(void)
{
	static const struct {
		const char *from, *to, *what;
	} bad[] = {
		{ "0.280000000", "NaN", "NaN" },
		{ "0.280000000", "nan", "nan" },
		{ "0.280000000", "Infinity", "Infinity" },
		{ "0.280000000", "1e400", "1e400" },
		{ "0.280000000", "null", "null in a pose" },
		{ "0.280000000", "\"0.28\"", "a number as text" },
		{ "0.280000000", "00.280000000", "a leading zero" },
		{ "0.280000000", "9000000001e0", "beyond 9e9" },
		{ "0.280000000", "9000000000.500000000", "beyond 9e9, canonical" },
		{ "0.280000000,", "", "two numbers in p" },
		{ "0.965925826", "0.945925826", "norm of q off by 0.019" },
		{ "0.965925826", "1e300", "a huge q" },
		{ "\"valid\":true", "\"valid\":1", "valid 1" },
		{ "\"valid\":true,", "", "no valid" },
		{ ",\"frame\":\"base\"", "", "no frame" },
		{ "base", "world", "an unknown frame" },
		{ "\"v\":1", "\"v\":2", "version 2" },
		{ "\"v\":1", "\"v\":1.0", "version 1.0" },
		{ "\"v\":1,", "", "no version" },
		{ "right", "", "an empty src" },
		{ "right", "a b", "a blank in src" },
		{ "right", "0123456789012345678901234567890123", "a long src" },
		{ "17", "-1", "a negative seq" },
		{ "17", "1.5", "a broken seq" },
		{ "17", "9007199254740993", "seq above 2^53" },
		{ "17", "99999999999999999999", "seq above 2^64" },
		{ "5924123456", "true", "t true" },
		{ ",\"t\":5924123456", "", "no t" },
		{ "\"flags\":1", "\"flags\":4294967296", "flags above 32 bits" },
		{ "\"flags\":1", "\"flags\":-1", "negative flags" },
		{ "[\"x\"]", "[\"a b\"]", "a blank in clamped" },
		{ "[\"x\"]", "[1]", "a number in clamped" },
		{ "[\"x\"]", "\"x\"", "clamped as text" },
		{ "\"seq\":17", "\"seq\":17,\"seq\":17", "a duplicate key" },
		{ "\"seq\":17", "\"seq\":17,\"x\":{\"a\":1,\"a\":2}", "a duplicate key inside" },
		{ "\"seq\":17", "\"seq\":17,\"s\\u0065q\":17", "an escaped duplicate key" },
		{ "right", "\xc3\x28", "invalid UTF-8" },
		{ "\"seq\":17", "\"seq\":17,\"x\":\"\xed\xa0\x80\"", "a surrogate in UTF-8" },
		{ "\"seq\":17", "\"seq\":17,\"x\":\"\xc0\x80\"", "overlong UTF-8" },
		{ "right", "\\u0000", "an escaped NUL" },
		{ "\"x\"]}", "\"x\"]}}", "something behind the object" },
		{ "{\"type\"", "[{\"type\"", "an array" },
		{ "\"seq\":17,", "\"seq\":17,\n", "a newline inside" },
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const char *line = with(bad[i].from, bad[i].to);
		why[0] = '\0';
		ok(!is_read(line) && why[0] != '\0', "refused: %s (%s)", bad[i].what, why);
	}
	char nul[sizeof canonical];
	memcpy(nul, canonical, sizeof nul);
	nul[sizeof nul - 2] = '\0';
	ok(rec_parse(nul, sizeof nul - 1, &r, why, sizeof why) == -1,
		"refused: NUL for the last brace");
	ok(rec_parse(canonical, sizeof canonical, &r, why, sizeof why) == -1,
		"refused: NUL at the end");
	ok(!is_read("") && !is_read("{}") && !is_read("5") && !is_read("null"),
		"refused: no record");
	char deep[REC_LINE_MAX];
	memset(deep, '[', sizeof deep - 1);
	ok(rec_parse(deep, sizeof deep - 1, &r, why, sizeof why) == -1, "refused: 4095 brackets");
	memset(deep, ' ', sizeof deep);
	memcpy(deep, canonical, sizeof canonical - 1);
	ok(rec_parse(deep, sizeof deep - 1, &r, why, sizeof why) == 0 &&
			rec_parse(deep, sizeof deep, &r, why, sizeof why) == -1,
		"4095 bytes are a line, 4096 without the newline are not");
}

static void test_accepted(void)
{
	ok(is_read(with("[0.280000000,0.000000000,0.199000000]", "[0.28, 0, 199e-3]")) &&
			r.u.pose.pose.p.x == 0.28 && r.u.pose.pose.p.z == 0.199,
		"blanks, integers and exponents are read");
	ok(is_read(with("0.965925826", "0.975")) && r.u.pose.pose.q.y == 0.975,
		"a norm off by less than 0.01 is read and not rewritten");
	ok(is_read(with("0.280000000", "-0.000000000")) && rec_print(&r, out, sizeof out) > 0 &&
			strstr(out, "[0.000000000,") != NULL,
		"minus zero is read, and written as zero");
	const char *minus = with("0.280000000", "-0.000000000");
	ok(rec_parse_direct(minus, strlen(minus), &r) == 0, "but is not the canonical form");
	ok(is_read(with("\"seq\":17",
		   "\"a\":[1,{\"b\":\"]\\\"\"}],\"seq\":17, \"caf\xc3\xa9\" : 1.10")) &&
			strcmp(r.extra, ",\"a\":[1,{\"b\":\"]\\\"\"}],\"caf\xc3\xa9\":1.10") == 0 &&
			rec_print(&r, out, sizeof out) > 0 &&
			is_kept((out[strlen(out) - 1] = '\0', out)),
		"unknown keys are kept as text, in order, at the end");
	ok(is_read(with("{\"type\":\"pose\",\"v\":1,", "{\"v\":1,\"type\":\"\\u0070ose\",")) &&
			r.type == REC_POSE && r.extra_len == 0,
		"keys in another order and escapes mean the same");
	r.u.pose.ts = (double)INFINITY;
	ok(rec_print(&r, out, sizeof out) > 0 && strstr(out, "\"ts\"") == NULL,
		"ts infinite: left out");
	r.u.pose.ts = 9.1e9;
	ok(rec_print(&r, out, sizeof out) > 0 && strstr(out, "\"ts\"") == NULL,
		"ts 9.1e9: left out");
	r.u.pose.pose.p.y = (double)NAN;
	ok(rec_print(&r, out, sizeof out) == -1, "a NaN is not written");
	memset(out, 'x', sizeof out);
	ok(is_read(canonical), "(again)");
	r.extra_len = (size_t)snprintf(r.extra, sizeof r.extra, ",\"k\":\"%.*s\"",
		(int)(REC_LINE_MAX - sizeof canonical - 7), out);
	ok(rec_print(&r, out, sizeof out) == REC_LINE_MAX, "a line of 4096 bytes is written");
	r.extra[r.extra_len - 1] = 'x';
	r.extra[r.extra_len++] = '"';
	ok(rec_print(&r, out, sizeof out) == -1, "one of 4097 is not");
}

static void test_types(void)
{
	static const char *const kept[] = {
		HEAD("joints") ",\"j\":[0.1,-2.5,3.0],\"hand\":[0.0,0.1,0.2,0.3,0.4,0.5],\"grip\":"
			       "1.0}",
		HEAD("joints") ",\"j\":[0.1],\"hand\":0.5}",
		HEAD("command") ",\"set\":\"run\",\"p\":[0.28,0.0,0.199],\"q\":[0.0,0.0,0.0,1.0],"
				"\"grip\":0.5,"
				"\"j\":[0.1,0.2,0.3,0.4,0.5,0.6],\"age_us\":-120,\"lead_m\":0.0125,"
				"\"lead_rad\":1e-10,\"clamped\":[\"x\",\"tilt\"]}",
		HEAD("command") ",\"set\":\"hold\",\"age_us\":120,\"lead_m\":0.0,\"lead_rad\":0.0}",
		HEAD("feedback") ",\"kind\":\"cartesian\",\"state\":\"ready\",\"gate\":\"hold\","
				 "\"why\":"
				 "\"no "
				 "engage\",\"runs\":0,\"p\":[0.1,0.2,0.3],\"q\":[0.0,0.0,0.0,2.0],"
				 "\"pdot\":"
				 "[0.1,null,0.3],\"omega\":[0.1,0.2,0.3],\"grip\":0.5,\"mode\":1,"
				 "\"faults\":[]}",
		HEAD("feedback") ",\"kind\":\"joint\",\"state\":\"streaming\",\"j\":[0.1,0.2],"
				 "\"jdot\":"
				 "[0.123456789,null]}",
		HEAD("feedback") ",\"kind\":\"jacobian\",\"state\":\"inactive\",\"jac\":[[1.0,2.0],"
				 "[3.0,4.0],"
				 "[5.0,6.0],[7.0,8.0],[9.0,1.0],[2.0,3.0]]}",
		HEAD("feedback") ",\"kind\":\"status\",\"state\":\"ready\",\"faults\":[\"joint 2 "
				 "hot\",\"bus\"]}",
		HEAD("stop") ",\"level\":\"estop\",\"why\":\"button\"}",
		HEAD("stop") ",\"level\":\"hold\",\"why\":\"\"}",
		HEAD("event") ",\"name\":\"engage\",\"value\":\"caf\xc3\xa9\",\"n\":7}",
		HEAD("event") ",\"name\":\"reset\",\"n\":0}",
		HEAD("beat") ",\"stops\":2,\"level\":\"estop\"}",
		HEAD("status") ",\"in\":5,\"out\":4}",
		"{\"type\":\"gaze\",\"v\":3,\"src\":\"eye\",\"seq\":1,\"t\":2,\"dir\":[0.10, 1e5]}",
	};
	static const char *const refused[] = {
		HEAD("joints") "}",
		HEAD("joints") ",\"j\":[]}",
		HEAD("joints") ",\"j\":[1,2,3,4,5,6,7,8,9]}",
		HEAD("joints") ",\"j\":[1],\"hand\":[1,2]}",
		HEAD("joints") ",\"j\":[null]}",
		HEAD("command") ",\"set\":\"go\",\"age_us\":1,\"lead_m\":0,\"lead_rad\":0}",
		HEAD("command") ",\"set\":\"run\",\"p\":[0,0,0],\"age_us\":1,\"lead_m\":0,\"lead_"
				"rad\":0}",
		HEAD("command") ",\"set\":\"run\",\"age_us\":1,\"lead_m\":null,\"lead_rad\":0}",
		HEAD("feedback") ",\"kind\":\"pose\",\"state\":\"ready\"}",
		HEAD("feedback") ",\"kind\":\"status\",\"state\":\"ready\",\"gate\":\"run\","
				 "\"runs\":1}",
		HEAD("feedback") ",\"kind\":\"status\",\"state\":\"ready\",\"gate\":\"go\",\"why\":"
				 "\"\",\"runs\":1}",
		HEAD("feedback") ",\"kind\":\"jacobian\",\"state\":\"ready\",\"jac\":[[1],[1],[1],["
				 "1],[1],[1,2]]}",
		HEAD("feedback") ",\"kind\":\"cartesian\",\"state\":\"ready\",\"pdot\":[0,0,0]}",
		HEAD("stop") "}",
		HEAD("stop") ",\"level\":\"soft\"}",
		HEAD("stop") ",\"level\":\"hold\",\"why\":5}",
		HEAD("event") ",\"name\":\"engage\"}",
		HEAD("event") ",\"name\":\"engage-with-a-name-that-is-too-long\",\"n\":1}",
		HEAD("beat") ",\"stops\":1}",
		HEAD("beat") ",\"stops\":-1}",
		"{\"type\":\"gaze\",\"v\":3,\"src\":\"eye\",\"t\":2}",
	};
	char line[600];

	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
		ok(is_kept(kept[i]), "read and written alike: %.60s", kept[i]);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		ok(!is_read(refused[i]), "refused: %s", refused[i]);
	ok(is_read(HEAD("beat") ",\"stops\":0}"), "a beat without stops needs no level");
	ok(is_read(HEAD("stop") ",\"level\":\"estop\"}") && r.u.stop.level == REC_ESTOP,
		"a stop needs no reason");
	(void)snprintf(line, sizeof line,
		HEAD("stop") ",\"level\":\"estop\",\"why\":\"%0158d\xc3\xa9\"}", 0);
	ok(is_read(line) && strlen(r.u.stop.why) == 158,
		"a stop's long reason is cut at a character");
	(void)snprintf(line, sizeof line,
		HEAD("feedback") ",\"kind\":\"status\",\"state\":\"ready\",\"gate\":\"run\","
				 "\"why\":\"%0160d\","
				 "\"runs\":1}",
		0);
	ok(!is_read(line), "elsewhere it is refused");
	ok(is_read(kept[5]) && r.u.feedback.jdot[1] != r.u.feedback.jdot[1] &&
			r.u.feedback.jdot[0] == 0.123456789,
		"null is NaN in feedback");
	rec_init(&r, REC_JOINTS, "a", 0, 0);
	r.u.joints.nj = 1;
	r.u.joints.j[0] = (double)NAN;
	ok(rec_print(&r, out, sizeof out) == -1, "and not elsewhere");
	rec_init(&r, REC_STOP, "a", 0, 0);
	(void)snprintf(r.u.stop.why, sizeof r.u.stop.why, "bad \xff byte");
	ok(rec_print(&r, out, sizeof out) > 0 && strstr(out, "\"bad ? byte\"") != NULL,
		"a reason that is not UTF-8 is still sent");
	rec_init(&r, REC_STOP, "a b", 0, 0);
	ok(rec_print(&r, out, sizeof out) == -1, "a bad src is not written");
}

static void test_clamped_list(void)
{
	char list[REC_CLAMPED_MAX] = "";

	rec_clamped_add(list, "tilt");
	rec_clamped_add(list, "x");
	rec_clamped_add(list, "tilt");
	rec_clamped_add(list, "ti");
	ok(strcmp(list, "tilt,x,ti") == 0, "names are added once");
	for (int i = 0; i < 100; i++) {
		char name[16];
		(void)snprintf(name, sizeof name, "n%d", i);
		rec_clamped_add(list, name);
	}
	rec_init(&r, REC_POSE, "a", 0, 0);
	memcpy(r.u.pose.clamped, list, sizeof list);
	ok(strlen(list) < sizeof list && rec_print(&r, out, sizeof out) > 0 &&
			rec_parse_direct(out, strlen(out) - 1, &r2) == 1 && is_same(&r, &r2),
		"a full list is written and read");
}

/* A pose line of random content, canonical. */
static size_t random_line(char *buf)
{
	struct rec_pose *o = &r.u.pose;
	double a = (double)(rnd() % 628) / 100;

	rec_init(&r, REC_POSE, rnd() % 2 ? "right" : "left-2.x_Y",
		(int64_t)(rnd() >> (11 + rnd() % 50)), (int64_t)(rnd() >> (11 + rnd() % 30)));
	o->frame = rnd() % 2 ? REC_BASE : REC_VR;
	o->valid = rnd() % 3 > 0;
	o->pose.p = (struct vec3){ sin(a), cos(a) * 1e3, (double)(int64_t)rnd() * 1e-10 };
	o->pose.q = (struct quat){ sin(a / 2), 0, 0, -cos(a / 2) };
	o->has_grip = rnd() % 2;
	o->grip = 0.5;
	o->has_ts = rnd() % 2;
	o->ts = (double)rnd() * 1e-9 / 3;
	o->has_flags = rnd() % 2;
	o->flags = (uint32_t)rnd();
	if (rnd() % 2)
		rec_clamped_add(o->clamped, "speed");
	if (rnd() % 2)
		rec_clamped_add(o->clamped, "x");
	return (size_t)rec_print(&r, buf, REC_LINE_MAX + 1) - 1;
}

static size_t mutate(char *line, size_t n)
{
	static const char *const bits[] = { "0", "-", ".", ",", " ", "\"", "1e3", "}", "{", "[",
		"]", ":", "\\", "9", "00", "-0.000000000", "null", "true", "\xc3\xa9", "\xff", "\t",
		"\r", "\"x\":1,", "\"grip\":0.000000000,", "9000000000.000000000" };
	size_t at = rnd() % n, len, gone;
	const char *bit = bits[rnd() % (sizeof bits / sizeof bits[0])];

	switch (rnd() % 4) {
	case 0: line[at] = (char)(rnd() % 256); return n;
	case 1: memmove(line + at, line + at + 1, n - at - 1); return n - 1;
	case 2: line[at] = (char)('0' + rnd() % 10); return n;
	default:
		len = strlen(bit);
		gone = rnd() % 2 ? 0 : rnd() % 12;
		if (gone > n - at)
			gone = n - at;
		memmove(line + at + len, line + at + gone, n - at - gone);
		memcpy(line + at, bit, len);
		return n + len - gone;
	}
}

static void test_differential(void)
{
	size_t differ = 0, direct = 0, json = 0, bounded = 0;
	char line[2 * REC_LINE_MAX];

	for (int i = 0; i < 30000; i++) {
		size_t n = random_line(line);
		for (uint64_t k = rnd() % 3; k > 0; k--)
			n = mutate(line, n);
		int a = rec_parse_direct(line, n, &r);
		int b = rec_parse_json(line, n, &r2, why, sizeof why);
		direct += a == 1;
		json += b == 0;
		if (a == 1 && (b != 0 || !is_same(&r, &r2)) && differ++ < 3)
			printf("# %.*s\n", (int)n, line);
		if (b == 0 && rec_print(&r2, out, sizeof out) > 0) {
			/* What is written is canonical, and reads back to what it prints. */
			char again[REC_LINE_MAX + 1];
			bounded += rec_parse(out, strlen(out) - 1, &r, why, sizeof why) != 0 ||
				   rec_print(&r, again, sizeof again) < 0 ||
				   strcmp(out, again) != 0 ||
				   (r2.extra_len == 0 &&
					   rec_parse_direct(out, strlen(out) - 1, &r) != 1);
		}
	}
	ok(differ == 0 && direct > 10000 && json > direct,
		"both readers agree on 30000 lines (direct %zu, jansson %zu)", direct, json);
	ok(bounded == 0, "what was read can be written and read again (%zu not)", bounded);
}

int main(void)
{
	test_canonical();
	test_truncation();
	test_numbers();
	test_refusals();
	test_accepted();
	test_types();
	test_clamped_list();
	test_differential();
	return tap_done();
}
