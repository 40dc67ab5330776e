/*
 * The gate: the one place that decides whether the arm may move (GATE.md, gate:G1-G31).
 *
 * Pure: what happened goes in with its time, what to send comes out. It knows no descriptor and
 * no clock. Order of a wake (gate:G2): gate_wake, then stops, beats and events, then gate_arm,
 * then every pose of the batch, then gate_settle; at a tick also gate_tick. Whatever an action
 * says is sent as a whole or not at all, and gate_sent tells which.
 *
 * Metres, radians, us of CLOCK_MONOTONIC.
 */
#ifndef GATE_H
#define GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "geom/chain.h"
#include "lease.h"
#include "rec/record.h"
#include "slew.h"

enum gate_state { GATE_INIT, GATE_HOLD, GATE_RUN, GATE_ESTOP, GATE_FAULT };
enum gate_engage { GATE_AUTO, GATE_FIRST, GATE_MANUAL };

struct gate_cfg {
	int64_t max_age_us;  /* of a pose at the moment of writing */
	int64_t freeze_us;   /* a tick later than this */
	int64_t measured_us; /* joints usable up to this age */
	int64_t silent_us;   /* feedback silent: HOLD; twice that: FAULT */
	int64_t lease_us;
	int64_t period_us; /* of the tick */
	struct slew_limits lim;
	double ramp_m, ramp_rad;           /* speed of the ramp */
	double ramp_near_m, ramp_near_rad; /* it ends when so near to the target */
	int64_t ramp_max_us;               /* or after this */
	double lead_joint;                 /* rad, where joints are sent */
	double engage_m, engage_rad;       /* engage-within */
	double grip_rate;                  /* 1/s */
	enum gate_engage engage;
	bool stop_channel; /* -e was given */
	bool ready; /* --ready: go to ready_j before the first HOLD; taken back by what asks for an
	       * engage */
	double ready_j[CHAIN_JOINTS];
	bool damp;             /* --estop damp */
	char src[REC_SRC_MAX]; /* locked src, "" : the first seen */
	const struct chain *chain;
};
void gate_defaults(struct gate_cfg *cfg);

/* What the arm says, newest of each; times are kernel stamps (0: never). */
struct gate_arm {
	int64_t joints_us; /* one burst of 0x2A5-0x2A7 */
	double j[CHAIN_JOINTS];
	struct pose pose;  /* FK of j */
	int64_t status_us; /* 0x2A1 */
	uint8_t ctrl, status;
	uint8_t joint_errors; /* communication bits */
	bool enabled;         /* all six */
	bool has_grip;
	double grip; /* opening 0..1 */
};

enum gate_kind {
	GATE_NOTHING,
	GATE_POSE,   /* a RUN set: 0x151 MOVE P, 0x152-0x154, 0x159 */
	GATE_STILL,  /* a hold set: 0x151 MOVE J, 0x155-0x157 at j (gate:G13) */
	GATE_JOINTS, /* a set of the way to ready: the same frames */
};
struct gate_act {
	enum gate_kind kind;
	bool damp;   /* 0x150/1 first (gate:G14), also with NOTHING */
	bool rebase; /* POSE: 0x152-0x154 with `measured` first (gate:G10) */
	struct pose pose, measured;
	double j[CHAIN_JOINTS];
	bool has_grip;
	double grip;
	char src[REC_SRC_MAX]; /* of the record that caused it */
	int64_t t_us;
	double lead_m, lead_rad;
	char clamped[REC_CLAMPED_MAX];
	struct slew next; /* taken over by gate_sent, as is ready_speed */
	double ready_speed;
};

struct gate_note { /* for an event record and a line for people */
	char name[32];
	char value[REC_TEXT_MAX];
};
#define GATE_NOTES 16

struct gate_counts {
	unsigned long poses, stale, future, foreign, backwards, runs, holds, refused;
};

struct gate {
	struct gate_cfg cfg;
	enum gate_state state;
	char why[REC_TEXT_MAX]; /* what keeps it from RUN, or "" */
	int64_t since_us;       /* entry to this state */
	int64_t runs;
	struct gate_counts count;

	struct gate_arm arm;
	int64_t awake_us; /* silence counts from here after a freeze (gate:G6) */
	int64_t due_us;   /* next tick; 0: not ticking yet */
	bool listened;    /* the listen of INIT is over: sending is allowed at all */
	bool arm_ready;   /* INIT was finished and nothing undid it */
	char bus_lost[REC_TEXT_MAX];

	struct leases leases;
	bool want_estop, want_hold; /* stops of this batch */
	char stop_why[REC_TEXT_MAX];
	char stop_src[REC_SRC_MAX];
	int64_t stop_t_us;

	char src[REC_SRC_MAX]; /* locked */
	bool has_pose;
	struct slew_target target;
	struct rec_pose newest; /* valid pose */
	int64_t newest_us;
	bool hand_valid;    /* of the newest record */
	bool batch_invalid; /* a valid:false came in this batch */
	int row;            /* fresh valid poses in a row */

	bool need_engage;
	char engage_why[48];
	int64_t engage_us; /* t of an engage that waits, 0: none */
	bool want_reset;   /* of this batch: judged after its poses */
	char reset_src[REC_SRC_MAX];
	int64_t reset_us;
	char last_src[REC_SRC_MAX]; /* last reset or engage, to know its repeats */
	int64_t last_seq, last_t_us;

	struct slew slew;
	int64_t sent_us; /* last motion set that went out */
	int64_t ramp_us; /* start of the ramp, 0: over */
	bool has_grip;
	double grip;                 /* last commanded */
	bool move_p;                 /* the arm's last mode from us was MOVE P */
	bool under_way;              /* the last thing sent was a motion set: a lead may be left */
	bool owed;                   /* a hold set is owed (gate:G16) */
	bool owed_damp;              /* and 0x150/1 */
	bool left;                   /* a motion was just left: its lead is to be looked at */
	char cause_src[REC_SRC_MAX]; /* record that caused the newest change */
	int64_t cause_us;
	bool readying; /* on the way to ready */
	double ready_cmd[CHAIN_JOINTS], ready_speed;
	bool lease_down;

	int64_t stuck_us; /* L reached since (safety:H18), 0: not */
	struct gate_arm stuck_at;

	struct gate_note note[GATE_NOTES];
	int notes;
};

void gate_init(struct gate *g, const struct gate_cfg *cfg, int64_t now_us);

/* First call of every wake; sees a freeze (gate:G6). */
void gate_wake(struct gate *g, int64_t now_us);
/* A `stop` record from anywhere, SIGUSR1, or an ending input. */
void gate_stop(
	struct gate *g, enum rec_level level, const char *src, const char *why, int64_t t_us);
/* Records of the stop channel: beat, event reset, event engage. */
void gate_beat(struct gate *g, const struct rec *r, int64_t now_us);
void gate_event(struct gate *g, const struct rec *r, int64_t now_us);
void gate_arm(struct gate *g, const struct gate_arm *arm);
/* The bus is gone, in words; it stays so: only a new start comes back. */
void gate_bus_lost(struct gate *g, const char *why);
void gate_pose(struct gate *g, const struct rec *r, int64_t now_us);
/* The listen of the start-up is over. */
void gate_listened(struct gate *g);
/* The start-up (startup.h) is finished: arm enabled, in CAN mode, status 0. */
void gate_ready(struct gate *g, int64_t now_us);
/* False while INIT must not go on: ESTOP, FAULT. */
bool gate_wants_startup(const struct gate *g);

/* After the inputs of a wake: changes of state, and a hold set when one is due. */
void gate_settle(struct gate *g, int64_t now_us, struct gate_act *act);
/* The tick: may enter RUN; the motion set when `move` (gate:G6: a supervising tick passes false). */
void gate_tick(struct gate *g, int64_t now_us, bool move, struct gate_act *act);
/* What became of the last act. */
void gate_sent(struct gate *g, const struct gate_act *act, bool ok, int64_t now_us);
/* The bus took a part of the last act and no more: the arm may be on its way to it. */
void gate_torn(struct gate *g, const struct gate_act *act);
/* The last hold set may go out once more (gate:G15, G17). */
bool gate_may_repeat(const struct gate *g);
/* On leaving (gate:G18): the last hold set, if any. */
void gate_leave(struct gate *g, int64_t now_us, struct gate_act *act);

/* Next note, false when there is none. */
bool gate_next_note(struct gate *g, struct gate_note *out);
const char *gate_state_name(enum gate_state s);
/* Age of the newest usable joints is within the limit. */
bool gate_measured(const struct gate *g, int64_t now_us);

#endif
