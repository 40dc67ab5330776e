/*
 * One behaviour of wire/can on a real SocketCAN interface per word:  can_probe CHECK NAME [ARG]
 * Exit 0 as it should be; 1 with the reason.  tests/vm/inside/can.bats sets the interfaces up.
 */
#include <errno.h>
#include <linux/can/error.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/clock.h"
#include "wire/can.h"
#include "wire/slcan_pty.h"

#define BOUND_US 5000000

__attribute__((format(printf, 2, 3))) static void need(bool good, const char *fmt, ...)
{
	va_list ap;

	if (good)
		return;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (%s)\n", strerror(errno));
	exit(1);
}

__attribute__((format(printf, 1, 2))) static void run(const char *fmt, ...)
{
	char cmd[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof cmd, fmt, ap);
	va_end(ap);
	/* NOLINTNEXTLINE(cert-env33-c): the words are this test's own */
	need(system(cmd) == 0, "%s", cmd);
}

static struct can_bus *open_bus(const char *name)
{
	char why[256] = "";
	struct can_bus *b = can_open(name, why, sizeof why);

	need(b != NULL, "open %s: %s", name, why);
	return b;
}

static struct can_frame frame(canid_t id, uint8_t v)
{
	return (struct can_frame){ .can_id = id, .len = 8, .data = { v } };
}

/* The next frame, or the errno of the bus as -errno; 0 when the bound is over. */
static int next(struct can_bus *b, struct can_rx *rx, int64_t bound_us)
{
	int64_t end = clock_now() + bound_us;
	int r;

	while ((r = can_recv(b, rx)) == 0 && clock_now() < end) {
		struct pollfd p = { .fd = can_fd(b), .events = can_events(b) };
		(void)poll(&p, 1, 50);
	}
	return r < 0 ? -errno : r;
}

static void check_own(const char *name)
{
	struct can_bus *b = open_bus(name);
	struct can_frame set[5];
	struct can_rx rx;

	for (uint8_t i = 0; i < 5; i++)
		set[i] = frame(0x151u + i, i);
	need(can_kind(b) == CAN_SOCKET && !can_is_ideal(b) && can_ready(b), "fresh");
	need(can_send_set(b, set, 5, 0) == 5, "send");
	need(can_unconfirmed(b) == 5 && !can_ready(b), "a whole set is out: not ready");
	for (uint8_t i = 0; i < 5; i++) {
		need(next(b, &rx, BOUND_US) == 1, "echo %d", i);
		need(rx.own && rx.local && !rx.error && rx.f.can_id == 0x151u + i, "own frame %d",
			i);
		need(can_unconfirmed(b) == 4 - i && can_ready(b), "confirmed %d", i);
	}
	need(can_counts(b).sent == 5 && can_counts(b).confirmed == 5 && !can_counts(b).received,
		"counts");
}

/* A frame of another program on this host, then one from the other end of the wire. */
static void check_foreign(const char *name, const char *peer)
{
	struct can_bus *b = open_bus(name);
	struct can_rx rx;

	run("cansend %s 151#AA", name);
	need(next(b, &rx, BOUND_US) == 1 && rx.f.data[0] == 0xAA, "local frame");
	need(!rx.own && rx.local, "of another program on this host");
	run("cansend %s 151#BB", peer);
	need(next(b, &rx, BOUND_US) == 1 && rx.f.data[0] == 0xBB, "foreign frame");
	need(!rx.own && !rx.local, "from the wire");
	need(can_counts(b).received == 2 && can_unconfirmed(b) == 0, "counts");
}

static void check_urgent(const char *name)
{
	struct can_bus *b = open_bus(name);
	struct can_frame set[4], f = frame(0x151, 9);
	struct can_rx rx;
	int own = 0;

	for (uint8_t i = 0; i < 4; i++)
		set[i] = frame(0x154u + i, i);
	need(can_send_set(b, &f, 1, 0) == 1 && can_send_urgent(b, set, 4, 0) == 4, "send");
	need(can_unconfirmed(b) == 5, "all five wait");
	run("cansend %s 7FF#00", name);
	while (next(b, &rx, BOUND_US) == 1 && rx.f.can_id != 0x7FF)
		own += rx.own && rx.local;
	need(own == 5 && can_unconfirmed(b) == 0, "both sockets' frames are own: %d", own);
	need(!rx.own && can_counts(b).confirmed == 5 && can_counts(b).received == 1,
		"and no other");
}

static void check_error(const char *name)
{
	struct can_bus *b = open_bus(name);
	struct can_rx rx;

	run("cansend %s 20000040#0000000000000000", name);
	need(next(b, &rx, BOUND_US) == 1 && rx.error && !rx.own, "error frame");
	need(rx.f.can_id == (CAN_ERR_FLAG | CAN_ERR_BUSOFF), "bus-off: %08X", rx.f.can_id);
}

static void check_down(const char *name)
{
	struct can_bus *b = open_bus(name);
	struct can_frame f = frame(0x151, 1);
	struct can_rx rx;
	int r;

	run("ip link set %s down", name);
	need(next(b, &rx, BOUND_US) == -ENETDOWN, "recv says so");
	need(can_send_set(b, &f, 1, 0) == 0 && errno == ENETDOWN, "send too");
	need(can_send_urgent(b, &f, 1, 0) == 0 && errno == ENETDOWN, "urgent too");
	need(can_counts(b).refused == 2 && can_unconfirmed(b) == 0, "counted, not waited for");
	run("ip link set %s up", name);
	need(can_send_set(b, &f, 1, 0) == 1, "up again: the same socket sends");
	need(next(b, &rx, BOUND_US) == 1 && rx.own, "and hears");
	run("ip link del %s", name);
	/* Down comes first, then gone. */
	while ((r = next(b, &rx, BOUND_US)) == -ENETDOWN)
		;
	need(r == -ENODEV, "unplugged: %d", r);
	need(can_send_set(b, &f, 1, 0) == 0 && (errno == ENODEV || errno == ENXIO),
		"send unplugged");
}

/* netem with a short queue on the way out: the kernel refuses in the middle of a set. */
static void check_refused(const char *name)
{
	struct can_bus *b = open_bus(name);
	struct can_frame set[5];
	int n, total = 0;

	for (uint8_t i = 0; i < 5; i++)
		set[i] = frame(0x151u + i, i);
	run("tc qdisc add dev %s root netem delay 60s limit 7", name);
	while ((n = can_send_set(b, set, 5, 0)) == 5)
		total += n;
	need(n < 5 && (errno == ENOBUFS || errno == EAGAIN), "refusal");
	need(total + n >= 5 && total + n <= 10, "%d frames accepted: at most two sets", total + n);
	need(can_counts(b).refused == (unsigned)(5 - n), "counted");
	run("tc qdisc del dev %s root", name);
}

/* Frames nobody reads: the kernel drops, and says how many with the next one. */
static void check_overflow(const char *name)
{
	struct can_bus *b = open_bus(name);
	struct can_frame f = frame(0x123, 0);
	struct can_rx rx;
	unsigned got = 0;

	run("cangen %s -g 0 -n 3000 -I 2A1 -L 8", name);
	need(can_send_set(b, &f, 1, 0) == 1 && can_unconfirmed(b) == 1,
		"own frame into the full queue");
	while (next(b, &rx, 0) == 1)
		got++;
	need(got < 3001, "the queue was full: %u", got);
	run("cansend %s 7FF#00", name);
	need(next(b, &rx, BOUND_US) == 1 && rx.f.can_id == 0x7FF, "next");
	need(can_counts(b).overflow == 3001 - got, "%lu dropped, %u received",
		can_counts(b).overflow, got);
	need(can_unconfirmed(b) == 0, "its own echo was among them: not waited for");
}

/* The time is the kernel's, not that of reading. */
static void check_stamp(const char *name)
{
	struct can_bus *b = open_bus(name);
	struct can_frame f = frame(0x123, 0);
	struct can_rx rx;
	int64_t before = clock_now(), sent;

	need(can_send_set(b, &f, 1, 0) == 1, "send");
	sent = clock_now();
	while (clock_now() < sent + 60000)
		;
	need(next(b, &rx, BOUND_US) == 1, "echo");
	need(rx.t_us >= before - 1000 && rx.t_us < sent + 30000, "stamp %ld us after sending",
		(long)(rx.t_us - sent));
}

/* In the foreground and as our child, so that it ends with the check. */
static pid_t attach(const char *path, const char *name)
{
	char tty[64] = "";
	pid_t pid;

	need(readlink(path, tty, sizeof tty - 1) > 0, "readlink %s", path);
	pid = fork();
	need(pid >= 0, "fork");
	if (pid == 0) {
		/* Not held by a daemon: the descriptors of whoever waits for our output. */
		closefrom(3);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execlp("slcand", "slcand", "-F", "-o", "-c", "-s8", tty, name, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* A real queue in front of an adapter that hangs: slcan network device on our pty. */
static void check_queue(const char *name, const char *path)
{
	char spec[128], why[256];
	struct can_bus *dev, *b;
	struct can_frame set[5], stop = frame(0x150, 1);
	struct can_rx rx;
	int motion = 0, n, place = 0, seen = 0;
	int64_t end = clock_now() + BOUND_US;
	pid_t slcand;

	snprintf(spec, sizeof spec, "slcan:%s", path);
	dev = can_open_device(spec, why, sizeof why);
	need(dev != NULL, "%s", why);
	slcand = attach(path, name);
	while (!slcan_pty_is_open(dev) && clock_now() < end)
		(void)next(dev, &rx, 10000);
	need(slcan_pty_is_open(dev), "slcand opened the channel");
	run("ip link set %s up", name);
	b = open_bus(name);
	need(can_txqueuelen(b) == 10, "queue length %d", can_txqueuelen(b));
	for (uint8_t i = 0; i < 5; i++)
		set[i] = frame(0x151u + i, i);
	slcan_pty_stall(dev, true);
	while ((n = can_send_set(b, set, 5, 0)) == 5)
		motion += n;
	motion += n;
	need(can_send_urgent(b, &stop, 1, 0) == 1, "the stop is taken though motion is refused");
	slcan_pty_stall(dev, false);
	while (seen < motion + 1 && next(dev, &rx, BOUND_US) == 1) {
		seen++;
		if (rx.f.can_id == 0x150)
			place = seen;
	}
	need(seen == motion + 1, "%d of %d frames reached the bus", seen, motion + 1);
	need(place > 0 && place <= 4 && place < seen, "the stop came as number %d of %d", place,
		seen);
	(void)can_close(b, clock_now());
	(void)can_close(dev, clock_now());
	kill(slcand, SIGTERM);
	need(waitpid(slcand, NULL, 0) == slcand, "slcand");
}

/* Standard input, lines of candump -L, printed as read. */
static void check_rescan(void)
{
	char line[256], bus[32], out[256];
	struct can_frame f;
	int64_t t;

	while (fgets(line, sizeof line, stdin)) {
		need(can_scan(line, &f, &t, bus, sizeof bus), "not read: %s", line);
		need(can_print(&f, t, bus, out, sizeof out) > 0, "not printed: %s", line);
		fputs(out, stdout);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *name = argc > 2 ? argv[2] : "";
	const char *arg = argc > 3 ? argv[3] : "";
	char why[256] = "";
	static const struct {
		const char *word;
		void (*fn)(const char *name);
	} CHECKS[] = { { "own", check_own }, { "urgent", check_urgent }, { "error", check_error },
		{ "down", check_down }, { "refused", check_refused },
		{ "overflow", check_overflow }, { "stamp", check_stamp } };

	for (size_t i = 0; i < sizeof CHECKS / sizeof *CHECKS; i++)
		if (!strcmp(what, CHECKS[i].word)) {
			CHECKS[i].fn(name);
			return 0;
		}
	if (!strcmp(what, "foreign")) {
		check_foreign(name, arg);
	} else if (!strcmp(what, "queue")) {
		check_queue(name, arg);
	} else if (!strcmp(what, "rescan")) {
		check_rescan();
	} else if (!strcmp(what, "txqueuelen")) {
		printf("%d\n", can_txqueuelen(open_bus(name)));
	} else if (!strcmp(what, "why")) {
		need(!can_open(name, why, sizeof why), "opened");
		puts(why);
	} else {
		fprintf(stderr, "usage: can_probe CHECK NAME [ARG]\n");
		return 2;
	}
	return 0;
}
