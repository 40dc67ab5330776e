/* pose-xform: axes, the steps and their order (rctp.md 4). */
#include <string.h>

#include "geom_check.h"
#include "pose-xform/config.h"
#include "pose-xform/xform.h"

#define CASES 20000

static struct axes axes_of(const char *text)
{
	struct axes a = { { 0 }, { 0 }, 0 };
	char why[200];

	if (axes_parse(text, &a, why, sizeof why) < 0)
		ok(false, "axes %s: %s", text, why);
	return a;
}

static double pose_diff(struct pose a, struct pose b)
{
	return fmax(vec_dist(a.p, b.p), quat_angle(a.q, b.q));
}

static bool is_same(struct pose a, struct pose b)
{
	return a.p.x == b.p.x && a.p.y == b.p.y && a.p.z == b.p.z && a.q.x == b.q.x &&
	       a.q.y == b.q.y && a.q.z == b.q.z && a.q.w == b.q.w;
}

static struct pose random_pose(void)
{
	return (struct pose){ { uniform(-1, 1), uniform(-1, 1), uniform(-1, 1) }, random_quat() };
}

/* The table of rctp.md 4.2, component by component. */
static void test_vectors(void)
{
	static const struct {
		const char *axes;
		double p[3], q[4], want_p[3], want_q[4];
	} rows[] = {
		{ "openxr", { 0.1, 0.2, 0.3 }, { 0, 0, 0, 1 }, { -0.3, -0.1, 0.2 },
			{ 0, 0, 0, 1 } },
		{ "unity", { 0.1, 0.2, 0.3 }, { 0, 0, 0, 1 }, { 0.3, -0.1, 0.2 }, { 0, 0, 0, 1 } },
		{ "openxr", { 0 }, { 0.258819, 0, 0, 0.965926 }, { 0 },
			{ 0, -0.258819, 0, 0.965926 } },
		{ "unity", { 0 }, { 0.258819, 0, 0, 0.965926 }, { 0 },
			{ 0, 0.258819, 0, 0.965926 } },
		{ "openxr", { 0 }, { 0, 0.258819, 0, 0.965926 }, { 0 },
			{ 0, 0, 0.258819, 0.965926 } },
		{ "unity", { 0 }, { 0, 0.258819, 0, 0.965926 }, { 0 },
			{ 0, 0, -0.258819, 0.965926 } },
		{ "openxr", { 0 }, { 0, 0, 0.258819, 0.965926 }, { 0 },
			{ -0.258819, 0, 0, 0.965926 } },
		{ "unity", { 0 }, { 0, 0, 0.258819, 0.965926 }, { 0 },
			{ -0.258819, 0, 0, 0.965926 } },
		{ "openxr", { 0 }, { 0.1, 0.2, 0.3, 0.927362 }, { 0 },
			{ -0.3, -0.1, 0.2, 0.927362 } },
		{ "unity", { 0 }, { 0.1, 0.2, 0.3, 0.927362 }, { 0 },
			{ -0.3, 0.1, -0.2, 0.927362 } },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct axes a = axes_of(rows[i].axes);
		const double *p = rows[i].p, *q = rows[i].q, *wp = rows[i].want_p,
			     *wq = rows[i].want_q;
		struct pose got = axes_map(
			&a, (struct pose){ { p[0], p[1], p[2] }, { q[0], q[1], q[2], q[3] } });

		ok(got.p.x == wp[0] && got.p.y == wp[1] && got.p.z == wp[2] && got.q.x == wq[0] &&
				got.q.y == wq[1] && got.q.z == wq[2] && got.q.w == wq[3],
			"%s, row %zu of rctp.md 4.2", rows[i].axes, i / 2 + 1);
	}
	ok(axes_of("openxr").det == 1 && axes_of("unity").det == -1, "handedness of the presets");
}

static void test_parse(void)
{
	static const char *const bad[] = { "", "x", "x,y", "x,x,z", "x,y,z,x", "-x,-x,-x", "x,y,w",
		"x y z", "x,y,z ", " x,y,z", "--x,y,z", "x,,z", "X,Y,Z", "OpenXR", "openxr ",
		"1,2,3", "x,y,-", "y,z,-y" };
	struct axes a;
	char why[200];
	int good = 0, right = 0;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		why[0] = '\0';
		ok(axes_parse(bad[i], &a, why, sizeof why) < 0 && why[0], "'%s' is refused: %s",
			bad[i], why);
	}
	(void)axes_parse("x,x,z", &a, why, sizeof why);
	ok(strstr(why, "x twice"), "x,x,z: the message names the axis");
	for (int k = 0; k < 6 * 8; k++) {
		static const char perm[6][4] = { "xyz", "yzx", "zxy", "xzy", "zyx", "yxz" };
		const char *p = perm[k / 8];
		char text[16];
		int neg = __builtin_popcount((unsigned)k & 7);

		(void)snprintf(text, sizeof text, "%s%c,%s%c,%s%c", k & 1 ? "-" : "", p[0],
			k & 2 ? "-" : "+", p[1], k & 4 ? "-" : "", p[2]);
		good += axes_parse(text, &a, why, sizeof why) == 0;
		right += a.det == (k / 8 < 3 ? 1 : -1) * (neg & 1 ? -1 : 1);
	}
	ok(good == 48 && right == 48, "all 48 signed permutations, each with its handedness");
}

static struct mat3 mat_of(const struct axes *a)
{
	struct mat3 m = { { { 0 } } };

	for (int i = 0; i < 3; i++)
		m.m[i][a->from[i]] = a->sign[i];
	return m;
}

static double mat_at(const struct mat3 *m, const struct mat3 *r, int i, int j)
{
	double s = 0;

	for (int k = 0; k < 3; k++)
		for (int l = 0; l < 3; l++)
			s += m->m[i][k] * r->m[k][l] * m->m[j][l];
	return s;
}

/* (b) R' = M R M^T, a proper rotation; (c) there and back. */
static void test_properties(void)
{
	static const char *const maps[] = { "openxr", "unity", "x,y,-z", "y,x,z", "-y,z,x" };
	static const char *const back[] = { "-y,z,-x", "-y,z,x", "x,y,-z", "y,x,z", "z,-x,y" };
	int bad = 0, no_return = 0;

	for (int k = 0; k < CASES; k++) {
		struct axes a = axes_of(maps[k % 5]), b = axes_of(back[k % 5]);
		struct pose in = random_pose(), got = axes_map(&a, in), again = axes_map(&b, got);
		struct mat3 m = mat_of(&a), r = quat_to_mat(in.q), s = quat_to_mat(got.q);

		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
				bad += fabs(mat_at(&m, &r, i, j) - s.m[i][j]) > 1e-15;
		bad += fabs(quat_norm(got.q) - 1) > 1e-15;
		no_return += !is_same(again, in);
	}
	ok(!bad, "(b) the mapped rotation is M R M^T (%d off)", bad);
	ok(!no_return, "(c) map and inverse map is the identity, bit for bit (%d not)", no_return);
}

static struct xform make(const struct xform_config *c)
{
	struct xform x;

	xform_init(&x, c);
	return x;
}

/* (a) one motion, sent by an OpenXR and by a Unity sender. Unity mirrors z: p (x y -z),
 * q (-x -y z w). */
static void test_same_motion(void)
{
	struct xform_config c = { .yaw_deg = 33,
		.scale = 0.75,
		.offset = { 0.1, -0.2, 0.3 },
		.rot_offset = { 10, 90, -20 },
		.tool = { 0, 0.01, 0.145 } };
	struct xform xr, un;
	int bad = 0;

	c.axes = axes_of("openxr");
	xr = make(&c);
	c.axes = axes_of("unity");
	un = make(&c);
	for (int k = 0; k < CASES; k++) {
		struct pose in = random_pose();
		struct pose mirrored = { { in.p.x, in.p.y, -in.p.z },
			{ -in.q.x, -in.q.y, in.q.z, in.q.w } };

		bad += pose_diff(xform_absolute(&xr, in), xform_absolute(&un, mirrored)) > 1e-14;
	}
	ok(!bad, "(a) OpenXR and Unity senders give one robot pose (%d not)", bad);
}

static struct xform_config neutral(const char *axes)
{
	return (struct xform_config){ .axes = axes_of(axes), .scale = 1 };
}

/* Push forward: the hand goes away from the body, the robot goes along X. */
static void test_push_forward(void)
{
	struct xform_config c = neutral("openxr"), u = neutral("unity");
	struct xform x = make(&c), y = make(&u);
	struct pose a = { { 0, 0, -0.2 }, QUAT_IDENTITY }, b = { { 0, 0, 0.2 }, QUAT_IDENTITY };

	ok(xform_absolute(&x, a).p.x == 0.2 && xform_absolute(&y, b).p.x == 0.2,
		"forward is X+: z falls in OpenXR, rises in Unity");
}

static void test_steps(void)
{
	struct pose in = { { 0.2, 0.1, -0.4 }, QUAT_IDENTITY }, out;
	struct xform_config c = neutral("openxr");
	struct xform x;

	c.yaw_deg = 90; /* X to Y */
	x = make(&c);
	out = xform_absolute(&x, in); /* (0.4, -0.2, 0.1) turned */
	ok(vec_dist(out.p, (struct vec3){ 0.2, 0.4, 0.1 }) < 1e-15 &&
			fabs(rpy_from_quat(out.q).rz - 90) < 1e-12,
		"yaw turns place and hand about the base Z");
	c.yaw_deg = 0;
	c.scale = 0.75;
	c.offset = (struct vec3){ 0, 0, 0.3 };
	x = make(&c);
	out = xform_absolute(&x, in);
	ok(vec_dist(out.p, (struct vec3){ 0.3, -0.15, 0.375 }) < 1e-15 && out.q.w == 1,
		"scale before offset, and never on the rotation");
	c.rot_offset = (struct rpy){ 30, 20, 10 };
	x = make(&c);
	in.q = rpy_to_quat((struct rpy){ 0, 50, 0 });
	out = xform_absolute(&x, in);
	ok(quat_angle(out.q, quat_mul(axes_map(&c.axes, in).q,
				     rpy_to_quat((struct rpy){ 30, 20, 10 }))) < 1e-15,
		"the rotation offset is multiplied on the right");
	c.tool = (struct vec3){ 0.01, 0.02, 0.145 };
	x = make(&c);
	ok(vec_dist(pose_apply(xform_absolute(&x, in), c.tool), out.p) < 1e-15 &&
			quat_angle(xform_absolute(&x, in).q, out.q) < 1e-15,
		"with a tool the tip is where the hand wants it");
}

/* rctp.md 4.3: hand 0.4 m in front, 0.2 m right, 0.3 m below the head. */
static void test_preset(void)
{
	struct config c = CONFIG_INIT;
	struct xform_config cfg;
	struct xform x;
	struct pose out;
	char why[256];

	c.preset = "svrc-piper";
	ok(config_build(&c, &cfg, why, sizeof why) == 0, "preset svrc-piper");
	x = make(&cfg);
	out = xform_absolute(&x, (struct pose){ { 0.2, -0.3, -0.4 }, QUAT_IDENTITY });
	ok(vec_dist(out.p, (struct vec3){ 0.30, -0.15, 0.075 }) < 1e-15 &&
			vec_dist(quat_rotate(out.q, (struct vec3){ 0, 0, 1 }),
				(struct vec3){ 1, 0, 0 }) < 1e-15,
		"preset: (0.30, -0.15, 0.075), the flange looks forward");
	c.scale.is_given = true;
	c.scale.v[0] = 0.5;
	ok(config_build(&c, &cfg, why, sizeof why) == 0 && cfg.scale == 0.5 && cfg.offset.z == 0.3,
		"an option given by hand wins over the preset");
	c.preset = "other";
	ok(config_build(&c, &cfg, why, sizeof why) < 0 && strstr(why, "--preset"),
		"unknown preset: %s", why);
}

static void test_config(void)
{
	struct config c = CONFIG_INIT;
	struct given g = { false, { 0 } };
	struct xform_config cfg;
	char why[256];

	c.axes = "x,x,z";
	ok(config_build(&c, &cfg, why, sizeof why) < 0 && strstr(why, "--axes"), "%s", why);
	c.axes = "unity";
	c.arm = "ipc:///x";
	ok(config_build(&c, &cfg, why, sizeof why) < 0, "%s", why);
	c.relative = true;
	ok(config_build(&c, &cfg, why, sizeof why) == 0 && cfg.with_arm, "--relative --arm");
	c.run.clock_input = true;
	ok(config_build(&c, &cfg, why, sizeof why) < 0, "gate:G31 %s", why);
	c.arm = NULL;
	ok(config_build(&c, &cfg, why, sizeof why) == 0 && fabs(cfg.home.p.x - 0.280) < 5e-4 &&
			fabs(cfg.home.p.z - 0.199) < 5e-4,
		"--home is the ready pose when not given");
	ok(config_take_metres(&g, "0.1,0,nan", why, sizeof why) < 0 && !g.is_given, "%s", why);
	ok(config_take_metres(&g, "0.1,0", why, sizeof why) < 0, "%s", why);
	ok(config_take_metres(&g, "0.1,0,300", why, sizeof why) < 0, "%s", why);
	ok(config_take_scale(&g, "-1", why, sizeof why) < 0, "%s", why);
	ok(config_take_joints(&g, "0,86,45,0,24,0", why, sizeof why) < 0 && strstr(why, "J3"), "%s",
		why);
	ok(config_take_joints(&g, "0,0,0,0,0,0", why, sizeof why) == 0 && g.is_given,
		"joints on their limits are taken");
}

static struct rec pose_rec(struct pose p, bool valid)
{
	struct rec r;

	rec_init(&r, REC_POSE, "right", 7, 1000000);
	r.u.pose.frame = REC_VR;
	r.u.pose.valid = valid;
	r.u.pose.pose = p;
	r.u.pose.has_grip = true;
	r.u.pose.grip = 0.5;
	return r;
}

static void test_records(void)
{
	struct xform_config c = neutral("openxr");
	struct xform x = make(&c);
	struct pose in = random_pose();
	struct rec r = pose_rec(in, true), s;
	int ret = xform_pose(&x, &r);

	ok(ret == 1 && r.u.pose.frame == REC_BASE && r.u.pose.valid && r.u.pose.grip == 0.5 &&
			r.t_us == 1000000 && r.seq == 7,
		"frame base; grip, t and seq stay");
	s = r;
	ok(xform_pose(&x, &s) == -1 && x.refusal && is_same(s.u.pose.pose, r.u.pose.pose) &&
			s.u.pose.frame == REC_BASE,
		"a pose in the base frame is refused: %s", x.refusal);
	s = pose_rec(in, false);
	ok(xform_pose(&x, &s) == 1 && !s.u.pose.valid &&
			pose_diff(s.u.pose.pose, r.u.pose.pose) < 1e-15,
		"valid:false flows on, the same function of its pose");
	s = pose_rec((struct pose){ { 1e300, 0, 0 }, QUAT_IDENTITY }, true);
	ok(xform_pose(&x, &s) == -1, "a place beyond all rooms is refused: %s", x.refusal);
	in.q = (struct quat){ in.q.x * 1.009, in.q.y * 1.009, in.q.z * 1.009, in.q.w * 1.009 };
	s = pose_rec(in, true);
	ok(xform_pose(&x, &s) == 1 && fabs(quat_norm(s.u.pose.pose.q) - 1) < 1e-15 &&
			pose_diff(s.u.pose.pose, r.u.pose.pose) < 1e-14,
		"a norm within the tolerance is put right");
}

/* q and -q: one rotation out; a continuous input has a continuous output. */
static void test_hemisphere(void)
{
	struct xform_config c = { .axes = axes_of("unity"),
		.scale = 0.8,
		.yaw_deg = -70,
		.rot_offset = { 5, 90, 5 },
		.tool = { 0, 0, 0.1 } };
	struct xform x = make(&c);
	int bad = 0, jumps = 0;
	struct quat last = QUAT_IDENTITY;

	for (int k = 0; k < CASES; k++) {
		struct pose in = random_pose(), neg = { in.p, quat_neg(in.q) };

		bad += pose_diff(xform_absolute(&x, in), xform_absolute(&x, neg)) > 1e-14;
	}
	ok(!bad, "q and -q give the same pose (%d not)", bad);
	for (int k = 0; k <= 2000; k++) { /* two whole turns about a slanted axis */
		double a = k * 4 * M_PI / 2000 / sqrt(3);
		struct pose in = { { 0, 0, 0 }, quat_exp((struct vec3){ a, a, -a }) };
		struct quat q = xform_absolute(&x, in).q;

		if (k > 0)
			jumps += fabs(q.x - last.x) + fabs(q.y - last.y) + fabs(q.z - last.z) +
					 fabs(q.w - last.w) >
				 0.05;
		last = q;
	}
	ok(!jumps, "no sign flips on the way (%d)", jumps);
}

int main(void)
{
	test_vectors();
	test_parse();
	test_properties();
	test_same_motion();
	test_push_forward();
	test_steps();
	test_preset();
	test_config();
	test_records();
	test_hemisphere();
	return tap_done();
}
