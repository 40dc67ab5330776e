/* nng endpoints; see endpoint_nng.h. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/pubsub0/sub.h>
#include <nng/supplemental/tls/tls.h>

#include "rec/endpoint_age.h"
#include "rec/endpoint_nng.h"
#include "rec/record.h"
#include "run/clock.h"

#define LINGER_US 100000          /* a burst with a stop in it was lost without, never with 50 ms */
#define BEAT "{\"type\":\"beat\"" /* how a line begins that the next one makes up for */
#define RECONNECT_MIN_MS 20
#define RECONNECT_MAX_MS 200
#define SEND_QUEUE 128  /* messages for each reader; nng's 16 loses a burst of a replay */
#define PUSH_QUEUE 1024 /* ... and of a recorder that waits for its disk */
#define CONN_MAX 16     /* connections whose least transit is remembered */
#define CLOSE_MS 500    /* the longest a close may take */
#define TEND_US 25000   /* how often a listener is looked after */

struct conn {
	int pipe;
	int64_t used_us;
	struct age_conn age;
};

struct ep_nng {
	nng_socket socket;
	bool is_input, is_aged, is_pipeline; /* pipeline: push, pull */
	int fd;
	struct ep_counts *counts;
	atomic_int peers; /* changed by nng's threads */
	atomic_int lost;  /* connections that ended so far */
	char url[128];    /* of an ipc listener, else "" */
	nng_listener listener;
	uint64_t refused; /* handshakes that failed, as of the last look */
	int64_t tended_us;
	int64_t sent_us; /* last send worth lingering for: no beat; 0 none */
	nng_msg *msg;    /* being read; taken up to `at` */
	size_t at;
	int pipe; /* it came from */
	int64_t arrived_us;
	struct conn conn[CONN_MAX];
	char line[REC_LINE_MAX + 64];
};

static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *arg)
{
	struct ep_nng *e = arg;

	(void)pipe;
	atomic_fetch_add(&e->peers, event == NNG_PIPE_EV_ADD_POST ? 1 : -1);
	if (event == NNG_PIPE_EV_REM_POST)
		atomic_fetch_add(&e->lost, 1);
}

static int set_options(struct ep_nng *e)
{
	int rc = nng_socket_set_ms(e->socket, NNG_OPT_RECONNMINT, RECONNECT_MIN_MS);

	if (rc == 0)
		rc = nng_socket_set_ms(e->socket, NNG_OPT_RECONNMAXT, RECONNECT_MAX_MS);
	if (rc == 0)
		rc = nng_socket_set_size(e->socket, NNG_OPT_RECVMAXSZ, REC_LINE_MAX);
	if (rc == 0)
		rc = !e->is_input     ? nng_socket_set_int(e->socket, NNG_OPT_SENDBUF,
                                            e->is_pipeline ? PUSH_QUEUE : SEND_QUEUE)
		     : e->is_pipeline ? 0
				      : nng_socket_set(e->socket, NNG_OPT_SUB_SUBSCRIBE, "", 0);
	if (rc == 0 && e->is_input)
		rc = nng_socket_get_int(e->socket, NNG_OPT_RECVFD, &e->fd);
	if (rc == 0)
		rc = nng_pipe_notify(e->socket, NNG_PIPE_EV_ADD_POST, on_pipe, e);
	if (rc == 0)
		rc = nng_pipe_notify(e->socket, NNG_PIPE_EV_REM_POST, on_pipe, e);
	return rc;
}

/* Certificates come from the environment, the same for all tools of a session. NULL: missing. */
static const char *tls_file(const char *url, const char *variable, bool *is_tls)
{
	*is_tls = strncmp(url, "tls+", 4) == 0 || strncmp(url, "wss:", 4) == 0;
	return *is_tls ? getenv(variable) : NULL;
}

static int do_listen(struct ep_nng *e, const char *url)
{
	bool is_tls;
	const char *file = tls_file(url, "TELEOP_TLS_CERT", &is_tls);

	if (is_tls && file == NULL)
		return NNG_ECRYPTO;
	int rc = nng_listener_create(&e->listener, e->socket, url);
	if (rc == 0 && is_tls)
		rc = nng_listener_set_string(e->listener, NNG_OPT_TLS_CERT_KEY_FILE, file);
	if (rc == 0)
		rc = nng_listener_start(e->listener, 0);
	return rc;
}

/* Connections that failed before they were a pipe, of all listeners of this socket; -1: unknown. */
static int64_t failed_handshakes(const struct ep_nng *e)
{
	nng_stat *all;
	int64_t n = 0;

	if (nng_stats_get(&all) != 0)
		return -1;
	for (nng_stat *l = nng_stat_child(all); l != NULL; l = nng_stat_next(l)) {
		int64_t other = 0, socket = -1;

		if (strcmp(nng_stat_name(l), "listener") != 0)
			continue;
		for (nng_stat *v = nng_stat_child(l); v != NULL; v = nng_stat_next(v)) {
			if (strcmp(nng_stat_name(v), "other") == 0)
				other = (int64_t)nng_stat_value(v);
			else if (strcmp(nng_stat_name(v), "socket") == 0)
				socket = (int64_t)nng_stat_value(v);
		}
		if (socket == nng_socket_id(e->socket))
			n += other;
	}
	nng_stats_free(all);
	return n;
}

/* A peer of an ipc listener that goes away in its handshake can end the listening for good (nng
 * 1.5.2: the error is taken for that of a closed listener), while later peers still seem to be
 * connected. Then it listens anew; who was connected has to dial again. */
void ep_nng_tend(struct ep_nng *e)
{
	int64_t now = clock_now(), failed;

	if (e->url[0] == '\0' || now - e->tended_us < TEND_US)
		return;
	e->tended_us = now;
	failed = failed_handshakes(e);
	if (failed < 0 || (uint64_t)failed == e->refused)
		return;
	(void)nng_listener_close(e->listener); /* its count goes with it */
	e->refused = 0;
	int rc = do_listen(e, e->url);
	if (rc != 0)
		e->refused = 1; /* tried again at the next look */
}

static int do_dial(struct ep_nng *e, const char *url)
{
	bool is_tls;
	const char *file = tls_file(url, "TELEOP_TLS_CA", &is_tls);
	nng_dialer d;

	if (is_tls && file == NULL)
		return NNG_ECRYPTO;
	int rc = nng_dialer_create(&d, e->socket, url);
	if (rc == 0 && is_tls)
		rc = nng_dialer_set_string(d, NNG_OPT_TLS_CA_FILE, file);
	return rc == 0 ? nng_dialer_start(d, NNG_FLAG_NONBLOCK) : rc;
}

static int open_socket(struct ep_nng *e)
{
	if (e->is_pipeline)
		return e->is_input ? nng_pull0_open(&e->socket) : nng_push0_open(&e->socket);
	return e->is_input ? nng_sub0_open(&e->socket) : nng_pub0_open(&e->socket);
}

struct ep_nng *ep_nng_open(
	const char *url, enum ep_role role, struct ep_counts *counts, char *why, size_t why_n)
{
	struct ep_nng *e = calloc(1, sizeof *e);
	bool is_pipeline = strncmp(url, "push+", 5) == 0 || strncmp(url, "pull+", 5) == 0;
	bool listens = is_pipeline ? role == EP_IN : role == EP_OUT || role == EP_STOP_IN;
	int rc;

	if (e == NULL) {
		(void)snprintf(why, why_n, "%s: out of memory", url);
		errno = ENOMEM;
		return NULL;
	}
	e->counts = counts;
	e->fd = -1;
	e->is_input = role == EP_IN || role == EP_STOP_IN;
	e->is_pipeline = is_pipeline;
	url += is_pipeline ? 5 : 0;
	e->is_aged = strncmp(url, "ipc:", 4) != 0;
	rc = open_socket(e);
	if (rc == 0) {
		rc = set_options(e);
		if (rc == 0)
			rc = listens ? do_listen(e, url) : do_dial(e, url);
		if (rc != 0)
			(void)nng_close(e->socket); /* nothing was sent */
	}
	if (rc == 0 && listens && !e->is_aged && strlen(url) < sizeof(e->url))
		memcpy(e->url, url, strlen(url) + 1);
	if (rc == 0)
		return e;
	if (rc == NNG_ECRYPTO)
		(void)snprintf(why, why_n, "%s: needs a readable %s", url,
			listens ? "certificate and key in $TELEOP_TLS_CERT"
				: "CA file in $TELEOP_TLS_CA");
	else
		(void)snprintf(why, why_n, "%s: %s", url, nng_strerror(rc));
	free(e);
	errno = rc == NNG_EADDRINVAL || rc == NNG_EINVAL ? EINVAL : EIO;
	return NULL;
}

int ep_nng_fd(const struct ep_nng *e)
{
	return e->fd;
}

int ep_nng_lost(const struct ep_nng *e)
{
	return atomic_load(&e->lost);
}

int ep_nng_peers(const struct ep_nng *e)
{
	return atomic_load(&e->peers);
}

/* Next line of the message in hand, without its newline; false when it is used up. */
static bool next_in_body(struct ep_nng *e, const char **line, size_t *n)
{
	const char *body = nng_msg_body(e->msg);
	size_t len = nng_msg_len(e->msg);

	while (e->at < len) {
		const char *begin = body + e->at;
		const char *newline = memchr(begin, '\n', len - e->at);
		size_t size = newline == NULL ? len - e->at : (size_t)(newline - begin);
		e->at += size + (newline != NULL);
		if (size >= REC_LINE_MAX) {
			e->counts->overlong++;
			continue;
		}
		size -= size > 0 && begin[size - 1] == '\r';
		if (size == 0)
			continue;
		*line = begin;
		*n = size;
		return true;
	}
	nng_msg_free(e->msg);
	e->msg = NULL;
	return false;
}

/* What is known of the connection the message came by; the longest unused makes room. */
static struct age_conn *conn_of(struct ep_nng *e)
{
	struct conn *oldest = &e->conn[0];

	for (struct conn *c = e->conn; c < e->conn + CONN_MAX; c++) {
		if (c->pipe == e->pipe && c->used_us > 0) {
			c->used_us = e->arrived_us;
			return &c->age;
		}
		if (c->used_us < oldest->used_us)
			oldest = c;
	}
	*oldest = (struct conn){ .pipe = e->pipe, .used_us = e->arrived_us };
	return &oldest->age;
}

int ep_nng_next(struct ep_nng *e, const char **line, size_t *n)
{
	for (;;) {
		if (e->msg == NULL) {
			if (nng_recvmsg(e->socket, &e->msg, NNG_FLAG_NONBLOCK) != 0) {
				e->msg = NULL;
				return 0;
			}
			e->at = 0;
			e->pipe = nng_pipe_id(nng_msg_get_pipe(e->msg));
			e->arrived_us = clock_now();
		}
		if (!next_in_body(e, line, n))
			continue;
		if (e->is_aged) {
			int len = age_from_wire(
				conn_of(e), *line, *n, e->arrived_us, e->line, REC_LINE_MAX - 1);
			if (len < 0) {
				e->counts->refused++;
				continue;
			}
			*line = e->line;
			*n = (size_t)len;
		}
		e->counts->lines++;
		return 1;
	}
}

/* The line as it goes out, with its newline, in e->line: its length, 0 counted and not sent. */
static size_t wire_line(struct ep_nng *e, const char *line, size_t n)
{
	if (n > REC_LINE_MAX) {
		e->counts->oversize++;
		return 0;
	}
	if (!e->is_aged) {
		memcpy(e->line, line, n);
		return n;
	}
	int len = age_to_wire(line, n - 1, clock_now(), e->line, sizeof e->line - 1);
	if (len < 0) {
		e->counts->refused++;
		return 0;
	}
	if (len >= REC_LINE_MAX) {
		e->counts->oversize++;
		return 0;
	}
	e->line[len] = '\n';
	return (size_t)len + 1;
}

static void send_line(struct ep_nng *e, const char *line, size_t n)
{
	n = wire_line(e, line, n);
	if (n == 0)
		return;
	if (nng_send(e->socket, e->line, n, NNG_FLAG_NONBLOCK) != 0) { /* copies */
		e->counts->dropped++;
		return;
	}
	e->counts->lines++;
	if (strncmp(line, BEAT, sizeof(BEAT) - 1) != 0)
		e->sent_us = clock_now();
}

int ep_nng_send(struct ep_nng *e, const char *lines, size_t n)
{
	ep_nng_tend(e);
	while (n > 0) {
		const char *newline = memchr(lines, '\n', n);
		if (newline == NULL) { /* not a whole line */
			e->counts->refused++;
			break;
		}
		size_t len = (size_t)(newline - lines) + 1;
		send_line(e, lines, len);
		lines += len;
		n -= len;
	}
	return 0;
}

struct closing {
	nng_socket socket;
	atomic_bool is_done;
};

static void *close_socket(void *arg)
{
	struct closing *c = arg;

	(void)nng_close(c->socket); /* fails only when it is closed already */
	atomic_store(&c->is_done, true);
	return NULL;
}

/* nng_close of 1.5.2 can wait for ever for a connection whose peer goes on sending. Whoever closes
 * is about to end, and shall: what did not close in time goes with the process. */
static bool close_bounded(nng_socket socket)
{
	struct closing *c = calloc(1, sizeof *c);
	pthread_t thread;

	if (c == NULL)
		return false;
	c->socket = socket;
	if (pthread_create(&thread, NULL, close_socket, c) != 0) {
		free(c);
		return false;
	}
	for (int ms = 0; ms < CLOSE_MS && !atomic_load(&c->is_done); ms++)
		(void)nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	if (!atomic_load(&c->is_done)) {
		(void)pthread_detach(thread);
		return false;
	}
	(void)pthread_join(thread, NULL);
	free(c);
	return true;
}

void ep_nng_close(struct ep_nng *e)
{
	if (!e->is_input && e->sent_us > 0) {
		int64_t left = e->sent_us + LINGER_US - clock_now();
		if (left > 0)
			(void)nanosleep(&(struct timespec){ 0, left * 1000 }, NULL);
	}
	if (e->msg != NULL)
		nng_msg_free(e->msg);
	if (close_bounded(e->socket))
		free(e); /* else its callbacks may still come */
}
