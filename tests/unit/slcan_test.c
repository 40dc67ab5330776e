/* wire/slcan: both sides of the Lawicel text, split at each byte, damage and resynchronisation. */
#include <linux/can/error.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/slcan.h"

static int count, failed;

static void ok(bool good, const char *text)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++count, text);
	failed += !good;
}

static bool same(const struct can_frame *a, const struct can_frame *b)
{
	return a->can_id == b->can_id && a->len == b->len && !memcmp(a->data, b->data, 8);
}

/* Feeds text; the last event that is not NONE, *n their number. */
static enum slcan_event feed(struct slcan *s, const char *text, struct can_frame *f, int *n)
{
	enum slcan_event last = SLCAN_NONE, e;

	*n = 0;
	for (; *text; text++) {
		e = slcan_byte(s, *text, f);
		if (e != SLCAN_NONE) {
			last = e;
			++*n;
		}
	}
	return last;
}

static const struct {
	const char *text;
	canid_t id;
	uint8_t len;
	uint8_t data[8];
} FRAMES[] = {
	{ "t15180100640000000000\r", 0x151, 8, { 1, 0, 0x64 } },
	{ "t7FF0\r", 0x7FF, 0, { 0 } },
	{ "t0002ABCD\r", 0, 2, { 0xAB, 0xCD } },
	{ "T1FFFFFFF10F\r", 0x1FFFFFFFu | CAN_EFF_FLAG, 1, { 0x0F } },
	{ "T000001518FFFFFFFFFFFFFFFF\r", 0x151u | CAN_EFF_FLAG, 8,
		{ 255, 255, 255, 255, 255, 255, 255, 255 } },
	{ "r4728\r", 0x472u | CAN_RTR_FLAG, 8, { 0 } },
	{ "R000004720\r", 0x472u | CAN_EFF_FLAG | CAN_RTR_FLAG, 0, { 0 } },
};
#define N_FRAMES (sizeof FRAMES / sizeof *FRAMES)

static void test_frames(void)
{
	bool printed = true, scanned = true, partial = true;

	for (size_t i = 0; i < N_FRAMES; i++)
		for (int side = 0; side < 2; side++) {
			struct can_frame want = { .can_id = FRAMES[i].id }, got;
			char text[SLCAN_TEXT_MAX];
			struct slcan s;
			int n;

			want.len = FRAMES[i].len;
			memcpy(want.data, FRAMES[i].data, 8);
			printed &= slcan_print(&want, text) == (int)strlen(FRAMES[i].text);
			printed &= !strcmp(text, FRAMES[i].text);
			slcan_init(&s, side);
			scanned &= feed(&s, text, &got, &n) == SLCAN_FRAME && n == 1 &&
				   same(&got, &want);
			/* Cut after each byte: never a frame; the next whole line is read. */
			for (size_t cut = 1; cut + 1 < strlen(text); cut++) {
				char part[SLCAN_TEXT_MAX + 2];
				enum slcan_event e;
				slcan_init(&s, side);
				snprintf(part, sizeof part, "%.*s\r", (int)cut, text);
				e = feed(&s, part, &got, &n);
				partial &= e == SLCAN_DAMAGED && n == 1;
				partial &= feed(&s, text, &got, &n) == SLCAN_FRAME &&
					   same(&got, &want);
			}
		}
	ok(printed, "frames of every sort are printed");
	ok(scanned, "and read back on both sides");
	ok(partial, "a frame cut at any byte is damage; the next line is read");
}

static void test_no_print(void)
{
	struct can_frame f = { .can_id = CAN_ERR_FLAG | 0x40, .len = 8 };
	char text[SLCAN_TEXT_MAX];

	ok(slcan_print(&f, text) == -1, "an error frame has no text");
	f = (struct can_frame){ .can_id = 0x151, .len = 9 };
	ok(slcan_print(&f, text) == -1, "nine bytes have no text");
	f = (struct can_frame){ .can_id = 0x800, .len = 1 };
	ok(slcan_print(&f, text) == -1, "a standard frame has no id above 7FF");
}

static void test_bad_lines(void)
{
	static const char *const BAD[] = { "t8000\r", "t1519000000000000000000\r", "t15G0\r",
		"T2000000001FF\r", "t1511F0F\r", "t15110\r", "t1512AABBC\r", "t1511AA12345\r",
		"t1511AA123\r", "sx200255\r", "sb20025\r", "sb2002555\r", "sb2x0255\r", "e0\r",
		"e2a\r", "e1q\r", "zz\r", "q\r", "t1511 A\r", "t151-1\r", "t1511\xff\x41\r",
		"t151\n11\r" };
	bool good = true;

	for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
		struct slcan s;
		struct can_frame f;
		int n;
		char line[64];
		slcan_init(&s, false);
		snprintf(line, sizeof line, "%.*s\r", (int)strcspn(BAD[i], "\r"), BAD[i]);
		if (feed(&s, line, &f, &n) != SLCAN_DAMAGED || n != 1) {
			good = false;
			printf("# taken: %s\n", BAD[i]);
		}
		good &= feed(&s, "z\r", &f, &n) == SLCAN_ACK && n == 1;
	}
	ok(good, "lines that are not wholly right are damage");
}

static void test_long_line(void)
{
	struct slcan s;
	struct can_frame f;
	int n = 0, m;
	char c = 'A';

	slcan_init(&s, true);
	for (int i = 0; i < 5000; i++)
		n += slcan_byte(&s, c, &f) != SLCAN_NONE;
	ok(n == 0, "an endless line is no event");
	ok(feed(&s, "\r", &f, &m) == SLCAN_DAMAGED && m == 1, "and one damage at its end");
	ok(feed(&s, "t1511AA\r", &f, &m) == SLCAN_FRAME && f.data[0] == 0xAA,
		"then frames are read");
}

static void test_replies(void)
{
	struct slcan s;
	struct can_frame f;
	int n;

	slcan_init(&s, false);
	ok(feed(&s, "z\r", &f, &n) == SLCAN_ACK && !strcmp(s.cmd, "z"), "z acknowledges");
	ok(feed(&s, "Z\r", &f, &n) == SLCAN_ACK && !strcmp(s.cmd, "Z"), "Z acknowledges");
	ok(feed(&s, "\r", &f, &n) == SLCAN_ACK && !strcmp(s.cmd, ""), "a bare CR acknowledges");
	ok(feed(&s, "\a", &f, &n) == SLCAN_NAK && n == 1, "BEL refuses, without a CR");
	ok(feed(&s, "t151\az\r", &f, &n) == SLCAN_ACK && n == 2, "BEL inside a line ends it");
	ok(feed(&s, "V1013\r", &f, &n) == SLCAN_COMMAND && !strcmp(s.cmd, "V1013"),
		"a reply is kept");
	ok(feed(&s, "t1511AA1F40\r", &f, &n) == SLCAN_FRAME && f.len == 1 && f.data[0] == 0xAA,
		"the adapter's time behind a frame is no data");
	slcan_init(&s, true);
	ok(feed(&s, "S8\r", &f, &n) == SLCAN_COMMAND && !strcmp(s.cmd, "S8"), "a command is kept");
	ok(feed(&s, "\r", &f, &n) == SLCAN_COMMAND && !strcmp(s.cmd, ""), "an empty one too");
	ok(feed(&s, "z\r", &f, &n) == SLCAN_DAMAGED, "an adapter is not acknowledged");
}

static void test_states(void)
{
	struct slcan s;
	struct can_frame f;
	int n;

	slcan_init(&s, false);
	ok(feed(&s, "sb200255\r", &f, &n) == SLCAN_STATE && n == 1 &&
			f.can_id == (CAN_ERR_FLAG | CAN_ERR_BUSOFF | CAN_ERR_CNT) && f.len == 8 &&
			f.data[6] == 255 && f.data[7] == 200,
		"sb200255 is bus-off, counters in bytes 6 and 7");
	ok(feed(&s, "sp130140\r", &f, &n) == SLCAN_STATE && f.can_id == 0x20000204u &&
			f.data[1] == CAN_ERR_CRTL_TX_PASSIVE && f.data[6] == 140 &&
			f.data[7] == 130,
		"sp130140 is error passive of the transmitter");
	ok(feed(&s, "sw100001\r", &f, &n) == SLCAN_STATE && f.data[1] == CAN_ERR_CRTL_RX_WARNING,
		"sw100001 is a warning of the receiver");
	ok(feed(&s, "sa000000\r", &f, &n) == SLCAN_STATE && f.data[1] == CAN_ERR_CRTL_ACTIVE,
		"sa000000 is error active again");
	ok(feed(&s, "e1a\r", &f, &n) == SLCAN_STATE && f.can_id & CAN_ERR_ACK,
		"e1a: nobody acknowledges");
	ok(feed(&s, "e3sBO\r", &f, &n) == SLCAN_STATE && f.can_id & CAN_ERR_PROT &&
			f.data[2] == (CAN_ERR_PROT_STUFF | CAN_ERR_PROT_BIT1) &&
			f.data[1] == CAN_ERR_CRTL_TX_OVERFLOW,
		"e3sBO: stuff, bit and overrun");
}

static void test_random(void)
{
	struct slcan s[2];
	struct can_frame f;
	unsigned long events = 0;
	bool good = true;
	static const char LIKELY[] = "tTrRsebwpa0123456789ABCDEF\r\r\r\azZ";

	slcan_init(&s[0], false);
	slcan_init(&s[1], true);
	srand(7);
	for (int i = 0; i < 400000; i++) {
		char c = rand() % 8 ? LIKELY[(size_t)rand() % (sizeof LIKELY - 1)] : (char)rand();
		for (int k = 0; k < 2; k++) {
			enum slcan_event e = slcan_byte(&s[k], c, &f);
			events += e != SLCAN_NONE;
			if (e == SLCAN_FRAME)
				good &= f.len <= 8 && !(f.can_id & CAN_ERR_FLAG);
		}
	}
	ok(good && events > 10000, "random bytes: whole frames only");
}

int main(void)
{
	test_frames();
	test_no_print();
	test_bad_lines();
	test_long_line();
	test_replies();
	test_states();
	test_random();
	printf("1..%d\n", count);
	return failed != 0;
}
