/* wire/can on ideal arms, and candump -L text both ways. */
#include <errno.h>
#include <fcntl.h>
#include <linux/can/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "run/clock.h"
#include "wire/can.h"

static int count, failed;
static char path[72], why[256];

static void ok(bool good, const char *text)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++count, text);
	failed += !good;
}

static const struct {
	const char *line;
	int64_t t_us;
	canid_t id;
	uint8_t len;
	uint8_t data[8];
} LINES[] = {
	{ "(1436509053.249713) vcan0 044#2A366C2BBA\n", 1436509053249713, 0x044, 5,
		{ 0x2A, 0x36, 0x6C, 0x2B, 0xBA } },
	{ "(0000000000.000001) can0 7FF#\n", 1, 0x7FF, 0, { 0 } },
	{ "(0000000012.345678) can0 00000151#0102\n", 12345678, 0x151u | CAN_EFF_FLAG, 2,
		{ 1, 2 } },
	{ "(0000000012.000000) can0 472#R8\n", 12000000, 0x472u | CAN_RTR_FLAG, 8, { 0 } },
	{ "(0000000012.000000) can0 472#R\n", 12000000, 0x472u | CAN_RTR_FLAG, 0, { 0 } },
	{ "(0000000012.000000) slcan-left 20000040#0000000000000000\n", 12000000,
		CAN_ERR_FLAG | CAN_ERR_BUSOFF, 8, { 0 } },
};

static void test_lines(void)
{
	bool print = true, scan = true, cut = true;

	for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
		struct can_frame f = { .can_id = LINES[i].id }, g;
		char buf[96], bus[16], part[96];
		size_t n = strlen(LINES[i].line);
		int64_t t;
		f.len = LINES[i].len;
		memcpy(f.data, LINES[i].data, 8);
		snprintf(bus, sizeof bus, "%.*s", (int)strcspn(LINES[i].line + 20, " "),
			LINES[i].line + 20);
		print &= can_print(&f, LINES[i].t_us, bus, buf, sizeof buf) == (int)n &&
			 !strcmp(buf, LINES[i].line);
		print &= can_print(&f, LINES[i].t_us, bus, buf, n) == -1;
		scan &= can_scan(LINES[i].line, &g, &t, bus, sizeof bus) && t == LINES[i].t_us &&
			g.can_id == f.can_id && g.len == f.len && !memcmp(g.data, f.data, 8);
		for (size_t k = 0; k < (size_t)(strchr(LINES[i].line, '#') - LINES[i].line); k++) {
			snprintf(part, sizeof part, "%.*s", (int)k, LINES[i].line);
			cut &= !can_scan(part, &g, &t, bus, sizeof bus);
		}
	}
	ok(print, "lines are printed as candump -L prints them");
	ok(scan, "and read back");
	ok(cut, "a line cut before its data is refused");
}

static void test_bad_lines(void)
{
	static const char *const BAD[] = { "", "(1.000000) can0 800#00\n", "(1.0) can0 151#00\n",
		"(1.000000) can0 151#0\n", "(1.000000) can0 151#0G\n",
		"(1.000000) can0 151#000000000000000000\n", "(1.000000) can0 0151#00\n",
		"(1.000000) can0 151##100\n", "(1.000000) can0 151#00 X\n",
		"(1.000000) can0151#00\n", "(-1.000000) can0 151#00\n",
		"(1.000000) interface-too-long 151#00\n", "(1.000000) can0 40000000#00\n",
		"1.000000 can0 151#00\n", "(1.000000) can0 151#00x\n", "(1.000000) can0 151#R9\n" };
	struct can_frame f = { .can_id = 0x151, .len = 9 };
	char bus[16], buf[96];
	int64_t t;
	bool good = true;

	for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
		if (can_scan(BAD[i], &f, &t, bus, sizeof bus)) {
			printf("# taken: %s", BAD[i]);
			good = false;
		}
	ok(good, "lines that are not wholly right are refused");
	ok(can_scan("(1.000000) can0 151#aBcD T\r\n", &f, &t, bus, sizeof bus) &&
			f.data[0] == 0xAB && f.len == 2,
		"small digits, a direction and CR are taken");
	f.len = 9;
	ok(can_print(&f, 1, "can0", buf, sizeof buf) == -1, "nine bytes have no line");
	f.len = 1;
	ok(can_print(&f, -1, "can0", buf, sizeof buf) == -1, "nor has a time before 0");
}

static void test_file(void)
{
	struct can_frame set[3] = { { .can_id = 0x152, .len = 1 }, { .can_id = 0x153, .len = 1 },
		{ .can_id = 0x154, .len = 1 } };
	struct can_bus *b = can_open(path, why, sizeof why);
	struct can_rx rx;
	char line[96], bus[16];
	int64_t t;
	int n = 0;
	bool good = true;
	FILE *in;

	ok(b && can_is_ideal(b) && can_kind(b) == CAN_TEXT && can_fd(b) == -1 && can_ready(b),
		"a word with a slash is a file");
	for (int k = 0; k < 1000; k++)
		good &= can_send_set(b, set, 3, k * 33333) == 3;
	good &= can_send_urgent(b, set, 1, 1) == 1 && can_recv(b, &rx) == 0 &&
		can_unconfirmed(b) == 0;
	ok(good && can_counts(b).sent == 3001 && can_txqueuelen(b) == -1, "takes everything");
	ok(can_close(b, clock_now() + 1000000) == 0, "and closes");
	in = fopen(path, "r");
	while (in && fgets(line, sizeof line, in)) {
		struct can_frame f;
		good &= can_scan(line, &f, &t, bus, sizeof bus) && !strcmp(bus, "can0");
		if (n < 3000)
			good &= f.can_id == 0x152u + (unsigned)n % 3 && t == n / 3 * 33333;
		n++;
	}
	ok(good && n == 3001, "every frame is a line, with the time it was given");
	if (in)
		fclose(in);
	unlink(path);
}

/* A reader that does not read: nothing blocks, sets are taken whole or refused whole. */
static void test_full_fifo(void)
{
	struct can_frame set[3] = { { .can_id = 0x152, .len = 8 }, { .can_id = 0x153, .len = 8 },
		{ .can_id = 0x154, .len = 8 } };
	struct can_bus *b;
	char line[96], bus[16];
	int64_t t;
	unsigned long sent = 0, lines = 0;
	bool refused = false, good = true;
	int fd, n;
	FILE *in;

	ok(mkfifo(path, 0600) == 0 && !can_open(path, why, sizeof why) &&
			strstr(why, "nobody reads"),
		"a FIFO without a reader is refused in words");
	fd = open(path, O_RDONLY | O_NONBLOCK);
	b = can_open(path, why, sizeof why);
	for (int k = 0; b && k < 5000; k++) {
		n = can_send_set(b, set, 3, k);
		good &= n == 0 || n == 3;
		refused |= n == 0 && errno == EAGAIN;
		sent += (unsigned long)n;
	}
	ok(good && refused && sent > 1000 && can_counts(b).refused + sent == 15000,
		"a full pipe refuses whole sets and counts them");
	ok(can_drain(b, clock_now() + 20000) == -1 && errno == ETIMEDOUT, "draining has its bound");
	fcntl(fd, F_SETFL, 0);
	in = fdopen(fd, "r");
	while (lines < sent && fgets(line, sizeof line, in)) {
		struct can_frame f;
		good &= can_scan(line, &f, &t, bus, sizeof bus) && f.can_id == 0x152 + lines % 3;
		lines++;
		if (lines % 100 == 0)
			(void)can_drain(b, 0);
	}
	ok(good && lines == sent, "what was taken arrives whole and in order");
	fclose(in);
	(void)can_close(b, clock_now());
	unlink(path);
}

static void test_unixgram(void)
{
	struct can_frame set[3] = { { .can_id = 0x152, .len = 1, .data = { 7 } },
		{ .can_id = 0x153, .len = 1 }, { .can_id = 0x154, .len = 1 } },
			 f;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char spec[96];
	struct can_bus *b;
	int fd, done = 3;

	snprintf(spec, sizeof spec, "unixgram:%s", path);
	ok(!can_open(spec, why, sizeof why) && strstr(why, "start the reader"),
		"no reader: in words");
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	if (bind(fd, (struct sockaddr *)&a, sizeof a))
		ok(false, "bind");
	b = can_open(spec, why, sizeof why);
	ok(b && can_is_ideal(b) && can_send_set(b, set, 3, 0) == 3 &&
			recv(fd, &f, sizeof f, 0) == 16 && f.can_id == 0x152 && f.data[0] == 7,
		"a frame is a datagram of 16 bytes");
	for (int k = 0; k < 10000 && done == 3; k++)
		done = can_send_set(b, set, 3, 0);
	ok(done < 3 && (errno == EAGAIN || errno == ENOBUFS) && can_counts(b).refused > 0,
		"a full socket refuses");
	ok(can_close(b, clock_now()) == 0, "and closes");
	close(fd);
	unlink(path);
}

static void test_open_errors(void)
{
	char name[200];

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	ok(!can_open(name, why, sizeof why) && *why, "an endless name");
	ok(!can_open("/nonexistent/file", why, sizeof why) && strstr(why, "No such file"),
		"no folder");
	*why = '\0';
	/* With or without CAN in this kernel: a reason that says what to do. */
	ok(!can_open("nosuchcan7", why, sizeof why) &&
			(strstr(why, "modprobe can_raw") || strstr(why, "ip link")),
		"no such interface, or no CAN at all: reason and remedy");
}

int main(void)
{
	const char *dir = getenv("TMPDIR");

	snprintf(path, sizeof path, "%.40s/can_text_test.%ld", dir ? dir : "/tmp", (long)getpid());
	test_lines();
	test_bad_lines();
	test_file();
	test_full_fifo();
	test_unixgram();
	test_open_errors();
	printf("1..%d\n", count);
	return failed != 0;
}
