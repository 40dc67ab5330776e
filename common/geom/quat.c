/* Unit quaternions. quat_rotate and quat_to_mat divide by the norm, so that a quaternion within
 * the tolerance of the records (1e-2) turns and does not stretch. */
#include "geom/quat.h"

#include <math.h>

const struct quat QUAT_IDENTITY = { 0, 0, 0, 1 };

struct quat quat_mul(struct quat a, struct quat b)
{
	return (struct quat){
		a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
		a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
		a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
		a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
	};
}

struct quat quat_conj(struct quat a)
{
	return (struct quat){ -a.x, -a.y, -a.z, a.w };
}

static double dot4(struct quat a, struct quat b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

double quat_norm(struct quat a)
{
	return sqrt(dot4(a, a));
}

struct quat quat_unit(struct quat a)
{
	double n = quat_norm(a);

	if (!(n > 0) || !isfinite(n))
		return QUAT_IDENTITY;
	return (struct quat){ a.x / n, a.y / n, a.z / n, a.w / n };
}

struct quat quat_neg(struct quat a)
{
	return (struct quat){ -a.x, -a.y, -a.z, -a.w };
}

struct quat quat_near(struct quat a, struct quat near)
{
	return dot4(a, near) < 0 ? quat_neg(a) : a;
}

struct vec3 quat_rotate(struct quat q, struct vec3 v)
{
	struct vec3 u = { q.x, q.y, q.z };
	double n2 = dot4(q, q);
	struct vec3 t;

	if (!(n2 > 0))
		return v;
	t = vec_scale(vec_cross(u, v), 2 / n2);
	return vec_add(v, vec_add(vec_scale(t, q.w), vec_cross(u, t)));
}

double quat_angle(struct quat a, struct quat b)
{
	struct quat d = quat_mul(quat_conj(a), b);

	return 2 * atan2(vec_norm((struct vec3){ d.x, d.y, d.z }), fabs(d.w));
}

struct vec3 quat_log(struct quat q)
{
	struct quat s = q.w < 0 ? quat_neg(q) : q;
	struct vec3 v = { s.x, s.y, s.z };
	double n = vec_norm(v);

	if (!(n > 0))
		return (struct vec3){ 0, 0, 0 };
	return vec_scale(v, 2 * atan2(n, s.w) / n);
}

struct quat quat_exp(struct vec3 v)
{
	double a = vec_norm(v);
	/* sin(a/2)/a; its series is exact to the last bit below 1e-4 */
	double s = a < 1e-4 ? 0.5 - a * a / 48 : sin(a / 2) / a;

	return (struct quat){ v.x * s, v.y * s, v.z * s, cos(a / 2) };
}

struct quat quat_slerp(struct quat a, struct quat b, double t)
{
	struct quat to = quat_near(b, a);
	struct vec3 v = quat_log(quat_mul(quat_conj(a), to));

	return quat_unit(quat_mul(a, quat_exp(vec_scale(v, t))));
}

struct mat3 quat_to_mat(struct quat q)
{
	double n2 = dot4(q, q), s = n2 > 0 ? 2 / n2 : 0;
	double xx = s * q.x * q.x, yy = s * q.y * q.y, zz = s * q.z * q.z;
	double xy = s * q.x * q.y, xz = s * q.x * q.z, yz = s * q.y * q.z;
	double wx = s * q.w * q.x, wy = s * q.w * q.y, wz = s * q.w * q.z;

	return (struct mat3){ {
		{ 1 - (yy + zz), xy - wz, xz + wy },
		{ xy + wz, 1 - (xx + zz), yz - wx },
		{ xz - wy, yz + wx, 1 - (xx + yy) },
	} };
}

/* The largest of the four squared components leads: never a division by something small. */
struct quat quat_from_mat(struct mat3 a)
{
	double trace = a.m[0][0] + a.m[1][1] + a.m[2][2];
	double c[3]; /* x y z */
	struct quat q;
	int i = 0, j, k;

	if (trace > 0) {
		q = (struct quat){ a.m[2][1] - a.m[1][2], a.m[0][2] - a.m[2][0],
			a.m[1][0] - a.m[0][1], 1 + trace };
		return quat_unit(q);
	}
	if (a.m[1][1] > a.m[0][0])
		i = 1;
	if (a.m[2][2] > a.m[i][i])
		i = 2;
	j = (i + 1) % 3;
	k = (i + 2) % 3;
	c[i] = 1 + a.m[i][i] - a.m[j][j] - a.m[k][k];
	c[j] = a.m[i][j] + a.m[j][i];
	c[k] = a.m[i][k] + a.m[k][i];
	q = (struct quat){ c[0], c[1], c[2], a.m[k][j] - a.m[j][k] };
	q = quat_unit(q);
	return q.w < 0 ? quat_neg(q) : q;
}
