/*
 * Lawicel ASCII (slcan), both sides, pure: text in, frames out. Standard and extended data frames
 * and remote frames (t T r R, with or without the adapter's four digits of time), acknowledgement
 * (z Z CR), refusal (BEL), CAN state reports (s + b/w/p/a, error counters) and error reports
 * (e + count + letters), channel commands (S O L C F V N Z M m ...) and their replies (V N F).
 */
#ifndef WIRE_SLCAN_H
#define WIRE_SLCAN_H

#include <linux/can.h>
#include <stdbool.h>
#include <stddef.h>

#define SLCAN_TEXT_MAX 32

enum slcan_event {
	SLCAN_NONE,    /* need more bytes */
	SLCAN_FRAME,   /* *f holds a frame */
	SLCAN_ACK,     /* z, Z or a bare CR; cmd tells which ("z", "Z", "") */
	SLCAN_NAK,     /* BEL */
	SLCAN_STATE,   /* state or error report: *f is the error frame for it (CAN_ERR_FLAG ...) */
	SLCAN_COMMAND, /* adapter side: a channel command, its text in cmd ("" for a bare CR);
			  host side: the reply to V, N or F */
	SLCAN_DAMAGED, /* a line that is none of these; resynchronised at the next CR */
};
struct slcan {
	char buf[64];
	size_t n;
	bool skipping;
	bool adapter; /* which side we are: true = we play the adapter */
	char cmd[64];
};
void slcan_init(struct slcan *s, bool adapter);
/* Consumes one byte. */
enum slcan_event slcan_byte(struct slcan *s, char c, struct can_frame *f);
/* Text of a frame with its CR and a terminating zero; returns its length, -1 for what slcan cannot
 * say (error frames, more than 8 bytes). */
int slcan_print(const struct can_frame *f, char buf[SLCAN_TEXT_MAX]);

#endif
