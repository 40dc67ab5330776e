/* Quaternions and poses: identities, short ways, bounds. */
#include "geom/pose.h"
#include "geom_check.h"

#define CASES 100000

static struct vec3 random_vec(double size)
{
	return (struct vec3){ uniform(-size, size), uniform(-size, size), uniform(-size, size) };
}

static double vec_mat_diff(struct mat3 m, struct vec3 v, struct vec3 w)
{
	struct vec3 r = { m.m[0][0] * v.x + m.m[0][1] * v.y + m.m[0][2] * v.z,
		m.m[1][0] * v.x + m.m[1][1] * v.y + m.m[1][2] * v.z,
		m.m[2][0] * v.x + m.m[2][1] * v.y + m.m[2][2] * v.z };

	return vec_dist(r, w);
}

static void test_hand_made(void)
{
	double h = sqrt(0.5);
	struct quat x90 = { h, 0, 0, h }, z90 = { 0, 0, h, h };
	struct vec3 v = quat_rotate(z90, (struct vec3){ 1, 0, 0 });
	struct vec3 c = vec_cross((struct vec3){ 1, 0, 0 }, (struct vec3){ 0, 1, 0 });

	ok(vec_dist(v, (struct vec3){ 0, 1, 0 }) < 1e-15, "90 deg about z turns x to y");
	v = quat_rotate(quat_mul(z90, x90), (struct vec3){ 0, 1, 0 });
	ok(vec_dist(v, (struct vec3){ 0, 0, 1 }) < 1e-15, "a product: first the right one");
	ok(fabs(quat_angle(x90, z90) - 120 * DEG) < 1e-15, "x90 to z90 is 120 deg");
	ok(vec_dist(c, (struct vec3){ 0, 0, 1 }) == 0, "x cross y is z");
	ok(quat_unit((struct quat){ 0, 0, 0, 0 }).w == 1, "norm 0 becomes the identity");
	ok(quat_unit((struct quat){ (double)NAN, 0, 0, 1 }).x == 0, "NaN becomes the identity");
	v = quat_rotate((struct quat){ 0, 0, 1.01 * h, 1.01 * h }, (struct vec3){ 1, 0, 0 });
	ok(vec_dist(v, (struct vec3){ 0, 1, 0 }) < 1e-15, "a norm of 1.01 turns, does not stretch");
	ok(quat_near((struct quat){ 0, 0, -h, -h }, z90).w == h && quat_near(z90, z90).w == h,
		"the hemisphere of another");
	ok(!vec_finite((struct vec3){ 0, (double)INFINITY, 0 }) &&
			vec_finite((struct vec3){ 0, 1, 2 }),
		"finite or not");
}

static void test_algebra(void)
{
	int bad_mat = 0, bad_log = 0, bad_angle = 0, bad_pose = 0, bad_sign = 0;

	for (int k = 0; k < CASES; k++) {
		struct quat a = random_quat(), b = random_quat(), back;
		struct vec3 v = random_vec(1), w = quat_rotate(a, v), l = quat_log(a);
		struct pose p = { random_vec(1), a }, q = { random_vec(1), b }, r;

		back = quat_from_mat(quat_to_mat(a));
		bad_mat += vec_mat_diff(quat_to_mat(a), v, w) > 1e-14 || back.w < 0 ||
			   quat_angle(back, a) > 1e-14;
		bad_log += quat_angle(quat_exp(l), a) > 1e-14 || vec_norm(l) > M_PI + 1e-14 ||
			   fabs(vec_norm(l) - quat_angle(QUAT_IDENTITY, a)) > 1e-14;
		bad_angle +=
			fabs(quat_angle(a, b) - quat_angle(quat_mul(b, a), quat_mul(b, b))) > 1e-13;
		r = pose_mul(pose_inv(p), pose_mul(p, q));
		bad_pose += vec_dist(r.p, q.p) > 1e-14 || quat_angle(r.q, q.q) > 1e-14 ||
			    vec_dist(pose_apply(pose_mul(p, q), v),
				    pose_apply(p, pose_apply(q, v))) > 1e-14;
		bad_sign += vec_dist(quat_rotate(quat_neg(a), v), w) != 0 ||
			    quat_angle(quat_neg(a), b) != quat_angle(a, b) ||
			    vec_dist(quat_log(quat_neg(a)), l) != 0 ||
			    quat_angle(quat_neg(a), a) > 1e-15;
	}
	ok(!bad_mat, "matrix and back, 10^5 (%d)", bad_mat);
	ok(!bad_log, "log and exp (%d)", bad_log);
	ok(!bad_angle, "the angle does not depend on the frame (%d)", bad_angle);
	ok(!bad_pose, "pose algebra (%d)", bad_pose);
	ok(!bad_sign, "q and -q: same results (%d)", bad_sign);
}

static void test_small_angles(void)
{
	int bad = 0;

	for (int k = 0; k < 1000; k++) {
		double a = pow(10, uniform(-14, 0));
		struct vec3 axis = random_vec(1);
		struct quat q = random_quat(), d;

		axis = vec_scale(axis, 1 / vec_norm(axis));
		d = quat_exp(vec_scale(axis, a));
		bad += fabs(quat_angle(QUAT_IDENTITY, d) - a) > 1e-15 * a + 1e-18 ||
		       fabs(quat_angle(q, quat_mul(q, d)) - a) > 1e-15 + 1e-14 * a ||
		       vec_dist(quat_log(d), vec_scale(axis, a)) > 2e-15 * a;
	}
	ok(!bad, "small angles are exact (%d)", bad);
}

static void test_slerp(void)
{
	int bad = 0, hemi = 0;

	for (int k = 0; k < CASES; k++) {
		struct quat a = random_quat(), b = random_quat(), c, d;
		double t = uniform(0, 1), angle = quat_angle(a, b);

		if (k % 4 == 0) /* nearly opposite signs of one rotation */
			b = quat_neg(quat_mul(a, quat_exp(random_vec(1e-6)))),
			angle = quat_angle(a, b);
		c = quat_slerp(a, b, t);
		d = quat_slerp(a, quat_neg(b), t);
		bad += fabs(quat_norm(c) - 1) > 1e-15 ||
		       fabs(quat_angle(a, c) - t * angle) > 1e-13 ||
		       fabs(quat_angle(c, b) - (1 - t) * angle) > 1e-13;
		/* exactly half a turn apart both ways are short: not met at random */
		hemi += quat_angle(c, d) > 1e-13;
	}
	ok(!bad, "slerp goes t of the angle along the short way (%d)", bad);
	ok(!hemi, "slerp to b and to -b: same rotation (%d)", hemi);
}

static void test_step(void)
{
	int bad = 0;
	struct pose a = { { 0, 0, 0 }, { 0, 0, 0, 1 } }, b = { { 1, 0, 0 }, { 1, 0, 0, 0 } }, c;

	for (int k = 0; k < CASES; k++) {
		struct pose from = { random_vec(1), random_quat() };
		struct pose to = { random_vec(1), random_quat() };
		double m = uniform(0, 1), r = uniform(0, 2);
		struct pose p = pose_step(from, to, m, r);
		double dist = vec_dist(from.p, to.p), angle = quat_angle(from.q, to.q);

		bad += vec_dist(from.p, p.p) > m + 1e-14 || quat_angle(from.q, p.q) > r + 1e-13 ||
		       fabs(vec_dist(p.p, to.p) - fmax(0, dist - m)) > 1e-14 ||
		       fabs(quat_angle(p.q, to.q) - fmax(0, angle - r)) > 1e-13;
	}
	ok(!bad, "a step keeps its bounds and goes straight (%d)", bad);
	c = pose_step(a, b, 2, 4);
	ok(c.p.x == b.p.x && c.q.x == b.q.x && c.q.w == b.q.w, "within the bounds: the target");
	c = pose_step(a, b, 0, -1);
	ok(c.p.x == 0 && quat_angle(c.q, a.q) == 0, "no room: no step");
}

int main(void)
{
	test_hand_made();
	test_algebra();
	test_small_angles();
	test_slerp();
	test_step();
	return tap_done();
}
