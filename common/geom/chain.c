/* Kinematics of serial arms; inverse of the Piper in closed form (piper.md 8). */
#include "geom/chain.h"

#include <math.h>

#define DEG (M_PI / 180)
#define LIMIT_SLACK 1e-8  /* rad: rounding of a nine-decimal pose at the edge of a joint's range */
#define REACH_SLACK 1e-10 /* of the cosine of the elbow: rounding at full stretch */
#define AXIS_FREE 1e-10   /* m: wrist centre on the base axis, J1 is free */
#define TILT_FREE 1e-8    /* |sin J5|: wrist straight within the same rounding, J4 is free */

/* alpha, a, d, theta offset, range. The two tables differ in the offsets of J2 and J3 only. */
#define PIPER_TABLE(off2, off3)                                                                    \
	{                                                                                          \
		{                                                                                  \
			{ 0, 0, 0.123, 0, -150 * DEG, 150 * DEG },                                 \
				{ -90 * DEG, 0, 0, (off2)*DEG, 0, 180 * DEG },                     \
				{ 0, 0.28503, 0, (off3)*DEG, -170 * DEG, 0 },                      \
				{ 90 * DEG, -0.02198, 0.25075, 0, -100 * DEG, 100 * DEG },         \
				{ -90 * DEG, 0, 0, 0, -70 * DEG, 70 * DEG },                       \
				{ 90 * DEG, 0, 0.091, 0, -120 * DEG, 120 * DEG },                  \
		}                                                                                  \
	}

const struct chain PIPER_DH_NEW = PIPER_TABLE(-172.22, -102.78);
const struct chain PIPER_DH_OLD = PIPER_TABLE(-174.22, -100.78);

/* A frame as rotation and origin. */
struct frame {
	struct mat3 r;
	struct vec3 o;
};

static struct vec3 column(const struct mat3 *r, int i)
{
	return (struct vec3){ r->m[0][i], r->m[1][i], r->m[2][i] };
}

/* Frame i+1 of the arm from frame i: RotX(alpha) TransX(a) RotZ(q + offset) TransZ(d). */
static struct frame advance(const struct frame *f, const struct chain *c, int i, double q)
{
	double ca = cos(c->j[i].alpha), sa = sin(c->j[i].alpha);
	double ct = cos(q + c->j[i].offset), st = sin(q + c->j[i].offset);
	struct frame g;

	for (int n = 0; n < 3; n++) {
		double x = f->r.m[n][0];
		double y = f->r.m[n][1] * ca + f->r.m[n][2] * sa;

		g.r.m[n][0] = x * ct + y * st;
		g.r.m[n][1] = y * ct - x * st;
		g.r.m[n][2] = f->r.m[n][2] * ca - f->r.m[n][1] * sa;
	}
	g.o = vec_add(f->o, vec_add(vec_scale(column(&f->r, 0), c->j[i].a),
				    vec_scale(column(&g.r, 2), c->j[i].d)));
	return g;
}

static const struct frame BASE = { { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } }, { 0, 0, 0 } };

struct pose chain_fk(const struct chain *c, const double q[CHAIN_JOINTS])
{
	struct frame f = BASE;

	for (int i = 0; i < CHAIN_JOINTS; i++)
		f = advance(&f, c, i, q[i]);
	return (struct pose){ f.o, quat_from_mat(f.r) };
}

void chain_jacobian(
	const struct chain *c, const double q[CHAIN_JOINTS], double jac[6][CHAIN_JOINTS])
{
	struct frame f[CHAIN_JOINTS + 1];

	f[0] = BASE;
	for (int i = 0; i < CHAIN_JOINTS; i++)
		f[i + 1] = advance(&f[i], c, i, q[i]);
	for (int i = 0; i < CHAIN_JOINTS; i++) {
		struct vec3 z = column(&f[i + 1].r, 2);
		struct vec3 v = vec_cross(z, vec_sub(f[CHAIN_JOINTS].o, f[i + 1].o));

		jac[0][i] = v.x;
		jac[1][i] = v.y;
		jac[2][i] = v.z;
		jac[3][i] = z.x;
		jac[4][i] = z.y;
		jac[5][i] = z.z;
	}
}

bool chain_within(const struct chain *c, const double q[CHAIN_JOINTS], double margin_rad)
{
	for (int i = 0; i < CHAIN_JOINTS; i++)
		if (!(q[i] >= c->j[i].lo - margin_rad && q[i] <= c->j[i].hi + margin_rad))
			return false;
	return true;
}

/* To (-pi, pi]. */
static double wrap(double a)
{
	double r = remainder(a, 2 * M_PI);

	return r <= -M_PI ? r + 2 * M_PI : r;
}

/* Two elbow positions for a given J1; w is the wrist centre. Returns 0 or 2; joints 1..3 in q. */
static int arm_solutions(const struct chain *c, struct vec3 w, double q1, double q[2][3])
{
	double l1 = c->j[2].a, l2 = hypot(c->j[3].a, c->j[3].d);
	double delta = atan2(c->j[3].d, c->j[3].a);
	double r = w.x * cos(q1) + w.y * sin(q1), h = w.z - c->j[0].d;
	double k = (r * r + h * h - l1 * l1 - l2 * l2) / (2 * l1 * l2);
	double psi;

	if (!(fabs(k) <= 1 + REACH_SLACK))
		return 0;
	psi = acos(fmax(-1, fmin(1, k)));
	for (int n = 0; n < 2; n++, psi = -psi) {
		q[n][0] = wrap(q1 - c->j[0].offset);
		q[n][1] = wrap(
			atan2(-h, r) - atan2(l2 * sin(psi), l1 + l2 * cos(psi)) - c->j[1].offset);
		q[n][2] = wrap(psi + delta - c->j[2].offset);
	}
	return 2;
}

/* R36 of the wanted flange rotation, joints 1..3 given. */
static struct mat3 wrist_rotation(const struct chain *c, const double q[3], const struct mat3 *r06)
{
	struct frame f = BASE;
	struct mat3 r;

	for (int i = 0; i < 3; i++)
		f = advance(&f, c, i, q[i]);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			r.m[i][j] = vec_dot(column(&f.r, i), column(r06, j));
	return r;
}

/* J5 and J6 that come nearest to the rotation for a chosen theta4; exact for the two theta4 of
 * the closed form. Well conditioned at any J5. */
static void wrist_from_j4(const struct chain *c, const struct mat3 *r, double th4, double q[6])
{
	double c4 = cos(th4), s4 = sin(th4);
	double th5 = atan2(c4 * r->m[0][2] + s4 * r->m[2][2], -r->m[1][2]);
	double th6 = atan2(c4 * r->m[2][0] - s4 * r->m[0][0], c4 * r->m[2][1] - s4 * r->m[0][1]);

	q[3] = wrap(th4 - c->j[3].offset);
	q[4] = wrap(th5 - c->j[4].offset);
	q[5] = wrap(th6 - c->j[5].offset);
}

static bool wrist_is_straight(const struct mat3 *r)
{
	return hypot(r->m[0][2], r->m[2][2]) < TILT_FREE;
}

static double wrist_j4(const struct mat3 *r)
{
	return atan2(r->m[2][2], r->m[0][2]);
}

struct target {
	struct mat3 r06;
	struct vec3 w; /* wrist centre */
	double q1;     /* theta1, the other one is half a turn away */
};

static struct target target_of(const struct chain *c, struct pose flange, double q1_if_free)
{
	struct target t = { .r06 = quat_to_mat(flange.q) };

	t.w = vec_sub(flange.p, vec_scale(column(&t.r06, 2), c->j[5].d));
	t.q1 = hypot(t.w.x, t.w.y) < AXIS_FREE ? q1_if_free : atan2(t.w.y, t.w.x);
	return t;
}

int piper_ik(const struct chain *c, struct pose flange, double out[PIPER_IK_MAX][CHAIN_JOINTS])
{
	struct target t = target_of(c, flange, 0);
	int n = 0;

	for (int turn = 0; turn < 2; turn++) {
		double arm[2][3];
		int arms = arm_solutions(c, t.w, t.q1 + turn * M_PI, arm);

		for (int a = 0; a < arms; a++) {
			struct mat3 r = wrist_rotation(c, arm[a], &t.r06);
			bool straight = wrist_is_straight(&r);
			double th4 = straight ? 0 : wrist_j4(&r);

			for (int u = 0; u < (straight ? 1 : 2); u++) {
				for (int i = 0; i < 3; i++)
					out[n][i] = arm[a][i];
				wrist_from_j4(c, &r, th4 + u * M_PI, out[n++]);
			}
		}
	}
	return n;
}

/* Brings q by whole turns into the ranges, as near to `from` as they allow; rounding past an
 * edge is put on the edge. Returns the largest joint step, or -1: outside. */
static double settle(const struct chain *c, double q[CHAIN_JOINTS], const double from[CHAIN_JOINTS])
{
	double worst = 0;

	for (int i = 0; i < CHAIN_JOINTS; i++) {
		double best = -1, at = 0;

		for (int turn = -1; turn <= 1; turn++) {
			double v = q[i] + turn * 2 * M_PI;

			if (!(v >= c->j[i].lo - LIMIT_SLACK && v <= c->j[i].hi + LIMIT_SLACK))
				continue;
			v = fmax(c->j[i].lo, fmin(c->j[i].hi, v));
			if (best < 0 || fabs(v - from[i]) < best) {
				best = fabs(v - from[i]);
				at = v;
			}
		}
		if (best < 0)
			return -1;
		q[i] = at;
		worst = fmax(worst, best);
	}
	return worst;
}

/* J4 of a straight wrist: only J4 + J6 is given. The change is shared evenly, as far as both
 * ranges allow; of the whole turns the sum may have, the one with the smaller step. */
static bool split_straight(
	const struct chain *c, const struct mat3 *r, const double from[CHAIN_JOINTS], double *th4)
{
	double sum = atan2(r->m[2][0], r->m[0][0]) - c->j[3].offset - c->j[5].offset;
	double best = -1;

	for (int turn = -2; turn <= 2; turn++) {
		double s = sum + turn * 2 * M_PI;
		double lo = fmax(c->j[3].lo, s - c->j[5].hi), hi = fmin(c->j[3].hi, s - c->j[5].lo);
		double q4 = from[3] + (s - from[3] - from[5]) / 2;
		double step;

		if (lo > hi + LIMIT_SLACK)
			continue;
		q4 = fmax(lo, fmin(hi, q4));
		step = fmax(fabs(q4 - from[3]), fabs(s - q4 - from[5]));
		if (best < 0 || step < best) {
			best = step;
			*th4 = q4 + c->j[3].offset;
		}
	}
	return best >= 0;
}

bool piper_ik_near(const struct chain *c, struct pose flange, const double from[CHAIN_JOINTS],
	double out[CHAIN_JOINTS])
{
	struct target t = target_of(c, flange, from[0] + c->j[0].offset);
	double best = -1, best_q[CHAIN_JOINTS] = { 0 };

	for (int n = 0; n < 4; n++) { /* J1 and its opposite, wrist and its flip */
		double arm[2][3];
		int arms = arm_solutions(c, t.w, t.q1 + (n & 1) * M_PI, arm);

		for (int a = 0; a < arms; a++) {
			struct mat3 r = wrist_rotation(c, arm[a], &t.r06);
			double th4 = wrist_j4(&r) + (n >> 1) * M_PI;
			double q[CHAIN_JOINTS] = { arm[a][0], arm[a][1], arm[a][2] };
			double step;

			if (wrist_is_straight(&r) && !split_straight(c, &r, from, &th4))
				continue;
			wrist_from_j4(c, &r, th4, q);
			step = settle(c, q, from);
			if (step < 0 || (best >= 0 && step >= best))
				continue;
			best = step;
			for (int i = 0; i < CHAIN_JOINTS; i++)
				best_q[i] = q[i];
		}
	}
	if (best < 0)
		return false;
	for (int i = 0; i < CHAIN_JOINTS; i++)
		out[i] = best_q[i];
	return true;
}
