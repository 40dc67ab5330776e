/* Frames to sets: what belongs together, what is torn, what must never be sent. */
#ifndef LIB_CHECKER_JUDGE_H
#define LIB_CHECKER_JUDGE_H

#include "checker_rules.h"

/* Phases of a Cartesian set and the id each waits for. The opening triple is gate:G10's. */
enum { P_IDLE, P_OPEN1, P_OPEN2, P_OPEN3, P_MODE, P_POSE1, P_POSE2, P_POSE3 };
static const unsigned POSE_NEXT[] = { 0, 0x153, 0x154, 0x151, 0x152, 0x153, 0x154, 0x159 };
enum { J_IDLE, J_MODE, J_PART1, J_PART2 };
static const unsigned JOINT_NEXT[] = { 0, 0x155, 0x156, 0x157 };

static inline void pose_store(struct judge *j, const struct frame *f)
{
	int32_t *raw = j->pose_phase < P_MODE ? j->set.open_raw : j->set.raw;
	int at = (int)(f->id - 0x152) * 2;

	raw[at] = frame_int(f, 0);
	raw[at + 1] = frame_int(f, 4);
}

static inline void pose_finish(struct judge *j)
{
	j->pose_phase = P_IDLE;
	rule_run(j, &j->set);
}

static inline void pose_start(struct judge *j, const struct frame *f)
{
	struct run_set fresh = { .line = j->line, .t = f->t };

	j->set = fresh;
	memcpy(j->set.before, j->burst, sizeof(j->burst));
	j->set.n_before = j->n_burst;
	j->set.after_j = j->move_j;
	if (f->id == 0x151) {
		memcpy(j->set.mode, f->d, 8);
		j->move_j = false;
		j->pose_phase = P_MODE;
	} else if (f->id == 0x152) {
		j->set.opening = true;
		j->pose_phase = P_OPEN1;
		pose_store(j, f);
	} else if (f->id == 0x159) {
		if (j->sets > 0 && !j->conf.joints)
			breach(j, j->line, "gripper frame 0x159 outside a set");
	} else {
		breach(j, j->line, "torn set: 0x%03X without what belongs before it", f->id);
	}
}

static inline void pose_frame(struct judge *j, const struct frame *f)
{
	if (j->pose_phase == P_POSE3 && f->id != 0x159)
		pose_finish(j);
	if (j->pose_phase == P_IDLE) {
		pose_start(j, f);
		return;
	}
	if (f->id != POSE_NEXT[j->pose_phase]) {
		breach(j, j->line, "torn set begun at line %ld: 0x%03X where 0x%03X belongs",
			j->set.line, f->id, POSE_NEXT[j->pose_phase]);
		pose_start(j, f);
		return;
	}
	if (j->pose_phase == P_POSE3) {
		j->set.has_grip = true;
		j->set.grip_um = frame_int(f, 0);
		memcpy(j->set.grip_tail, f->d + 4, 4);
		pose_finish(j);
		return;
	}
	if (f->id == 0x151) {
		memcpy(j->set.mode, f->d, 8);
		j->move_j = false;
	} else {
		pose_store(j, f);
	}
	j->pose_phase++;
}

static inline void joint_frame(struct judge *j, const struct frame *f)
{
	if (j->joint_phase == J_IDLE && f->id == 0x151) {
		j->jset = (struct joint_set){ .line = j->line, .t = f->t };
		memcpy(j->jset.mode, f->d, 8);
		j->joint_phase = J_MODE;
		j->move_j = true;
		return;
	}
	if (f->id != JOINT_NEXT[j->joint_phase]) {
		breach(j, j->line, "torn joint set: 0x%03X where 0x%03X belongs", f->id,
			j->joint_phase ? JOINT_NEXT[j->joint_phase] : 0x151);
		j->joint_phase = J_IDLE;
		if (f->id == 0x151)
			joint_frame(j, f);
		return;
	}
	j->jset.raw[(f->id - 0x155) * 2] = frame_int(f, 0);
	j->jset.raw[(f->id - 0x155) * 2 + 1] = frame_int(f, 4);
	if (j->joint_phase++ == J_PART2) {
		j->joint_phase = J_IDLE;
		rule_joints(j, &j->jset);
	}
}

/* Which of the host's frames a writer may send at all (piper:R8, gate:G20). */
static inline void forbidden(struct judge *j, const struct frame *f)
{
	const char *what = NULL;

	if (f->id == 0x150 && !(f->d[0] == 1 && f->d[1] == 0 && f->d[2] == 0 && j->conf.damp))
		what = f->d[0] == 2 ? "0x150/2: the arm falls" : "0x150";
	else if (f->id == 0x471 && f->d[1] != 2)
		what = "0x471 disable: the arm falls";
	else if (f->id == 0x472 && f->d[1] != 1 && f->d[1] != 2)
		what = "0x472 that is no query";
	else if (f->id == 0x158)
		what = "MOVE C point";
	else if (f->id >= 0x15A && f->id <= 0x15F)
		what = "MIT frame";
	else if (f->id >= 0x181 && f->id <= 0x187 && f->d[0] != 'a')
		what = "CPV frame";
	else if (f->id == 0x151 && f->d[1] > 1)
		what = "0x151 with a move mode other than P and J";
	else if (f->id == 0x151 && (f->d[3] != 0 || f->d[0] != 1))
		what = "0x151 outside CAN control or with the MIT flag";
	else if (f->id == 0x191 || f->id == 0x121 || f->id == 0x422 || f->id == 0x470 ||
		 f->id == 0x474 || f->id == 0x475 || f->id == 0x477 || f->id == 0x479 ||
		 f->id == 0x47A || f->id == 0x47D || f->id == 0x487)
		what = "configuration frame";
	if (what)
		breach(j, j->line, "forbidden frame 0x%03X: %s", f->id, what);
}

static inline bool is_command(const struct frame *f)
{
	static const unsigned also[] = { 0x121, 0x191, 0x422, 0x470, 0x471, 0x472, 0x474, 0x475,
		0x477, 0x479, 0x47A, 0x47D, 0x487 };

	if ((f->id >= 0x150 && f->id <= 0x15F) ||
		(f->id >= 0x181 && f->id <= 0x187 && f->d[0] != 'a'))
		return true;
	for (size_t i = 0; i < sizeof(also) / sizeof(also[0]); i++)
		if (f->id == also[i])
			return true;
	/* Firmware: the query is 01 and zeros, the answer is text. */
	return f->id == 0x4AF && f->d[0] == 1 && f->d[1] == 0;
}

static inline void feedback(struct judge *j, const struct frame *f)
{
	if (j->first_fb < 0)
		j->first_fb = f->t;
	if (f->id < 0x2A5 || f->id > 0x2A7)
		return;
	int part = (int)(f->id - 0x2A5);
	j->part_mask = part == 0                         ? 1
		       : j->part_mask == (1 << part) - 1 ? j->part_mask | 1 << part
							 : 0;
	j->part[part * 2] = frame_int(f, 0);
	j->part[part * 2 + 1] = frame_int(f, 4);
	if (j->part_mask != 7)
		return;
	j->part_mask = 0;
	memmove(j->burst + 1, j->burst, sizeof(j->burst) - sizeof(j->burst[0]));
	j->burst[0].t = f->t;
	memcpy(j->burst[0].raw, j->part, sizeof(j->part));
	j->burst[0].at = place_joints(j->part, j->conf.new_dh);
	if (j->n_burst < BURSTS)
		j->n_burst++;
}

static inline void judge_frame(struct judge *j, const struct frame *f)
{
	if (f->id > 0x7ff)
		return;
	if (!is_command(f)) {
		if ((f->id >= 0x251 && f->id <= 0x266) || (f->id >= 0x2A1 && f->id <= 0x2A8))
			feedback(j, f);
		return;
	}
	if (!j->sent_any && !j->conf.ideal &&
		(j->first_fb < 0 || f->t - j->first_fb < LISTEN - 0.001))
		breach(j, j->line, "0x%03X sent %.0f ms after the first feedback, listen is 300 ms",
			f->id, j->first_fb < 0 ? 0.0 : (f->t - j->first_fb) * 1e3);
	j->sent_any = true;
	forbidden(j, f);
	if (f->id == 0x151 && f->d[1] > 1)
		return;
	if ((f->id >= 0x155 && f->id <= 0x157) || (f->id == 0x151 && f->d[1] == 1))
		joint_frame(j, f);
	else if ((f->id >= 0x151 && f->id <= 0x154) || f->id == 0x159)
		pose_frame(j, f);
}

static inline void judge_init(struct judge *j)
{
	j->first_fb = -1;
	if (j->conf.jitter < 0)
		j->conf.jitter = j->conf.ideal ? 2e-6 : j->conf.records ? 1e-4 : 5e-3;
}

static inline void judge_end(struct judge *j)
{
	if (j->pose_phase == P_POSE3)
		pose_finish(j);
	if (j->pose_phase != P_IDLE)
		breach(j, j->set.line, "torn set: the log ends where 0x%03X belongs",
			POSE_NEXT[j->pose_phase]);
	if (j->joint_phase != J_IDLE)
		breach(j, j->jset.line, "torn joint set: the log ends where 0x%03X belongs",
			JOINT_NEXT[j->joint_phase]);
	for (int i = j->recs.next; i < j->recs.n; i++)
		breach(j, j->line, "command record at line %ld has no set on the bus",
			j->recs.v[i].line);
}

static inline void judge_summary(const struct judge *j)
{
	printf("summary sets %ld holds %ld repeats %ld ready %ld speed_mm_s %.2f accel_m_s2 %.3f "
	       "aspeed_deg_s %.2f aaccel_rad_s2 %.3f lead_mm %.2f alead_deg %.2f gave_way %ld "
	       "age_ms %.1f "
	       "breaches %ld\n",
		j->sets, j->holds, j->repeats, j->readies, j->max_speed * 1e3, j->max_accel,
		j->max_aspeed * 180 / PI, j->max_aaccel, j->max_lead * 1e3, j->max_alead * 180 / PI,
		j->gave_way, j->max_age, j->breaches);
}

#endif
