/* From a bus to an arm that may be moved: the start-up against frames of a played arm
 * (piper.md 7.1, piper:R1-R9), and the sets that go out (gate:G10-G14). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "piper-can-write/arm.h"
#include "piper-can-write/sets.h"
#include "piper-can-write/startup.h"
#include "wire/piper_feedback.h"

#define DEG (M_PI / 180)
#define MS 1000LL

static int tests, failed;

static void ok(bool cond, const char *text, const char *more)
{
	tests++;
	failed += !cond;
	printf("%sok %d - %s%s%s%s\n", cond ? "" : "not ", tests, text, *more ? " (" : "", more,
		*more ? ")" : "");
}

static const double HOME[6] = { 0, 86 * DEG, -45 * DEG, 0, 24 * DEG, 0 };

struct played {
	struct arm arm;
	struct startup s;
	struct startup_out out;
	int64_t now;
	uint8_t ctrl, status;
	unsigned enabled, refuses; /* bits of joints */
	bool silent, no_slow, sticks, old_dh, tells;
	const char *firmware;
	int sent, enables, modes, others, early;
	char text[240];
	int fail;
	bool ready;
};

static void hear(struct played *p, const struct can_frame *f)
{
	struct can_rx rx = { .f = *f, .t_us = p->now };

	arm_frame(&p->arm, &rx);
}

static void burst(struct played *p)
{
	struct can_frame f[3];
	struct piper_fb_status st = { .ctrl = p->ctrl, .arm = p->status };

	if (p->silent)
		return;
	piper_fb_status(f, &st);
	hear(p, f);
	piper_fb_pose(f, chain_fk(p->old_dh ? &PIPER_DH_OLD : &PIPER_DH_NEW, HOME));
	for (int i = 0; i < 3; i++)
		hear(p, &f[i]);
	piper_fb_joints(f, HOME);
	for (int i = 0; i < 3; i++)
		hear(p, &f[i]);
	piper_fb_gripper(f, &(struct piper_fb_gripper){ .stroke_um = 35000 });
	hear(p, f);
	for (int i = 1; i <= 6 && !p->no_slow; i++) {
		piper_fb_slow(f, i,
			&(struct piper_fb_slow){
				.bits = p->enabled & 1u << (i - 1) ? PIPER_ENABLED : 0 });
		hear(p, f);
	}
}

static void obey(struct played *p, const struct can_frame *f)
{
	struct can_frame fw[PIPER_FIRMWARE_FRAMES];
	struct piper_msg m;

	p->sent++;
	p->early += p->now - p->s.began_us < 300 * MS;
	if (!piper_decode(f, &m))
		return;
	if (m.kind == PIPER_CMD_ENABLE) {
		p->enables++;
		p->enabled |= (1u << (m.u.enable.motor - 1)) & ~p->refuses;
	} else if (m.kind == PIPER_CMD_MODE) {
		p->modes++;
		if (!p->sticks) {
			p->ctrl = 1;
			p->status = 0;
		}
	} else if (f->can_id == 0x4AF) {
		if (!p->tells)
			return;
		piper_fb_firmware(fw, "H-V1.2-1", p->firmware, "260101");
		for (int i = 0; i < PIPER_FIRMWARE_FRAMES; i++)
			hear(p, &fw[i]);
	} else if (m.kind != PIPER_CMD_JOINTS && m.kind != PIPER_CMD_GRIPPER) {
		p->others++;
	}
}

static void begin(struct played *p)
{
	struct startup_cfg c;

	memset(p, 0, sizeof(*p));
	p->now = 1000000;
	p->tells = true;
	p->firmware = "S-V1.8-9";
	startup_defaults(&c);
	arm_init(&p->arm, &PIPER_DH_NEW, 0.07);
	startup_init(&p->s, &c, p->now);
}

static void play(struct played *p, int ms)
{
	for (int i = 0; i < ms && !p->fail && !p->ready; i += 5) {
		p->now += 5 * MS;
		burst(p);
		p->ready = startup_step(&p->s, &p->arm, p->now, &p->out);
		for (int k = 0; k < p->out.n; k++)
			obey(p, &p->out.f[k]);
		if (p->out.text[0])
			snprintf(p->text, sizeof(p->text), "%s", p->out.text);
		p->fail = p->out.fail;
	}
}

static void test_good(void)
{
	struct played p;

	begin(&p);
	play(&p, 295);
	ok(p.sent == 0, "listens for 300 ms without sending", "");
	play(&p, 1000);
	ok(p.ready && !p.fail && p.early == 0, "ready", p.text);
	ok(p.enables == 6, "joints are enabled singly, once each", "");
	ok(p.others == 0, "nothing else was sent", "");
	ok(strcmp(p.arm.firmware, "S-V1.8-9") == 0, "firmware read", p.arm.firmware);

	begin(&p);
	p.enabled = 0x3F;
	p.ctrl = 1;
	play(&p, 1000);
	ok(p.ready && p.enables == 0 && p.modes == 0, "an arm that holds already is left as it is",
		"");

	begin(&p);
	p.firmware = "S-V1.5-8";
	p.old_dh = true;
	play(&p, 1000);
	ok(p.ready && p.arm.chain == &PIPER_DH_OLD && strstr(p.text, "older"),
		"R4: old firmware, old kinematics, and a warning", p.text);
	begin(&p);
	p.tells = false;
	play(&p, 1500);
	ok(p.ready && strstr(p.text, "does not tell"), "R4: a silent version is said", p.text);
	begin(&p);
	p.status = 4;
	play(&p, 1500);
	ok(p.ready, "a refused pose clears with the first good target", "");
}

static void test_bad(void)
{
	struct played p;
	struct can_frame f;

	begin(&p);
	p.silent = true;
	play(&p, 3000);
	ok(p.fail == 14 && p.sent == 0, "R1: silence", p.text);
	begin(&p);
	p.no_slow = true;
	play(&p, 3000);
	ok(p.fail == 15 && p.sent == 0, "R1: part of the feedback", p.text);
	begin(&p);
	p.silent = true;
	f = (struct can_frame){ .can_id = 0x3A1, .can_dlc = 8 };
	hear(&p, &f);
	play(&p, 3000);
	ok(p.fail == 17 && p.sent == 0, "R1: shifted ids", p.text);
	begin(&p);
	piper_mode(&f, 1, PIPER_MOVE_P, 25, 0);
	hear(&p, &f);
	play(&p, 3000);
	ok(p.fail == 18 && p.sent == 0, "R3: another commander", p.text);
	begin(&p);
	p.refuses = 1u << 4;
	play(&p, 12000);
	ok(p.fail == 1 && strstr(p.text, "joint 5"), "R7: a joint that cannot be enabled is named",
		p.text);
	ok(p.enables > 100, "R7: tried until the time was up", "");
	begin(&p);
	p.sticks = true;
	play(&p, 5000);
	ok(p.fail == 1 && strstr(p.text, "standby"), "R6: stays in standby", p.text);
	begin(&p);
	p.ctrl = 2;
	play(&p, 1000);
	ok(p.fail && p.enables == 0, "R6: teach mode", p.text);
	begin(&p);
	p.status = 1;
	play(&p, 1000);
	ok(p.fail && p.enables == 0, "R6: its own emergency stop is never reset", p.text);
	begin(&p);
	p.old_dh = true;
	play(&p, 1000);
	ok(p.fail && strstr(p.text, "mm") && p.enables == 0, "G1: kinematics that do not fit",
		p.text);
	begin(&p);
	play(&p, 310);
	p.silent = true;
	p.refuses = 0x3F;
	play(&p, 3000);
	ok(p.fail == 14, "silent in the middle", p.text);
}

static void test_arm(void)
{
	struct arm a;
	struct can_frame f[3];
	struct can_rx rx = { .t_us = 1000 };
	struct gate_arm v;

	arm_init(&a, &PIPER_DH_NEW, 0.07);
	arm_view(&a, 1000, 0, &v);
	ok(!v.joints_us && !v.status_us && !v.enabled && !v.has_grip,
		"R2: missing data is not zero", "");
	piper_fb_joints(f, HOME);
	for (int i = 0; i < 3; i++) {
		rx.f = f[i];
		rx.t_us = 1000 + 2000 * i;
		arm_frame(&a, &rx);
	}
	ok(a.joints_us == 0, "G1: joints of two bursts are no measurement", "");
	for (int i = 0; i < 3; i++) {
		rx.f = f[i];
		rx.t_us = 9000 + 200 * i;
		arm_frame(&a, &rx);
	}
	ok(a.joints_us == 9000 && fabs(a.j[1] - HOME[1]) < 1e-5,
		"G1: a burst has the stamp of its first frame", "");
	rx.f = f[2];
	rx.own = true;
	rx.t_us = 9900;
	arm_frame(&a, &rx);
	ok(a.last_us == 9400, "own echoes are no feedback", "");
	ok(firmware_compare("S-V1.6-2", "S-V1.6-3") == -1 &&
			firmware_compare("S-V1.10-1", "S-V1.8-9") == 1 &&
			firmware_compare("S-V1.8-9", "S-V1.8-9") == 0 &&
			firmware_compare("x", "S-V1.8-9") == -2,
		"versions compare as numbers", "");
}

/* A motor that fell silent is not known to be enabled. */
static void test_motors(void)
{
	struct played p;
	struct gate_arm v;

	begin(&p);
	p.enabled = 0x3F;
	play(&p, 200);
	arm_view(&p.arm, p.now, 0, &v);
	ok(v.enabled, "six enable bits", "");
	arm_view(&p.arm, p.now + 1005 * MS, 0, &v);
	ok(!v.enabled, "G4: motors not heard of for a second", "");
	arm_view(&p.arm, p.now + 1005 * MS, p.now + 900 * MS, &v);
	ok(v.enabled, "G6: after a freeze the second counts from the waking", "");
}

static void ids(const struct can_frame *f, int n, char *text, size_t size)
{
	size_t len = 0;

	for (int i = 0; i < n; i++)
		len += (size_t)snprintf(
			text + len, size - len, "%s%03X", i ? " " : "", f[i].can_id);
}

static void test_sets(void)
{
	struct set_cfg cfg = { 25, 0.07, 1 };
	struct can_frame f[SET_MAX];
	struct gate_act a = { .kind = GATE_POSE,
		.pose = { { 0.28, 0, 0.199 }, { 0, 0, 0, 1 } },
		.measured = { { 0.27, 0, 0.199 }, { 0, 0, 0, 1 } },
		.has_grip = true,
		.grip = 0.5 };
	char text[80];

	ids(f, set_frames(&a, &cfg, f), text, sizeof(text));
	ok(strcmp(text, "151 152 153 154 159") == 0, "R13: a whole set in order", text);
	a.rebase = true;
	ids(f, set_frames(&a, &cfg, f), text, sizeof(text));
	ok(strcmp(text, "152 153 154 151 152 153 154 159") == 0 && f[0].data[2] != f[4].data[2],
		"G10: the measured pose goes first", text);
	a.kind = GATE_STILL;
	ids(f, set_frames(&a, &cfg, f), text, sizeof(text));
	ok(strcmp(text, "151 155 156 157") == 0 && f[0].data[1] == PIPER_MOVE_J, "G13: a hold set",
		text);
	a.damp = true;
	ids(f, set_frames(&a, &cfg, f), text, sizeof(text));
	ok(strcmp(text, "150 151 155 156 157") == 0 && f[0].data[0] == 1, "G14: damp first", text);
	a.damp = false;
	a.kind = GATE_POSE;
	a.pose.p.x = (double)NAN;
	ok(set_frames(&a, &cfg, f) == -1, "a pose that is no number gives no frame", "");
	a.pose.p.x = 1e6;
	ok(set_frames(&a, &cfg, f) == -1, "nor one beyond the wire's range", "");
}

int main(void)
{
	test_good();
	test_bad();
	test_arm();
	test_motors();
	test_sets();
	printf("1..%d\n", tests);
	return failed != 0;
}
