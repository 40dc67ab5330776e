/*
 * CAN buses behind one handle (DESIGN.md 5):
 *   NAME            SocketCAN raw: error frames on, own echo on (CAN_RAW_RECV_OWN_MSGS), kernel
 *                   stamps, SO_RXQ_OVFL counted; a second socket with SO_PRIORITY 6 for urgent frames
 *   slcan:DEV       Lawicel serial adapter (wire/slcan), non-blocking tty at 1 Mbit/s (S8); the
 *                   line speed of a real serial port stays as stty set it.  One process a device.
 *   -  or  a word with "/"   ideal arm: candump -L text to stdout or a file, nothing comes back
 *   unixgram:PATH   ideal arm: one 16-byte struct can_frame a datagram
 * Never blocks (but can_drain and can_close, up to their deadlines). Frames are struct can_frame of
 * <linux/can.h>.
 */
#ifndef WIRE_CAN_H
#define WIRE_CAN_H

#include <linux/can.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum can_kind { CAN_SOCKET, CAN_SLCAN, CAN_TEXT, CAN_UNIXGRAM };

struct can_rx {
	struct can_frame f; /* f.can_id keeps CAN_ERR_FLAG and friends */
	int64_t t_us; /* receive time, us CLOCK_MONOTONIC, from the kernel stamp where there is one;
			 slcan: time of reading, after a freeze of ours the time before it */
	bool own;     /* this socket sent it: MSG_CONFIRM; slcan: adapter's acknowledgement */
	bool local;   /* sent from this host: MSG_DONTROUTE */
	bool error;   /* an error frame (slcan: from the adapter's status) */
};
struct can_counts {
	unsigned long sent, confirmed, received, refused /* ENOBUFS, EAGAIN, NAK */, overflow,
		damaged;
};
struct can_bus;

/* Opens without transmitting a frame (an slcan adapter gets its setup, C S8 O; what it says before
 * it has answered that, at most 200 ms, is old and thrown away). NULL: reason with a remedy in why,
 * without the name of the bus.
 * Candump text carries the interface name "can0". */
struct can_bus *can_open(const char *spec, char *why, size_t why_n);
/* The arm's side: slcan:PATH makes a pty with an adapter behind it (wire/slcan_pty.h); NAME is
 * opened like can_open. */
struct can_bus *can_open_device(const char *spec, char *why, size_t why_n);
enum can_kind can_kind(const struct can_bus *b);
bool can_is_ideal(const struct can_bus *b); /* text and unixgram */
const char *can_spec(const struct can_bus *b);
int can_fd(const struct can_bus *b);       /* POLLIN; -1 for ideal arms */
short can_events(const struct can_bus *b); /* POLLIN, with POLLOUT while bytes wait (slcan) */

/* Next received frame: 1; 0 nothing; -1 errno (ENETDOWN, ENODEV, EIO: the bus is lost). Also moves on
 * what waits to be sent: call it on every wake until it returns 0. */
int can_recv(struct can_bus *b, struct can_rx *out);

/* Sends `n` frames back to back or none (piper:R13): a set is all accepted or cut off at the first
 * refusal. Returns the number accepted; < n sets errno (ENOBUFS, EAGAIN, ENETDOWN ...). slcan and
 * text accept all or none; slcan refuses (EAGAIN) while !can_ready.
 * t_us is the time written by text buses. */
int can_send_set(struct can_bus *b, const struct can_frame *f, int n, int64_t t_us);
/* The same on the urgent path (SO_PRIORITY 6; slcan: ahead of everything not yet in the tty). */
int can_send_urgent(struct can_bus *b, const struct can_frame *f, int n, int64_t t_us);
/* True when a further set may go out: no earlier own frame waits in our hands (SocketCAN: fewer
 * unconfirmed than the last set had frames; slcan: setup answered and every frame answered, or for
 * adapters that do not answer frames, the tty empty). */
bool can_ready(const struct can_bus *b);
/* Own frames sent and not yet confirmed by echo or acknowledgement. Echoes that the kernel dropped
 * (SO_RXQ_OVFL), that a later echo overtook, or that a link down or a restart of the controller
 * swept away are not waited for. */
int can_unconfirmed(const struct can_bus *b);
struct can_counts can_counts(const struct can_bus *b);
/* Waits until what is accepted has left our hands; 0, or -1 (ETIMEDOUT, or the bus's error). For
 * replays, which must not lose a line; live tools never call it. */
int can_drain(struct can_bus *b, int64_t deadline_us);
/* Flushes what is already accepted (bounded by deadline_us, absolute), then closes. 0 or -1 as
 * can_drain; b is gone in any case. NULL is fine. */
int can_close(struct can_bus *b, int64_t deadline_us);

/* Device queue length (txqueuelen) of a SocketCAN interface, -1 unknown or not SocketCAN. */
int can_txqueuelen(const struct can_bus *b);

/* candump -L text: "(1436509053.249713) vcan0 044#2A366C2BBA\n" both ways. can_print: length, -1 when
 * it does not fit or has no text. can_scan: the whole line must be right; a line end and the
 * direction of candump -x (" R", " T") may follow. */
int can_print(const struct can_frame *f, int64_t t_us, const char *bus, char *buf, size_t n);
bool can_scan(const char *line, struct can_frame *f, int64_t *t_us, char *bus, size_t bus_n);

#endif
