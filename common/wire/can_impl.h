/* What the kinds of bus share; only wire/can*.c and wire/slcan_pty.c include it. */
#ifndef WIRE_CAN_IMPL_H
#define WIRE_CAN_IMPL_H

#include "wire/can.h"

#define CAN_SPEC_MAX 128
#define CAN_SET_MAX 64 /* frames of one call, and of what may be unconfirmed */

struct can_ops {
	int (*recv)(struct can_bus *b, struct can_rx *out);
	int (*send)(struct can_bus *b, const struct can_frame *f, int n, int64_t t_us, bool urgent);
	bool (*ready)(const struct can_bus *b);
	int (*unconfirmed)(const struct can_bus *b);
	/* 1 nothing left in our hands, 0 some, -1 errno */
	int (*flush)(struct can_bus *b);
	void (*close)(struct can_bus *b); /* frees b */
};

/* First member of every kind. */
struct can_bus {
	const struct can_ops *ops;
	enum can_kind kind;
	int fd;       /* polled by the caller, -1 none */
	int out_fd;   /* written to */
	short events; /* what to poll fd for */
	struct can_counts counts;
	char spec[CAN_SPEC_MAX];
};

/* Frames in order, fixed room: pushing onto a full one forgets the oldest. */
struct can_fifo {
	struct can_frame f[CAN_SET_MAX];
	int head, n;
};
void can_fifo_push(struct can_fifo *q, const struct can_frame *f);
bool can_fifo_pop(struct can_fifo *q, struct can_frame *f);
/* Finds f; forgets it and all before it. */
bool can_fifo_match(struct can_fifo *q, const struct can_frame *f);

bool can_base_init(
	struct can_bus *b, const struct can_ops *ops, enum can_kind kind, const char *spec);
struct can_bus *can_socket_open(const char *name, char *why, size_t why_n);
struct can_bus *can_slcan_open(const char *dev, const char *spec, char *why, size_t why_n);
struct can_bus *can_text_open(const char *path, char *why, size_t why_n);
struct can_bus *can_unixgram_open(const char *path, const char *spec, char *why, size_t why_n);
int can_socket_txqueuelen(const struct can_bus *b);

#endif
