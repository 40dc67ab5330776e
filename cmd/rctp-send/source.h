/*
 * What is sent, packet by packet with the moment it belongs to: a recording, records, or a
 * motion.  Reads regular files only (they never wait); records of a pipe come by source_record.
 */
#ifndef RCTP_SEND_SOURCE_H
#define RCTP_SEND_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "rctp-send/motion.h"
#include "rec/endpoint.h"
#include "rec/record.h"
#include "wire/rctp.h"
#include "wire/rctp_tape.h"

enum source_kind { SOURCE_FILE, SOURCE_RECORDS, SOURCE_MOTION };

struct packet {
	uint8_t bytes[RCTP_SIZE];
	double time_s; /* its own time; NaN: none */
	int64_t at_us; /* from the first packet, at speed 1; never falls */
};
struct source {
	enum source_kind kind;
	struct motion motion;
	double rate_hz; /* 0: the recording's own pace */
	bool loop;
	FILE *file;
	struct ep *ep;
	int64_t n; /* packets so far */
	struct rctp_tape tape;
	int64_t first_us, last_us,
		pass_us;           /* tape of the first packet, last at_us, this pass's start */
	int64_t step_us;           /* last distance, put between two passes */
	bool again;                /* a second pass: own times do not fit any more */
	double grip;               /* of the last record that had one */
	unsigned long bad, others; /* lines no record, or packets no RCTP; records no vr pose */
};

/* A regular file with at least one RCTP packet at its place. 0, or -1 with the reason. */
int source_open_file(struct source *s, const char *path, char *why, size_t n);
/* Next packet of a file or motion: 1, 0 the end, -1 error (errno) while reading. */
int source_next(struct source *s, struct packet *p);
/* One line of records: 1 *p is filled, 0 not a pose of frame vr, or not a record (counted). */
int source_record(struct source *s, const char *line, size_t n, struct packet *p);

#endif
