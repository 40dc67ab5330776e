/*
 * The invariant log of the simulated arm (piper:S23): looks at every command frame before the arm
 * takes it and names what a careful host never does. Pure; what is found goes to `say`.
 *
 *   forbidden    a frame of piper:R8 (0x150 01 may be allowed, gate:G20)
 *   malformed    not a command of the arm: extended, remote, short, unknown id, value out of range
 *   torn         0x152-0x154 or 0x155-0x157 not whole, in order, within LOG_SET_US; 0x151 MOVE P
 *                without its pose. Frames of a hold set (0x151 MOVE J, 0x155-0x157) may overtake a
 *                set whose frames all follow (GATE.md, last lines)
 *   far          a target came into force, where none of its kind was, farther than
 *                LOG_NEAR_RAD from the joints
 *   early        a command within LOG_LISTEN_US of the opening of the channel
 *   after-fault  a target LOG_GRACE_US after the arm has reported that it cannot follow
 *   unheard      a target although the arm has been silent for LOG_GRACE_US
 */
#ifndef PIPER_SIM_LOG_H
#define PIPER_SIM_LOG_H

#include "piper-sim/arm.h"

#define LOG_SET_US 50000
#define LOG_LISTEN_US 300000 /* piper:R1 */
#define LOG_GRACE_US 150000  /* FAULT after 100 ms (GATE.md), one tick, and some */
#define LOG_SETTLE_US 5000   /* a hold set wakes the old joints only until its own arrive */
#define LOG_NEAR_RAD 0.12    /* lead bound per joint (GATE.md) */

enum log_kind {
	LOG_FORBIDDEN,
	LOG_MALFORMED,
	LOG_TORN,
	LOG_FAR,
	LOG_EARLY,
	LOG_AFTER_FAULT,
	LOG_UNHEARD,
	LOG_KINDS
};

typedef void log_say(void *arg, int64_t t_us, enum log_kind kind, const char *text);

struct log_set {
	int next;        /* part expected; 0: none open */
	int64_t open_us; /* arrival of part 0 */
};
struct log {
	log_say *say; /* borrowed with its argument */
	void *arg;
	bool may_damp;
	bool is_open, was_early;
	int still;         /* frames of a last stop's hold set seen early */
	int64_t still_us;  /* when it began */
	int64_t opened_us; /* -1: nobody can tell (SocketCAN) */
	struct log_set pose, joints;
	bool mode_waits; /* 0x151 MOVE P seen, its pose not yet */
	int64_t mode_us;
	int64_t unfit_us;  /* since then reported as unable to follow; -1: able */
	int64_t spoken_us; /* last burst; -1: none yet */
	bool said_unfit, said_silent;
	unsigned long wakes;
	bool wake_open;
	unsigned long commands, found[LOG_KINDS];
};

void simlog_init(struct log *l, log_say *say, void *arg, bool may_damp);
/* The host opened or closed the channel (slcan O and C). */
void simlog_opened(struct log *l, int64_t now_us);
void simlog_closed(struct log *l);
/* A frame from the host; the arm has not taken it yet. */
void simlog_command(struct log *l, const struct can_frame *f, int64_t now_us);
/* A burst went out; fit is what it said (simlog_fit when it was made). */
void simlog_spoken(struct log *l, bool fit, int64_t now_us);
bool simlog_fit(const struct arm *a);
/* After simarm_advance, at least every LOG_SETTLE_US. */
void simlog_tick(struct log *l, const struct arm *a, int64_t now_us);
/* End of the run: a set still open is torn. */
void simlog_end(struct log *l, int64_t now_us);
unsigned long simlog_violations(const struct log *l);
const char *simlog_kind_text(enum log_kind k);

#endif
