/* What the files of the gate share among themselves; nobody else includes this. */
#ifndef GATE_IN_H
#define GATE_IN_H

#include "gate.h"

#define GATE_ENGAGE_MAX_US 1000000 /* gate:G5 */
#define GATE_BRANCH_RAD 0.5        /* a joint that would turn farther at once */
#define GATE_ROW 3                 /* gate:G4: fresh poses in a row */

void gate_say(struct gate *g, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Facts of this moment. */
int64_t gate_silence(const struct gate *g, int64_t now_us); /* of the arm, us */
bool gate_hand_is_valid(const struct gate *g, int64_t now_us);
bool gate_arm_obeys(const struct gate *g); /* enabled, CAN mode, status 0 */
bool gate_in_motion(const struct gate *g); /* RUN, or on the way to ready */
bool gate_reachable(const struct gate *g, struct pose p, double most_rad);
/* A lease, a beat or the arm's feedback is missing (gate:G3): true with the reason in why. */
bool gate_channel_missing(const struct gate *g, int64_t now_us, char *why, size_t n);

/* Changes of state. */
void gate_need_engage(struct gate *g, const char *why);
void gate_enter(struct gate *g, enum gate_state s, const char *why, int64_t now_us);
void gate_enter_hold(struct gate *g, const char *why, int64_t now_us);
void gate_enter_fault(struct gate *g, const char *why, int64_t now_us);
void gate_enter_init(struct gate *g, int64_t now_us);
void gate_enter_run(struct gate *g, int64_t now_us);

/* The reset of this batch, if any. */
void gate_take_reset(struct gate *g, int64_t now_us);

/* Extends the box round the targets of a run. */
void gate_widen(struct slew_target *t, struct vec3 p);

/* Steps of a tick; each may leave the motion instead. */
void gate_run_step(struct gate *g, int64_t now_us, struct gate_act *act);
void gate_ready_step(struct gate *g, int64_t now_us, struct gate_act *act);

#endif
