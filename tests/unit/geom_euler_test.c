/* The twenty-four conventions against euler.ndjson, and the arms' own one (piper.md 8.3). */
#include "geom/euler.h"
#include "geom_check.h"
#include "geom_fixture.h"

static double mat_diff(struct mat3 a, struct mat3 b)
{
	double worst = 0;

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			worst = fmax(worst, fabs(a.m[i][j] - b.m[i][j]));
	return worst;
}

static double angles_diff(const double *a, const double *b)
{
	return fmax(turn_diff(a[0], b[0], 360),
		fmax(turn_diff(a[1], b[1], 360), turn_diff(a[2], b[2], 360)));
}

static void test_row(const json_t *j)
{
	const char *id = json_string_value(json_object_get(j, "id"));
	const char *code = json_string_value(json_object_get(j, "code"));
	bool is_pole = json_is_true(json_object_get(j, "gimbal"));
	double in[3], want[3], got[3], q[4];
	struct euler_order o;
	struct mat3 m = { 0 }, made;

	numbers(json_object_get(j, "angles_deg"), 3, in);
	numbers(json_object_get(j, "canonical_deg"), 3, want);
	numbers(json_object_get(j, "quat_wxyz"), 4, q);
	for (int i = 0; i < 3; i++)
		numbers(json_array_get(json_object_get(j, "matrix"), (size_t)i), 3, m.m[i]);
	if (!euler_parse(code, &o)) {
		ok(false, "%s: %s is a convention", id, code);
		return;
	}
	made = euler_to_mat(o, in);
	/* 1e-9 degrees is 1.7e-11 in the matrix */
	ok(mat_diff(made, m) < 1e-11, "%s %s angles to matrix: %.1e", id, code, mat_diff(made, m));
	ok(quat_angle(quat_from_mat(made), (struct quat){ q[1], q[2], q[3], q[0] }) < 1e-11,
		"%s %s quaternion", id, code);
	euler_from_mat(o, m, got);
	if (is_pole)
		ok(mat_diff(euler_to_mat(o, got), m) < 2e-7 && got[2] == 0 &&
				mat_diff(euler_to_mat(o, got), euler_to_mat(o, want)) < 2e-7,
			"%s %s pole: third angle 0, same rotation", id, code);
	else
		ok(angles_diff(got, want) < 1e-9, "%s %s matrix to angles: %.1e", id, code,
			angles_diff(got, want));
}

static void test_rows(void)
{
	FILE *f = fixture_open("euler.ndjson");
	int n = 0;

	for (json_t *j; (j = fixture_row(f)) != NULL; json_decref(j), n++)
		test_row(j);
	fclose(f);
	ok(n > 200, "%d rows of euler.ndjson", n);
}

static void test_codes(void)
{
	static const char *const bad[] = { "", "xyz", "rxy", "rxxy", "rxyy", "qxyz", "rxyw",
		"rxyzz", "RXYZ" };
	struct euler_order o;
	int n = 0;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ok(!euler_parse(bad[i], &o), "'%s' is no convention", bad[i]);
	for (int k = 0; k < 54; k++) {
		char code[5] = { k & 1 ? 's' : 'r', (char)('x' + k / 2 % 3),
			(char)('x' + k / 6 % 3), (char)('x' + k / 18), 0 };

		n += euler_parse(code, &o);
	}
	ok(n == 24, "twenty-four conventions");
}

static void test_random_conventions(void)
{
	int bad = 0, range = 0;

	for (int k = 0; k < 100000; k++) {
		static const char *const axes[] = { "xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx",
			"xzx", "yxy", "yzy", "zxz", "zyz" };
		char code[8];
		struct euler_order o;
		struct mat3 m = quat_to_mat(random_quat());
		double d[3];
		bool repeated;

		(void)snprintf(code, sizeof code, "%c%s", k & 1 ? 's' : 'r', axes[k / 2 % 12]);
		if (!euler_parse(code, &o))
			continue;
		repeated = o.axis[0] == o.axis[2];
		euler_from_mat(o, m, d);
		bad += mat_diff(euler_to_mat(o, d), m) > 1e-12;
		range += !(d[0] > -180 && d[0] <= 180 && d[2] > -180 && d[2] <= 180 &&
			   d[1] >= (repeated ? 0 : -90) && d[1] <= (repeated ? 180 : 90));
	}
	ok(!bad && !range, "10^5 random matrices there and back (%d off, %d out of range)", bad,
		range);
}

/* Also close to the pole, at random distances from 1e-12 to 1 degree. */
static void test_rpy_round_trip(void)
{
	int bad = 0, range = 0, sign = 0;
	double worst = 0;

	for (int k = 0; k < 100000; k++) {
		struct rpy a = { uniform(-180, 180), uniform(-90, 90), uniform(-180, 180) }, b, c;
		struct quat q;
		double err;

		if (k & 1)
			a.ry = copysign(90 - pow(10, uniform(-12, 0)), a.ry);
		q = rpy_to_quat(a);
		b = rpy_from_quat(q);
		c = rpy_from_quat(quat_neg(q));
		err = quat_angle(rpy_to_quat(b), q);
		worst = fmax(worst, err);
		bad += !(err < 3e-9); /* at the pole what is left of RZ is dropped: 1e-9 each way */
		sign += b.rx != c.rx || b.ry != c.ry || b.rz != c.rz;
		range += !(b.rx > -180 && b.rx <= 180 && b.rz > -180 && b.rz <= 180 &&
			   b.ry >= -90 && b.ry <= 90);
		if (!(k & 1) && fabs(a.ry) < 89)
			bad += turn_diff(a.rx, b.rx, 360) > 1e-9 || fabs(a.ry - b.ry) > 1e-9 ||
			       turn_diff(a.rz, b.rz, 360) > 1e-9;
	}
	ok(!bad, "10^5 roll-pitch-yaw there and back, half of them near the pole: %.1e rad", worst);
	ok(!range && !sign, "ranges (%d), q and -q give the same (%d)", range, sign);
}

static void test_rpy_pole(void)
{
	struct rpy a = rpy_from_quat(rpy_to_quat((struct rpy){ 30, 90, 10 }));
	struct rpy b = rpy_from_quat(rpy_to_quat((struct rpy){ 30, -90, 10 }));
	struct rpy c = rpy_from_quat((struct quat){ 1, 0, 0, 0 });
	struct rpy d = rpy_from_quat(rpy_to_quat((struct rpy){ 30, 89.19, 10 }));

	ok(a.rz == 0 && fabs(a.ry - 90) < 1e-6 && fabs(a.rx - 20) < 1e-9,
		"RY = 90: RZ 0, RX takes the difference");
	ok(b.rz == 0 && fabs(b.ry + 90) < 1e-6 && fabs(b.rx - 40) < 1e-9,
		"RY = -90: RZ 0, RX takes the sum");
	ok(c.rx == 180 && c.ry == 0 && c.rz == 0, "half a turn is +180");
	ok(fabs(d.rx - 30) < 1e-9 && fabs(d.ry - 89.19) < 1e-9, "no snap within a degree of it");
}

int main(void)
{
	test_rows();
	test_codes();
	test_random_conventions();
	test_rpy_round_trip();
	test_rpy_pole();
	return tap_done();
}
