/*
 * Messages for people (stderr), and how a process ends.
 *
 * Every line is "tool: what: why".  stderr is never allowed to hold a process up:
 * a line that cannot be taken at once is counted and dropped (gate:G21).
 */
#ifndef RUN_MSG_H
#define RUN_MSG_H

#include <stdint.h>

/* Exit codes, DESIGN.md section 5.  128+n: ended by signal n (see msg_die_by_signal). */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_RUNTIME = 1,  /* a system call, a device, a peer failed */
	EXIT_USAGE = 2,    /* command line or configuration */
	EXIT_BADINPUT = 3, /* bad input under --strict */
	EXIT_IDLE = 4,     /* --idle-timeout ran out */
	EXIT_ESTOP = 5,    /* ended in e-stop */
	EXIT_EPIPE = 141,  /* reader gone: same for SIGPIPE and EPIPE */
};

/* Name used in front of each line; `tool` is borrowed and must stay. Also ignores nothing. */
void msg_init(const char *tool);
const char *msg_tool(void);

/* -1 quiet (only die), 0 normal, 1 and more: verbose. */
void msg_set_level(int level);
int msg_level(void);

void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void info(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* with -v only */
_Noreturn void die(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* At most one line a second for each limit; the next line printed tells how many were held back. */
struct msg_limit {
	int64_t last_us;
	unsigned long held;
	int used;
};
void warn_every(struct msg_limit *limit, int64_t now_us, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* One line that is overwritten in place: only when stderr is a terminal and not --quiet; the
 * caller paces it (5 Hz at most).  Any other message first ends the line. */
void msg_status(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* stderr is a terminal and -q was not given: a status line makes sense. */
int msg_has_terminal(void);

/* Raw record line to stderr (status records). Same never-block rule. */
void msg_line(const char *line);

/* Lines lost so far because stderr could not take them. */
unsigned long msg_lost(void);

/* Restores the default action of `sig` and raises it: exit status 128+sig. */
_Noreturn void msg_die_by_signal(int sig);

#endif
