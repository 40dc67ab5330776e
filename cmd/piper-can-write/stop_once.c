/* piper-can-write --stop BUS (gate:G19): the runner's last word, from a fresh process. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "run/clock.h"
#include "writer.h"

#define WAIT_US 100000
#define ALL_JOINTS 0x3Fu

static void hear(struct can_bus *bus, struct arm *arm, int64_t until)
{
	struct can_rx rx;

	while (clock_now() < until) {
		struct pollfd p = { can_fd(bus), POLLIN, 0 };

		if (arm->joints_us && arm->status_us && arm->slow_seen == ALL_JOINTS &&
			clock_now() - arm->joints_us < 10000)
			return;
		poll(&p, 1, 5);
		while (can_recv(bus, &rx) == 1)
			arm_frame(arm, &rx);
	}
}

int writer_stop_once(const struct options *o)
{
	struct gate_act act = { .kind = GATE_STILL };
	struct can_frame f[SET_MAX];
	struct arm arm;
	struct can_bus *bus;
	char why[256];
	int n;

	if (!(bus = can_open(o->bus, why, sizeof(why)))) {
		warn("%s: %s", o->bus, why);
		return EXIT_RUNTIME;
	}
	if (can_is_ideal(bus))
		return can_close(bus, 0) < 0 ? EXIT_RUNTIME : EXIT_DONE;
	arm_init(&arm, o->gate.chain, o->set.stroke_m);
	hear(bus, &arm, clock_now() + WAIT_US);

	int64_t now = clock_now();

	if (!arm.joints_us || now - arm.joints_us > o->gate.measured_us) {
		warn("%s: no joints heard within %d ms: nothing sent", o->bus, WAIT_US / 1000);
		(void)can_close(bus, 0);
		return EXIT_RUNTIME;
	}
	if (!arm_complete(&arm)) {
		warn("%s: the arm's status was not heard: nothing sent", o->bus);
		(void)can_close(bus, 0);
		return EXIT_RUNTIME;
	}
	if (arm.ctrl != 1 || arm.status != 0 || arm.enabled != ALL_JOINTS) {
		/* gate:G17: it does not obey us, so it follows no target of ours either. */
		info("%s: arm in mode %d, status 0x%02X, enabled 0x%02X: nothing to stop", o->bus,
			arm.ctrl, arm.status, arm.enabled);
		(void)can_close(bus, 0);
		return EXIT_DONE;
	}
	memcpy(act.j, arm.j, sizeof(act.j));
	n = set_frames(&act, &o->set, f);
	if (n <= 0 || can_send_urgent(bus, f, n, now) != n) {
		warn("%s: hold set not sent: %s", o->bus, strerror(errno));
		(void)can_close(bus, 0);
		return EXIT_RUNTIME;
	}
	return can_close(bus, now + WAIT_US) < 0 ? EXIT_RUNTIME : EXIT_DONE;
}
