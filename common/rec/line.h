/*
 * Lines out of a byte stream, resynchronising at the next newline after damage. Bytes are taken
 * as they come (never "until the buffer is full"); an overlong line is skipped and counted.
 */
#ifndef REC_LINE_H
#define REC_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "rec/record.h"

struct line {
	char buf[2 * REC_LINE_MAX + 65536];
	size_t start, end; /* unread bytes */
	bool skipping;     /* inside an overlong line */
	bool eof;
	unsigned long overlong,
		partial; /* partial: bytes after the last newline at EOF, not used */
};

void line_init(struct line *l);
/* Reads once from fd into free space. >0 bytes, 0 end of input, -1 errno (EAGAIN, EINTR too). */
long line_fill(struct line *l, int fd);
/* Pure form: appends bytes; returns how many were taken. */
size_t line_feed(struct line *l, const char *bytes, size_t n);
/* Next whole line (borrowed until the next fill or feed), newline cut off, CR kept out too.
 * Empty lines are skipped. */
bool line_next(struct line *l, const char **text, size_t *n);

#endif
