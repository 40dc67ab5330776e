/*
 * The record readers: the direct one and jansson accept, refuse and mean the same, and a record that
 * is printed, read and printed again is the same line.
 */
#include <math.h>

#include "fuzz.h"
#include "rec/record.h"

static bool same(const struct rec *a, const struct rec *b)
{
	return same_bits(a, b, offsetof(struct rec, extra_len)) && a->extra_len == b->extra_len &&
	       same_bits(a->extra, b->extra, a->extra_len);
}

/* For a terminal. */
static bool printable(const char *why)
{
	for (; *why; why++)
		if (*why < ' ' || *why > '~')
			return false;
	return true;
}

static void within(const struct rec *r)
{
	CLAIM(r->seq >= 0 && r->t_us >= 0 && rec_src_ok(r->src));
	CLAIM(r->extra_len < sizeof r->extra);
	if (r->type != REC_POSE)
		return;
	const struct rec_pose *o = &r->u.pose;
	double q = sqrt(o->pose.q.x * o->pose.q.x + o->pose.q.y * o->pose.q.y +
			o->pose.q.z * o->pose.q.z + o->pose.q.w * o->pose.q.w);
	CLAIM(isfinite(o->pose.p.x) && isfinite(o->pose.p.y) && isfinite(o->pose.p.z));
	CLAIM(fabs(q - 1) <= 1.0001e-2);
	CLAIM(isfinite(o->grip) && isfinite(o->ts));
}

/* What a tool does with a line that it read. */
static void print(const struct rec *r)
{
	static struct rec again, json;
	char one[REC_LINE_MAX + 1], two[REC_LINE_MAX + 1], why[200] = "";
	int n = rec_print(r, one, sizeof one);

	if (n < 0)
		return; /* too long with its digits */
	CLAIM(n <= REC_LINE_MAX && one[n] == '\0' && strchr(one, '\n') == one + n - 1);
	CLAIM(rec_parse_json(one, (size_t)n - 1, &json, why, sizeof why) == 0);
	CLAIM(json.type == r->type && json.seq == r->seq && json.t_us == r->t_us);
	if (r->type == REC_POSE && r->extra_len == 0) {
		CLAIM(rec_parse_direct(one, (size_t)n - 1, &again) == 1);
		CLAIM(same(&again, &json));
	}
	CLAIM(rec_print(&json, two, sizeof two) == n && memcmp(one, two, (size_t)n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct rec direct, json, either;
	const char *line = (const char *)data;
	char why[200] = "", why2[200] = "";
	int is_direct = rec_parse_direct(line, n, &direct);
	int rc = rec_parse_json(line, n, &json, why, sizeof why);
	int rc2 = rec_parse(line, n, &either, why2, sizeof why2);

	CLAIM(rc == rc2);
	CLAIM(!is_direct || (rc == 0 && same(&direct, &json)));
	if (rc != 0) {
		CLAIM(why[0] != '\0' && printable(why) && strcmp(why, why2) == 0);
		return 0;
	}
	CLAIM(same(&either, &json));
	within(&either);
	print(&either);
	return 0;
}
