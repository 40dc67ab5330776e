/* The rules a set is judged by (GATE.md, its end for the exemptions). */
#ifndef LIB_CHECKER_RULES_H
#define LIB_CHECKER_RULES_H

#include "checker_arm.h"
#include "checker_conf.h"
#include "checker_records.h"

#define LISTEN 0.3
#define BURSTS 24     /* of joints, kept: 120 ms at 200 Hz */
#define FRESH 0.05    /* s, measured joints usable up to */
#define WIRE_M 2e-6   /* what rounding two poses to 1 um adds to a step */
#define WIRE_RAD 4e-5 /* and to 0.001 degrees, three angles */
#define NEAR_M 2e-5   /* the measured pose, twice rounded */
#define NEAR_RAD 2e-4

struct burst {
	double t;
	int32_t raw[6];
	struct place at;
};
struct run_set {
	long line;
	double t;
	uint8_t mode[8], grip_tail[4];
	int32_t raw[6], open_raw[6], grip_um;
	bool opening, has_grip, after_j;
	struct burst before[BURSTS]; /* newest first, as the set began */
	int n_before;
};
struct joint_set {
	long line;
	double t;
	uint8_t mode[8];
	int32_t raw[6];
};

struct judge {
	struct conf conf;
	struct records recs;
	long line, breaches;
	/* bus */
	double first_fb;
	bool sent_any, move_j; /* the last 0x151 was MOVE J */
	int part_mask, n_burst, pose_phase, joint_phase;
	int32_t part[6];
	struct burst burst[BURSTS];
	struct run_set set;
	struct joint_set jset;
	bool has_mode[2];
	uint8_t mode[2][8];
	/* motion */
	bool has_prev, has_v, has_pose, has_hold, at_lead, at_alead;
	struct place prev;
	double prev_t, prev_dt, v[3], w[3];
	int64_t prev_runs;
	int32_t hold_raw[6];
	/* figures */
	long sets, holds, repeats, readies, gave_way;
	double max_speed, max_accel, max_aspeed, max_aaccel, max_lead, max_alead, max_age;
};

__attribute__((format(printf, 3, 4))) static inline void breach(
	struct judge *j, long line, const char *fmt, ...)
{
	va_list ap;

	j->breaches++;
	printf("%ld: ", line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static inline void most(double *m, double x)
{
	*m = x > *m ? x : *m;
}

static inline void rule_mode(struct judge *j, int kind, const uint8_t mode[8], long line)
{
	if (j->has_mode[kind] && memcmp(j->mode[kind], mode, 8) != 0)
		breach(j, line, "0x151 changed its content (speed %d, was %d)", mode[2],
			j->mode[kind][2]);
	memcpy(j->mode[kind], mode, 8);
	j->has_mode[kind] = true;
}

static inline void rule_space(struct judge *j, const struct place *at, long line)
{
	const struct conf *c = &j->conf;
	double r = hypot(at->p[0], at->p[1]);

	for (int i = 0; i < 3; i++) {
		double tip = 0;
		for (int k = 0; k < 3; k++)
			tip += at->r.m[i][k] * c->tool[k];
		for (int who = 0; who <= (c->has_tool ? 1 : 0); who++) {
			double x = at->p[i] + (who ? tip : 0);
			double slack = who ? NEAR_M : 0.6e-6;
			double by = fmax(c->box[2 * i] - x, x - c->box[2 * i + 1]);
			if (by > slack)
				breach(j, line, "%s outside the box: %c %.3f mm, by %.3f mm",
					who ? "tip" : "flange", "xyz"[i], x * 1e3, by * 1e3);
		}
	}
	if (c->radius - r > 1e-6)
		breach(j, line, "inside the keep-out radius: %.3f mm from the base axis", r * 1e3);
	if (c->tilt >= 0) {
		double dot = 0;
		for (int i = 0; i < 3; i++)
			dot += at->r.m[i][2] * c->tilt_axis[i];
		double ang = acos(fmin(1, fmax(-1, dot)));
		if (ang - c->tilt > WIRE_RAD)
			breach(j, line, "tilt %.3f degrees, by %.3f", ang * 180 / PI,
				(ang - c->tilt) * 180 / PI);
	}
}

/* Against the newest burst before the set; the one before it counts too, since the newest may
 * have come between decision and write. */
static inline void rule_lead(struct judge *j, const struct run_set *s, const struct place *at)
{
	double lead = HUGE_VAL, turn = HUGE_VAL;

	j->at_lead = j->at_alead = false;
	if (j->conf.ideal)
		return;
	if (s->n_before == 0) {
		breach(j, s->line, "run set without measured joints before it");
		return;
	}
	if (s->t - s->before[0].t > FRESH + fmax(j->conf.jitter, 0.002))
		breach(j, s->line, "newest measured joints are %.1f ms old",
			(s->t - s->before[0].t) * 1e3);
	for (int i = 0; i < s->n_before && i < 2; i++) {
		lead = fmin(lead, place_gap(at, &s->before[i].at));
		turn = fmin(turn, place_turn(at, &s->before[i].at));
	}
	j->at_lead = lead > 0.95 * j->conf.lead;
	j->at_alead = turn > 0.95 * j->conf.alead;
	most(&j->max_lead, lead);
	most(&j->max_alead, turn);
	if (lead > j->conf.lead + NEAR_M)
		breach(j, s->line, "lead %.3f mm, by %.3f mm", lead * 1e3,
			(lead - j->conf.lead) * 1e3);
	if (turn > j->conf.alead + NEAR_RAD)
		breach(j, s->line, "lead %.3f degrees, by %.3f", turn * 180 / PI,
			(turn - j->conf.alead) * 180 / PI);
}

/* gate:G10: the first set after a MOVE J begins with the measured pose, before 0x151. */
static inline void rule_opening(struct judge *j, const struct run_set *s)
{
	if (!s->opening) {
		if (s->after_j)
			breach(j, s->line,
				"first set after MOVE J does not begin with the measured pose");
		return;
	}
	struct place at = place_raw(s->open_raw), hold = place_joints(j->hold_raw, j->conf.new_dh);
	bool good = false;
	if (j->conf.ideal)
		good = !j->has_hold ||
		       (place_gap(&at, &hold) < 1e-4 && place_turn(&at, &hold) < 2e-3);
	for (int i = 0; i < s->n_before && s->t - s->before[i].t < FRESH + 0.02; i++)
		good = good || (place_gap(&at, &s->before[i].at) < NEAR_M &&
				       place_turn(&at, &s->before[i].at) < NEAR_RAD);
	if (!good)
		breach(j, s->line, "opening pose is not the measured one");
}

/* Speed since the last set, acceleration since the last step; none across a HOLD. Where the set is
 * at the lead bound the acceleration has given way to it (gate:G9): counted, no breach. */
static inline void rule_motion(
	struct judge *j, const struct run_set *s, const struct place *at, double t, bool unbroken)
{
	const struct conf *c = &j->conf;
	double v[3], w[3], dv[3], dw[3], dt = t - j->prev_t, jit = c->jitter;
	bool first = !(j->has_prev && unbroken);
	struct place from = j->prev;

	if (first && s->opening) {
		from = place_raw(s->open_raw);
		dt = 1 / c->rate;
		jit = fmax(jit, 0.1 * dt);
	} else if (first) {
		goto keep;
	}
	if (dt <= 0) {
		breach(j, s->line, "two sets at one time");
		goto keep;
	}
	rot_between(from.r, at->r, w);
	for (int i = 0; i < 3; i++) {
		v[i] = (at->p[i] - from.p[i]) / dt;
		w[i] /= dt;
		dv[i] = v[i] - j->v[i];
		dw[i] = w[i] - j->w[i];
	}
	most(&j->max_speed, len3(v));
	most(&j->max_aspeed, len3(w));
	if (len3(v) * dt > c->speed * (dt + jit) + WIRE_M)
		breach(j, s->line, "speed %.3f mm/s, by %.3f", len3(v) * 1e3,
			(len3(v) - c->speed) * 1e3);
	if (len3(w) * dt > c->aspeed * (dt + jit) + WIRE_RAD)
		breach(j, s->line, "angular speed %.3f deg/s, by %.3f", len3(w) * 180 / PI,
			(len3(w) - c->aspeed) * 180 / PI);
	if (!first && j->has_v) {
		double span = fmax(dt, j->prev_dt), least = fmin(dt, j->prev_dt);
		double a = len3(dv) / dt, aa = len3(dw) / dt;
		most(&j->max_accel, a);
		most(&j->max_aaccel, aa);
		if (len3(dv) <= c->accel * (span + jit) + 2 * (c->speed * jit + WIRE_M) / least)
			;
		else if (j->at_lead)
			j->gave_way++;
		else
			breach(j, s->line, "acceleration %.3f m/s2, by %.3f", a, a - c->accel);
		if (len3(dw) <= c->aaccel * (span + jit) + 2 * (c->aspeed * jit + WIRE_RAD) / least)
			;
		else if (j->at_alead)
			j->gave_way++;
		else
			breach(j, s->line, "angular acceleration %.3f rad/s2, by %.3f", aa,
				aa - c->aaccel);
	}
	j->has_v = !first;
	j->prev_dt = dt;
	memcpy(j->v, v, sizeof(v));
	memcpy(j->w, w, sizeof(w));
	j->prev = *at;
	j->prev_t = t;
	j->has_prev = true;
	return;
keep:
	j->has_v = false;
	j->prev = *at;
	j->prev_t = t;
	j->has_prev = true;
}

/* The next command record of this kind; records in between had no set on the bus. NULL: none. */
static inline const struct cmd *next_command(struct judge *j, enum rec_set set, long line)
{
	struct records *r = &j->recs;

	for (int i = r->next; i < r->n && i < r->next + 4; i++) {
		if (r->v[i].set != set)
			continue;
		for (int k = r->next; k < i; k++)
			breach(j, line, "command record at line %ld has no set on the bus",
				r->v[k].line);
		r->next = i + 1;
		return &r->v[i];
	}
	return NULL;
}

/* Age and gate at the moment of writing (gate:G7, safety:I1). */
static inline void rule_when(struct judge *j, long line, const struct cmd *k)
{
	most(&j->max_age, k->age_ms);
	if (k->age_ms > j->conf.max_age_ms)
		breach(j, line, "record of line %ld was %.1f ms old when written", k->line,
			k->age_ms);
	if (strcmp(k->gate, "run") != 0)
		breach(j, line, "run set while the gate is \"%s\" (record line %ld)", k->gate,
			k->line);
}

static inline void rule_record(
	struct judge *j, const struct run_set *s, const struct cmd *k, const struct place *at)
{
	double off = 0;

	for (int i = 0; i < 3; i++)
		most(&off, fabs(at->p[i] - k->at.p[i]));
	rule_when(j, s->line, k);
	if (!k->has_pose || off > 0.5e-6 + 1e-9 || place_turn(at, &k->at) > 1.5e-3 * PI / 180)
		breach(j, s->line,
			"set and command record of line %ld differ by %.3f um, %.3f mdeg", k->line,
			off * 1e6, place_turn(at, &k->at) * 180e3 / PI);
	if (k->has_grip != s->has_grip ||
		(k->has_grip && fabs(k->grip * j->conf.grip_um - s->grip_um) > 0.501))
		breach(j, s->line, "gripper %d um, command record of line %ld says %.1f",
			s->grip_um, k->line, k->has_grip ? k->grip * j->conf.grip_um : -1);
}

static inline void rule_run(struct judge *j, const struct run_set *s)
{
	struct place at = place_raw(s->raw);
	const struct cmd *k = j->conf.records ? next_command(j, REC_SET_RUN, s->line) : NULL;
	double t = k ? k->when : s->t;
	bool unbroken = k ? k->runs == j->prev_runs : s->t - j->prev_t < 2.5 / j->conf.rate;

	j->sets++;
	rule_mode(j, 0, s->mode, s->line);
	rule_space(j, &at, s->line);
	rule_opening(j, s);
	rule_lead(j, s, &at);
	rule_motion(j, s, &at, t, unbroken);
	if (k) {
		rule_record(j, s, k, &at);
		j->prev_runs = k->runs;
	} else if (j->conf.records) {
		breach(j, s->line, "run set without a command record");
	} else if (j->conf.gripper && !s->has_grip) {
		breach(j, s->line, "torn set: no 0x159 after 0x154");
	}
	if (s->has_grip && (s->grip_um < 0 || s->grip_um > j->conf.grip_um + 0.5))
		breach(j, s->line, "gripper %d um is outside its stroke", s->grip_um);
	j->has_pose = true;
}

static inline bool same_joints(const struct cmd *k, const int32_t raw[6])
{
	for (int i = 0; i < 6; i++)
		if (!k->has_joints || fabs(k->j[i] * 180e3 / PI - raw[i]) > 0.501)
			return false;
	return true;
}

static inline bool at_measured(const struct judge *j, const struct joint_set *s)
{
	if (j->conf.ideal) {
		struct place at = place_joints(s->raw, j->conf.new_dh);
		return !j->has_pose ||
		       (place_gap(&at, &j->prev) < 1e-4 && place_turn(&at, &j->prev) < 2e-3);
	}
	for (int i = 0; i < j->n_burst && s->t - j->burst[i].t < FRESH + 0.02; i++)
		if (memcmp(j->burst[i].raw, s->raw, sizeof(s->raw)) == 0)
			return true;
	return false;
}

/* Joint targets that are not a hold: each within its lead of the measured (gate:G12). */
static inline void rule_joint_lead(struct judge *j, const struct joint_set *s)
{
	double least = HUGE_VAL;

	if (j->conf.ideal)
		return;
	for (int b = 0; b < j->n_burst && b < 2; b++) {
		double off = 0;
		for (int i = 0; i < 6; i++)
			most(&off, fabs((s->raw[i] - j->burst[b].raw[i]) * PI / 180000));
		least = fmin(least, off);
	}
	if (least > j->conf.jlead + WIRE_RAD)
		breach(j, s->line, "joint target %.4f rad ahead, by %.4f", least,
			least - j->conf.jlead);
}

static inline void rule_joints(struct judge *j, const struct joint_set *s)
{
	bool again = j->has_hold && memcmp(j->hold_raw, s->raw, sizeof(s->raw)) == 0;
	struct records *r = &j->recs;
	const struct cmd *k = r->next < r->n ? &r->v[r->next] : NULL;

	rule_mode(j, 1, s->mode, s->line);
	if (j->conf.joints && k && k->set == REC_SET_RUN && same_joints(k, s->raw)) {
		r->next++;
		j->sets++;
		rule_when(j, s->line, k);
		rule_joint_lead(j, s);
		return;
	}
	if (k && k->set == REC_SET_RUN && !again && j->sets > 0)
		breach(j, s->line, "joint set where the command record of line %ld says run",
			k->line);
	if (k && k->set != REC_SET_RUN && same_joints(k, s->raw))
		r->next++;
	else if (k && k->set != REC_SET_RUN && !again && (r->next > 0 || k->set == REC_SET_READY))
		breach(j, s->line, "joints differ from the command record of line %ld", k->line);
	else
		k = NULL;
	bool ready = k ? k->set == REC_SET_READY
		       : !again && (j->conf.ready || j->conf.joints) && !at_measured(j, s);
	if (ready) {
		j->readies++;
		rule_joint_lead(j, s);
		return;
	}
	if (again && !k) {
		j->repeats++;
		return;
	}
	j->holds++;
	if (!at_measured(j, s))
		breach(j, s->line, "hold set is not at the measured joints");
	memcpy(j->hold_raw, s->raw, sizeof(s->raw));
	j->has_hold = true;
	j->has_prev = j->has_v = false;
}

#endif
