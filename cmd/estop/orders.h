/*
 * What an operator or a program asks for, out of keys and lines. Pure: no descriptors, no clock.
 */
#ifndef ESTOP_ORDERS_H
#define ESTOP_ORDERS_H

#include <stddef.h>
#include <stdint.h>

#include "rec/record.h"

enum order_kind {
	ORDER_NONE, /* nothing to do: an unknown key, a record of another kind */
	ORDER_STOP,
	ORDER_HOLD,
	ORDER_RESET,
	ORDER_ENGAGE,
	ORDER_QUIT,
};
struct order {
	enum order_kind kind;
	int64_t t_us; /* when it was given: now, or the record's own t */
	char why[REC_TEXT_MAX];
};

/* "stop", "estop", "hold", "reset", "engage"; ORDER_NONE for any other word. */
enum order_kind order_word(const char *text);

/* Keys typed at a terminal, n bytes of one read; one order comes out. A stop anywhere in it beats
 * everything else: Esc is also the first byte of arrow and Alt keys, whose rest must not engage. */
enum order_kind order_keys(const char *keys, size_t n);

/* One line without its newline: a word, or a record. Records: a stop of either level; events named
 * reset or engage; every other record is ORDER_NONE. 0; -1 when it is neither, reason in why:
 * then *o is a hold, since the line may have been a stop. */
int order_line(
	const char *line, size_t n, int64_t now_us, struct order *o, char *why, size_t why_n);

#endif
