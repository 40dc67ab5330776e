/* wire/rctp against the hex vectors of rctp.md 1.2 and the semantics table of rctp.md 2. */
#include "wire/rctp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

/* Hex digits with blanks between; returns the number of bytes. */
static size_t unhex(const char *text, uint8_t *out)
{
	size_t n = 0;
	unsigned v;
	while (*text) {
		if (*text == ' ') {
			text++;
			continue;
		}
		if (sscanf(text, "%2x", &v) != 1)
			break;
		out[n++] = (uint8_t)v;
		text += 2;
	}
	return n;
}

#define ROW1                                                                                       \
	"52435450 0000000000002940 0000803e 0000803f 000000bf 00000000 00000000 00000000 "         \
	"0000803f 0000403f "

static int is_row1(const struct rctp *r, unsigned flags)
{
	return r->time_s == 12.5 && r->pose.p.x == 0.25 && r->pose.p.y == 1.0 &&
	       r->pose.p.z == -0.5 && r->pose.q.x == 0 && r->pose.q.y == 0 && r->pose.q.z == 0 &&
	       r->pose.q.w == 1 && r->grip == 0.75 && r->flags == flags;
}

static void golden(void)
{
	static const struct {
		const char *tail;
		unsigned flags;
	} rows[] = { { ROW1 "01", 1 }, { ROW1 "03", 3 }, { ROW1 "02", 2 } };
	uint8_t b[64], back[RCTP_SIZE];
	struct rctp r;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char name[64];
		size_t n = unhex(rows[i].tail, b);
		snprintf(name, sizeof(name), "rctp.md 1.2: row with flags %u", rows[i].flags);
		ok(n == RCTP_SIZE && rctp_decode(b, n, &r) == RCTP_OK && is_row1(&r, rows[i].flags),
			"%s", name);
		rctp_encode(&r, back);
		ok(memcmp(b, back, RCTP_SIZE) == 0, "and encodes to the same bytes");
	}
	size_t n = unhex("52435450 000000000000f03f 00000000 00000000 00000000 00000000 f304353f "
			 "00000000 f304353f 0000803f 01",
		b);
	int grip_ok;
	ok(rctp_decode(b, n, &r) == RCTP_OK && r.time_s == 1 && r.grip == 1 && r.pose.q.x == 0 &&
			fabs(r.pose.q.y - sqrt(0.5)) < 1e-7 && r.pose.q.y == r.pose.q.w,
		"rctp.md 1.2: 90 degrees about +y");
	ok(rctp_check(&r, 10, &grip_ok) == RCTP_POSE_OK && fabs(r.pose.q.y - sqrt(0.5)) < 1e-15,
		"its quaternion is renormalised in double");
	n = unhex(ROW1 "01", b);
	unhex("0000c07f", b + 12);
	ok(rctp_decode(b, n, &r) == RCTP_OK && isnan(r.pose.p.x), "rctp.md 1.2: NaN in pos_x");
	ok(rctp_check(&r, 10, &grip_ok) == RCTP_POSE_NONFINITE, "is refused as not finite");
	n = unhex(ROW1 "0000803f 01", b);
	ok(n == 49 && rctp_decode(b, n, &r) == RCTP_OK && is_row1(&r, 0),
		"rctp.md 1.1: 49 bytes are read by the table, byte 44 is flags");
}

static void borders(void)
{
	uint8_t b[64];
	struct rctp r;
	int bad = 0;

	unhex(ROW1 "03", b);
	for (size_t n = 0; n < RCTP_SIZE; n++) {
		uint8_t cut[RCTP_SIZE];
		memcpy(cut, b, n);
		bad += rctp_decode(cut, n, &r) != RCTP_SHORT;
	}
	ok(bad == 0, "cut at each byte 0..44: short");
	for (int i = 0; i < 4; i++) {
		b[i] ^= 0x20;
		bad += rctp_decode(b, RCTP_SIZE, &r) != RCTP_MAGIC;
		b[i] ^= 0x20;
	}
	ok(bad == 0, "each wrong magic byte: refused");
	ok(rctp_decode(b, 3, &r) == RCTP_SHORT, "short wins over magic");
	memset(b + RCTP_SIZE, 0xff, sizeof(b) - RCTP_SIZE);
	ok(rctp_decode(b, sizeof(b), &r) == RCTP_OK && is_row1(&r, 3), "bytes behind 45 ignored");
	for (unsigned f = 0; f < 256; f++) {
		b[44] = (uint8_t)f;
		bad += rctp_decode(b, RCTP_SIZE, &r) != RCTP_OK || r.flags != f;
	}
	ok(bad == 0, "all 256 flags kept");
}

/* Specials as f32 bit patterns: quiet and signalling NaN, infinities, -0, subnormal, largest. */
static const uint32_t special[] = { 0x7fc00000, 0x7f800001, 0xffc00000, 0x7f800000, 0xff800000,
	0x80000000, 0x00000001, 0x7f7fffff };

static void put32(uint8_t *b, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		b[i] = (uint8_t)(v >> (8 * i));
}

static enum rctp_pose expect(int field, uint32_t bits)
{
	int finite = (bits & 0x7f800000) != 0x7f800000;
	if (field == 7) /* gripper: the rest is used */
		return RCTP_POSE_OK;
	if (!finite)
		return RCTP_POSE_NONFINITE;
	if (bits == 0x7f7fffff)
		return field < 3 ? RCTP_POSE_RANGE : RCTP_POSE_QUAT;
	/* -0 and subnormal: as zero; w = 0 leaves the zero quaternion */
	return field == 6 ? RCTP_POSE_QUAT : RCTP_POSE_OK;
}

static void specials(void)
{
	static const char *const names[] = { "px", "py", "pz", "qx", "qy", "qz", "qw", "gripper" };
	for (int field = 0; field < 8; field++) {
		int bad = 0;
		for (size_t s = 0; s < sizeof(special) / sizeof(special[0]); s++) {
			uint8_t b[64];
			struct rctp r;
			int grip_ok = -1;
			int finite = (special[s] & 0x7f800000) != 0x7f800000;
			unhex(ROW1 "01", b);
			put32(b + 12 + 4 * field, special[s]);
			bad += rctp_decode(b, RCTP_SIZE, &r) != RCTP_OK;
			bad += rctp_check(&r, 10, &grip_ok) != expect(field, special[s]);
			bad += grip_ok != (field != 7 || finite);
			bad += field == 7 && finite && !(r.grip >= 0 && r.grip <= 1);
		}
		char name[64];
		snprintf(name, sizeof(name), "special floats in %s", names[field]);
		ok(bad == 0, "%s", name);
	}
	uint8_t b[64];
	struct rctp r;
	int grip_ok;
	unhex(ROW1 "01", b);
	unhex("000000000000f87f", b + 4);
	ok(rctp_decode(b, RCTP_SIZE, &r) == RCTP_OK && isnan(r.time_s) &&
			rctp_check(&r, 10, &grip_ok) == RCTP_POSE_OK,
		"NaN time is no reason to refuse (rctp.md 2)");
}

static void check_rules(void)
{
	static const struct {
		double px, qw, grip;
		enum rctp_pose want;
		double want_grip;
		const char *name;
	} t[] = {
		{ 10, 1, 0.5, RCTP_POSE_OK, 0.5, "10 m is inside" },
		{ 10.001, 1, 0.5, RCTP_POSE_RANGE, 0.5, "beyond 10 m" },
		{ -10.001, 1, 0.5, RCTP_POSE_RANGE, 0.5, "beyond -10 m" },
		{ 0, 0.5, 0, RCTP_POSE_OK, 0, "norm 0.5 is inside" },
		{ 0, 0.499, 0, RCTP_POSE_QUAT, 0, "norm 0.499" },
		{ 0, 1.5, 0, RCTP_POSE_OK, 0, "norm 1.5 is inside" },
		{ 0, 1.501, 0, RCTP_POSE_QUAT, 0, "norm 1.501" },
		{ 0, 0, 0, RCTP_POSE_QUAT, 0, "zero quaternion" },
		{ 0, 1, -0.2, RCTP_POSE_OK, 0, "gripper below 0 is clamped" },
		{ 0, 1, 1.7, RCTP_POSE_OK, 1, "gripper above 1 is clamped" },
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct rctp r = { .pose = { { t[i].px, 0, 0 }, { 0, 0, 0, t[i].qw } },
			.grip = t[i].grip };
		int grip_ok;
		enum rctp_pose got = rctp_check(&r, 10, &grip_ok);
		ok(got == t[i].want && grip_ok && r.grip == t[i].want_grip &&
				(got != RCTP_POSE_OK || r.pose.q.w == 1),
			"%s", t[i].name);
	}
}

int main(void)
{
	golden();
	borders();
	specials();
	check_rules();
	return tap_done();
}
