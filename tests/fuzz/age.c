/*
 * Time between hosts: any line to the wire and back within one moment is the same record with the
 * same t, and any line from the wire becomes a record that is not from the future of its age.
 */
#include "fuzz.h"
#include "rec/endpoint_age.h"
#include "rec/record.h"

#define ROOM (REC_LINE_MAX + 128)
#define NOW_MAX ((int64_t)1 << 53)

static bool same(const struct rec *a, const struct rec *b)
{
	return same_bits(a, b, offsetof(struct rec, extra_len)) && a->extra_len == b->extra_len &&
	       same_bits(a->extra, b->extra, a->extra_len);
}

static int parse(const char *line, int n, struct rec *r)
{
	char why[200];

	return n < 0 ? -1 : rec_parse(line, (size_t)n, r, why, sizeof why);
}

static void there_and_back(const char *line, size_t n, int64_t now_us)
{
	static struct rec before, after;
	static char wire[ROOM], back[ROOM];
	struct age_conn fresh = { 0 };
	int sent = age_to_wire(line, n, now_us, wire, sizeof wire);

	if (sent < 0)
		return;
	CLAIM(sent <= ROOM);
	int got = age_from_wire(&fresh, wire, (size_t)sent, now_us, back, sizeof back);
	if (parse(line, (int)n, &before) != 0 || got < 0)
		return; /* with members age and clk of its own it has two of them now */
	CLAIM(parse(back, got, &after) == 0);
	CLAIM(same(&before, &after));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct rec r;
	static char out[ROOM];
	struct bytes in = { data, n };
	int64_t now_us = (int64_t)(take_u64(&in) % (uint64_t)NOW_MAX);
	struct age_conn conn = { 0 };

	/* Lines of one connection, each after a step of time. */
	while (in.n > 0) {
		const uint8_t *newline = memchr(in.p, '\n', in.n);
		size_t len = newline ? (size_t)(newline - in.p) : in.n;
		const char *line = (const char *)in.p;
		there_and_back(line, len, now_us);
		int got = age_from_wire(&conn, line, len, now_us, out, sizeof out);
		CLAIM(got <= ROOM);
		if (parse(out, got, &r) == 0)
			CLAIM(r.t_us >= 0);
		in.p += len + (newline != NULL);
		in.n -= len + (newline != NULL);
		now_us += take_u16(&in);
	}
	return 0;
}
