#include "clamp/space.h"

#include <math.h>

const char *const CLAMP_NAME[CLAMP_BITS] = { "x", "y", "z", "tip-x", "tip-y", "tip-z", "tilt",
	"radius", "speed", "accel", "aspeed", "aaccel", "grip", "grip-rate" };

/* Distances below this are the same place: far below a record's last digit. */
#define EPS 1e-12
/* A target is set this far inside the cone, more than the rounding of a record's quaternion. */
#define CONE_MARGIN 1e-8
/* Ways round the cylinder keep this far off it, so that they do not end in rounding. */
#define RIM_MARGIN 1e-7
#define AHEAD 0.1 /* rad: how far a turn is looked ahead along before it is chosen */
#define QUARTER 1.5707963267948966

static const struct vec3 Z = { 0, 0, 1 };

void space_free(struct space *s)
{
	for (int i = 0; i < 3; i++) {
		s->lo[i] = -HUGE_VAL;
		s->hi[i] = HUGE_VAL;
	}
	s->has_tool = false;
	s->tool = (struct vec3){ 0, 0, 0 };
	s->tilt = -1;
	s->tilt_axis = (struct vec3){ 0, 0, -1 };
	s->radius = 0;
}

bool space_any(const struct space *s)
{
	for (int i = 0; i < 3; i++)
		if (isfinite(s->lo[i]) || isfinite(s->hi[i]))
			return true;
	return s->tilt >= 0 || s->radius > 0;
}

static double get(struct vec3 v, int i)
{
	return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

static double clip(double x, double lo, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

bool space_span(const struct space *s, struct quat q, struct span *out, unsigned *bits)
{
	struct vec3 tip = s->has_tool ? quat_rotate(q, s->tool) : (struct vec3){ 0, 0, 0 };
	bool ok = true;

	for (int i = 0; i < 3; i++) {
		out->lo[i] = fmax(s->lo[i], s->lo[i] - get(tip, i));
		out->hi[i] = fmin(s->hi[i], s->hi[i] - get(tip, i));
		if (out->lo[i] <= out->hi[i])
			continue;
		ok = false;
		*bits |= (unsigned)(CLAMP_X | CLAMP_TIP_X) << i;
	}
	out->radius = s->radius;
	return ok;
}

unsigned space_breach(const struct space *s, struct quat q, struct vec3 p)
{
	struct vec3 tip = s->has_tool ? quat_rotate(q, s->tool) : (struct vec3){ 0, 0, 0 };
	struct vec3 in = p;
	unsigned bits = 0;

	for (int i = 0; i < 3; i++) {
		double f = get(p, i), t = f + get(tip, i);
		if (f < s->lo[i] - EPS || f > s->hi[i] + EPS)
			bits |= (unsigned)CLAMP_X << i;
		if (s->has_tool && (t < s->lo[i] - EPS || t > s->hi[i] + EPS))
			bits |= (unsigned)CLAMP_TIP_X << i;
	}
	/* The cylinder is named when the place inside the box is in it. */
	struct span a;
	unsigned none = 0;
	if (s->radius > 0 && space_span(s, q, &a, &none)) {
		in.x = clip(p.x, a.lo[0], a.hi[0]);
		in.y = clip(p.y, a.lo[1], a.hi[1]);
		if (hypot(in.x, in.y) < s->radius - EPS)
			bits |= CLAMP_RADIUS;
	}
	return bits;
}

static bool inside(double x, double lo, double hi)
{
	return x >= lo - EPS && x <= hi + EPS;
}

bool space_has(const struct span *a, struct vec3 p)
{
	return inside(p.x, a->lo[0], a->hi[0]) && inside(p.y, a->lo[1], a->hi[1]) &&
	       inside(p.z, a->lo[2], a->hi[2]) &&
	       (a->radius <= 0 || hypot(p.x, p.y) >= a->radius - EPS);
}

/* Keeps the nearest allowed candidate. */
struct best {
	const struct span *a;
	double x, y; /* asked for */
	double bx, by, d;
};

static void offer(struct best *b, double x, double y)
{
	double d = hypot(x - b->x, y - b->y);

	if (!(isfinite(x) && isfinite(y)) || d >= b->d)
		return;
	if (!inside(x, b->a->lo[0], b->a->hi[0]) || !inside(y, b->a->lo[1], b->a->hi[1]) ||
		hypot(x, y) < b->a->radius - EPS)
		return;
	b->bx = x;
	b->by = y;
	b->d = d;
}

/* The nearest point of a rectangle without a disc is on the circle, on an edge, or a corner. */
static bool rim_near(const struct span *a, double x, double y, double *ox, double *oy)
{
	struct best b = { a, x, y, 0, 0, HUGE_VAL };
	double r = hypot(x, y), R = a->radius;

	offer(&b, clip(x, a->lo[0], a->hi[0]), clip(y, a->lo[1], a->hi[1]));
	if (r > EPS)
		offer(&b, x * (R / r), y * (R / r));
	else
		for (int k = 0; k < 4; k++)
			offer(&b, k == 0 ? R : k == 1 ? -R : 0, k == 2 ? R : k == 3 ? -R : 0);
	for (int e = 0; e < 2; e++) {
		double ex = e ? a->hi[0] : a->lo[0], ey = e ? a->hi[1] : a->lo[1];
		double cx = sqrt(fmax(0, R * R - ex * ex)), cy = sqrt(fmax(0, R * R - ey * ey));
		offer(&b, ex, clip(y, a->lo[1], a->hi[1]));
		offer(&b, clip(x, a->lo[0], a->hi[0]), ey);
		for (int k = -1; k <= 1; k += 2) {
			offer(&b, ex, k * cx);
			offer(&b, k * cy, ey);
		}
		offer(&b, ex, a->lo[1]);
		offer(&b, ex, a->hi[1]);
	}
	*ox = b.bx;
	*oy = b.by;
	return isfinite(b.d);
}

bool space_near(const struct span *a, struct vec3 p, struct vec3 *out)
{
	for (int i = 0; i < 3; i++)
		if (!(a->lo[i] <= a->hi[i]))
			return false;
	out->x = clip(p.x, a->lo[0], a->hi[0]);
	out->y = clip(p.y, a->lo[1], a->hi[1]);
	out->z = clip(p.z, a->lo[2], a->hi[2]);
	if (a->radius <= 0 || hypot(out->x, out->y) >= a->radius - EPS)
		return true;
	return rim_near(a, p.x, p.y, &out->x, &out->y);
}

/* Least distance of the segment from the base axis, seen from above. */
static double axis_gap(struct vec3 p, struct vec3 r)
{
	double dx = r.x - p.x, dy = r.y - p.y, dd = dx * dx + dy * dy;
	double k = dd > 0 ? clip(-(p.x * dx + p.y * dy) / dd, 0, 1) : 0;

	return hypot(p.x + k * dx, p.y + k * dy);
}

bool space_clear(const struct span *a, struct vec3 p, struct vec3 r, double graze)
{
	return space_has(a, r) && (a->radius <= 0 || axis_gap(p, r) >= a->radius - EPS - graze);
}

/* Where the straight way first comes within R of the axis; p itself when it is there already. */
static struct vec3 rim_entry(struct vec3 p, struct vec3 goal, double R)
{
	double dx = goal.x - p.x, dy = goal.y - p.y;
	double A = dx * dx + dy * dy, B = p.x * dx + p.y * dy, C = p.x * p.x + p.y * p.y - R * R;
	double disc = B * B - A * C;
	double k = 0;

	if (A > 0 && C > 0 && disc > 0)
		k = clip((-B - sqrt(disc)) / A, 0, 1);
	return (struct vec3){ p.x + k * dx, p.y + k * dy, goal.z };
}

struct vec3 space_way(const struct span *a, struct vec3 p, struct vec3 goal, bool *blocked)
{
	struct vec3 e = vec_sub(goal, p);

	*blocked = a->radius > 0 && axis_gap(p, goal) < a->radius - EPS;
	if (!*blocked)
		return e;
	double R = a->radius + RIM_MARGIN;
	double r = hypot(p.x, p.y), g = hypot(goal.x, goal.y);
	double round = atan2(p.x * goal.y - p.y * goal.x, p.x * goal.x + p.y * goal.y);
	if (fabs(round) > QUARTER)
		return vec_sub(rim_entry(p, goal, R), p);
	/* Along the tangent on the goal's side: beta is its angle to the way inwards. */
	double beta = r > R ? asin(R / r) : QUARTER, side = round < 0 ? -1 : 1;
	double leg_p = r > R ? sqrt(r * r - R * R) : 0, leg_g = g > R ? sqrt(g * g - R * R) : 0;
	double arc = fabs(round) - acos(clip(R / r, 0, 1)) - acos(clip(R / g, 0, 1));
	double len = leg_p + leg_g + R * fmax(0, arc);
	double in = -cos(beta) / r, along = side * sin(beta) / r;
	return (struct vec3){ (in * p.x - along * p.y) * len, (in * p.y + along * p.x) * len, e.z };
}

static double angle_between(struct vec3 a, struct vec3 b)
{
	return atan2(vec_norm(vec_cross(a, b)), vec_dot(a, b));
}

/* Any vector across v. */
static struct vec3 across(struct vec3 v)
{
	struct vec3 h = fabs(v.x) < 0.6 ? (struct vec3){ 1, 0, 0 } : (struct vec3){ 0, 1, 0 };

	return vec_cross(v, h);
}

/* Rotation vector that turns unit a into unit b by the great circle; opposite: by way of `via`. */
static struct vec3 swing(struct vec3 a, struct vec3 b, struct vec3 via)
{
	struct vec3 n = vec_cross(a, b);
	double ang = angle_between(a, b);

	if (ang < EPS)
		return (struct vec3){ 0, 0, 0 };
	if (vec_norm(n) < 1e-9 && ang > 1) {
		n = vec_cross(a, via);
		if (vec_norm(n) < 1e-9)
			n = across(a);
	}
	return vec_scale(n, ang / vec_norm(n));
}

struct quat space_tilt(const struct space *s, struct quat q, unsigned *bits)
{
	if (s->tilt < 0)
		return q;
	struct vec3 z = quat_rotate(q, Z), back = swing(z, s->tilt_axis, across(z));
	double ang = vec_norm(back);
	if (ang <= s->tilt + EPS)
		return q;
	*bits |= CLAMP_TILT;
	double by = ang - fmax(0, s->tilt - CONE_MARGIN);
	return quat_unit(quat_mul(quat_exp(vec_scale(back, by / ang)), q));
}

bool space_turn_clear(const struct space *s, struct quat q, struct vec3 r)
{
	double ang = vec_norm(r);

	if (s->tilt < 0)
		return true;
	struct vec3 z = quat_rotate(q, Z), axis = s->tilt_axis;
	struct vec3 k = ang > 0 ? vec_scale(r, 1 / ang) : z;
	/* Cosine to the axis along the turn: A + C cos + S sin. */
	double kz = vec_dot(k, z), A = kz * vec_dot(k, axis), C = vec_dot(z, axis) - A;
	double S = vec_dot(vec_cross(k, z), axis);
	double least = cos(s->tilt) - 1e-11;
	double low = atan2(-S, -C); /* where it is least */
	if (low < 0)
		low += 4 * QUARTER;
	if (low < ang)
		return A - hypot(C, S) >= least;
	return A + C * cos(ang) + S * sin(ang) >= least && vec_dot(z, axis) >= least;
}

struct vec3 space_turn(const struct space *s, struct quat q, struct quat goal)
{
	struct vec3 e = quat_log(quat_mul(goal, quat_conj(q)));

	if (s->tilt < 0 || space_turn_clear(s, q, e))
		return e;
	struct vec3 z = quat_rotate(q, Z), zg = quat_rotate(goal, Z);
	struct vec3 sw = swing(z, zg, s->tilt_axis);
	struct quat mid = quat_mul(quat_exp(sw), q);
	double twist = vec_dot(quat_log(quat_mul(goal, quat_conj(mid))), zg);
	/* As much of the turn about the tool axis at the same time as the cone allows. */
	for (double part = 1; part > 0.1; part /= 2) {
		struct vec3 c = vec_add(sw, vec_scale(z, twist * part));
		double n = vec_norm(c);
		if (n > 0 && space_turn_clear(s, q, vec_scale(c, fmin(1, AHEAD / n))))
			return c;
	}
	return vec_norm(sw) > 1e-7 ? sw : vec_scale(z, twist);
}

bool space_round(const struct span *a, struct vec3 p, struct vec3 *out)
{
	const double v[3] = { p.x * 1e9, p.y * 1e9, p.z * 1e9 };
	double best = HUGE_VAL;

	/* Nearest first, then every way of rounding up and down. */
	*out = (struct vec3){ rint(v[0]) / 1e9, rint(v[1]) / 1e9, rint(v[2]) / 1e9 };
	if (space_has(a, *out))
		return true;
	for (int k = 0; k < 8; k++) {
		struct vec3 c = { (k & 1 ? ceil(v[0]) : floor(v[0])) / 1e9,
			(k & 2 ? ceil(v[1]) : floor(v[1])) / 1e9,
			(k & 4 ? ceil(v[2]) : floor(v[2])) / 1e9 };
		double d = vec_dist(c, p);
		if (d < best && space_has(a, c)) {
			best = d;
			*out = c;
		}
	}
	return isfinite(best);
}
