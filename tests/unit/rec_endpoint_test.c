/* Endpoints: streams and nng behind one handle. Every wait is bounded. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>

#include "rec/endpoint.h"
#include "rec/record.h"
#include "run/clock.h"
#include "tap.h"

static char dir[] = "/tmp/rec-ep-XXXXXX", why[300];

static const char *in_dir(const char *scheme, const char *name)
{
	static char path[8][200];
	static int i;

	i = (i + 1) % 8;
	(void)snprintf(path[i], sizeof path[i], "%s%s/%s", scheme, dir, name);
	return path[i];
}

static struct ep *must(const char *where, enum ep_role role)
{
	struct ep *e = ep_open(where, role, why, sizeof why);

	if (e == NULL) {
		printf("Bail out! %s\n", why);
		exit(1);
	}
	return e;
}

static int tcp_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&a, n) != 0 ||
		getsockname(fd, (struct sockaddr *)&a, &n) != 0)
		abort();
	(void)close(fd);
	return ntohs(a.sin_port);
}

/* The next line within ms: copied with a NUL, or NULL. */
static const char *next(struct ep *e, int ms)
{
	static char copy[REC_LINE_MAX];
	int64_t end = clock_now() + ms * 1000;
	const char *line;
	size_t n;

	for (;;) {
		int rc = ep_next(e, &line, &n);
		if (rc == 1) {
			memcpy(copy, line, n);
			copy[n] = '\0';
			return copy;
		}
		int64_t left = end - clock_now();
		if (rc < 0 || left <= 0)
			return NULL;
		struct pollfd p = { .fd = ep_fd(e), .events = POLLIN };
		(void)poll(&p, 1, (int)(left / 1000) + 1);
	}
}

/* Sends until it is seen: a subscriber is there only when its connection is. */
static const char *until_seen(struct ep *out, struct ep *in, const char *line)
{
	const char *got = NULL;

	for (int i = 0; i < 200 && got == NULL; i++) {
		(void)ep_put(out, line, strlen(line));
		got = next(in, 20);
	}
	return got;
}

static void test_words(void)
{
	static const char *const bad[] = { "", "file", "inproc://x", "udp:127.0.0.1:5",
		"http://h/x", "tcp://", "/nowhere/at/all" };

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		why[0] = '\0';
		bool is_word = bad[i][0] == '/'; /* an endpoint, but nothing is there */
		errno = 0;
		bool is_refused = ep_open(bad[i], EP_IN, why, sizeof why) == NULL;
		int cause = errno;
		ok(is_refused && why[0] != '\0' && cause == (is_word ? ENOENT : EINVAL),
			"refused: '%s' (%s), errno %d", bad[i], why, cause);
	}
	errno = 0;
	ok(ep_open("-", EP_STOP_IN, why, sizeof why) == NULL && errno == EINVAL,
		"a stop channel is an nng URL");
}

static void test_file(void)
{
	const char *path = in_dir("", "file");
	struct ep *out = must(path, EP_OUT), *in;
	const char *line;
	size_t n;

	ok(ep_put(out, "{\"a\":1}\n", 8) == 0 && ep_try(out, "{\"b\":2}\n", 8) == 1 &&
			ep_close(out) == 0,
		"a file is written");
	in = must(path, EP_IN);
	const char *a = next(in, 0);
	ok(a != NULL && strcmp(a, "{\"a\":1}") == 0 && next(in, 0) != NULL,
		"a file gives line by line");
	errno = 5;
	ok(ep_next(in, &line, &n) == -1 && errno == 0 && ep_counts(in).lines == 2, "then it ends");
	ok(ep_close(in) == 0 && ep_close(NULL) == 0, "closed");
	out = must("/dev/full", EP_OUT);
	ok(ep_put(out, "x\n", 2) == -1 && errno == ENOSPC && ep_close(out) == 0,
		"a full disk is an error");
}

static void test_fifo(void)
{
	const char *path = in_dir("", "fifo"), *line;
	static char big[3 * REC_LINE_MAX];
	size_t n, sent = 0, seen = 0;

	if (mkfifo(path, 0600) != 0)
		abort();
	struct ep *in = must(path, EP_IN);
	ok(ep_next(in, &line, &n) == 0, "a FIFO without its writer yet: nothing, no end");
	struct ep *out = must(path, EP_OUT);
	ok((fcntl(ep_fd(out), F_GETFL) & O_NONBLOCK) == 0 && ep_next(in, &line, &n) == 0, "open");
	memset(big, 'x', sizeof big);
	big[1999] = '\n';
	while (ep_try(out, big, 2000) == 1)
		sent++;
	ok(sent > 10, "a pipe takes lines until it is full (%zu)", sent);
	while (ep_next(in, &line, &n) == 1)
		seen += n == 1999;
	ok(seen == sent, "whole or nothing: all of them are read (%zu)", seen);
	big[1999] = 'x';
	for (size_t i = 0; i < 6; i++)
		big[(i + 1) * 1500 - 1] = '\n';
	ok(ep_put(out, big, 9000) == 0 && ep_try(out, big, 4097) == -1 && errno == EMSGSIZE,
		"a batch above 4096 bytes goes in parts, never at once");
	while ((line = next(in, 0)) != NULL)
		seen += strlen(line) == 1499;
	ok(seen == sent + 6, "and arrives whole");
	(void)ep_put(out, "half", 4);
	ok(ep_close(out) == 0 && ep_next(in, &line, &n) == -1 && ep_counts(in).partial == 1,
		"the writer's end; half a line is counted");
	(void)ep_close(in);

	in = must(path, EP_IN);
	out = must(path, EP_OUT);
	(void)ep_close(in);
	struct pollfd p = { .fd = ep_fd(out), .events = 0 };
	ok(poll(&p, 1, 0) == 1 && (p.revents & POLLERR),
		"a reader that went shows without a write");
	ok(ep_put(out, "x\n", 2) == -1 && errno == EPIPE, "and as EPIPE");
	(void)ep_close(out);
}

static void test_fifo_without_reader(void)
{
	const char *path = in_dir("", "lonely");
	sigset_t set, old;

	if (mkfifo(path, 0600) != 0)
		abort();
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, &old);
	(void)raise(SIGTERM);
	ok(ep_open(path, EP_OUT, why, sizeof why) == NULL,
		"waiting for a FIFO's reader ends by a blocked SIGTERM too");
	(void)sigwaitinfo(&set, NULL);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
}

static void test_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	char line[2001], got[70000];
	size_t sent = 0, n = 0;
	long k;

	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
		abort();
	struct ep *out = must(ptsname(master), EP_OUT);
	memset(line, 'x', sizeof line);
	line[1999] = '\n';
	while (sent < 1000 && ep_try(out, line, 2000) == 1)
		sent++;
	ok(sent > 0 && sent < 1000, "a terminal nobody reads never blocks (%zu lines)", sent);
	(void)fcntl(master, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 1000 && n < sent * 2001; i++) {
		if (ep_has_rest(out))
			(void)ep_try(out, "", 0);
		struct pollfd p = { .fd = master, .events = POLLIN };
		if (poll(&p, 1, 10) == 1 && (k = read(master, got + n, sizeof got - n)) > 0)
			n += (size_t)k;
	}
	ok(n == sent * 2001, "and gets each line whole, with CR by the terminal (%zu)", n);
	(void)ep_close(out);
	(void)close(master);
}

static void test_nng(const char *url, const char *what)
{
	static char big[2 * REC_LINE_MAX];
	const char *line = "{\"type\":\"beat\",\"v\":1,\"src\":\"a\",\"seq\":1,\"t\":0}\n";
	struct ep *in = must(url, EP_IN); /* before anybody listens */
	struct ep *out = must(url, EP_OUT);
	bool is_aged = strncmp(url, "ipc", 3) != 0;
	struct rec r;

	ok(ep_is_nng(in) && ep_fd(in) >= 0 && ep_fd(out) == -1, "%s: handles", what);
	const char *got = until_seen(out, in, line);
	ok(got != NULL && rec_parse(got, strlen(got), &r, why, sizeof why) == -1 &&
			strncmp(got, "{\"type\":\"beat\",\"v\":1,\"src\":\"a\",\"seq\":1,\"t\":",
				41) == 0,
		"%s: a line arrives", what);
	while (next(in, 50) != NULL)
		;
	(void)ep_put(out, "{\"t\":0,\"a\":1}\n{\"t\":0,\"a\":2}\n", 28);
	got = next(in, 2000);
	bool one = got != NULL && strstr(got, "\"a\":1}") != NULL;
	got = next(in, 2000);
	ok(one && got != NULL && strstr(got, "\"a\":2}") != NULL, "%s: a batch is two messages",
		what);
	if (is_aged) {
		char now[100];
		int64_t t = clock_now();
		(void)snprintf(now, sizeof now, "{\"t\":%lld}\n", (long long)(t - 5000));
		(void)ep_put(out, now, strlen(now));
		got = next(in, 2000);
		long long back = got == NULL ? 0 : strtoll(got + 5, NULL, 10);
		ok(back >= t - 60000 && back <= clock_now() - 5000, "%s: t is this host's again",
			what);
		(void)ep_put(out, "{\"x\":1}\n", 8);
		ok(ep_counts(out).refused == 1, "%s: a line without t is refused", what);
	} else {
		ok(strcmp(got == NULL ? "" : got, "{\"t\":0,\"a\":2}") == 0,
			"%s: bytes as they are", what);
	}
	memset(big, 'x', sizeof big);
	memcpy(big, "{\"t\":0,\"", 8);
	memcpy(big + REC_LINE_MAX - 4, "\":1}\n", 5);
	(void)ep_put(out, big, REC_LINE_MAX + 1);
	ok(ep_counts(out).oversize == 1, "%s: a line of 4097 bytes is not sent", what);
	/* The publisher ends and comes back. */
	int64_t before = clock_now();
	ok(ep_close(out) == 0 && clock_now() - before >= 50000, "%s: closing lingers", what);
	out = must(url, EP_OUT);
	ok(until_seen(out, in, "{\"t\":0,\"new\":1}\n") != NULL, "%s: reconnected", what);
	(void)ep_close(out);
	(void)ep_close(in);
}

/* A recorder that is not there yet, that stands still, and that has to have every line then. */
static void test_pipeline(const char *push_url, const char *pull_url, const char *what)
{
	const char *over = "{\"t\":0,\"over\":1}\n";
	struct ep *out = must(push_url, EP_OUT), *in = NULL;
	long sent = 0, got = 0;
	bool in_order = true;
	const char *text;
	char line[64];

	for (; sent < 1000; sent++) {
		int n = snprintf(line, sizeof line, "{\"t\":0,\"n\":%ld}\n", sent);
		if (ep_try(out, line, (size_t)n) != 1)
			break;
	}
	ok(sent == 1000 && ep_counts(out).dropped == 0, "%s: a burst waits for its recorder", what);
	int64_t before = clock_now();
	for (int i = 0; i < 1000; i++)
		(void)ep_put(out, over, strlen(over));
	ok(clock_now() - before < 1000000 && ep_counts(out).dropped > 0,
		"%s: what does not fit is counted, nobody waits", what);
	in = must(pull_url, EP_IN);
	while (got < sent && (text = next(in, 5000)) != NULL) {
		(void)snprintf(line, sizeof line, "\"n\":%ld}", got++);
		in_order = in_order && strstr(text, line) != NULL;
	}
	ok(got == sent && in_order, "%s: every line, in order (%ld of %ld)", what, got, sent);
	(void)ep_close(out);
	(void)ep_close(in);
}

static void test_foreign_messages(void)
{
	static char big[5000];
	const char *url = in_dir("ipc://", "raw");
	struct ep *in = must(url, EP_STOP_IN);
	char three[] = "one\r\n\ntwo\nthree", after[] = "after", again[] = "again\n";
	nng_socket pub;
	const char *got = NULL;

	if (nng_pub0_open(&pub) != 0 || nng_dial(pub, url, NULL, 0) != 0)
		abort();
	for (int i = 0; i < 200 && got == NULL; i++) {
		(void)nng_send(pub, three, 15, 0);
		got = next(in, 20);
	}
	bool first = got != NULL && strcmp(got, "one") == 0;
	got = next(in, 1000);
	bool second = got != NULL && strcmp(got, "two") == 0;
	got = next(in, 1000);
	ok(first && second && got != NULL && strcmp(got, "three") == 0,
		"a body of several lines, the last without newline");
	memset(big, 'x', sizeof big);
	(void)nng_send(pub, big, REC_LINE_MAX, 0);
	(void)nng_send(pub, after, 5, 0);
	while ((got = next(in, 2000)) != NULL && strcmp(got, "after") != 0)
		;
	ok(got != NULL && ep_counts(in).overlong == 1,
		"a line of 4096 bytes is skipped and counted");
	(void)nng_send(pub, big, sizeof big, 0);
	ok(next(in, 100) == NULL, "a larger message is not taken");
	for (int i = 0; i < 200; i++) {
		(void)nng_send(pub, again, 6, 0);
		if ((got = next(in, 20)) != NULL)
			break;
	}
	ok(got != NULL && strcmp(got, "again") == 0, "and its sender is heard again");
	(void)nng_close(pub);
	(void)ep_close(in);
}

static void test_stop_channel(void)
{
	const char *url = in_dir("ipc://", "stop"), *got;
	struct ep *a = must(url, EP_STOP_OUT), *b = must(url, EP_STOP_OUT);

	ok(ep_peers(a) == 0, "no sink yet");
	struct ep *in = must(url, EP_STOP_IN);
	got = until_seen(a, in, "a\n");
	bool first = got != NULL && strcmp(got, "a") == 0;
	while (next(in, 20) != NULL)
		;
	got = until_seen(b, in, "b\n");
	ok(first && got != NULL && strcmp(got, "b") == 0 && ep_peers(a) == 1 && ep_peers(b) == 1 &&
			ep_peers(in) == 2,
		"two senders dial one sink");
	(void)ep_close(in);
	int64_t end = clock_now() + 2000000;
	while (ep_peers(a) > 0 && clock_now() < end)
		(void)poll(NULL, 0, 5);
	ok(ep_peers(a) == 0, "a sink that went is seen");
	in = must(url, EP_STOP_IN);
	ok(until_seen(a, in, "c\n") != NULL, "and found again");
	(void)ep_close(a);
	(void)ep_close(b);
	(void)ep_close(in);
}

int main(void)
{
	char tcp[64], ws[64];

	(void)signal(SIGPIPE, SIG_IGN);
	if (mkdtemp(dir) == NULL)
		return 1;
	(void)snprintf(tcp, sizeof tcp, "tcp://127.0.0.1:%d", tcp_port());
	(void)snprintf(ws, sizeof ws, "ws://127.0.0.1:%d/rec", tcp_port());
	test_words();
	test_file();
	test_fifo();
	test_fifo_without_reader();
	test_terminal();
	test_nng(in_dir("ipc://", "live"), "ipc");
	test_nng(tcp, "tcp");
	test_nng(ws, "ws");
	char push[200], pull[200];
	(void)snprintf(push, sizeof push, "push+%s", in_dir("ipc://", "record"));
	(void)snprintf(pull, sizeof pull, "pull+%s", in_dir("ipc://", "record"));
	test_pipeline(push, pull, "push and pull");
	ok(ep_open(push, EP_IN, why, sizeof why) == NULL &&
			ep_open(pull, EP_OUT, why, sizeof why) == NULL &&
			ep_open(pull, EP_STOP_IN, why, sizeof why) == NULL,
		"pull is for inputs, push for outputs");
	test_foreign_messages();
	test_stop_channel();
	int rc = tap_done();
	static const char *const left[] = { "file", "fifo", "lonely", "live", "raw", "stop" };
	for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
		(void)unlink(in_dir("", left[i]));
	(void)rmdir(dir);
	return rc;
}
