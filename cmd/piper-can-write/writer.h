/*
 * The writer's process: descriptors, clock and order of a wake round the pure parts (gate, arm,
 * startup). One value, used by main, by the live loop and by the replay of --clock input.
 */
#ifndef WRITER_H
#define WRITER_H

#include "arm.h"
#include "gate.h"
#include "ideal.h"
#include "options.h"
#include "rec/endpoint.h"
#include "report.h"
#include "run/loop.h"
#include "run/msg.h"
#include "startup.h"
#include "wire/can.h"

struct writer {
	const struct options *o;
	struct loop loop;
	struct gate gate;
	struct arm arm;
	struct startup startup;
	bool starting;
	struct ideal ideal;
	bool is_ideal;
	struct can_bus *bus;
	struct ep *in, *stop[OPT_LIST_MAX];
	int n_stop;
	struct outq *out;
	int out_slot[OPT_LIST_MAX];
	struct report report;

	bool awake, ticked; /* in this wake: gate_wake was called, the tick is due */
	int64_t now;        /* time of this wake */
	int64_t taken_us;   /* t of the pose that the last motion set used */
	int tick_slot, arrival_slot;
	struct can_frame again[SET_MAX]; /* the hold set that goes out once more (gate:G15) */
	int n_again;
	int64_t again_until;

	int exit_code; /* what to end with once `ending` */
	bool ending;
	bool more, served;  /* input was left for the next wake; was read in this one */
	int64_t last_in_us; /* last input, for --idle-timeout */
	int64_t stats_us;
	struct msg_limit bad_limit, send_limit;
	unsigned long in_lines, bad, refused_sets, late_sets, other;
};

/* Tells the gate what the arm says. */
void writer_view(struct writer *w, int64_t now);
/* Sends what the gate asks, tells it what became of it. `at` is the time of writing. */
void writer_act(struct writer *w, struct gate_act *act, int64_t at);
/* One line of the input (or of the stop channel: `channel`). */
void writer_line(struct writer *w, const char *text, size_t n, bool channel, int64_t now);
/* After the inputs of a wake. */
void writer_settle(struct writer *w, int64_t now);
void writer_tick(struct writer *w, int64_t now, bool move);
void writer_stats(struct writer *w);

/* An endpoint that was not opened (errno, reason in why): told; the exit code, 2 for a word that is
 * no endpoint. */
int writer_not_open(const char *why);

/* Live: opens what the options name and runs to the end. Exit code. */
int writer_live(struct writer *w);
/* --clock input (gate:G31). */
int writer_replay(struct writer *w);
/* --stop BUS (gate:G19). */
int writer_stop_once(const struct options *o);

#endif
