/*
 * Euler angles. Every convention is brought to rotating axes R = Ri(a) Rj(b) Rk(c): static axes
 * are the rotating ones read backwards. e is +1 where i j k is a cyclic order of x y z, else -1
 * (for a repeated axis k is the axis left over).
 */
#include "geom/euler.h"

#include <math.h>
#include <string.h>

#define DEG (M_PI / 180)
#define RPY_POLE 1e-9   /* piper.md 8.3 */
#define EULER_POLE 1e-7 /* rad, README of the vectors */

/* Degrees in (-180, 180], no negative zero. */
static double degrees(double rad)
{
	double d = remainder(rad / DEG, 360);

	return d <= -180 ? d + 360 : d + 0.0;
}

struct quat rpy_to_quat(struct rpy a)
{
	double hx = a.rx * DEG / 2, hy = a.ry * DEG / 2, hz = a.rz * DEG / 2;
	double sx = sin(hx), cx = cos(hx), sy = sin(hy), cy = cos(hy), sz = sin(hz), cz = cos(hz);

	return (struct quat){
		sx * cy * cz - cx * sy * sz,
		cx * sy * cz + sx * cy * sz,
		cx * cy * sz - sx * sy * cz,
		cx * cy * cz + sx * sy * sz,
	};
}

/* With p = rx/2, q = rz/2 and c, s of ry/2:  w + y = (c + s) cos(p - q),  x - z = (c + s) sin(p - q),
 * w - y = (c - s) cos(p + q),  x + z = (c - s) sin(p + q).  The same angles as the atan2 forms on
 * the matrix, but nothing is lost near the pole, where c + s or c - s vanishes. */
struct rpy rpy_from_quat(struct quat in)
{
	struct quat q = quat_unit(in);
	struct rpy a = { 0, 0, 0 };
	double plus, minus, sum, diff;

	if (q.w < 0 || (q.w == 0 && (q.x < 0 || (q.x == 0 && (q.y < 0 || (q.y == 0 && q.z < 0))))))
		q = quat_neg(q);
	plus = hypot(q.w + q.y, q.x - q.z);
	minus = hypot(q.w - q.y, q.x + q.z);
	diff = atan2(q.x - q.z, q.w + q.y);
	sum = atan2(q.x + q.z, q.w - q.y);
	a.ry = degrees(2 * atan2(plus, minus) - M_PI_2);
	if (plus * minus < RPY_POLE) { /* cos ry = hypot(r00, r10) */
		a.rx = degrees(2 * (plus > minus ? diff : sum));
		return a;
	}
	a.rx = degrees(sum + diff);
	a.rz = degrees(sum - diff);
	return a;
}

struct rpy rpy_from_mat(struct mat3 m)
{
	return rpy_from_quat(quat_from_mat(m));
}

bool euler_parse(const char *code, struct euler_order *out)
{
	struct euler_order o;

	if (strlen(code) != 4 || (code[0] != 'r' && code[0] != 's'))
		return false;
	o.rotating = code[0] == 'r';
	for (int n = 0; n < 3; n++) {
		if (code[1 + n] < 'x' || code[1 + n] > 'z')
			return false;
		o.axis[n] = code[1 + n] - 'x';
	}
	if (o.axis[0] == o.axis[1] || o.axis[1] == o.axis[2])
		return false;
	*out = o;
	return true;
}

static struct mat3 about(int axis, double deg)
{
	int j = (axis + 1) % 3, k = (axis + 2) % 3;
	double s = sin(deg * DEG), c = cos(deg * DEG);
	struct mat3 r = { { { 0 } } };

	r.m[axis][axis] = 1;
	r.m[j][j] = c;
	r.m[k][k] = c;
	r.m[j][k] = -s;
	r.m[k][j] = s;
	return r;
}

static struct mat3 mul(struct mat3 a, struct mat3 b)
{
	struct mat3 r;

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			r.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] +
				    a.m[i][2] * b.m[2][j];
	return r;
}

struct mat3 euler_to_mat(struct euler_order o, const double deg[3])
{
	struct mat3 r0 = about(o.axis[0], deg[0]), r1 = about(o.axis[1], deg[1]);
	struct mat3 r2 = about(o.axis[2], deg[2]);

	return o.rotating ? mul(mul(r0, r1), r2) : mul(mul(r2, r1), r0);
}

void euler_from_mat(struct euler_order o, struct mat3 m, double deg[3])
{
	double(*r)[3] = m.m;
	bool repeated = o.axis[0] == o.axis[2];
	int i = o.rotating ? o.axis[0] : o.axis[2];
	int j = o.axis[1];
	int k = 3 - i - j;
	double e = j == (i + 1) % 3 ? 1 : -1;
	double abc[3], row_i, row_j, row_k;
	/* hypot: cos b of three different axes, sin b of a repeated one */
	double h = repeated ? hypot(r[j][i], r[k][i]) : hypot(r[i][i], r[i][j]);

	abc[1] = repeated ? atan2(h, r[i][i]) : atan2(e * r[i][k], h);
	if (h >= EULER_POLE)
		abc[0] = repeated ? atan2(r[j][i], -e * r[k][i]) : atan2(-e * r[j][k], r[k][k]);
	else /* the third angle as written is 0: that is c for rotating axes, a for static ones */
		abc[0] = o.rotating ? atan2(e * r[k][j], r[j][j]) : 0;
	/* Row j of Ri(-a) R is row j of the last rotation: what a has lost in the rounding, c
	 * makes good. */
	row_i = cos(abc[0]) * r[j][i] + e * sin(abc[0]) * r[k][i];
	row_j = cos(abc[0]) * r[j][j] + e * sin(abc[0]) * r[k][j];
	row_k = cos(abc[0]) * r[j][k] + e * sin(abc[0]) * r[k][k];
	abc[2] = repeated ? atan2(-e * row_k, row_j) : atan2(e * row_i, row_j);
	if (h < EULER_POLE && o.rotating)
		abc[2] = 0;
	for (int n = 0; n < 3; n++)
		deg[n] = degrees(abc[o.rotating ? n : 2 - n]);
}
