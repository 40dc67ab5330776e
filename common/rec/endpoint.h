/*
 * Endpoints: stdin/stdout, files and FIFOs, nng URLs behind one handle (DESIGN.md 5).
 *
 *   -                       stdin or stdout
 *   a word with "/"         a file or FIFO
 *   ipc:// tcp:// tls+tcp:// ws:// wss://   nng: outputs are pub and listen, inputs are sub and
 *                           dial without blocking (reconnect 20/200 ms, RECVMAXSZ 4096); on the
 *                           stop channel it is the other way round: the sink listens (sub),
 *                           senders dial (pub) (gate:G22).
 *   push+URL, pull+URL      the same without loss while the other side keeps up, for recording: an
 *                           output push+ dials, an input pull+ listens. Never waits: what does not
 *                           fit is counted.
 * Any other word: refused.
 *
 * Over tcp, tls, ws, wss the key `t` travels as `age` and `clk` and comes back as `t` by the
 * rule of DESIGN.md 2 (monotonic time means nothing on another host); ipc carries lines as they
 * are.  nng starts (threads) only when a URL is opened: call loop_init before.  tls+tcp and wss
 * take $TELEOP_TLS_CERT (certificate and key, to listen) and $TELEOP_TLS_CA (to dial).
 *
 * An inherited descriptor is never made non-blocking (that would leak to whoever shares it).
 */
#ifndef REC_ENDPOINT_H
#define REC_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ep_role {
	EP_IN,       /* read lines: sub dials */
	EP_OUT,      /* write lines: pub listens */
	EP_STOP_IN,  /* sink's side of the stop channel: sub listens (nng only) */
	EP_STOP_OUT, /* sender's side: pub dials (nng only) */
};
struct ep;
struct ep_counts {
	unsigned long lines;    /* handed over */
	unsigned long overlong; /* in: longer than 4095 bytes, skipped */
	unsigned long partial;  /* in: bytes behind the last newline at the end, not used */
	unsigned long dropped;  /* out: nng could not take it */
	unsigned long oversize; /* out: longer than a message may be */
	unsigned long refused;  /* between hosts: a line without its t (out), age and clk (in) */
};

/* NULL: reason in why, errno EINVAL for a word that is no endpoint of this role (usage), else another
 * (the file or socket failed). Owned by the caller, closed by ep_close. */
struct ep *ep_open(const char *where, enum ep_role role, char *why, size_t why_n);
bool ep_is_nng(const struct ep *e);
/* To poll for POLLIN (inputs) or POLLERR (outputs); -1 when there is nothing to poll. */
int ep_fd(const struct ep *e);
/* Inputs. 1: *line (borrowed until the next call, no newline); 0: nothing now, never blocks for
 * longer than what is there; -1: end of input (errno 0) or error (nng inputs never end). A regular file
 * gives its next line each call. */
int ep_next(struct ep *e, const char **line, size_t *n);
/* Outputs; line ends with its newline, n <= 4096 (or a batch of whole lines).
 * ep_put waits for a stream reader; 0, or -1 errno (EPIPE: reader gone). nng never waits. */
int ep_put(struct ep *e, const char *line, size_t n);
/* Never blocks, whole or nothing: 1 written, 0 cannot take it now, -1 errno. */
int ep_try(struct ep *e, const char *line, size_t n);
/* A terminal or socket took part of the last line: poll for POLLOUT, then ep_try(e, "", 0). */
bool ep_has_rest(const struct ep *e);
/* EP_STOP_OUT: connected peers now. */
int ep_peers(const struct ep *e);
/* Connections that ended so far: what was sent on one of them may not have arrived. */
int ep_lost(const struct ep *e);
/* To be called now and then (each tick) for an endpoint that listens: one that stopped to accept
 * peers is opened anew. Outputs do it themselves when something is sent. */
void ep_tend(struct ep *e);
struct ep_counts ep_counts(const struct ep *e);
/* Flushes and closes: 0, or -1 errno (a full disk is reported, not lost). An nng output lingers
 * until 100 ms after its last line. NULL: nothing. */
int ep_close(struct ep *e);

#endif
