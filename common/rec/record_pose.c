/*
 * The canonical pose line, read and written without allocation, locale or libc number routines
 * (DESIGN.md 2).  The reader takes exactly the form the writer makes; any deviation is left to
 * record_json.c.  Both are correctly rounded, so a number means the same double to either reader.
 */
#include <math.h>
#include <string.h>

#include "rec/record.h"
#include "rec/record_parts.h"

#define GIGA UINT64_C(1000000000) /* nine decimals */
#define BODY_MAX 1024             /* longest canonical line without extra is below 800 bytes */

__extension__ typedef unsigned __int128 uint128;

struct cursor {
	const char *p, *end;
};

/* Writing. */

static char *put_text(char *p, const char *s, size_t n)
{
	memcpy(p, s, n);
	return p + n;
}
#define PUT(p, literal) put_text(p, literal, sizeof(literal) - 1)

static char *put_whole(char *p, uint64_t v)
{
	char digits[20];
	size_t n = sizeof digits;

	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	return put_text(p, digits + n, sizeof digits - n);
}

/* |x| x 1e9 to the nearest integer, ties to even, from the exact value of x. */
static uint64_t to_billionths(double x)
{
	int exponent;
	double fraction = frexp(fabs(x), &exponent);                    /* 0.5 .. 1, or 0 */
	uint128 scaled = (uint128)(uint64_t)ldexp(fraction, 53) * GIGA; /* below 2^83 */
	int shift = 53 - exponent;                                      /* divide by 2^shift */

	if (shift <= 0)
		return (uint64_t)(scaled << -shift);
	if (shift > 84)
		return 0;
	uint128 whole = scaled >> shift, rest = scaled - (whole << shift);
	uint128 half = (uint128)1 << (shift - 1);
	if (rest > half || (rest == half && (whole & 1)))
		whole++;
	return (uint64_t)whole;
}

char *rec_put_fixed9(char *p, double x)
{
	uint64_t n = to_billionths(x), rest = n % GIGA;

	if (x < 0 && n > 0)
		*p++ = '-';
	p = put_whole(p, n / GIGA);
	*p++ = '.';
	for (int i = 8; i >= 0; i--) {
		p[i] = (char)('0' + rest % 10);
		rest /= 10;
	}
	return p + 9;
}

/* n / 1e9, correctly rounded. */
static double from_billionths(uint64_t n)
{
	if (n <= (uint64_t)1 << 53)
		return (double)n / 1e9;      /* both exact: one rounding */
	int shift = __builtin_clzll(n) + 29; /* the quotient then has 63 or 64 bits */
	uint128 scaled = (uint128)n << shift;
	uint64_t q = (uint64_t)(scaled / GIGA);
	if (scaled % GIGA != 0)
		q |= 1; /* below the rounding bit: keeps a tie from being seen where there is none */
	return ldexp((double)q, -shift);
}

double rec_as_fixed9(double x)
{
	double n = from_billionths(to_billionths(x));

	return x < 0 ? -n : n;
}

static char *put_array(char *p, const double *v, int n)
{
	for (int i = 0; i < n; i++) {
		*p++ = i == 0 ? '[' : ',';
		p = rec_put_fixed9(p, v[i]);
	}
	*p++ = ']';
	return p;
}

/* NULL when a name is not one. */
static char *put_clamped(char *p, const char *list)
{
	p = PUT(p, ",\"clamped\":");
	for (char sep = '['; sep == '[' || *list != '\0'; sep = ',') {
		size_t n = strcspn(list, ",");
		if (!rec_name_ok(list, n))
			return NULL;
		*p++ = sep;
		*p++ = '"';
		p = put_text(p, list, n);
		*p++ = '"';
		list += n + (list[n] == ',');
	}
	*p++ = ']';
	return p;
}

int rec_print_pose(const struct rec *r, char *buf, size_t n)
{
	const struct rec_pose *o = &r->u.pose;
	const double pos[3] = { o->pose.p.x, o->pose.p.y, o->pose.p.z };
	const double rot[4] = { o->pose.q.x, o->pose.q.y, o->pose.q.z, o->pose.q.w };
	struct rec_pose checked = *o;
	char body[BODY_MAX], *p = body;

	checked.has_ts = false; /* left out instead of refused */
	if (rec_pose_refusal(&checked) != NULL)
		return -1;
	p = PUT(p, "{\"type\":\"pose\",\"v\":1,\"src\":\"");
	p = put_text(p, r->src, strlen(r->src));
	p = PUT(p, "\",\"seq\":");
	p = put_whole(p, (uint64_t)r->seq);
	p = PUT(p, ",\"t\":");
	p = put_whole(p, (uint64_t)r->t_us);
	p = o->frame == REC_BASE ? PUT(p, ",\"frame\":\"base\"") : PUT(p, ",\"frame\":\"vr\"");
	p = o->valid ? PUT(p, ",\"valid\":true,\"p\":") : PUT(p, ",\"valid\":false,\"p\":");
	p = put_array(p, pos, 3);
	p = PUT(p, ",\"q\":");
	p = put_array(p, rot, 4);
	if (o->has_grip)
		p = rec_put_fixed9(PUT(p, ",\"grip\":"), o->grip);
	if (o->has_ts && fabs(o->ts) <= REC_POSE_MAX)
		p = rec_put_fixed9(PUT(p, ",\"ts\":"), o->ts);
	if (o->has_flags)
		p = put_whole(PUT(p, ",\"flags\":"), o->flags);
	if (o->clamped[0] != '\0' && (p = put_clamped(p, o->clamped)) == NULL)
		return -1;
	return rec_print_tail(r, body, (size_t)(p - body), buf, n);
}

/* Reading. Each take_x moves past what it read, or returns false. */

static bool take_text(struct cursor *c, const char *s, size_t n)
{
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, s, n) != 0)
		return false;
	c->p += n;
	return true;
}
#define TAKE(c, literal) take_text(c, literal, sizeof(literal) - 1)

/* Digits as the writer makes them: no sign, no leading zero, at most max_digits (<= 19). */
static bool take_whole(struct cursor *c, int max_digits, uint64_t *out)
{
	const char *start = c->p;
	uint64_t v = 0;

	while (c->p < c->end && *c->p >= '0' && *c->p <= '9') {
		if (c->p - start == max_digits)
			return false;
		v = v * 10 + (uint64_t)(*c->p++ - '0');
	}
	*out = v;
	return c->p > start && (*start != '0' || c->p - start == 1);
}

static bool take_int(struct cursor *c, int64_t max, int64_t *out)
{
	uint64_t v;

	if (!take_whole(c, 16, &v) || v > (uint64_t)max)
		return false;
	*out = (int64_t)v;
	return true;
}

static bool take_fixed9(struct cursor *c, double *out)
{
	bool negative = TAKE(c, "-");
	uint64_t whole, rest = 0;

	if (!take_whole(c, 10, &whole) || !TAKE(c, ".") || c->end - c->p < 9)
		return false;
	for (int i = 0; i < 9; i++, c->p++) {
		if (*c->p < '0' || *c->p > '9')
			return false;
		rest = rest * 10 + (uint64_t)(*c->p - '0');
	}
	uint64_t n = whole * GIGA + rest; /* below 1e19: fits */
	if (negative && n == 0)
		return false;
	*out = negative ? -from_billionths(n) : from_billionths(n);
	return true;
}

static bool take_array(struct cursor *c, double *const *v, int n)
{
	for (int i = 0; i < n; i++)
		if (!(i == 0 ? TAKE(c, "[") : TAKE(c, ",")) || !take_fixed9(c, v[i]))
			return false;
	return TAKE(c, "]");
}

/* A name and its closing quote; the name is copied with a NUL. */
static bool take_name(struct cursor *c, char *out, size_t room)
{
	const char *quote = memchr(c->p, '"', (size_t)(c->end - c->p));
	size_t n = quote == NULL ? 0 : (size_t)(quote - c->p);

	if (!rec_name_ok(c->p, n) || n >= room)
		return false;
	memcpy(out, c->p, n);
	out[n] = '\0';
	c->p = quote + 1;
	return true;
}

static bool take_clamped(struct cursor *c, char *list)
{
	size_t n = 0;

	do {
		if (n > 0)
			list[n++] = ',';
		if (n >= REC_CLAMPED_MAX || !TAKE(c, "\"") ||
			!take_name(c, list + n, REC_CLAMPED_MAX - n))
			return false;
		n += strlen(list + n);
	} while (TAKE(c, ","));
	return TAKE(c, "]");
}

static bool take_head(struct cursor *c, struct rec *r)
{
	return TAKE(c, "{\"type\":\"pose\",\"v\":1,\"src\":\"") &&
	       take_name(c, r->src, sizeof r->src) && TAKE(c, ",\"seq\":") &&
	       take_int(c, REC_INT_MAX, &r->seq) && TAKE(c, ",\"t\":") &&
	       take_int(c, REC_INT_MAX, &r->t_us);
}

static bool take_pose(struct cursor *c, struct rec_pose *o)
{
	double *const pos[3] = { &o->pose.p.x, &o->pose.p.y, &o->pose.p.z };
	double *const rot[4] = { &o->pose.q.x, &o->pose.q.y, &o->pose.q.z, &o->pose.q.w };

	if (TAKE(c, ",\"frame\":\"base\""))
		o->frame = REC_BASE;
	else if (!TAKE(c, ",\"frame\":\"vr\""))
		return false;
	if (TAKE(c, ",\"valid\":true"))
		o->valid = true;
	else if (!TAKE(c, ",\"valid\":false"))
		return false;
	return TAKE(c, ",\"p\":") && take_array(c, pos, 3) && TAKE(c, ",\"q\":") &&
	       take_array(c, rot, 4);
}

static bool take_options(struct cursor *c, struct rec_pose *o)
{
	int64_t flags;

	if (TAKE(c, ",\"grip\":")) {
		o->has_grip = true;
		if (!take_fixed9(c, &o->grip))
			return false;
	}
	if (TAKE(c, ",\"ts\":")) {
		o->has_ts = true;
		if (!take_fixed9(c, &o->ts))
			return false;
	}
	if (TAKE(c, ",\"flags\":")) {
		if (!take_int(c, UINT32_MAX, &flags))
			return false;
		o->has_flags = true;
		o->flags = (uint32_t)flags;
	}
	return !TAKE(c, ",\"clamped\":[") || take_clamped(c, o->clamped);
}

int rec_parse_direct(const char *line, size_t n, struct rec *r)
{
	struct cursor c = { line, line + n };

	if (n >= REC_LINE_MAX)
		return 0;
	rec_init(r, REC_POSE, "", 0, 0);
	return take_head(&c, r) && take_pose(&c, &r->u.pose) && take_options(&c, &r->u.pose) &&
	       TAKE(&c, "}") && c.p == c.end && rec_pose_refusal(&r->u.pose) == NULL;
}
