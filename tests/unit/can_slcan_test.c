/* wire/can on slcan: host side against the adapter on a pty, both in this process. */
#include <errno.h>
#include <fcntl.h>
#include <linux/can/error.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/clock.h"
#include "wire/can.h"
#include "wire/slcan_pty.h"

#define BOUND_US 5000000

static int count, failed;
static char path[72], spec[80], why[256];

static void ok(bool good, const char *text)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++count, text);
	failed += !good;
}

static struct can_frame frame(canid_t id, uint32_t v)
{
	struct can_frame f = { .can_id = id, .len = 8 };

	memcpy(f.data, &v, sizeof v);
	return f;
}

static uint32_t value(const struct can_frame *f)
{
	uint32_t v;

	memcpy(&v, f->data, sizeof v);
	return v;
}

/* What came, by kind. */
struct seen {
	unsigned own, bus, error;
	uint32_t last;
	struct can_frame f[64]; /* the first ones that are not own */
	int err;                /* errno of a lost bus */
};

static void take(struct can_bus *b, struct seen *s)
{
	struct can_rx rx;
	int r;

	while ((r = can_recv(b, &rx)) > 0) {
		s->own += rx.own;
		s->error += rx.error;
		if (!rx.own) {
			if (s->bus < 64)
				s->f[s->bus] = rx.f;
			s->bus++;
			s->last = value(&rx.f);
		}
	}
	if (r < 0)
		s->err = errno;
}

/* One wake of both sides. */
static void turn(struct can_bus *host, struct can_bus *dev, struct seen *h, struct seen *d)
{
	struct pollfd p[2] = { { .fd = can_fd(host), .events = can_events(host) },
		{ .fd = can_fd(dev), .events = can_events(dev) } };

	(void)poll(p, 2, 5);
	take(dev, d);
	take(host, h);
}

static bool settle(struct can_bus *host, struct can_bus *dev, struct seen *h, struct seen *d)
{
	int64_t end = clock_now() + BOUND_US;

	do
		turn(host, dev, h, d);
	while (!can_ready(host) && clock_now() < end);
	return can_ready(host);
}

static bool start(struct can_bus **host, struct can_bus **dev, struct seen *h, struct seen *d)
{
	memset(h, 0, sizeof *h);
	memset(d, 0, sizeof *d);
	*dev = can_open_device(spec, why, sizeof why);
	*host = *dev ? can_open(spec, why, sizeof why) : NULL;
	if (!*host) {
		ok(false, why);
		exit(1);
	}
	return settle(*host, *dev, h, d);
}

static void end(struct can_bus *host, struct can_bus *dev)
{
	(void)can_close(host, clock_now());
	(void)can_close(dev, clock_now());
}

/* 10 000 frames in sets of five, bus frames the other way all the while. */
static void test_flow(void)
{
	struct can_bus *host, *dev;
	struct seen h, d;
	struct can_frame set[5], fb;
	unsigned sets = 0, fed = 0;
	int most = 0;
	bool order = true, refused = true;
	int64_t bound;

	ok(start(&host, &dev, &h, &d) && slcan_pty_is_open(dev), "the setup is answered");
	ok(can_kind(host) == CAN_SLCAN && !can_is_ideal(host) && !strcmp(can_spec(host), spec),
		"kind and name");
	bound = clock_now() + 6 * BOUND_US;
	while (sets < 2000 && clock_now() < bound) {
		for (uint32_t i = 0; i < 5; i++)
			set[i] = frame(0x151 + i, sets * 5 + i);
		if (can_send_set(host, set, 5, 0) == 5) {
			refused &= can_send_set(host, set, 5, 0) == 0 && errno == EAGAIN;
			sets++;
		}
		most = can_unconfirmed(host) > most ? can_unconfirmed(host) : most;
		fb = frame(0x2A1, fed++);
		(void)can_send_set(dev, &fb, 1, 0);
		d.bus = 0;
		turn(host, dev, &h, &d);
		for (unsigned i = 0; i < d.bus && i < 64; i++)
			order &= d.f[i].can_id == 0x151 + value(&d.f[i]) % 5;
	}
	ok(settle(host, dev, &h, &d), "everything is answered in the end");
	ok(sets == 2000 && h.own == 10000 && can_counts(host).confirmed == 10000,
		"10000 frames, each acknowledged");
	ok(can_counts(dev).received == 10000 && d.last == 9999 && order && !can_counts(dev).damaged,
		"and each on the bus, whole");
	ok(most == 5 && refused, "never more than one set unanswered: the next is refused");
	ok(h.bus + can_counts(dev).overflow == fed && h.last == fed - 1 &&
			!can_counts(host).damaged,
		"bus frames arrive beside");
	end(host, dev);
	ok(access(path, F_OK) != 0, "the link goes with the adapter");
}

static void test_stop_overtakes(void)
{
	struct can_bus *host, *dev;
	struct seen h, d;
	struct can_frame set[5], stop[2] = { frame(0x150, 1), frame(0x151, 2) };
	static const canid_t WANT[6] = { 0x150, 0x151, 0x1A2, 0x1A3, 0x1A4, 0x1A5 };
	char junk[256];
	bool order = true;
	int filler;

	(void)start(&host, &dev, &h, &d);
	for (uint32_t i = 0; i < 5; i++)
		set[i] = frame(0x1A1 + i, i);
	slcan_pty_stall(dev, true);
	ok(can_send_set(host, set, 5, 0) == 5 && !can_ready(host),
		"stalled: one set goes into the tty");
	ok(can_send_set(host, set, 5, 0) == 0 && errno == EAGAIN, "a second one does not");
	ok(can_send_urgent(host, stop, 2, 0) == 2 && can_unconfirmed(host) == 7,
		"urgent frames are taken all the same");
	slcan_pty_stall(dev, false);
	ok(settle(host, dev, &h, &d) && d.bus == 7 && d.f[5].can_id == 0x150 && h.own == 7,
		"they come right behind what was in the tty");
	/* Now with a full tty: nothing of the set is in it but the frame being written. */
	memset(&d, 0, sizeof d);
	memset(junk, 'X', sizeof junk);
	slcan_pty_stall(dev, true);
	filler = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK);
	while (write(filler, junk, sizeof junk) > 0)
		;
	close(filler);
	ok(can_send_set(host, set, 5, 0) == 5 && can_events(host) & POLLOUT,
		"full tty: bytes wait");
	ok(can_send_urgent(host, stop, 2, 0) == 2, "urgent frames are taken");
	slcan_pty_stall(dev, false);
	ok(settle(host, dev, &h, &d) && d.bus == 6, "the adapter wakes");
	for (unsigned i = 0; i < 6; i++)
		order &= d.f[i].can_id == WANT[i];
	ok(order, "urgent frames went before all that was not in the tty");
	ok(can_counts(host).refused == 6 && can_counts(dev).damaged == 1,
		"the frame behind the junk was refused, and counted");
	end(host, dev);
}

static void test_refusal_and_state(void)
{
	struct can_bus *host, *dev;
	struct seen h, d;
	struct can_frame f = frame(0x151, 7);

	(void)start(&host, &dev, &h, &d);
	slcan_pty_refuse(dev, true);
	ok(can_send_set(host, &f, 1, 0) == 1 && settle(host, dev, &h, &d) && d.bus == 0 &&
			h.own == 0 && can_counts(host).refused == 1 &&
			can_counts(host).confirmed == 0,
		"a refusal is counted and does not stay unconfirmed");
	slcan_pty_refuse(dev, false);
	ok(can_send_set(host, &f, 1, 0) == 1 && settle(host, dev, &h, &d) && d.bus == 1 &&
			h.own == 1,
		"then frames go again");
	slcan_pty_state(dev, 'b', 200, 255);
	for (int64_t bound = clock_now() + BOUND_US; !h.error && clock_now() < bound;)
		turn(host, dev, &h, &d);
	ok(h.error == 1 && h.f[0].can_id == (CAN_ERR_FLAG | CAN_ERR_BUSOFF | CAN_ERR_CNT),
		"bus-off arrives as an error frame");
	end(host, dev);
}

static void test_delay(void)
{
	struct can_bus *host, *dev;
	struct seen h, d;
	struct can_frame set[4];
	int64_t begin;

	(void)start(&host, &dev, &h, &d);
	for (uint32_t i = 0; i < 4; i++)
		set[i] = frame(0x155, i);
	slcan_pty_delay(dev, 3000);
	begin = clock_now();
	ok(can_send_set(host, set, 4, 0) == 4 && settle(host, dev, &h, &d), "a slow wire");
	ok(clock_now() - begin >= 12000 && d.bus == 4 && slcan_pty_wake(dev) == -1,
		"four frames take four times its delay");
	end(host, dev);
}

static void test_hosts_come_and_go(void)
{
	struct can_bus *host, *dev;
	struct seen h, d;
	struct can_frame f;
	int64_t begin;

	(void)start(&host, &dev, &h, &d);
	begin = clock_now();
	/* How much the host left is seen when the kernel has moved it: a burst may be ahead of that. */
	for (uint32_t i = 0; can_counts(dev).overflow <= 4000 && clock_now() - begin < BOUND_US;
		i++) {
		f = frame(0x2A5, i);
		(void)can_send_set(dev, &f, 1, 0);
	}
	ok(clock_now() - begin < BOUND_US && can_counts(dev).overflow > 4000,
		"a host that does not read blocks nobody; the loss is counted");
	(void)can_close(host, clock_now());
	memset(&h, 0, sizeof h);
	host = can_open(spec, why, sizeof why);
	ok(host && settle(host, dev, &h, &d) && h.bus == 0,
		"the next host is not given old frames");
	f = frame(0x2A5, 123456);
	(void)can_send_set(dev, &f, 1, 0);
	for (int64_t bound = clock_now() + BOUND_US; !h.bus && clock_now() < bound;)
		turn(host, dev, &h, &d);
	ok(h.bus == 1 && h.last == 123456, "but new ones");
	(void)can_close(dev, clock_now());
	take(host, &h);
	ok(h.err == EIO || h.err == ENODEV, "an adapter that is pulled out is an error of recv");
	f = frame(0x151, 1);
	ok(can_send_set(host, &f, 1, 0) == 0 && can_send_urgent(host, &f, 1, 0) == 0,
		"and nothing is accepted any more");
	(void)can_close(host, clock_now());
}

/* What piled up while we were frozen must not look fresh. */
static void test_backlog(void)
{
	struct can_bus *host, *dev;
	struct seen h, d;
	struct can_frame f;
	struct can_rx rx;
	int64_t look, bound, fresh = 0;
	unsigned n = 0;
	bool old = true;

	(void)start(&host, &dev, &h, &d);
	take(host, &h);
	look = clock_now();
	while (clock_now() < look + 80000) {
		f = frame(0x2A5, n++);
		(void)can_send_set(dev, &f, 1, 0);
	}
	for (n = 0; can_recv(host, &rx) == 1; n++)
		old &= rx.t_us <= look;
	ok(n > 40 && old && can_counts(dev).overflow > 0, "a backlog is as old as the last look");
	bound = clock_now() + BOUND_US;
	while (!fresh && clock_now() < bound) {
		(void)can_send_set(dev, &f, 1, 0);
		while (can_recv(host, &rx) == 1)
			fresh = rx.t_us > look + 80000 ? rx.t_us : 0;
	}
	ok(fresh, "then frames are fresh again");
	end(host, dev);
}

/* Other adapters: a bare pty, its lines answered (or not) by hand. */
static void answer_lines(int m, const char *reply)
{
	char b[1024];
	ssize_t n = read(m, b, sizeof b);

	for (ssize_t i = 0; i < n; i++)
		if (b[i] == '\r' && *reply && write(m, reply, strlen(reply)) < 0)
			ok(false, "write");
}

static struct can_bus *bare(int *m)
{
	char s[96];

	*m = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (*m < 0 || grantpt(*m) || unlockpt(*m))
		return NULL;
	snprintf(s, sizeof s, "slcan:%s", ptsname(*m));
	return can_open(s, why, sizeof why);
}

static bool until_ready(struct can_bus *host, int m, const char *reply, struct seen *h)
{
	int64_t bound = clock_now() + BOUND_US;

	while (!can_ready(host) && clock_now() < bound) {
		struct pollfd p = { .fd = m, .events = POLLIN };
		(void)poll(&p, 1, 2);
		answer_lines(m, reply);
		take(host, h);
	}
	return can_ready(host);
}

static void test_cr_adapter(void)
{
	struct can_frame set[5];
	struct seen h = { 0 };
	struct can_bus *host;
	bool good = true;
	int m;

	for (uint32_t i = 0; i < 5; i++)
		set[i] = frame(0x151 + i, i);
	host = bare(&m);
	good = host && until_ready(host, m, "\r", &h);
	for (int k = 0; k < 3 && good; k++)
		good = can_send_set(host, set, 5, 0) == 5 && !can_ready(host) &&
		       until_ready(host, m, "\r", &h);
	ok(good && h.own == 15 && can_counts(host).confirmed == 15,
		"an adapter that answers by CR");
	(void)can_close(host, clock_now());
	close(m);
}

static void test_silent_adapter(void)
{
	struct can_frame set[5];
	struct seen h = { 0 };
	struct can_bus *host;
	int64_t bound;
	bool waits, good;
	int m;

	for (uint32_t i = 0; i < 5; i++)
		set[i] = frame(0x151 + i, i);
	host = bare(&m);
	good = host && until_ready(host, m, "", &h);
	ok(good, "an adapter that answers nothing is ready when the setup's time is up");
	waits = can_send_set(host, set, 5, 0) == 5 && !can_ready(host) &&
		can_unconfirmed(host) == 5;
	bound = clock_now() + 120000;
	while (clock_now() < bound) {
		answer_lines(m, "");
		take(host, &h);
	}
	ok(waits && !can_ready(host), "no answer and a quiet bus: nothing more goes out");
	bound = clock_now() + BOUND_US;
	while (!can_ready(host) && clock_now() < bound) {
		if (write(m, "t2A1100\r", 8) != 8)
			break;
		take(host, &h);
	}
	ok(can_ready(host) && h.bus >= 16, "but a busy bus shows that it never answers");
	good = true;
	for (int k = 0; k < 3; k++)
		good &= can_send_set(host, set, 5, 0) == 5 && until_ready(host, m, "", &h);
	ok(good, "then the tty's queue decides");
	(void)can_close(host, clock_now());
	close(m);
}

static void test_errors(void)
{
	char file[80], s[96];
	int fd;

	ok(!can_open("slcan:/nonexistent/tty", why, sizeof why) && strstr(why, "No such file") &&
			strstr(why, "plugged"),
		"no such device: the reason and a remedy");
	snprintf(file, sizeof file, "%s.file", path);
	fd = open(file, O_CREAT | O_RDWR, 0600);
	snprintf(s, sizeof s, "slcan:%s", file);
	ok(!can_open(s, why, sizeof why) && strstr(why, "not a serial device"),
		"a file is no adapter");
	ok(!can_open_device(s, why, sizeof why) && strstr(why, "File exists"),
		"a file is not replaced by the pty's link");
	close(fd);
	unlink(file);
	ok(!can_open_device("slcan:/nonexistent/a", why, sizeof why), "no folder for the link");
	ok(!can_open_device("-", why, sizeof why) &&
			!can_open_device("unixgram:/x", why, sizeof why),
		"an arm cannot sit on a one-way bus");
}

static void test_second_adapter(void)
{
	char first[80] = "", now[80] = "", other[] = "/dev/pts/999999";
	struct can_bus *a = can_open_device(spec, why, sizeof why);

	ok(a && readlink(path, first, sizeof first - 1) > 0, "an adapter is there");
	ok(!can_open_device(spec, why, sizeof why) && strstr(why, "in use"),
		"a second one on its link is refused");
	ok(readlink(path, now, sizeof now - 1) > 0 && !strcmp(first, now), "the link stays");
	unlink(path);
	ok(!symlink(other, path), "the link is somebody else's now");
	can_close(a, 0);
	memset(now, 0, sizeof now);
	ok(readlink(path, now, sizeof now - 1) > 0 && !strcmp(other, now), "it is left alone");
	a = can_open_device(spec, why, sizeof why);
	ok(a != NULL, "a link to nothing is replaced");
	can_close(a, 0);
	/* The number came again: a terminal, but no adapter. */
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	ok(!grantpt(terminal) && !unlockpt(terminal) && !symlink(ptsname(terminal), path),
		"a link to a terminal of something else");
	a = can_open_device(spec, why, sizeof why);
	ok(a != NULL, "is replaced");
	can_close(a, 0);
	close(terminal);
}

int main(void)
{
	const char *dir = getenv("TMPDIR");

	snprintf(path, sizeof path, "%.40s/can_slcan_test.%ld", dir ? dir : "/tmp", (long)getpid());
	snprintf(spec, sizeof spec, "slcan:%s", path);
	test_flow();
	test_stop_overtakes();
	test_refusal_and_state();
	test_delay();
	test_hosts_come_and_go();
	test_backlog();
	test_cr_adapter();
	test_silent_adapter();
	test_errors();
	test_second_adapter();
	printf("1..%d\n", count);
	return failed != 0;
}
