/*
 * What the writer tells: `command` for each set, `feedback` each tick and on each change of the
 * gate, `event` for its notes; words and a status line for people. stdout and stderr never hold
 * it up (gate:G21).
 */
#ifndef REPORT_H
#define REPORT_H

#include "arm.h"
#include "gate.h"
#include "rec/outq.h"

struct report {
	struct outq *out; /* borrowed; NULL: no records */
	const char *name;
	int64_t seq_command, seq_feedback, seq_event;
	bool gone;       /* the reader is gone: ignored from then on */
	bool failed;     /* gone by an error that was told */
	int64_t line_us; /* last status line */
	int64_t age_us;  /* of the last command */
	double lead_m;
	unsigned long sets, clamped;
};

/* Records cannot be written (errno): no reason to stop the arm, and told unless a reader left. */
void report_lost(struct report *r);
/* A set that went out at now_us. */
void report_command(struct report *r, const struct gate_act *act, int64_t now_us);
/* cartesian and joint; arm NULL for an ideal arm (no speeds, no mode). */
void report_feedback(struct report *r, const struct gate *g, const struct arm *arm, int64_t now_us);
/* Empties the gate's notes into records and words. Returns true when there were any. */
bool report_notes(struct report *r, struct gate *g, int64_t now_us);
void report_line(struct report *r, const struct gate *g, int64_t now_us);

#endif
