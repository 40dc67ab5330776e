/*
 * Live mode: beats every 25 ms, orders from keys or lines (gate:G23, G24).
 */
#ifndef ESTOP_LIVE_H
#define ESTOP_LIVE_H

#include "estop/arms.h"
#include "estop/sender.h"
#include "run/msg.h"
#include "run/opt.h"

#define LIVE_BEAT_US 25000    /* GATE.md, numbers: beats */
#define LIVE_FREEZE_US 100000 /* GATE.md, numbers: later than this is a freeze */
#define LIVE_FLOOD 10000      /* lines of one wake: beyond it beats would come too late */

struct live {
	const struct run_opts *opts;
	const char *why; /* --why, or NULL */
	struct loop loop;
	struct arms arms;
	struct sender sender;
	struct ep *in; /* NULL: keys of the terminal on descriptor 0 */
	int in_slot;
	int64_t due_us, start_us;
	bool frozen, ending, is_ready, said_missing;
	int code;
	enum order_kind last;
	unsigned long bad, ignored, refused, late, ticks, stats;
	unsigned long overlong; /* as last seen */
	struct msg_limit bad_limit;
};

/* `l->loop` is initialised and `l->arms` dialled; keys: the terminal is in raw mode. Runs until the
 * input ends, `q`, or an ending signal; always ends with a hold to every arm. Exit code. */
int live_run(struct live *l);
/* on_signal of the loop: USR1 is an e-stop, USR2 prints counters. */
void live_signal(void *arg, int sig);

#endif
