/* Kinematics of the Piper: piper.md 8 and the computed rows of piper-fk.ndjson. */
#include <string.h>

#include "geom/chain.h"
#include "geom/euler.h"
#include "geom_check.h"
#include "geom_fixture.h"

#define CASES 100000

static const double READY[6] = { 0, 86 * DEG, -45 * DEG, 0, 24 * DEG, 0 };

static double joints_diff(const double *a, const double *b, double period)
{
	double worst = 0;

	for (int i = 0; i < 6; i++)
		worst = fmax(worst, period > 0 ? turn_diff(a[i], b[i], period) : fabs(a[i] - b[i]));
	return worst;
}

static double pose_diff(struct pose a, struct pose b)
{
	return fmax(vec_dist(a.p, b.p), quat_angle(a.q, b.q));
}

static void random_joints(const struct chain *c, double *q)
{
	for (int i = 0; i < 6; i++)
		q[i] = uniform(c->j[i].lo, c->j[i].hi);
}

struct row {
	const char *name;
	const struct chain *chain;
	double q[6];
	struct pose pose;
};

static void read_row(const json_t *j, struct row *r)
{
	double p[3], q[4];

	r->name = json_string_value(json_object_get(j, "name"));
	r->chain = json_integer_value(json_object_get(j, "dh_is_offset")) ? &PIPER_DH_NEW
									  : &PIPER_DH_OLD;
	numbers(json_object_get(j, "joints_rad"), 6, r->q);
	numbers(json_object_get(j, "position_m"), 3, p);
	numbers(json_object_get(j, "quat_xyzw"), 4, q);
	r->pose = (struct pose){ { p[0], p[1], p[2] }, { q[0], q[1], q[2], q[3] } };
}

/* The rows round to 12 digits: a row's own pose is within 1e-9, and what comes back from it too.
 * true: the row is inside the limits. */
static bool test_row(const struct row *r)
{
	struct pose fk = chain_fk(r->chain, r->q), again;
	double q[6], all[PIPER_IK_MAX][6];
	int n;

	ok(vec_dist(fk.p, r->pose.p) < 1e-9 && quat_angle(fk.q, r->pose.q) < 1e-9, "FK %s",
		r->name);
	n = piper_ik(r->chain, fk, all);
	ok(n > 0, "IK %s has solutions", r->name);
	for (int i = 0; i < n; i++) {
		again = chain_fk(r->chain, all[i]);
		if (pose_diff(again, fk) >= 1e-9)
			ok(false, "IK %s solution %d off by %g", r->name, i, pose_diff(again, fk));
	}
	if (!chain_within(r->chain, r->q, 1e-9))
		return false;
	if (!piper_ik_near(r->chain, r->pose, READY, q)) {
		ok(false, "IK %s found inside the limits", r->name);
		return true;
	}
	again = chain_fk(r->chain, q);
	ok(pose_diff(again, r->pose) < 1e-9 && chain_within(r->chain, q, 0),
		"FK(IK) %s from ready, inside: %.1e", r->name, pose_diff(again, r->pose));
	ok(piper_ik_near(r->chain, fk, r->q, q) && pose_diff(chain_fk(r->chain, q), fk) < 1e-9 &&
			(fabs(r->q[4]) < 1e-6 || joints_diff(q, r->q, 0) < 1e-9),
		"IK %s from its own joints: joints %.1e", r->name, joints_diff(q, r->q, 0));
	return true;
}

static void test_rows(void)
{
	FILE *f = fixture_open("piper-fk.ndjson");
	int n = 0, inside = 0;

	for (json_t *j; (j = fixture_row(f)) != NULL; json_decref(j), n++) {
		struct row r;

		read_row(j, &r);
		inside += test_row(&r);
	}
	fclose(f);
	ok(n == 131, "%d rows of piper-fk.ndjson", n);
	ok(inside == 127, "%d of them inside the limits", inside);
}

/* Every solution is one; the joints that made the pose are among them and are taken when near. */
static void test_random(const struct chain *c, const char *name)
{
	int missing = 0, wrong = 0, far = 0, many = 0;
	double worst = 0;

	for (int k = 0; k < CASES / 2; k++) {
		double q[6], all[PIPER_IK_MAX][6], near[6], best = (double)INFINITY;
		struct pose p;
		int n;

		random_joints(c, q);
		p = chain_fk(c, q);
		/* at full stretch a joint is the root of the rounding: poses only */
		bool is_exact = fabs(sin(q[4])) > 1e-4 && fabs(q[2] + 162.21 * DEG) > 1e-2;

		n = piper_ik(c, p, all);
		many += n > PIPER_IK_MAX;
		for (int i = 0; i < n; i++) {
			best = fmin(best, joints_diff(all[i], q, 2 * M_PI));
			wrong += pose_diff(chain_fk(c, all[i]), p) >= 1e-9;
		}
		missing += is_exact && !(best < 1e-9);
		if (!piper_ik_near(c, p, q, near) || pose_diff(chain_fk(c, near), p) >= 1e-9)
			far++;
		else if (is_exact && joints_diff(near, q, 0) >= 1e-9)
			far++;
		else if (is_exact)
			worst = fmax(worst, joints_diff(near, q, 0));
	}
	ok(!missing, "%s: IK holds the joints of %d random poses (%d missing)", name, CASES / 2,
		missing);
	ok(!wrong && !many, "%s: every solution is one (%d wrong)", name, wrong);
	ok(!far, "%s: the near solution is the joints (worst %.1e, %d not)", name, worst, far);
}

/* Among all solutions inside the limits none has a smaller largest step. */
static void test_nearest(void)
{
	const struct chain *c = &PIPER_DH_NEW;
	int bad = 0, choices = 0;

	for (int k = 0; k < 20000; k++) {
		double q[6], from[6], near[6], all[PIPER_IK_MAX][6];
		struct pose p;
		double step;
		int n, inside = 0;

		random_joints(c, q);
		random_joints(c, from);
		p = chain_fk(c, q);
		n = piper_ik(c, p, all);
		bad += !piper_ik_near(c, p, from, near) || !chain_within(c, near, 0);
		step = joints_diff(near, from, 0);
		for (int i = 0; i < n; i++) {
			if (!chain_within(c, all[i], -1e-6))
				continue;
			inside++;
			bad += joints_diff(all[i], from, 0) < step - 1e-9;
		}
		choices += inside > 1;
	}
	ok(!bad && choices > 1000, "nearest of several solutions (%d poses with a choice)",
		choices);
}

static void test_edges(void)
{
	const struct chain *c = &PIPER_DH_NEW;
	double q[6], from[6], lim[6];
	int bad = 0;
	struct pose p;

	for (int k = 0; k < 64; k++) { /* corners of the ranges: J2 at 180 deg wraps */
		for (int i = 0; i < 6; i++)
			lim[i] = (k >> i & 1) ? c->j[i].hi : c->j[i].lo;
		bad += !piper_ik_near(c, chain_fk(c, lim), lim, q) || !chain_within(c, q, 0) ||
		       joints_diff(q, lim, 0) > 1e-9;
	}
	ok(!bad, "all 64 corners of the joint ranges are inside (%d not)", bad);

	for (int i = 0; i < 6; i++) {
		memcpy(lim, READY, sizeof lim);
		lim[4] = 0.4;
		lim[i] = c->j[i].hi + 1e-9;
		ok(piper_ik_near(c, chain_fk(c, lim), lim, q) && chain_within(c, q, 0),
			"J%d 1e-9 past its limit is inside, on the limit", i + 1);
		lim[i] = c->j[i].hi + 1e-6;
		ok(!piper_ik_near(c, chain_fk(c, lim), lim, q) || joints_diff(q, lim, 0) > 1e-3,
			"J%d 1e-6 past its limit is not", i + 1);
	}
	p = (struct pose){ { 0.8, 0, 0.2 }, { 0, 0, 0, 1 } };
	memcpy(q, READY, sizeof q);
	ok(!piper_ik_near(c, p, READY, q) && joints_diff(q, READY, 0) == 0,
		"out of reach: none, result untouched");
	p = chain_fk(c, READY);
	memcpy(from, READY, sizeof from);
	from[1] += 0.01;
	ok(piper_ik_near(c, p, from, from) && joints_diff(from, READY, 0) < 1e-9,
		"the result may take the place of the start");
	p.q = quat_neg(p.q);
	ok(piper_ik_near(c, p, READY, q) && joints_diff(q, READY, 0) < 1e-9, "q and -q are one");
}

/* J5 = 0: J4 + J6 is given, the split stays where the arm is (piper.md 8.4). */
static void test_wrist(void)
{
	const struct chain *c = &PIPER_DH_NEW;
	double q[6], a[6] = { 0.3, 1.2, -0.9, 0.7, 0, -0.4 };
	double b[6] = { 0.3, 1.2, -0.9, 1.7, 0, -2.0 };
	struct pose p = chain_fk(c, a);

	ok(piper_ik_near(c, p, a, q) && joints_diff(q, a, 0) < 1e-8, "straight wrist stays");
	ok(piper_ik_near(c, p, b, q) && pose_diff(chain_fk(c, q), p) < 1e-9 &&
			fabs(q[3] - 1.7) < 0.31 && fabs(q[5] + 1.4) < 0.31 && chain_within(c, q, 0),
		"the change is shared between J4 and J6: %g %g", q[3], q[5]);
	/* nine decimals, as a record has it */
	p.q = (struct quat){ round(p.q.x * 1e9) / 1e9, round(p.q.y * 1e9) / 1e9,
		round(p.q.z * 1e9) / 1e9, round(p.q.w * 1e9) / 1e9 };
	ok(piper_ik_near(c, p, a, q) && joints_diff(q, a, 0) < 1e-7,
		"a rounded quaternion does not turn J4: %.1e", joints_diff(q, a, 0));
	a[4] = 1e-6;
	p = chain_fk(c, a);
	ok(piper_ik_near(c, p, READY, q) && pose_diff(chain_fk(c, q), p) < 1e-9,
		"J5 = 1e-6 is exact: %.1e", pose_diff(chain_fk(c, q), p));
	a[3] = 1.7, a[5] = 2.0; /* the sum is beyond half a turn */
	a[4] = 0;
	p = chain_fk(c, a);
	ok(piper_ik_near(c, p, READY, q) && pose_diff(chain_fk(c, q), p) < 1e-9 &&
			chain_within(c, q, 0),
		"a sum beyond half a turn");
	ok(piper_ik_near(c, p, a, q) && joints_diff(q, a, 0) < 1e-8, "and it stays there");
}

/* The elbow at full stretch: the cosine may come out above 1. */
static void test_stretch(void)
{
	const struct chain *c = &PIPER_DH_NEW;
	double straight = atan2(c->j[3].d, c->j[3].a) - c->j[2].offset - 2 * M_PI;
	int lost = 0;

	for (int k = 0; k < 2000; k++) {
		double q[6], near[6];
		struct pose p;

		random_joints(c, q);
		q[2] = straight;
		p = chain_fk(c, q);
		lost += !piper_ik_near(c, p, q, near) || pose_diff(chain_fk(c, near), p) >= 1e-9;
	}
	ok(!lost, "2000 poses at full stretch are reached (%d not)", lost);
}

/* Wrist centre on the base axis: J1 stays where the arm is. */
static void test_shoulder(void)
{
	const struct chain *c = &PIPER_DH_NEW;
	double q[6], from[6] = { 0.8, 1, -1, 0, 0, 0 };
	int found = 0, stays = 0, exact = 0;

	for (int k = 0; k < 2000; k++) {
		struct pose p = { { 0, 0, 0.123 + uniform(0.1, 0.5) }, random_quat() };

		p.p = pose_apply(p, (struct vec3){ 0, 0, 0.091 });
		if (!piper_ik_near(c, p, from, q))
			continue;
		found++;
		stays += fabs(q[0] - 0.8) < 1e-12 || fabs(fabs(q[0] - 0.8) - M_PI) < 1e-12;
		exact += pose_diff(chain_fk(c, q), p) < 1e-9;
	}
	ok(found > 20 && stays == found && exact == found,
		"wrist centre on the base axis: J1 stays (%d poses)", found);
}

static void test_jacobian(void)
{
	int bad = 0;

	for (int k = 0; k < 2000; k++) {
		const struct chain *c = k & 1 ? &PIPER_DH_NEW : &PIPER_DH_OLD;
		double q[6], jac[6][6];

		random_joints(c, q);
		chain_jacobian(c, q, jac);
		for (int i = 0; i < 6; i++) {
			double a[6], b[6], h = 1e-5;
			struct pose pa, pb;
			struct vec3 v, w;

			memcpy(a, q, sizeof a);
			memcpy(b, q, sizeof b);
			a[i] -= h;
			b[i] += h;
			pa = chain_fk(c, a);
			pb = chain_fk(c, b);
			v = vec_scale(vec_sub(pb.p, pa.p), 0.5 / h);
			w = vec_scale(quat_log(quat_mul(pb.q, quat_conj(pa.q))), 0.5 / h);
			v = vec_sub(v, (struct vec3){ jac[0][i], jac[1][i], jac[2][i] });
			w = vec_sub(w, (struct vec3){ jac[3][i], jac[4][i], jac[5][i] });
			bad += !(vec_norm(v) < 1e-8 && vec_norm(w) < 1e-8);
		}
	}
	ok(!bad, "Jacobian against central differences, 2000 arms (%d off)", bad);
}

static void test_published(void)
{
	const double zero[6] = { 0 };
	struct pose n = chain_fk(&PIPER_DH_NEW, zero), o = chain_fk(&PIPER_DH_OLD, zero);
	struct pose r = chain_fk(&PIPER_DH_NEW, READY);
	struct rpy a = rpy_from_quat(n.q), b = rpy_from_quat(r.q);
	const double nan_q[6] = { 0, (double)NAN, -1, 0, 0, 0 };

	ok(fabs(n.p.x - 0.056128) < 5e-7 && fabs(n.p.z - 0.213266) < 5e-7 && fabs(a.ry - 85) < 1e-9,
		"zero pose, new table (piper.md 8.1)");
	ok(fabs(o.p.x - 0.054953) < 5e-7 && fabs(o.p.z - 0.203387) < 5e-7, "zero pose, old table");
	ok(fabs(vec_dist(n.p, o.p) - 0.00995) < 5e-6, "the tables differ by 9.95 mm");
	ok(fabs(r.p.x - 0.280) < 5e-4 && fabs(r.p.z - 0.199) < 5e-4 && fabs(b.ry - 30) < 0.5 &&
			fabs(fabs(b.rx) - 180) < 1e-9,
		"ready pose (piper.md 8.4)");
	ok(!chain_within(&PIPER_DH_NEW, nan_q, 1), "a NaN joint is outside");
}

int main(void)
{
	test_published();
	test_rows();
	test_random(&PIPER_DH_NEW, "new");
	test_random(&PIPER_DH_OLD, "old");
	test_nearest();
	test_edges();
	test_wrist();
	test_stretch();
	test_shoulder();
	test_jacobian();
	return tap_done();
}
