/* Time between hosts; see endpoint_age.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rec/endpoint_age.h"

#define DRIFT_US_PER_S 100                  /* DESIGN.md 2: 0.1 ms per second */
#define WHOLE_MAX INT64_C(9007199254740992) /* as everywhere in records */

struct span {
	const char *p;
	size_t n;
};
struct text {
	char *p;
	size_t n, room;
	bool is_full;
};

int64_t age_excess(struct age_conn *c, int64_t now_us, int64_t clk_us)
{
	int64_t transit = now_us - clk_us;

	if (c->has_least) {
		int64_t risen = c->least_us + (now_us - c->at_us) * DRIFT_US_PER_S / 1000000;
		if (transit > risen)
			return transit - risen;
	}
	*c = (struct age_conn){ true, transit, now_us };
	return 0;
}

static void append(struct text *t, const char *s, size_t n)
{
	if (n > t->room - t->n) {
		t->is_full = true;
		return;
	}
	memcpy(t->p + t->n, s, n);
	t->n += n;
}

/* A member, with the comma it needs. */
static void append_member(struct text *t, const char *s, size_t n)
{
	if (t->n > 1)
		append(t, ",", 1);
	append(t, s, n);
}

static size_t skip_blank(const char *line, size_t n, size_t i)
{
	while (i < n && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r'))
		i++;
	return i;
}

/* Past the string that begins at i; n + 1 when it does not end. */
static size_t skip_string(const char *line, size_t n, size_t i)
{
	for (i++; i < n && line[i] != '"'; i++)
		i += line[i] == '\\';
	return i < n ? i + 1 : n + 1;
}

/* Past one value; whether it is JSON is for the record reader. n + 1 when it does not end. */
static size_t skip_value(const char *line, size_t n, size_t i)
{
	int depth = 0;

	while (i < n) {
		char c = line[i];
		if (c == '"') {
			i = skip_string(line, n, i);
		} else if (c == '[' || c == '{') {
			depth++;
			i++;
		} else if (c == ']' || c == '}') {
			if (depth == 0)
				return i;
			depth--;
			i++;
		} else if (depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\r')) {
			return i;
		} else {
			i++;
		}
	}
	return n + 1;
}

/* The next member of the object from *i on: 1, 0 at its end (nothing behind it), -1 damaged. */
static int next_member(struct span line, size_t *i, struct span *key, struct span *value)
{
	size_t at = skip_blank(line.p, line.n, *i), end;

	if (at < line.n && line.p[at] == '}')
		return skip_blank(line.p, line.n, at + 1) == line.n ? 0 : -1;
	if (*i > 1) {
		if (at >= line.n || line.p[at] != ',')
			return -1;
		at = skip_blank(line.p, line.n, at + 1);
	}
	if (at >= line.n || line.p[at] != '"' || (end = skip_string(line.p, line.n, at)) > line.n)
		return -1;
	*key = (struct span){ line.p + at, end - at };
	at = skip_blank(line.p, line.n, end);
	if (at >= line.n || line.p[at] != ':')
		return -1;
	at = skip_blank(line.p, line.n, at + 1);
	end = skip_value(line.p, line.n, at);
	if (end > line.n || end == at)
		return -1;
	*value = (struct span){ line.p + at, end - at };
	*i = end;
	return 1;
}

static bool is_key(struct span key, const char *name)
{
	size_t n = strlen(name);

	return key.n == n + 2 && memcmp(key.p + 1, name, n) == 0;
}

static bool is_whole(struct span v, int64_t *out)
{
	bool negative = v.n > 0 && v.p[0] == '-';
	size_t i = negative;
	int64_t x = 0;

	if (v.n - i < 1 || v.n - i > 16 || (v.p[i] == '0' && v.n - i > 1))
		return false;
	for (; i < v.n; i++) {
		if (v.p[i] < '0' || v.p[i] > '9')
			return false;
		x = x * 10 + (v.p[i] - '0');
	}
	*out = negative ? -x : x;
	return x <= WHOLE_MAX;
}

/* Copies the members of line to t without those named a and b; where a stood, `there` says.
 * Returns how many of a and b there were (each once at most, whole numbers), -1 damaged. */
static int walk(struct span line, struct text *t, const char *const name[2], int64_t value[2],
	size_t *there)
{
	struct span key, v;
	size_t i = skip_blank(line.p, line.n, 0) + 1;
	int rc, found[2] = { 0, 0 };

	if (i > line.n || line.p[i - 1] != '{')
		return -1;
	line = (struct span){ line.p + i - 1, line.n - (i - 1) };
	i = 1;
	append(t, "{", 1);
	while ((rc = next_member(line, &i, &key, &v)) == 1) {
		int k = is_key(key, name[0]) ? 0 : name[1] != NULL && is_key(key, name[1]) ? 1 : -1;
		if (k < 0) {
			append_member(t, key.p, key.n);
			append(t, ":", 1);
			append(t, v.p, v.n);
			continue;
		}
		if (found[k]++ > 0 || !is_whole(v, &value[k]))
			return -1;
		if (k == 0)
			*there = t->n;
	}
	append(t, "}", 1);
	return rc < 0 || t->is_full ? -1 : found[0] + found[1];
}

/* Puts a member into the finished line at `there`, which is just behind a member or the brace. */
static int insert(struct text *t, size_t there, const char *member, size_t n)
{
	bool is_first = there == 1, is_last = there == t->n - 1;
	size_t commas = is_first && is_last ? 0 : 1;

	if (n + commas > t->room - t->n)
		return -1;
	memmove(t->p + there + n + commas, t->p + there, t->n - there);
	if (commas && !is_first)
		t->p[there++] = ',';
	memcpy(t->p + there, member, n);
	if (commas && is_first)
		t->p[there + n] = ',';
	t->n += n + commas;
	return (int)t->n;
}

int age_to_wire(const char *line, size_t n, int64_t now_us, char *out, size_t room)
{
	struct text t = { .room = room };
	int64_t value[2];
	size_t there = 0;
	char member[64];

	t.p = out;
	if (walk((struct span){ line, n }, &t, (const char *const[2]){ "t", NULL }, value,
		    &there) != 1)
		return -1;
	int len = snprintf(member, sizeof member, "\"age\":%" PRId64 ",\"clk\":%" PRId64,
		now_us - value[0], now_us);
	return insert(&t, there, member, (size_t)len);
}

int age_from_wire(
	struct age_conn *c, const char *line, size_t n, int64_t now_us, char *out, size_t room)
{
	struct text t = { .room = room };
	int64_t value[2];
	size_t there = 0;
	char member[32];

	t.p = out;
	if (walk((struct span){ line, n }, &t, (const char *const[2]){ "age", "clk" }, value,
		    &there) != 2)
		return -1;
	int64_t t_us = now_us - value[0] - age_excess(c, now_us, value[1]);
	if (t_us < 0) /* older than this host is up: as old as can be said */
		t_us = 0;
	int len = snprintf(member, sizeof member, "\"t\":%" PRId64, t_us);
	return insert(&t, there, member, (size_t)len);
}

int age_set_t(const char *line, size_t n, int64_t t_us, char *out, size_t room)
{
	struct text t = { .room = room };
	int64_t value[2];
	size_t there = 0;
	char member[32];

	t.p = out;
	if (walk((struct span){ line, n }, &t, (const char *const[2]){ "t", NULL }, value,
		    &there) != 1)
		return -1;
	int len = snprintf(member, sizeof member, "\"t\":%" PRId64, t_us);
	return insert(&t, there, member, (size_t)len);
}
