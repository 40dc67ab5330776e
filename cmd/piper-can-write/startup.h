/*
 * From a bus to an arm that may be moved (gate: INIT; piper.md 7.1, piper:R1-R9): listen without
 * sending, ask the firmware, check, enable with proof, put the arm in CAN mode with its present
 * joints as first target, enable the gripper at its present width. Pure: time is an argument,
 * frames to send come out.
 *
 * A failure is in words with a remedy and has an exit code (10-18 the causes of piper:R1).
 */
#ifndef STARTUP_H
#define STARTUP_H

#include "arm.h"

enum startup_phase { START_LISTEN, START_ASK, START_ENABLE, START_MODE, START_DONE };

struct startup_cfg {
	int64_t listen_us;  /* at least so long without sending */
	int64_t silence_us; /* how long to wait for a whole picture of the arm */
	int64_t enable_us;  /* give up enabling */
	uint8_t speed_percent;
	double effort_nm;
	char firmware[9]; /* override, "" : ask the arm */
	bool check_dh;
};
void startup_defaults(struct startup_cfg *c);

struct startup {
	struct startup_cfg cfg;
	enum startup_phase phase;
	int64_t began_us, phase_us, next_us;
	int tries;
};
struct startup_out {
	struct can_frame f[12];
	int n;          /* frames to send now, whole */
	int fail;       /* exit code, 0: none */
	char text[240]; /* the failure, or something worth saying */
};

void startup_init(struct startup *s, const struct startup_cfg *cfg, int64_t now_us);
/* Call on each wake. Returns true when the arm is ready. `arm->chain` is set by the firmware found. */
bool startup_step(struct startup *s, struct arm *arm, int64_t now_us, struct startup_out *out);

#endif
