/*
 * The adapter's side of Lawicel text, on a pty: what a simulated arm opens so that a writer on
 * slcan:PATH finds an adapter with a bus behind it.  It is a struct can_bus: can_recv gives what the
 * host put on the bus (acknowledged at that moment), can_send_set puts frames on the bus and never
 * refuses; frames a host does not take are dropped and counted (overflow).  Hosts may come and go;
 * the channel is open from O or L to C.
 */
#ifndef WIRE_SLCAN_PTY_H
#define WIRE_SLCAN_PTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct can_bus;

/* Makes the pty and points the symbolic link `path` at it (an older link is replaced unless its
 * adapter still runs: EADDRINUSE; nothing else is replaced); can_close removes the link when it is
 * still its own. NULL: reason in why. */
struct can_bus *slcan_pty_open(const char *path, char *why, size_t why_n);
/* A frame of the host takes this long on the wire, us (0: none); can_recv gives it when that is
 * over. */
void slcan_pty_delay(struct can_bus *b, int64_t us);
/* When can_recv should be called though fd is quiet, us absolute; -1: no need. */
int64_t slcan_pty_wake(const struct can_bus *b);
/* Adapter hangs: nothing is read, nothing answered. */
void slcan_pty_stall(struct can_bus *b, bool on);
/* Adapter refuses frames (BEL). */
void slcan_pty_refuse(struct can_bus *b, bool on);
/* Sends a state report: 'a' active, 'w' warning, 'p' passive, 'b' bus-off, and the error counters. */
void slcan_pty_state(struct can_bus *b, char state, unsigned rx_errors, unsigned tx_errors);
bool slcan_pty_is_open(const struct can_bus *b);
/* How often the channel was opened: a host may close and open it within one wake. */
unsigned long slcan_pty_openings(const struct can_bus *b);

#endif
