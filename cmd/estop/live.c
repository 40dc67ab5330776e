/* See live.h. */

#include "estop/live.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/msg.h"
#include "run/ready.h"

static const char *const order_names[] = { "-", "stop", "hold", "reset", "engage", "quit" };

static void print_stats(struct live *l)
{
	char line[512];

	(void)snprintf(line, sizeof line,
		"{\"type\":\"status\",\"v\":1,\"src\":\"%s\",\"seq\":%lu,\"t\":%" PRId64
		",\"arms\":%d,\"connected\":%d,\"stops\":%" PRId64 ",\"events\":%" PRId64
		",\"beats\":%" PRId64 ",\"failed\":%lu,\"bad\":%lu,\"ignored\":%lu"
		",\"refused\":%lu,\"late\":%lu}\n",
		l->sender.src, l->stats++, clock_now(), l->arms.n, arms_look(&l->arms),
		l->sender.stops, l->sender.events, l->sender.beats, l->arms.failed, l->bad,
		l->ignored, l->refused, l->late);
	msg_line(line);
}

static void send_beat(struct live *l)
{
	struct rec r;

	sender_beat(&l->sender, clock_now(), &r);
	arms_send(&l->arms, &r);
}

/* Sends an order. Reset and engage given while this process did not run are too old to count: the
 * operator has to look again. */
static void act(struct live *l, struct order *o)
{
	bool moves = o->kind == ORDER_RESET || o->kind == ORDER_ENGAGE;
	struct rec r;

	if (moves && (l->frozen || clock_now() - l->due_us > LIVE_FREEZE_US)) {
		l->refused++;
		warn("%s: refused: it came while this program did not run", order_names[o->kind]);
		return;
	}
	if (!o->why[0] && l->why)
		(void)snprintf(o->why, sizeof o->why, "%s", l->why);
	if (!sender_order(&l->sender, o, &r))
		return;
	arms_send(&l->arms, &r);
	if (!moves)
		send_beat(l); /* its count tells of the stop at once, should that be lost */
	l->last = o->kind;
	if (arms_look(&l->arms) < l->arms.n)
		warn("%s: sent, but %d of %d arms are not connected", order_names[o->kind],
			l->arms.n - arms_look(&l->arms), l->arms.n);
}

static void on_keys(void *arg, short revents)
{
	struct live *l = arg;
	char keys[256];
	ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
	struct order o = { .t_us = clock_now() };

	(void)revents;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	o.kind = n > 0 ? order_keys(keys, (size_t)n) : ORDER_QUIT;
	if (o.kind == ORDER_QUIT)
		loop_stop(&l->loop);
	else
		act(l, &o);
}

static void not_understood(struct live *l, struct order *o, const char *why)
{
	l->bad++;
	warn_every(&l->bad_limit, clock_now(), "input: %s: holding", why);
	o->kind = ORDER_HOLD;
	act(l, o);
}

static void on_lines(void *arg, short revents)
{
	struct live *l = arg;
	const char *line;
	char why[256];
	struct order o;
	size_t n;
	int r, lines = 0;

	(void)revents;
	while ((r = ep_next(l->in, &line, &n)) == 1) {
		if (++lines > LIVE_FLOOD) {
			warn("input: more than %d lines at once", LIVE_FLOOD);
			l->code = EXIT_RUNTIME;
			loop_stop(&l->loop);
			return;
		}
		if (order_line(line, n, clock_now(), &o, why, sizeof why) < 0)
			not_understood(l, &o, why);
		else if (o.kind == ORDER_NONE)
			l->ignored++;
		else
			act(l, &o);
	}
	if (ep_counts(l->in).overlong > l->overlong) {
		l->overlong = ep_counts(l->in).overlong;
		o = (struct order){ .t_us = clock_now(), .why = "line not understood" };
		not_understood(l, &o, "line too long");
	}
	if (r < 0)
		loop_stop(&l->loop);
}

static void look_at_arms(struct live *l, int64_t now)
{
	int up = arms_look(&l->arms);

	if (up == l->arms.n && !l->is_ready) {
		l->is_ready = true;
		ready_say((int)l->opts->ready_fd, NULL);
	} else if (up < l->arms.n && !l->is_ready && !l->said_missing &&
		   now - l->start_us > ARMS_DIAL_US) {
		l->said_missing = true;
		for (int i = 0; i < l->arms.n; i++)
			if (!l->arms.arm[i].up)
				warn("%s: no arm reached there yet", l->arms.arm[i].url);
	}
	if (l->ticks++ % 8 == 0) /* 5 Hz */
		msg_status("arms %d/%d  stops %" PRId64 "  last %s%s", up, l->arms.n,
			l->sender.stops, order_names[l->last],
			l->in ? "" : "  [space stop  h hold  r reset  e engage  q quit]");
}

static void on_beat(void *arg, short revents)
{
	struct live *l = arg;
	int64_t now = clock_now();

	(void)revents;
	l->frozen = now - l->due_us > LIVE_FREEZE_US;
	if (l->frozen) {
		l->late++;
		warn("did not run for %" PRId64 " ms: the arms hold, and want an engage",
			(now - l->due_us) / 1000);
	}
	l->due_us += ((now - l->due_us) / LIVE_BEAT_US + 1) * LIVE_BEAT_US;
	send_beat(l);
	if (!l->ending)
		look_at_arms(l, now);
}

static void on_stats(void *arg, short revents)
{
	(void)revents;
	print_stats(arg);
}

void live_signal(void *arg, int sig)
{
	struct live *l = arg;
	struct order o = { .kind = ORDER_STOP, .t_us = clock_now(), .why = "SIGUSR1" };

	if (sig == SIGUSR2)
		print_stats(l);
	else
		act(l, &o);
}

/* The hold every ending leaves behind: sooner than the lease, which would run out anyway. */
static void hold_and_end(struct live *l)
{
	struct order o = { .kind = ORDER_QUIT, .t_us = clock_now(), .why = "sender ended" };
	struct rec r;

	l->ending = true;
	loop_set(&l->loop, l->in_slot, -1, 0);
	sender_order(&l->sender, &o, &r);
	(void)arms_deliver(&l->arms, &l->loop, &r, 0); /* warns about those it missed */
	if (l->opts->stats_us > 0)
		print_stats(l);
}

int live_run(struct live *l)
{
	int beat, stats;

	l->start_us = clock_now();
	l->due_us = l->start_us + LIVE_BEAT_US;
	/* The beat stands before the input: after a freeze it is what finds out (act). */
	beat = loop_timer(&l->loop, on_beat, l);
	stats = loop_timer(&l->loop, on_stats, l);
	l->in_slot = loop_add(&l->loop, l->in ? ep_fd(l->in) : STDIN_FILENO, POLLIN,
		l->in ? on_lines : on_keys, l);
	if (beat < 0 || stats < 0 || l->in_slot < 0 ||
		loop_timer_set(&l->loop, beat, l->due_us, LIVE_BEAT_US) < 0 ||
		(l->opts->stats_us > 0 &&
			loop_timer_set(&l->loop, stats, l->start_us + l->opts->stats_us,
				l->opts->stats_us) < 0) ||
		loop_run(&l->loop) < 0) {
		warn("loop: %s", strerror(errno));
		hold_and_end(l);
		return EXIT_RUNTIME;
	}
	hold_and_end(l);
	return l->code;
}
