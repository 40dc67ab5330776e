/*
 * What byte 44 is to be: a plan by time, and lines of a control FIFO.  Pure.
 */
#ifndef RCTP_SEND_FLAGS_H
#define RCTP_SEND_FLAGS_H

#include <stddef.h>
#include <stdint.h>

#define FLAGS_MAX 64

struct flags_plan {
	int n;
	int64_t at_us[FLAGS_MAX];
	int flags[FLAGS_MAX];
};

/* "T:FLAGS[,T:FLAGS...]": T in seconds, rising; FLAGS 0..255 or 0x00..0xff. An opt_call: dst is a
 * struct flags_plan, 0, or -1 with the reason in why. */
int flags_parse(void *dst, const char *text, char *why, size_t n);
/* The flags in force at t, -1 before the first. */
int flags_at(const struct flags_plan *p, int64_t t_us);

enum flags_command { COMMAND_FLAGS, COMMAND_STOP, COMMAND_BAD };
/* "flags N" or "flags auto" (*flags -1), "stop". line[0..n) has no newline. */
enum flags_command flags_command(const char *line, size_t n, int *flags);

#endif
