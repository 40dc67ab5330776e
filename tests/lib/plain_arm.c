/*
 * An arm that is always well, behind a serial adapter that is not: for what piper-can-write does to
 * a bus.  It reports fixed joints (or those last commanded by 0x155-0x157), never refuses, and
 * prints every frame it gets as "T_US ID DATA", when it takes it from the adapter.
 *
 *   plain_arm PATH     makes the pty at PATH; orders on stdin, one a line:
 *     stall on|off     the adapter reads and answers nothing; feedback goes on
 *     slow US          a frame takes so long on the wire
 *     junk             frames nobody knows, short ones, and undefined bytes in known ones
 * Ends with stdin.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "geom/chain.h"
#include "run/clock.h"
#include "run/loop.h"
#include "run/msg.h"
#include "wire/can.h"
#include "wire/piper.h"
#include "wire/piper_feedback.h"
#include "wire/slcan_pty.h"

#define PERIOD_US 5000
#define WIDTH_UM 23000

struct plain {
	struct loop loop;
	struct can_bus *bus;
	double j[6];
	int32_t part[6];
	int ticks;
};

static void put(struct plain *a, const struct can_frame *f, int n)
{
	(void)can_send_set(a->bus, f, n, clock_now());
}

static void feedback(void *arg, short revents)
{
	struct plain *a = arg;
	struct can_frame f[3];

	(void)revents;
	piper_fb_status(f, &(struct piper_fb_status){ .ctrl = 1 });
	put(a, f, 1);
	if (piper_fb_pose(f, chain_fk(&PIPER_DH_NEW, a->j)) == 0)
		put(a, f, 3);
	if (piper_fb_joints(f, a->j) == 0)
		put(a, f, 3);
	piper_fb_gripper(f, &(struct piper_fb_gripper){ .stroke_um = WIDTH_UM });
	put(a, f, 1);
	for (int i = 1; i <= 6 && a->ticks % 5 == 0; i++) {
		piper_fb_slow(f, i, &(struct piper_fb_slow){ .bits = PIPER_ENABLED });
		put(a, f, 1);
	}
	a->ticks++;
}

static void take(void *arg, short revents)
{
	struct plain *a = arg;
	struct can_rx rx;
	struct piper_msg m;

	(void)revents;
	while (can_recv(a->bus, &rx) == 1) {
		printf("%lld %03X ", (long long)clock_now(), rx.f.can_id);
		for (int i = 0; i < rx.f.len; i++)
			printf("%02X", rx.f.data[i]);
		printf("\n");
		if (piper_decode(&rx.f, &m) && m.kind == PIPER_CMD_JOINTS) {
			a->part[2 * m.part] = m.a;
			a->part[2 * m.part + 1] = m.b;
			if (m.part == 2)
				piper_joints_from_raw(a->part, a->j);
		}
	}
	fflush(stdout);
}

static void junk(struct plain *a)
{
	struct can_frame f = { .len = 8 };

	for (canid_t id = 0x100; id < 0x800; id += 7) {
		f.can_id = id;
		memset(f.data, (int)(id & 0xFF), sizeof(f.data));
		/* Not what would count as a state of this arm or as another commander. */
		if ((id >= 0x2A1 && id <= 0x2A8) || (id >= 0x261 && id <= 0x266) ||
			(id >= 0x150 && id <= 0x15F) || id == 0x470 || id == 0x471)
			continue;
		put(a, &f, 1);
	}
	f = (struct can_frame){ .can_id = 0x2A1, .len = 3, .data = { 1, 9, 9 } };
	put(a, &f, 1);
	f = (struct can_frame){ .can_id = 0x2A5 | CAN_EFF_FLAG, .len = 8 };
	put(a, &f, 1);
	f = (struct can_frame){
		.can_id = 0x2A1, .len = 8, .data = { 1, 0, 0xEE, 0xEE, 0xEE, 0xEE }
	};
	put(a, &f, 1);
}

static void order(void *arg, short revents)
{
	struct plain *a = arg;
	char line[64];
	ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);

	(void)revents;
	if (n <= 0) {
		loop_stop(&a->loop);
		return;
	}
	line[n] = 0;
	if (strncmp(line, "stall ", 6) == 0)
		slcan_pty_stall(a->bus, strncmp(line + 6, "on", 2) == 0);
	else if (strncmp(line, "slow ", 5) == 0)
		slcan_pty_delay(a->bus, atoi(line + 5));
	else if (strncmp(line, "junk", 4) == 0)
		junk(a);
}

int main(int argc, char **argv)
{
	static struct plain a;
	char why[200], spec[120];
	int timer, wake;

	msg_init("plain_arm");
	if (argc != 2 || loop_init(&a.loop, NULL, NULL) < 0)
		die(EXIT_USAGE, "usage: plain_arm PATH");
	snprintf(spec, sizeof(spec), "slcan:%s", argv[1]);
	if (!(a.bus = can_open_device(spec, why, sizeof(why))))
		die(EXIT_RUNTIME, "%s", why);
	a.j[1] = 86 * M_PI / 180;
	a.j[2] = -45 * M_PI / 180;
	a.j[4] = 24 * M_PI / 180;
	loop_add(&a.loop, can_fd(a.bus), POLLIN, take, &a);
	loop_add(&a.loop, STDIN_FILENO, POLLIN, order, &a);
	timer = loop_timer(&a.loop, feedback, &a);
	wake = loop_timer(&a.loop, take, &a);
	loop_timer_set(&a.loop, timer, clock_now(), PERIOD_US);
	loop_timer_set(&a.loop, wake, clock_now(), 1000);
	fprintf(stderr, "ready\n");
	loop_run(&a.loop);
	can_close(a.bus, 0);
	loop_done(&a.loop);
	return 0;
}
