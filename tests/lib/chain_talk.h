/* The operator: what goes to the stop channel, and the way back to RUN. */
#ifndef LIB_CHAIN_TALK_H
#define LIB_CHAIN_TALK_H

#include "chain_proc.h"
#include "rec/endpoint.h"

static struct ep *talk;
static int64_t talk_seq;

static bool is_connected(const void *arg)
{
	(void)arg;
	return ep_peers(talk) > 0;
}

static void talk_begin(void)
{
	char why[200];

	if (talk)
		ep_close(talk);
	talk = ep_open(rig.stop, EP_STOP_OUT, why, sizeof why);
	if (!talk)
		give_up("%s: %s", rig.stop, why);
	if (!await(is_connected, NULL, 5000))
		give_up("nobody listens on %s", rig.stop);
}

static void talk_put(const struct rec *r)
{
	char line[REC_LINE_MAX + 1];
	int n = rec_print(r, line, sizeof line);

	if (n < 0 || ep_put(talk, line, (size_t)n) < 0)
		give_up("stop channel: %s", strerror(errno));
}

/* reset or engage, given at t. */
static void talk_event(const char *name, int64_t t)
{
	static struct rec r;

	rec_init(&r, REC_EVENT, "operator", talk_seq++, t);
	snprintf(r.u.event.name, sizeof r.u.event.name, "%s", name);
	r.u.event.n = talk_seq;
	talk_put(&r);
}

static void talk_beat(int64_t stops, enum rec_level level)
{
	static struct rec r;

	rec_init(&r, REC_BEAT, "beater", talk_seq++, clock_now());
	r.u.beat.stops = stops;
	r.u.beat.level = level;
	talk_put(&r);
}

static bool answered_reset(const void *m)
{
	struct want_event yes = { m, "reset", NULL }, no = { m, "refused", "reset" };

	return has_event(&yes) || has_event(&no);
}

/* With no hand in sight: a reset that is taken. */
static void rig_reset(void)
{
	hand_set(false, false, 100);
	for (int i = 0; i < 40; i++) {
		struct mark m = mark_now();
		talk_event("reset", clock_now());
		if (await(answered_reset, &m, 500) && await_event(&m, "reset", NULL, 0) &&
			await(is_gate, "hold", 2000))
			return;
		observe(10); /* the hand's last pose has to grow old or be called invalid */
	}
	give_up("no reset is taken");
}

/* Hand in sight and an engage: until it runs. A machine that is held up here makes a fault of its
 * own, which wants a reset first. */
static void rig_engage(void)
{
	struct mark m = mark_now();

	for (int i = 0; i < 20; i++) {
		if (is_gate("fault"))
			rig_reset();
		hand_set(true, false, 100);
		talk_event("engage", clock_now());
		if (await(is_new_run, &m, 700))
			return;
	}
	give_up("no RUN after an engage");
}

/* The chain up and in RUN. */
static void rig_up(const char *dir, struct rig_opts o)
{
	opts = o;
	rig_begin(dir);
	stages_begin();
	if (!opts.feed)
		talk_begin();
}

static void rig_run(void)
{
	if (!await(is_gate, "run", 8000))
		give_up("the chain does not come to RUN");
}

#endif
