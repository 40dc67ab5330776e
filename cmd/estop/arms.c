/* See arms.h. */
#include "estop/arms.h"

#include <stdio.h>

#include "run/clock.h"
#include "run/msg.h"

int arms_open(struct arms *a, const struct opt_list *urls, char *why, size_t n)
{
	*a = (struct arms){ 0 };
	for (int i = 0; i < urls->n; i++) {
		a->arm[i].url = urls->v[i];
		a->arm[i].ep = ep_open(urls->v[i], EP_STOP_OUT, why, n);
		if (!a->arm[i].ep)
			return -1;
		a->n = i + 1;
	}
	return 0;
}

int arms_look(struct arms *a)
{
	int up = 0;

	for (int i = 0; i < a->n; i++) {
		struct arm *arm = &a->arm[i];
		bool is_up = ep_peers(arm->ep) > 0;

		if (arm->up && !is_up)
			warn("%s: connection lost", arm->url);
		else if (!arm->up && is_up)
			info("%s: connected", arm->url);
		arm->up = is_up;
		up += is_up;
	}
	return up;
}

static void send_line(struct arms *a, struct arm *arm, const char *line, int n)
{
	if (ep_put(arm->ep, line, (size_t)n) < 0)
		a->failed++;
}

void arms_send(struct arms *a, const struct rec *r)
{
	char line[REC_LINE_MAX + 1];
	int n = rec_print(r, line, sizeof line);

	for (int i = 0; i < a->n && n > 0; i++)
		send_line(a, &a->arm[i], line, n);
}

/* Sends what is due now. true: some arm is still to be waited for. */
static bool deliver_due(struct arms *a, const char *line, int n, int64_t dial_end)
{
	int64_t now = clock_now();
	bool waiting = false;

	for (int i = 0; i < a->n; i++) {
		struct arm *arm = &a->arm[i];
		bool due = arm->sent == 0 || now - arm->at >= ARMS_APART_US;

		if (arm->sent < ARMS_REPEATS && due && ep_peers(arm->ep) > 0) {
			send_line(a, arm, line, n);
			arm->sent++;
			arm->at = now;
		}
		/* One that was reached at the last moment still gets its repeats. */
		if (arm->sent < ARMS_REPEATS)
			waiting = waiting || now < dial_end ||
				  (arm->sent > 0 && now - arm->at < 2 * ARMS_APART_US);
	}
	return waiting;
}

static void begin(struct arm *arm)
{
	arm->sent = 0;
	arm->lost = ep_lost(arm->ep);
}

/* Serves the loop until what was sent last is ARMS_LINGER_US old. */
static void linger(const struct arms *a, struct loop *l)
{
	int64_t last = 0;

	for (int i = 0; i < a->n; i++)
		if (a->arm[i].sent > 0 && a->arm[i].at > last)
			last = a->arm[i].at;
	while (last > 0 && clock_now() < last + ARMS_LINGER_US)
		if (loop_once(l, last + ARMS_LINGER_US) < 0)
			break;
}

/* Arms whose connection ended while it was sent or on its way: it may not have arrived. */
static bool begin_anew(struct arms *a)
{
	bool any = false;

	for (int i = 0; i < a->n; i++) {
		if (ep_lost(a->arm[i].ep) == a->arm[i].lost)
			continue;
		begin(&a->arm[i]);
		any = true;
	}
	return any;
}

int arms_deliver(struct arms *a, struct loop *l, const struct rec *r, int64_t dial_us)
{
	char line[REC_LINE_MAX + 1];
	int n = rec_print(r, line, sizeof line), complete = 0, ending = l->end_signal;
	int64_t end = clock_now() + dial_us;

	if (n < 0)
		return 0;
	for (int i = 0; i < a->n; i++)
		begin(&a->arm[i]);
	do {
		while (deliver_due(a, line, n, end) && l->end_signal == ending)
			if (loop_once(l, clock_now() + ARMS_APART_US / 2) < 0)
				break;
		linger(a, l);
	} while (l->end_signal == ending && begin_anew(a) && clock_now() < end);
	for (int i = 0; i < a->n; i++) {
		const struct arm *arm = &a->arm[i];

		if (arm->sent == ARMS_REPEATS)
			complete++;
		else if (arm->sent > 0)
			warn("%s: connection lost after %d of %d sends", arm->url, arm->sent,
				ARMS_REPEATS);
		else
			warn("%s: no arm reached there", arm->url);
	}
	return complete;
}

void arms_close(struct arms *a)
{
	for (int i = 0; i < a->n; i++)
		(void)ep_close(a->arm[i].ep); /* nothing is buffered: lingered before */
	a->n = 0;
}
