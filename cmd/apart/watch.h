/*
 * Two arms side by side: whether both have to stop. Pure: time is an argument. Metres, radians,
 * microseconds.
 *
 * What is known of an arm comes from its writer (piper-can-write): the gate and the measured pose
 * of its cartesian feedback, the pose of its last command. With T = react + age of what is known,
 * the distance of the tips is at least
 *
 *   D = d - max(0, c) T - (a1 + a2) T^2 / 2     but the last two together at most (s1 + s2) T
 *
 * d: distance of the two ways measured - commanded; c: how fast the commanded tips approach along
 * the line between the two ways; s, a: the writer's limits of speed and acceleration, of the tip
 * (0 for an arm that is not in RUN). Both hold when
 *
 *   D < min                                  nothing that follows may be waited for; or
 *   D < min + M and the tips have come 1 mm closer than they were in this run
 *
 * M = a T^2 is what a start from standstill may cost. So arms that were held side by side can be
 * moved apart again, and an approach ends where there is room for that.
 *
 * Also: a writer that enters ESTOP stops both, one that enters FAULT holds both. While an arm was
 * not heard of for WATCH_BLIND_US no beat may be sent, so that the lease runs out; and if either
 * is in RUN, as far as is known, both hold.
 */
#ifndef APART_WATCH_H
#define APART_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "geom/pose.h"
#include "rec/record.h"

#define WATCH_ARMS 2
#define WATCH_BLIND_US 100000 /* GATE.md, numbers: arm silent, lease */
#define WATCH_AGAIN_US 100000 /* a hold that is still needed repeats this often */
#define WATCH_CLOSER_M 0.001  /* an approach */
#define WATCH_SPEED_US 100000 /* commands farther apart than this tell no speed */

struct watch_conf {
	bool has_min;
	double min_m;                 /* smallest distance of the tips */
	struct pose base[WATCH_ARMS]; /* of the arms in a frame both share */
	struct vec3 tool;             /* tip in the flange frame */
	double speed_m, speed_rad;    /* limits of the writers, per second */
	double accel_m, accel_rad;    /* per second squared */
	int64_t react_us;             /* from what is told here to an arm that stands */
};

struct watch_arm {
	bool has_gate, is_run, is_estop, is_fault;
	bool has_pose;
	int64_t heard_us;   /* last feedback record, our clock */
	int64_t pose_us;    /* its joints' stamp */
	struct vec3 tip;    /* measured, shared frame */
	bool has_cmd;       /* in this RUN */
	int64_t cmd_us;     /* moment of writing */
	struct vec3 cmd, v; /* commanded tip and its velocity */
};

enum watch_order { WATCH_GO, WATCH_HOLD, WATCH_ESTOP };

struct watch {
	struct watch_conf conf;
	struct watch_arm arm[WATCH_ARMS];
	bool owes_estop, owes_hold; /* of an edge of a gate */
	int edge;                   /* whose */
	bool is_near;               /* a hold for the distance is in force */
	bool has_far;
	double far_m;        /* largest distance of this run */
	int64_t sent_us;     /* last hold */
	double d_m, least_m; /* last distance and bound D; 0 before both are known */
	struct {
		unsigned long near, blind, estops, faults;
	} n;
};

void watch_init(struct watch *w, const struct watch_conf *conf);
/* A record of the writer of arm i; all but command and feedback are ignored. */
void watch_record(struct watch *w, int i, const struct rec *r, int64_t now_us);
/* Both arms are heard of: beats may be sent. */
bool watch_sees(const struct watch *w, int64_t now_us);
/* What to tell both now, why in words. Call after each record and every few milliseconds. */
enum watch_order watch_decide(struct watch *w, int64_t now_us, char *why, size_t n);

/* Closest points of the segments a0-a1 and b0-b1; returns their distance. */
double watch_segments(struct vec3 a0, struct vec3 a1, struct vec3 b0, struct vec3 b1,
	struct vec3 *on_a, struct vec3 *on_b);

#endif
