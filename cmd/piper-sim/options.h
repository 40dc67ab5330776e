/* Options of piper-sim. */
#ifndef PIPER_SIM_OPTIONS_H
#define PIPER_SIM_OPTIONS_H

#include "piper-sim/arm.h"

struct sim_opts {
	const char *bus;   /* operand */
	char log_name[32]; /* bus as candump text names it */
	struct arm_opts arm;
	const char *log_path; /* NULL: none */
	bool log_feedback, strict_log, may_damp;
	const char *control; /* NULL: none */
	int64_t delay_us;
	bool paused, mute;
	int64_t freeze_joint; /* 1..6, 0: none */
	int64_t duration_us;  /* 0: no end */
	int64_t thin;         /* only every so many bursts are sent */
	int64_t stats_us;     /* 0: none */
	int64_t ready_fd;     /* -1: none */
};

/* Parses or exits (2 wrong usage, 0 help and version). Strings are borrowed from argv. */
void sim_options(struct sim_opts *o, int argc, char **argv);

#endif
