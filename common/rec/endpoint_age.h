/*
 * Time between hosts (DESIGN.md 2): monotonic clocks mean nothing to each other, so over tcp,
 * tls and ws the member "t":N of a line travels as "age":A,"clk":C - how old the datum was when
 * the line was sent, and the sender's clock then - and comes back as
 *
 *   t = now - age - (transit - least transit of this connection)
 *
 * where transit = now - clk (with an unknown constant in it) and the least may rise by 0.1 ms
 * per second, since two crystals drift.  Pure; times in us; lines without their newline.
 */
#ifndef REC_ENDPOINT_AGE_H
#define REC_ENDPOINT_AGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is remembered of one connection; zeroed at its start. */
struct age_conn {
	bool has_least;
	int64_t least_us; /* least transit, with the unknown constant */
	int64_t at_us;    /* when it was that */
};

/* How much longer than the least this message travelled; updates the least. */
int64_t age_excess(struct age_conn *c, int64_t now_us, int64_t clk_us);

/* Both write the other form of the line to out and return its length; -1: refused (no object, no
 * or two of the keys, a value that is not whole, no room). Other members stay as they are, in
 * order. */
int age_to_wire(const char *line, size_t n, int64_t now_us, char *out, size_t room);
int age_from_wire(
	struct age_conn *c, const char *line, size_t n, int64_t now_us, char *out, size_t room);
/* The line with t_us in the place of its t (a replay); returns as above. */
int age_set_t(const char *line, size_t n, int64_t t_us, char *out, size_t room);

#endif
