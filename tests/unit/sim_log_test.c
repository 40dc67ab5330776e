/* The invariant log of the simulated arm: what it names and what it lets pass (piper:S23). */
#include <math.h>
#include <string.h>

#include "piper-sim/control.h"
#include "piper-sim/delay.h"
#include "piper-sim/log.h"
#include "tap.h"

#define DEG (M_PI / 180)
#define MS 1000

static const double READY[6] = { 0, 86 * DEG, -45 * DEG, 0, 24 * DEG, 0 };

/* An arm with its log, as the program drives them. */
struct bench {
	struct arm a;
	struct log l;
	unsigned long seen[LOG_KINDS];
	char last[100];
};

static void say(void *arg, int64_t t_us, enum log_kind kind, const char *text)
{
	struct bench *b = arg;

	(void)t_us;
	b->seen[kind]++;
	(void)snprintf(b->last, sizeof b->last, "%s", text);
}

static void bench_init(struct bench *b)
{
	struct arm_opts o = ARM_OPTS_INIT;

	memset(b, 0, sizeof *b);
	memcpy(o.start, READY, sizeof o.start);
	o.starts_enabled = true;
	simarm_init(&b->a, &o, 1000 * MS);
	simlog_init(&b->l, say, b, false);
	simlog_spoken(&b->l, true, b->a.now_us);
}

static void later(struct bench *b, int64_t ms)
{
	for (int64_t i = 0; i < ms; i++) {
		simarm_advance(&b->a, b->a.now_us + MS);
		if (b->a.now_us % ARM_PERIOD_US == 0)
			simlog_spoken(&b->l, simlog_fit(&b->a), b->a.now_us);
		simlog_tick(&b->l, &b->a, b->a.now_us);
	}
}

static void take(struct bench *b, const struct can_frame *f)
{
	struct can_frame reply[ARM_REPLY_MAX];

	simlog_command(&b->l, f, b->a.now_us);
	(void)simarm_take(&b->a, f, reply);
}

static void raw(struct bench *b, canid_t id, uint8_t b0, uint8_t b1, uint8_t b2, uint8_t b3)
{
	struct can_frame f = { .can_id = id, .can_dlc = 8, .data = { b0, b1, b2, b3 } };

	take(b, &f);
}

static unsigned long total(const struct bench *b)
{
	return simlog_violations(&b->l);
}

static void send_pose(struct bench *b, double dz, int from, int to)
{
	struct pose p = chain_fk(b->a.o.dh, READY);
	struct can_frame f[3];

	p.p.z += dz;
	(void)piper_pose(f, p);
	for (int i = from; i <= to; i++)
		take(b, &f[i]);
}

static void send_joints(struct bench *b, double dj1)
{
	double q[6];
	struct can_frame f[3];

	memcpy(q, READY, sizeof q);
	q[0] += dj1;
	(void)piper_joints(f, q);
	for (int i = 0; i < 3; i++)
		take(b, &f[i]);
}

static void good_host(void)
{
	struct bench b;
	struct can_frame g;

	bench_init(&b);
	simlog_opened(&b.l, b.a.now_us);
	later(&b, 301);
	piper_ask_firmware(&g);
	take(&b, &g);
	piper_ask_limits(&g, 1);
	take(&b, &g);
	raw(&b, 0x151, 1, 1, 25, 0);
	send_joints(&b, 0);
	later(&b, 33);
	send_pose(&b, 0, 0, 2); /* gate:G10 */
	for (int i = 0; i < 100; i++) {
		raw(&b, 0x151, 1, 0, 25, 0);
		send_pose(&b, 0.0005 * i, 0, 2);
		(void)piper_gripper(&g, 0.05, 1, 1);
		take(&b, &g);
		later(&b, 33);
	}
	raw(&b, 0x151, 1, 1, 25, 0);
	double q[6];
	struct can_frame f[3];
	memcpy(q, b.a.q, sizeof q);
	(void)piper_joints(f, q);
	for (int i = 0; i < 3; i++)
		take(&b, &f[i]);
	later(&b, 500);
	simlog_end(&b.l, b.a.now_us);
	ok(total(&b) == 0, "a careful host: nothing to say (%lu, '%s')", total(&b), b.last);
	ok(b.l.commands == 2 + 4 + 3 + 500 + 4, "%lu commands counted", b.l.commands);
}

static void overtaken(void)
{
	struct bench b;

	bench_init(&b);
	raw(&b, 0x151, 1, 0, 25, 0);
	send_pose(&b, 0, 0, 0);
	raw(&b, 0x151, 1, 1, 25, 0); /* a hold set on its own socket overtakes */
	send_joints(&b, 0);
	send_pose(&b, 0, 1, 2);
	later(&b, 100);
	ok(total(&b) == 0, "a hold set may overtake a set whose frames all follow ('%s')", b.last);
}

static void forbidden(void)
{
	static const struct {
		canid_t id;
		uint8_t b[4];
		bool is_bad;
	} rows[] = { { 0x150, { 2 }, true }, { 0x150, { 1 }, true }, { 0x150, { 0 }, true },
		{ 0x471, { 7, 1 }, true }, { 0x471, { 7, 2 }, false }, { 0x470, { 0xFC }, true },
		{ 0x474, { 1 }, true }, { 0x475, { 7 }, true }, { 0x477, { 1 }, false },
		{ 0x477, { 0, 2 }, true }, { 0x479, { 0 }, true }, { 0x47A, { 0 }, true },
		{ 0x47D, { 100 }, true }, { 0x487, { 1 }, true }, { 0x15A, { 0 }, true },
		{ 0x15F, { 0 }, true }, { 0x181, { 'w' }, true }, { 0x187, { 'r' }, true },
		{ 0x191, { 1 }, true }, { 0x121, { 1 }, true }, { 0x422, { 1 }, true },
		{ 0x151, { 1, 1, 25, 0xAD }, true }, { 0x151, { 1, 1, 25, 0 }, false },
		{ 0x472, { 1, 1 }, false }, { 0x4AF, { 1 }, false }, { 0x158, { 1 }, true } };
	struct bench b;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bench_init(&b);
		raw(&b, rows[i].id, rows[i].b[0], rows[i].b[1], rows[i].b[2], rows[i].b[3]);
		ok(b.seen[LOG_FORBIDDEN] == rows[i].is_bad && total(&b) == rows[i].is_bad,
			"%03X %02x %02x is %s ('%s')", rows[i].id, rows[i].b[0], rows[i].b[1],
			rows[i].is_bad ? "forbidden" : "allowed", b.last);
	}
	bench_init(&b);
	b.l.may_damp = true;
	raw(&b, 0x150, 1, 0, 0, 0);
	ok(total(&b) == 0, "0x150 01 where it is allowed");
	raw(&b, 0x150, 2, 0, 0, 0);
	ok(b.seen[LOG_FORBIDDEN] == 1, "  ... never 0x150 02");
}

static void malformed(void)
{
	struct can_frame f = { .can_id = 0x151 | CAN_EFF_FLAG, .can_dlc = 8 };
	struct bench b;

	bench_init(&b);
	take(&b, &f);
	f.can_id = 0x151 | CAN_RTR_FLAG;
	take(&b, &f);
	f.can_id = 0x152;
	f.can_dlc = 7;
	take(&b, &f);
	f.can_id = 0x7FF;
	f.can_dlc = 8;
	take(&b, &f);
	f.can_id = 0x2A1;
	take(&b, &f);
	raw(&b, 0x151, 1, 1, 101, 0);
	ok(b.seen[LOG_MALFORMED] == 6 && total(&b) == 6,
		"extended, remote, short, unknown, feedback, out of range (%lu)", total(&b));
}

static void torn(void)
{
	struct bench b;

	bench_init(&b);
	send_pose(&b, 0, 0, 1);
	later(&b, 60);
	ok(b.seen[LOG_TORN] == 1, "0x154 missing: '%s'", b.last);
	bench_init(&b);
	send_pose(&b, 0, 0, 0);
	send_pose(&b, 0, 2, 2);
	ok(b.seen[LOG_TORN] == 1, "0x153 missing: '%s'", b.last);
	bench_init(&b);
	send_pose(&b, 0, 1, 2);
	ok(b.seen[LOG_TORN] >= 1, "0x152 missing: '%s'", b.last);
	bench_init(&b);
	send_pose(&b, 0, 0, 1);
	send_pose(&b, 0, 0, 2);
	ok(b.seen[LOG_TORN] == 1 && b.l.pose.next == 0, "a new set inside a set: '%s'", b.last);
	bench_init(&b);
	send_pose(&b, 0, 0, 0);
	raw(&b, 0x159, 0, 0, 0, 0);
	ok(b.seen[LOG_TORN] == 1, "gripper inside a set: '%s'", b.last);
	bench_init(&b);
	raw(&b, 0x151, 1, 0, 25, 0);
	raw(&b, 0x159, 0, 0, 0, 0);
	ok(b.seen[LOG_TORN] == 1, "MOVE P, then the gripper: '%s'", b.last);
	bench_init(&b);
	raw(&b, 0x151, 1, 0, 25, 0);
	later(&b, 60);
	ok(b.seen[LOG_TORN] == 1, "MOVE P alone: '%s'", b.last);
	bench_init(&b);
	raw(&b, 0x155, 0, 0, 0, 0);
	raw(&b, 0x157, 0, 0, 0, 0);
	ok(b.seen[LOG_TORN] == 1, "0x156 missing: '%s'", b.last);
	bench_init(&b);
	send_pose(&b, 0, 0, 1);
	simlog_end(&b.l, b.a.now_us);
	ok(b.seen[LOG_TORN] == 1, "set open at the end: '%s'", b.last);
}

static void far(void)
{
	struct bench b;

	bench_init(&b);
	raw(&b, 0x151, 1, 1, 25, 0);
	send_joints(&b, 0.3);
	later(&b, 10);
	ok(b.seen[LOG_FAR] == 1 && total(&b) == 1, "first target far: '%s'", b.last);
	send_joints(&b, 0.6);
	later(&b, 10);
	ok(b.seen[LOG_FAR] == 1, "  ... said of the first only");

	bench_init(&b);
	send_pose(&b, 0.10, 0, 2);
	raw(&b, 0x151, 1, 1, 25, 0);
	send_joints(&b, 0);
	later(&b, 100);
	ok(total(&b) == 0, "a pose stored under MOVE J is not followed ('%s')", b.last);
	raw(&b, 0x151, 1, 0, 25, 0);
	later(&b, 10);
	ok(b.seen[LOG_FAR] == 1, "0x151 wakes the old pose: '%s'", b.last);
}

static void in_time(void)
{
	struct bench b;

	bench_init(&b);
	simlog_opened(&b.l, b.a.now_us);
	later(&b, 298);
	raw(&b, 0x472, 1, 1, 0, 0);
	raw(&b, 0x472, 2, 1, 0, 0);
	ok(b.seen[LOG_EARLY] == 1 && total(&b) == 1, "a command 298 ms after opening");
	simlog_closed(&b.l);
	simlog_opened(&b.l, b.a.now_us);
	later(&b, 300);
	raw(&b, 0x472, 1, 1, 0, 0);
	ok(b.seen[LOG_EARLY] == 1, "  ... 300 ms after the next opening is in time");

	bench_init(&b);
	simlog_opened(&b.l, b.a.now_us);
	raw(&b, 0x151, 1, 1, 25, 0);
	send_joints(&b, 0);
	later(&b, 100);
	ok(total(&b) == 0, "gate:G19: one hold set may come early");
	raw(&b, 0x151, 1, 1, 25, 0);
	ok(b.seen[LOG_EARLY] == 1, "  ... a second one may not");
	bench_init(&b);
	simlog_opened(&b.l, b.a.now_us);
	raw(&b, 0x151, 1, 1, 25, 0);
	later(&b, 100);
	ok(b.seen[LOG_EARLY] == 1, "  ... nor a part of one");

	bench_init(&b);
	raw(&b, 0x151, 1, 1, 25, 0);
	send_joints(&b, 0);
	simarm_force_status(&b.a, 5);
	later(&b, 150);
	send_joints(&b, 0);
	ok(total(&b) == 0, "a target shortly after a fault passes");
	later(&b, 10);
	send_joints(&b, 0);
	send_joints(&b, 0);
	ok(b.seen[LOG_AFTER_FAULT] == 1 && total(&b) == 1, "later it is named, once");
	simarm_force_status(&b.a, 0);
	later(&b, 10);
	send_joints(&b, 0);
	ok(total(&b) == 1, "  ... and passes again afterwards");

	bench_init(&b);
	raw(&b, 0x151, 1, 1, 25, 0);
	send_joints(&b, 0);
	simarm_advance(&b.a, b.a.now_us + 151 * MS); /* no burst meanwhile */
	send_joints(&b, 0);
	ok(b.seen[LOG_UNHEARD] == 1 && total(&b) == 1, "a target to a silent arm");
}

static void delays(void)
{
	static struct delay d;
	const struct delay_burst *got;
	int n = 0, last = -1, wrong = 0;

	d.delay_us = 60 * MS;
	for (int i = 0; i < 40; i++) { /* a burst each 5 ms */
		struct delay_burst *b = delay_put(&d);
		b->made_us = 5 * MS * i;
		b->n = i;
		if (i == 30)
			d.delay_us = 0;
		while ((got = delay_get(&d, 5 * MS * i)) != NULL) {
			wrong += got->n != last + 1;
			wrong += i < 30 && 5 * MS * i - got->made_us != 60 * MS;
			last = got->n;
			n++;
		}
	}
	ok(n == 40 && wrong == 0, "60 ms late, in order, none lost when the delay ends (%d, %d)", n,
		wrong);
	for (int i = 0; i < 300; i++)
		delay_put(&d)->n = i;
	got = delay_get(&d, INT64_MAX / 2);
	ok(got && got->n == 300 - DELAY_BURSTS, "too many: the oldest are given up");
	delay_clear(&d);
	ok(!delay_get(&d, INT64_MAX / 2), "cleared");
}

static void orders(void)
{
	static const struct {
		const char *text;
		struct control want;
	} good[] = { { "delay 60ms", { CONTROL_DELAY, 60000, 0, false } },
		{ " delay\t0ms \r\n", { CONTROL_DELAY, 0, 0, false } },
		{ "mute 120ms", { CONTROL_MUTE, 120000, 0, false } },
		{ "mute", { CONTROL_MUTE, 0, 0, false } },
		{ "pause 2s", { CONTROL_PAUSE, 2000000, 0, false } },
		{ "resume", { CONTROL_RESUME, 0, 0, false } },
		{ "status 2", { CONTROL_STATUS, 0, 2, false } },
		{ "joint 3 freeze", { CONTROL_JOINT, 0, 3, true } },
		{ "joint 3 free", { CONTROL_JOINT, 0, 3, false } },
		{ "teach on", { CONTROL_TEACH, 0, 0, true } },
		{ "power off", { CONTROL_POWER, 0, 0, false } } };
	static const char *const bad[] = { "", " ", "delay", "delay 60", "delay 2s", "delay -1ms",
		"mute 0ms", "mute 1ms 2ms", "resume now", "status", "status 256", "status x",
		"joint 0 freeze", "joint 7 free", "joint 3", "joint 3 thaw", "teach", "power maybe",
		"jump", "DELAY 1ms", "a b c d e" };
	struct control c;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		ok(control_parse(good[i].text, &c) && c.kind == good[i].want.kind &&
				c.us == good[i].want.us && c.value == good[i].want.value &&
				c.on == good[i].want.on,
			"order %zu: %.6s", i, good[i].text);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!control_parse(bad[i], &c), "no order: '%s'", bad[i]);
}

int main(void)
{
	good_host();
	overtaken();
	forbidden();
	malformed();
	torn();
	far();
	in_time();
	delays();
	orders();
	return tap_done();
}
