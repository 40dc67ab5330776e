/*
 * Records: what flows between the processes. One JSON object a line, at most REC_LINE_MAX bytes
 * with its newline. teleop-record(5) is the contract, DESIGN.md 2 the reason.
 *
 * rec_parse accepts the canonical pose line with a reader of its own and hands every other line
 * to jansson (record_json.c); both accept, refuse and mean the same. rec_print writes the
 * canonical form. SI units, quaternion x y z w.
 */
#ifndef REC_RECORD_H
#define REC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geom/pose.h"

#define REC_LINE_MAX 4096 /* with the newline */
#define REC_SRC_MAX 32    /* with the NUL; letters, digits, . _ - */
#define REC_JOINT_MAX 8
#define REC_TEXT_MAX 160 /* why, value: longer ones are cut by writers, refused by readers */
#define REC_CLAMPED_MAX 128

enum rec_type {
	REC_POSE,
	REC_JOINTS,
	REC_COMMAND,
	REC_FEEDBACK,
	REC_STOP,
	REC_EVENT,
	REC_BEAT,
	REC_STATUS,
	REC_OTHER, /* a type we do not know: head is read, body passes */
};
enum rec_frame { REC_VR, REC_BASE };
enum rec_level { REC_HOLD, REC_ESTOP }; /* "hold" "estop"; ordered by severity */
enum rec_set { REC_SET_RUN, REC_SET_HOLD, REC_SET_READY };
enum rec_kind { REC_KIND_STATUS, REC_KIND_CARTESIAN, REC_KIND_JOINT, REC_KIND_JACOBIAN };
enum rec_state { REC_INACTIVE, REC_READY, REC_STREAMING };

struct rec_pose {
	enum rec_frame frame;
	bool valid;
	struct pose pose; /* |q| within 1e-2 of 1, not rewritten */
	bool has_grip, has_ts, has_flags;
	double grip;                   /* 0 closed .. 1 open; finite, any value (clamp limits it) */
	double ts;                     /* sender's own clock, s */
	uint32_t flags;                /* RCTP byte 44 */
	char clamped[REC_CLAMPED_MAX]; /* names joined by commas, "" none: "x,tilt" */
};
struct rec_joints {
	int nj;
	double j[REC_JOINT_MAX]; /* rad */
	int nhand;               /* 0, 1 (number) or 6 */
	double hand[6];
	bool has_grip;
	double grip;
};
struct rec_command {
	enum rec_set set;
	bool has_pose;
	struct pose pose;
	bool has_grip;
	double grip;
	int nj;
	double j[REC_JOINT_MAX];
	int64_t age_us;
	double lead_m, lead_rad;
	char clamped[REC_CLAMPED_MAX];
};
struct rec_feedback {
	enum rec_kind kind;
	enum rec_state state;
	bool has_gate; /* gate, why, runs: a writer's feedback */
	char gate[12]; /* init hold run estop fault */
	char why[REC_TEXT_MAX];
	int64_t runs;
	bool has_pose, has_twist; /* cartesian: p q, pdot omega */
	struct pose pose;
	struct vec3 pdot, omega;
	int nj, njdot; /* joint */
	double j[REC_JOINT_MAX], jdot[REC_JOINT_MAX];
	int njac; /* columns; jacobian, 6 rows */
	double jac[6][REC_JOINT_MAX];
	bool has_grip;
	double grip;
	bool has_mode;
	int mode; /* 0x2A1 byte 0 for a Piper */
	bool has_faults;
	char faults[REC_TEXT_MAX]; /* names joined by commas; on the line an array of strings */
};
struct rec_stop {
	enum rec_level level;
	char why[REC_TEXT_MAX];
};
struct rec_event {
	char name[32];
	char value[REC_TEXT_MAX]; /* "" : key absent */
	int64_t n;
};
struct rec_beat {
	int64_t stops;
	enum rec_level level; /* of the last stop; meaningless while stops is 0 */
};

struct rec {
	enum rec_type type;
	char type_name[32];
	int v;
	char src[REC_SRC_MAX];
	int64_t seq;
	int64_t t_us; /* us, CLOCK_MONOTONIC of this host */
	union {
		struct rec_pose pose;
		struct rec_joints joints;
		struct rec_command command;
		struct rec_feedback feedback;
		struct rec_stop stop;
		struct rec_event event;
		struct rec_beat beat;
	} u;
	/* Unknown keys in their order, as text `,"key":value...`, put before the closing brace. */
	size_t extra_len;
	char extra[REC_LINE_MAX];
};

/* Fills the head; body zeroed, valid defaults (identity pose). src and friends are copied. */
void rec_init(struct rec *r, enum rec_type type, const char *src, int64_t seq, int64_t t_us);

/* line[0..n) without newline. 0; -1: refused, reason in why (NUL-terminated, for people). A NaN,
 * a duplicate key, a missing or wrong-typed key, |q| off by more than 1e-2, v not 1 for a known
 * type, a line that is not UTF-8 or holds NUL: refused. */
int rec_parse(const char *line, size_t n, struct rec *r, char *why, size_t why_n);
/* Only the jansson reader (for differential tests). */
int rec_parse_json(const char *line, size_t n, struct rec *r, char *why, size_t why_n);
/* Only the direct reader: 1 read, 0 not the canonical form (ask jansson). */
int rec_parse_direct(const char *line, size_t n, struct rec *r);

/* Writes the line with its newline and a NUL behind it. Returns its length, -1 when it does not
 * fit in n or REC_LINE_MAX or when a number of a pose is not finite. Never allocates for poses.
 * Feedback floats that are not finite are written as null (the caller warns). */
int rec_print(const struct rec *r, char *buf, size_t n);

/* Appends a name to a clamped list ("x" to "tilt" gives "tilt,x"), once. */
void rec_clamped_add(char *list, const char *name);
bool rec_src_ok(const char *src);
const char *rec_level_name(enum rec_level l);

#endif
