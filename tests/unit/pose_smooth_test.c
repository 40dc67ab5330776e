/* pose-smooth: the filter on places and rotations, fresh starts, invalid poses, the gripper. */
#include <string.h>

#include "geom_check.h"
#include "pose-smooth/smooth.h"

#define STEP_US 14000

static const struct smooth_config DEFAULTS = SMOOTH_CONFIG_INIT;

static bool is_same_quat(struct quat a, struct quat b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

static bool is_same(struct pose a, struct pose b)
{
	return vec_dist(a.p, b.p) == 0 && is_same_quat(a.q, b.q);
}

static struct smooth make(struct smooth_cutoff move, struct smooth_cutoff turn)
{
	struct smooth_config c = { .move = move, .turn = turn };
	struct smooth s;

	smooth_init(&s, &c);
	return s;
}

/* One record through the filter; what smooth_pose returned in *rc unless NULL. */
static struct rec_pose put(struct smooth *s, int64_t t_us, struct rec_pose in, int *rc)
{
	static struct rec r;
	int got;

	rec_init(&r, REC_POSE, "right", 0, t_us);
	r.u.pose = in;
	got = smooth_pose(s, &r);
	if (rc != NULL)
		*rc = got;
	return r.u.pose;
}

static struct pose put_pose(struct smooth *s, int64_t t_us, struct pose in)
{
	return put(s, t_us, (struct rec_pose){ .valid = true, .pose = in }, NULL).pose;
}

static struct pose at_x(double x)
{
	return (struct pose){ { x, 0, 0 }, QUAT_IDENTITY };
}

static struct pose random_pose(void)
{
	return (struct pose){ { uniform(-1, 1), uniform(-1, 1), uniform(-1, 1) }, random_quat() };
}

/* A hand that wanders: from `a`, a random step and turn. */
static struct pose wander(struct pose a)
{
	struct vec3 turn = { uniform(-0.1, 0.1), uniform(-0.1, 0.1), uniform(-0.1, 0.1) };
	struct vec3 move = { uniform(-0.01, 0.01), uniform(-0.01, 0.01), uniform(-0.01, 0.01) };

	return (struct pose){ vec_add(a.p, move), quat_unit(quat_mul(a.q, quat_exp(turn))) };
}

static void test_constant(void)
{
	int changed = 0, differ = 0;

	for (int k = 0; k < 200; k++) {
		struct rec_pose in = { .valid = true, .pose = random_pose() };
		struct smooth s;
		int64_t t = 0;

		if (k % 2) /* not quite of norm 1: the records allow it, and keep it */
			in.pose.q.w *= 0.995;
		smooth_init(&s, &DEFAULTS);
		for (int i = 0; i < 50; i++) {
			int rc;
			struct rec_pose out = put(&s, t += (int64_t)uniform(1, 90000), in, &rc);

			changed += rc != 0;
			differ += !is_same(out.pose, in.pose);
		}
	}
	ok(!changed && !differ, "a hand at rest passes as it is (%d changed)", changed + differ);
}

/* A steady motion is followed at a distance of speed / (2 pi cut-off), whatever the time step. */
static void test_delay(void)
{
	static const struct {
		double min_hz, beta, speed;
		int64_t step_us;
	} rows[] = {
		{ 2, 0, 0.3, 14000 }, { 10, 0, 1, 5000 },
		{ 10, 0, 1, 33000 },   /* time constant of a stage below half a step */
		{ 200, 0, 1, 14000 },  /* far below */
		{ 1, 20, 0.5, 14000 }, /* 11 Hz */
		{ 0.5, 3, 4, 20000 },  /* 12.5 Hz */
	};
	struct vec3 axis = vec_scale((struct vec3){ 1, 2, -2 }, 1.0 / 3);

	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct smooth_cutoff c = { rows[k].min_hz, rows[k].beta, 1 };
		struct smooth s = make(c, c);
		double want = 1 / (2 * M_PI * (c.min_hz + c.beta * rows[k].speed));
		double move = 0, turn = 0;
		struct pose in, out;

		for (int64_t t = 0; t < 8000000; t += rows[k].step_us) {
			double way = rows[k].speed * (double)t * 1e-6;
			in = (struct pose){ vec_scale(axis, way), quat_exp(vec_scale(axis, way)) };
			out = put_pose(&s, t, in);
		}
		move = vec_dist(in.p, out.p) / rows[k].speed;
		turn = quat_angle(in.q, out.q) / rows[k].speed;
		ok(fabs(move - want) < 1e-6 && fabs(turn - want) < 1e-6,
			"%g Hz + %g x %g each %lld us: late by %.3f ms (%.3f move, %.3f turn)",
			c.min_hz, c.beta, rows[k].speed, (long long)rows[k].step_us, want * 1e3,
			move * 1e3, turn * 1e3);
	}
}

/* A step, at random times, with any cut-off: never back, never beyond. */
static void test_step(void)
{
	int back = 0, beyond = 0, late = 0;

	for (int k = 0; k < 300; k++) {
		struct smooth_cutoff c = { exp(uniform(-1, 5)), uniform(0, 50), uniform(0.2, 20) };
		struct smooth s = make(c, c);
		struct vec3 axis = quat_rotate(random_quat(), (struct vec3){ 1, 0, 0 });
		double size = uniform(0.01, 3), x = 0, a = 0;
		struct pose to = { vec_scale(axis, size), quat_exp(vec_scale(axis, size)) };
		int64_t t = 0;

		put_pose(&s, t, POSE_IDENTITY);
		for (int i = 0; i < 400; i++) {
			struct pose out = put_pose(&s, t += (int64_t)uniform(100, 120000), to);
			double now = vec_dot(out.p, axis), turned = vec_dot(quat_log(out.q), axis);

			back += now < x - 1e-12 || turned < a - 1e-12;
			beyond += now > size + 1e-12 || turned > size + 1e-12;
			x = now;
			a = turned;
		}
		late += fabs(x - size) > 1e-3 || fabs(a - size) > 1e-3;
	}
	ok(!back && !beyond && !late,
		"a step is answered without a way back (%d), without overshoot (%d), in full (%d "
		"not)",
		back, beyond, late);
}

/* Noise that turns from sample to sample vanishes; slow motion stays. */
static void test_noise(void)
{
	struct smooth s;
	double most = 0;

	smooth_init(&s, &DEFAULTS);
	for (int i = 0; i < 500; i++) {
		struct pose out = put_pose(&s, i * (int64_t)STEP_US, at_x(i % 2 ? 0.001 : -0.001));
		if (i > 100)
			most = fmax(most, fabs(out.p.x));
	}
	ok(most < 1e-5, "1 mm back and forth from sample to sample leaves %.2g mm", most * 1e3);
}

/* q and -q are one rotation, in any mixture; the output never changes sign by itself. */
static void test_hemisphere(void)
{
	int differ = 0, flips = 0;

	for (int k = 0; k < 50; k++) {
		struct smooth a, b;
		struct pose hand = random_pose(), last = hand;
		int64_t t = 0;

		smooth_init(&a, &DEFAULTS);
		smooth_init(&b, &DEFAULTS);
		for (int i = 0; i < 200; i++) {
			struct pose neg = hand, one, other;

			if (uniform(0, 1) < 0.5)
				neg.q = quat_neg(hand.q);
			one = put_pose(&a, t += STEP_US, hand);
			other = put_pose(&b, t, neg);
			differ +=
				quat_angle(one.q, other.q) > 1e-12 || vec_dist(one.p, other.p) != 0;
			flips += i > 0 && !is_same_quat(quat_near(other.q, last.q), other.q);
			last = other;
			hand = wander(hand);
		}
	}
	ok(!differ && !flips, "q and -q are one rotation (%d not), without a flip (%d)", differ,
		flips);

	struct smooth s;
	struct pose first = random_pose(), neg = { first.p, quat_neg(first.q) };

	smooth_init(&s, &DEFAULTS);
	put_pose(&s, 0, first);
	neg = put_pose(&s, STEP_US, neg);
	ok(is_same_quat(quat_near(neg.q, first.q), neg.q) && quat_angle(neg.q, first.q) < 1e-15 &&
			vec_dist(neg.p, first.p) == 0,
		"-q after q at rest: q again");
}

/* The filter knows no frame: turned and moved input gives turned and moved output. */
static void test_frame(void)
{
	struct smooth a, b;
	struct pose room = random_pose(), hand = random_pose();
	struct quat tool = random_quat();
	double most = 0;

	smooth_init(&a, &DEFAULTS);
	smooth_init(&b, &DEFAULTS);
	for (int i = 0; i < 500; i++) {
		struct pose seen = pose_mul(room, hand);
		struct pose one = pose_mul(room, put_pose(&a, i * (int64_t)STEP_US, hand));
		struct pose other;

		seen.q = quat_mul(seen.q, tool);
		other = put_pose(&b, i * (int64_t)STEP_US, seen);
		most = fmax(most, vec_dist(one.p, other.p));
		most = fmax(most, quat_angle(quat_mul(one.q, tool), other.q));
		hand = wander(hand);
	}
	ok(most < 1e-9, "the same in every frame and for every tool (%.1g)", most);
}

static void test_fresh(void)
{
	static const struct {
		const char *text;
		int64_t wait_us;
		bool is_fresh;
	} rows[] = {
		{ "14 ms later", STEP_US, false },
		{ "500 ms later", 500000, false },
		{ "500.001 ms later", 500001, true },
		{ "500 ms back", -500000, false },
		{ "500.001 ms back", -500001, true },
		{ "no time later", 0, false },
	};

	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct smooth s;
		int64_t t = 1000000;

		smooth_init(&s, &DEFAULTS);
		put_pose(&s, t, at_x(0));
		struct pose out = put_pose(&s, t + rows[k].wait_us, at_x(1));
		ok((out.p.x == 1) == rows[k].is_fresh &&
				(rows[k].wait_us > 0 || out.p.x == 0 || rows[k].is_fresh),
			"%s: %s", rows[k].text, rows[k].is_fresh ? "starts afresh" : "goes on");
	}
	/* and nothing of the past is left: from there as from a first pose */
	struct smooth used, new;
	int differ = 0;
	struct pose hand = random_pose();

	smooth_init(&used, &DEFAULTS);
	smooth_init(&new, &DEFAULTS);
	for (int i = 0; i < 20; i++)
		put_pose(&used, i * (int64_t)STEP_US, at_x(0.1 * i));
	for (int i = 0; i < 20; i++, hand = wander(hand))
		differ += !is_same(put_pose(&used, 1000000 + i * (int64_t)STEP_US, hand),
			put_pose(&new, 1000000 + i * (int64_t)STEP_US, hand));
	ok(!differ, "after a gap as at the beginning (%d not)", differ);
}

/* Steps count as 100 ms at most. */
static void test_long_step(void)
{
	struct smooth_cutoff c = { 0.5, 0, 1 };
	struct smooth a = make(c, c), b = make(c, c);

	put_pose(&a, 0, at_x(0));
	put_pose(&b, 0, at_x(0));
	ok(put_pose(&a, 100000, at_x(1)).p.x == put_pose(&b, 450000, at_x(1)).p.x,
		"450 ms count as 100 ms");
}

static void test_invalid(void)
{
	const struct rec_pose lost = { .valid = false,
		.pose = { { 9, 9, 9 }, { 1, 0, 0, 0 } },
		.has_grip = true,
		.grip = 0.9 };
	struct rec_pose good = { .valid = true, .pose = at_x(0), .has_grip = true, .grip = 0.3 };
	struct rec_pose out, last;
	struct smooth s;
	int rc;

	smooth_init(&s, &DEFAULTS);
	out = put(&s, 0, lost, &rc);
	ok(rc == 0 && !out.valid && is_same(out.pose, lost.pose),
		"valid:false before any: as it is");
	put(&s, STEP_US, good, NULL);
	good.pose.p.x = 0.1;
	last = put(&s, 2 * STEP_US, good, NULL);
	out = put(&s, 3 * STEP_US, lost, &rc);
	ok(rc == 1 && !out.valid && is_same(out.pose, last.pose) && out.grip == 0.3,
		"valid:false repeats the last p, q and grip, and stays invalid");
	good.pose.p.x = 0.2;
	out = put(&s, 4 * STEP_US, good, &rc);
	ok(rc == 0 && out.valid && is_same(out.pose, good.pose),
		"the pose after it passes as it is: nothing of what was invalid, nothing of "
		"before");
	ok(s.n.poses == 5 && s.n.invalid == 2 && s.n.fresh == 2, "counted");
	good.frame = REC_BASE;
	good.pose.p.x = 0.5;
	ok(put(&s, 5 * STEP_US, good, NULL).pose.p.x == 0.5, "another frame starts afresh");
}

static void test_far(void)
{
	struct rec_pose far = { .valid = true, .pose = at_x(2e6) };
	struct smooth s;
	int rc;

	smooth_init(&s, &DEFAULTS);
	put_pose(&s, 0, at_x(0));
	put(&s, STEP_US, far, &rc);
	ok(rc == -1 && s.refusal != NULL, "farther than 1e6 m is refused");
	far.pose.p.x = -HUGE_VAL;
	put(&s, STEP_US, far, &rc);
	ok(rc == -1, "so is infinity");
	far.valid = false;
	ok(!put(&s, STEP_US, far, &rc).valid && rc == 1, "valid:false is never lost for that");
	ok(put_pose(&s, 2 * STEP_US, at_x(3)).p.x == 3, "and counts");
}

static void test_grip(void)
{
	struct smooth_config c = SMOOTH_CONFIG_INIT;
	static const double in[] = { 0.5, 0.7, 0.8, 0.7, 0.31, 0.3, 0.31, 0.79, 1, 0.4, -0.1, 0.5 };
	static const double want[] = { 0.5, 0.7, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0 };
	struct rec_pose p = { .valid = true, .pose = at_x(0), .has_grip = true };
	struct rec_pose none = { .valid = true, .pose = at_x(0), .grip = 0.1 };
	struct smooth s, plain;
	int bad = 0, touched = 0;

	c.has_grip = true;
	c.grip_lo = 0.3;
	c.grip_hi = 0.8;
	smooth_init(&s, &c);
	smooth_init(&plain, &DEFAULTS);
	for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
		p.grip = in[i];
		bad += put(&s, (int64_t)i * STEP_US, p, NULL).grip != want[i];
		touched += put(&plain, (int64_t)i * STEP_US, p, NULL).grip != in[i];
	}
	ok(!bad, "two thresholds: closed, open, and between them as before (%d not)", bad);
	ok(!touched, "without thresholds the gripper passes");
	ok(!put(&s, 20 * STEP_US, none, NULL).has_grip, "absent stays absent");
	p.grip = 0.6;
	ok(put(&s, 90000000, p, NULL).grip == 0, "closed stays closed across a gap");
	p.valid = false;
	p.grip = 1;
	ok(put(&s, 90014000, p, NULL).grip == 0, "a lost hand does not open it");
	p.valid = true;
	p.grip = 0.6;
	ok(put(&s, 90028000, p, NULL).grip == 0, "nor does its return between the thresholds");
}

int main(void)
{
	test_constant();
	test_delay();
	test_step();
	test_noise();
	test_hemisphere();
	test_frame();
	test_fresh();
	test_long_step();
	test_invalid();
	test_far();
	test_grip();
	return tap_done();
}
