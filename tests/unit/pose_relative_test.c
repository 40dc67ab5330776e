/* pose-xform --relative: the rules gate:G26 to gate:G29, one behaviour a test. */
#include <string.h>

#include "geom/euler.h"
#include "geom_check.h"
#include "pose-xform/relative.h"
#include "pose-xform/xform.h"

#define STEP 20000 /* us between poses */

static const struct pose HOME = { { 0.28, 0, 0.2 }, { 0, 0.8, 0, 0.6 } };
static const struct pose ARM = { { 0.31, 0.05, 0.22 }, { 0, 0.6, 0, 0.8 } };
static const struct pose ARM2 = { { 0.25, -0.1, 0.18 }, { 0, 0, 0.6, 0.8 } };

static struct relative s;
static int64_t now;
static bool valid; /* of the last pose put out */

static double diff(struct pose a, struct pose b)
{
	return fmax(vec_dist(a.p, b.p), quat_angle(a.q, b.q));
}

static bool is(struct pose got, struct pose want)
{
	return valid && diff(got, want) < 1e-12;
}

static struct pose hand(double x, double y, double z)
{
	return (struct pose){ { x, y, z }, QUAT_IDENTITY };
}

static void feed(const char *src, enum rec_kind kind, const char *gate, int64_t runs,
	const struct pose *at, int64_t t_us)
{
	struct rec r;

	rec_init(&r, REC_FEEDBACK, src, 0, t_us);
	r.u.feedback.kind = kind;
	r.u.feedback.has_gate = gate != NULL;
	if (gate)
		(void)snprintf(r.u.feedback.gate, sizeof r.u.feedback.gate, "%s", gate);
	r.u.feedback.runs = runs;
	r.u.feedback.has_pose = at != NULL;
	if (at)
		r.u.feedback.pose = *at;
	relative_feedback(&s, &r);
}

/* The arm is at `at`, seen now. */
static void arm(const char *gate, int64_t runs, struct pose at)
{
	feed("arm0", REC_KIND_CARTESIAN, gate, runs, &at, now);
}

static struct pose put(struct pose h)
{
	struct pose p;

	now += STEP;
	valid = true;
	p = relative_pose(&s, now, h, &valid);
	return p;
}

static struct pose lost(void)
{
	now += STEP;
	valid = false;
	return relative_pose(&s, now, hand(9, 9, 9), &valid);
}

static void fresh(bool with_arm)
{
	now = 5000000;
	relative_init(&s, with_arm, HOME, (struct vec3){ 0, 0, 0 });
}

/* HOLD, then RUN number `runs` begins with the hand at h. */
static struct pose run_at(int64_t runs, struct pose h, struct pose at)
{
	arm("hold", runs - 1, at);
	(void)put(h);
	arm("run", runs, at);
	return put(h);
}

static void test_g26_what_counts(void)
{
	struct pose p;

	fresh(true);
	feed("arm0", REC_KIND_CARTESIAN, NULL, 0, &ARM, now);
	(void)put(hand(0, 0, 0));
	ok(!valid, "gate:G26 feedback without a gate is no writer's");
	feed("arm0", REC_KIND_STATUS, "hold", 0, NULL, now);
	feed("arm0", REC_KIND_JOINT, "hold", 0, NULL, now);
	(void)put(hand(0, 0, 0));
	ok(!valid, "gate:G26 the measured pose is in cartesian records only");
	feed("arm0", REC_KIND_JACOBIAN, "hold", 0, &ARM2, now);
	(void)put(hand(0, 0, 0));
	ok(!valid, "gate:G26 whatever else carries p and q");
	arm("hold", 0, ARM);
	ok(is(put(hand(0, 0, 0)), ARM), "gate:G26 a cartesian record gives it");
	feed("arm1", REC_KIND_CARTESIAN, "run", 5, &ARM2, now);
	ok(is(put(hand(0, 0, 0)), ARM), "gate:G26 a second arm is not heard");
	feed("arm0", REC_KIND_STATUS, "run", 1, NULL, now);
	p = put(hand(1, 0, 0));
	ok(is(p, ARM) && is(put(hand(1.1, 0, 0)), (struct pose){ { 0.41, 0.05, 0.22 }, ARM.q }),
		"gate:G26 a status record tells the gate too");
}

static void test_g27_not_run(void)
{
	static const char *const gates[] = { "init", "hold", "estop", "fault" };

	for (int i = 0; i < 4; i++) {
		fresh(true);
		arm(gates[i], 0, ARM);
		ok(is(put(hand(0, 0, 0)), ARM) && is(put(hand(0.3, 0, 0)), ARM),
			"gate:G27 in %s the measured pose is put out, whatever the hand does",
			gates[i]);
	}
	(void)run_at(1, hand(0, 0, 0), ARM);
	arm("estop", 1, ARM2);
	ok(is(put(hand(0.2, 0, 0)), ARM2), "gate:G27 RUN ends: measured pose at once");
	arm("estop", 1, ARM);
	ok(is(put(hand(0.2, 0, 0)), ARM), "gate:G27 and it follows the arm");
}

static void test_g27_age(void)
{
	struct pose p;

	fresh(true);
	p = put(hand(0.1, 0.2, 0.3));
	ok(!valid && diff(p, POSE_IDENTITY) == 0, "gate:G27 no feedback yet: valid:false");
	fresh(true);
	arm("hold", 0, ARM);
	now += 100000 - STEP;
	ok(is(put(hand(0, 0, 0)), ARM), "gate:G27 feedback 100 ms older is still used");
	fresh(true);
	arm("hold", 0, ARM);
	(void)put(hand(0, 0, 0));
	now += 100001 - 2 * STEP;
	p = put(hand(0, 0, 0));
	ok(!valid && diff(p, ARM) < 1e-12,
		"gate:G27 feedback 100.001 ms older: valid:false, last pose repeated");
	feed("arm0", REC_KIND_STATUS, "hold", 0, NULL, now);
	(void)put(hand(0, 0, 0));
	ok(!valid, "gate:G27 a fresh status does not make an old measured pose young");
}

static void test_g27_own_invalid(void)
{
	fresh(true);
	(void)run_at(1, hand(0, 0, 0), ARM);
	now += 200000;
	(void)put(hand(0.1, 0, 0));
	ok(!valid, "feedback is late in RUN: valid:false");
	arm("run", 1, ARM2);
	ok(is(put(hand(0.1, 0, 0)), ARM2), "gate:G28 after it the measured pose, also in RUN");
	arm("hold", 1, ARM2);
	(void)put(hand(0.1, 0, 0));
	arm("run", 2, ARM2);
	ok(is(put(hand(0.5, 0, 0)), ARM2) &&
			is(put(hand(0.6, 0, 0)),
				(struct pose){
					vec_add(ARM2.p, (struct vec3){ 0.1, 0, 0 }), ARM2.q }),
		"gate:G28 until runs has changed: then anchored there");
}

static void test_g28_anchor(void)
{
	struct quat turn = rpy_to_quat((struct rpy){ 0, 0, 30 }), h0 = { 0.6, 0, 0, 0.8 };
	struct pose p, h = { { 1, 2, 3 }, h0 };

	fresh(true);
	ok(is(run_at(1, h, ARM), ARM), "gate:G28 RUN begins: the anchor is the output");
	h.p.x += 0.05;
	h.q = quat_mul(turn, h0);
	arm("run", 1, ARM2); /* moving arm: only the anchor counts */
	p = put(h);
	ok(is(p, (struct pose){ vec_add(ARM.p, (struct vec3){ 0.05, 0, 0 }),
			 quat_mul(turn, ARM.q) }),
		"gate:G28 p0 + (h - h0), Rh Rh0^-1 R0, seen from the base");
	h.p.x -= 0.05;
	h.q = h0;
	ok(is(put(h), ARM), "gate:G28 the hand comes back: the arm too");

	fresh(true);
	arm("run", 7, ARM);
	(void)put(hand(0, 0, 0));
	ok(is(put(hand(0.1, 0, 0)), (struct pose){ { 0.41, 0.05, 0.22 }, ARM.q }),
		"gate:G28 RUN in the first feedback, nothing lost before: anchored");
	h.q = (struct quat){ 0.6 * 1.009, 0, 0, 0.8 * 1.009 };
	p = put(h);
	ok(fabs(quat_norm(p.q) - 1) < 1e-15, "a hand's norm within the tolerance is put right");
}

static void test_g28_runs(void)
{
	fresh(true);
	(void)run_at(1, hand(0, 0, 0), ARM);
	(void)put(hand(0.1, 0, 0));
	arm("run", 2, ARM2); /* HOLD in between was shorter than a pose */
	ok(is(put(hand(0.1, 0, 0)), ARM2), "gate:G28 runs changes while RUN is seen: new anchor");
	arm("run", 2, ARM);
	ok(is(put(hand(0.1, 0.1, 0)),
		   (struct pose){ vec_add(ARM2.p, (struct vec3){ 0, 0.1, 0 }), ARM2.q }),
		"gate:G28 once, not again");
	arm("hold", 0, ARM); /* the writer was started anew */
	ok(is(put(hand(0.1, 0.1, 0)), ARM), "gate:G28 a new writer in HOLD: measured pose");
	arm("run", 1, ARM);
	ok(is(put(hand(0.7, 0.1, 0)), ARM), "gate:G28 its first RUN: new anchor");
}

static void test_g28_invalid(void)
{
	struct pose p;

	fresh(true);
	(void)run_at(1, hand(0, 0, 0), ARM);
	(void)put(hand(0.1, 0, 0));
	p = lost();
	ok(!valid && fabs(p.p.x - 0.41) < 1e-12, "valid:false flows on with the last pose");
	arm("run", 1, ARM2); /* the writer has not heard of it yet */
	ok(is(put(hand(0.4, 0, 0)), ARM2),
		"gate:G28 tracking comes back while RUN is still reported: measured pose");
	arm("hold", 1, ARM2);
	ok(is(put(hand(0.4, 0, 0)), ARM2), "gate:G28 and in HOLD");
	arm("run", 1, ARM2); /* cannot be, but would not be a change */
	ok(is(put(hand(0.5, 0, 0)), ARM2), "gate:G28 RUN with the old count is no new RUN");
	arm("run", 2, ARM2);
	(void)lost(); /* lost again before the new RUN was used */
	arm("run", 2, ARM);
	ok(is(put(hand(0.5, 0, 0)), ARM) && is(put(hand(0.6, 0, 0)), ARM),
		"gate:G28 a RUN from before the loss does not count");
	arm("run", 3, ARM2);
	(void)put(hand(0.5, 0, 0));
	ok(is(put(hand(0.5, 0, 0.1)),
		   (struct pose){ vec_add(ARM2.p, (struct vec3){ 0, 0, 0.1 }), ARM2.q }),
		"gate:G28 runs has changed: follows from there, no jump");
}

static void test_g28_gap(void)
{
	fresh(true);
	(void)run_at(1, hand(0, 0, 0), ARM);
	now += 500000 - STEP;
	arm("run", 1, ARM2);
	ok(is(put(hand(0.1, 0, 0)),
		   (struct pose){ vec_add(ARM.p, (struct vec3){ 0.1, 0, 0 }), ARM.q }),
		"gate:G28 a gap of 500 ms keeps the anchor");
	now += 500001 - STEP;
	arm("run", 1, ARM2);
	ok(is(put(hand(0.3, 0, 0)), ARM2), "gate:G28 a longer one: measured pose");
	ok(is(put(hand(0.4, 0, 0)), ARM2), "gate:G28 and again");
	arm("run", 2, ARM2);
	ok(is(put(hand(0.4, 0, 0)), ARM2) &&
			is(put(hand(0.5, 0, 0)),
				(struct pose){
					vec_add(ARM2.p, (struct vec3){ 0.1, 0, 0 }), ARM2.q }),
		"gate:G28 until runs has changed");
}

static void test_g28_time_goes_back(void)
{
	fresh(true);
	(void)run_at(1, hand(0, 0, 0), ARM);
	now -= 600000;
	arm("run", 1, ARM2);
	ok(is(put(hand(0.1, 0, 0)), ARM2), "gate:G28 a step back by more than 500 ms is a gap too");
}

static void test_g28_signs(void)
{
	struct pose h = { { 0, 0, 0 }, { 0.6, 0, 0, 0.8 } }, p, q;
	struct pose minus = { ARM.p, quat_neg(ARM.q) };

	fresh(true);
	p = run_at(1, h, minus);
	h.q = quat_neg(h.q);
	q = put(h);
	ok(is(p, ARM) && is(q, ARM), "q and -q of hand and arm are one rotation");
	ok(p.q.y * q.q.y > 0, "and the output keeps its hemisphere");
}

/* Scale acts on the way, rotation and offsets do not; the tip is what turns with a tool. */
static void test_g28_whole_chain(void)
{
	struct xform_config c = { .yaw_deg = 90,
		.scale = 0.5,
		.offset = { 5, 5, 5 },
		.rot_offset = { 0, 90, 0 },
		.tool = { 0, 0, 0.145 },
		.relative = true,
		.home = HOME };
	struct xform x;
	struct rec r, b;
	char why[80];
	struct pose turned;
	struct vec3 tip = pose_apply(HOME, c.tool);

	(void)axes_parse("openxr", &c.axes, why, sizeof why);
	xform_init(&x, &c);
	rec_init(&r, REC_POSE, "right", 0, 1000);
	r.u.pose.valid = true;
	b = r;
	(void)xform_pose(&x, &b);
	ok(diff(b.u.pose.pose, HOME) < 1e-12 && b.u.pose.frame == REC_BASE,
		"gate:G28 offset and rotation offset have no effect");
	r.t_us += STEP;
	r.u.pose.pose.p.z = -0.2; /* forward, by yaw to Y */
	b = r;
	(void)xform_pose(&x, &b);
	ok(vec_dist(b.u.pose.pose.p, vec_add(HOME.p, (struct vec3){ 0, 0.1, 0 })) < 1e-12 &&
			quat_angle(b.u.pose.pose.q, HOME.q) < 1e-12,
		"gate:G28 axes, yaw and scale act on the way of the hand");
	r.t_us += STEP;
	r.u.pose.pose = (struct pose){ { 0, 0, 0 }, rpy_to_quat((struct rpy){ 0, 40, 0 }) };
	b = r;
	(void)xform_pose(&x, &b);
	turned = b.u.pose.pose;
	ok(vec_dist(pose_apply(turned, c.tool), tip) < 1e-12 &&
			quat_angle(turned.q,
				quat_mul(rpy_to_quat((struct rpy){ 0, 0, 40 }), HOME.q)) < 1e-12,
		"with a tool the hand turns the arm about the tip, by the hand's full angle");
}

static void test_g29_home(void)
{
	struct pose p;

	fresh(false);
	p = lost();
	ok(!valid && diff(p, POSE_IDENTITY) == 0,
		"valid:false before any pose: p 0, identity (DESIGN.md 2)");
	ok(is(put(hand(3, 2, 1)), HOME), "gate:G29 the first anchor is at home");
	ok(is(put(hand(3.1, 2, 1)),
		   (struct pose){ vec_add(HOME.p, (struct vec3){ 0.1, 0, 0 }), HOME.q }),
		"gate:G29 follows from there");
	p = lost();
	ok(!valid && fabs(p.p.x - 0.38) < 1e-12, "gate:G29 lost: the last pose, valid:false");
	p = put(hand(7, 7, 7));
	ok(is(p, (struct pose){ { 0.38, 0, 0.2 }, HOME.q }),
		"gate:G29 later anchors are at the pose last put out");
	now += 600000;
	ok(is(put(hand(8, 7, 7)), p), "gate:G29 also after a gap > 500 ms");
	ok(is(put(hand(8, 7, 7.1)), (struct pose){ { 0.38, 0, 0.3 }, HOME.q }),
		"gate:G29 and follows on");
	arm("hold", 0, ARM);
}

/* Whatever arrives: no output but at the measured pose, or near the previous one. */
static void test_no_jumps(void)
{
	static const char *const gates[] = { "hold", "run", "run", "run", "estop" };
	struct pose h = hand(0, 0, 0), last = ARM, at = ARM;
	int jumps = 0, follows = 0;
	int64_t runs = 0;
	bool was_run = false;

	fresh(true);
	for (int k = 0; k < 50000; k++) {
		const char *gate = gates[(int)uniform(0, 5)];
		bool is_run = strcmp(gate, "run") == 0;
		struct pose p;

		h.p.x += uniform(-0.002, 0.002);
		h.q = quat_mul(quat_exp((struct vec3){ 0, uniform(-0.01, 0.01), 0 }), h.q);
		if (uniform(0, 1) < 0.02) { /* the hand is elsewhere after a loss */
			(void)lost();
			h.p.y = uniform(-1, 1);
		}
		if (uniform(0, 1) < 0.3) {
			at.p.x += uniform(-0.01, 0.01);
			runs += is_run && !was_run;
			was_run = is_run;
			arm(gate, runs, at);
		}
		if (uniform(0, 1) < 0.01)
			now += 300000;
		p = put(uniform(0, 1) < 0.5 ? h : (struct pose){ h.p, quat_neg(h.q) });
		if (!valid)
			continue;
		if (diff(p, s.measured) > 1e-9) {
			follows++;
			jumps += vec_dist(p.p, last.p) > 0.0021 || quat_angle(p.q, last.q) > 0.011;
		}
		last = p;
	}
	ok(!jumps && follows > 1000, "no jump in 50000 steps, %d of them following (%d jumps)",
		follows, jumps);
}

int main(void)
{
	test_g26_what_counts();
	test_g27_not_run();
	test_g27_age();
	test_g27_own_invalid();
	test_g28_anchor();
	test_g28_runs();
	test_g28_invalid();
	test_g28_gap();
	test_g28_time_goes_back();
	test_g28_signs();
	test_g28_whole_chain();
	test_g29_home();
	test_no_jumps();
	return tap_done();
}
