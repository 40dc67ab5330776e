/*
 * Trials of the whole chain; each is a process that brings its own chain up, hurts it and judges.
 *
 *   chain_trial DIR TRIAL [ARGUMENT...]     programs from PATH; DIR: an own folder, short name
 *
 * Lines that begin with # are figures; exit 0 when everything held, 1 when not, 75
 * when not but the machine itself was held up meanwhile. TELEOP_SEED repeats the random
 * phases of a run.
 */
#include <time.h>

#include "chain_kill.h"

struct call {
	const char *dir;
	char **v;
	int n;
};

static int number(const struct call *c, int i)
{
	return i < c->n ? atoi(c->v[i]) : 0;
}

static const char *word(const struct call *c, int i)
{
	return i < c->n ? c->v[i] : "";
}

static enum role role_of(const char *name)
{
	for (int i = 0; i < ROLES; i++)
		if (strcmp(role_name[i], name) == 0)
			return (enum role)i;
	give_up("no stage %s", name);
}

static int run_estop(const struct call *c)
{
	const char *w = word(c, 0);
	enum estop_case which = strcmp(w, "stopped") == 0 ? ESTOP_XFORM_STOPPED
				: strcmp(w, "full") == 0  ? ESTOP_FULL
							  : ESTOP_RUNNING;

	return campaign_estop(c->dir, which, number(c, 1));
}

static int run_others(const struct call *c)
{
	return campaign_other_stops(c->dir, number(c, 0));
}

static int run_frozen_stop(const struct call *c)
{
	return frozen_stop(c->dir, number(c, 0), number(c, 1));
}

static int run_silence(const struct call *c)
{
	return silence(c->dir, number(c, 0));
}

static int run_restart(const struct call *c)
{
	return sender_restarted(c->dir);
}

static int run_second(const struct call *c)
{
	return second_sender(c->dir);
}

static int run_two_src(const struct call *c)
{
	return two_src(c->dir);
}

static int run_feedback(const struct call *c)
{
	return feedback_late(c->dir, word(c, 0), number(c, 1));
}

static int run_lease(const struct call *c)
{
	return lease_lost(c->dir);
}

static int run_receiver(const struct call *c)
{
	return receiver_frozen(c->dir);
}

static int run_engage(const struct call *c)
{
	return queued_engage(c->dir);
}

static int run_freeze(const struct call *c)
{
	return freeze(c->dir, role_of(word(c, 0)), number(c, 1), strcmp(word(c, 2), "old") != 0);
}

static int run_kill(const struct call *c)
{
	return campaign_kill(c->dir, word(c, 0), role_of(word(c, 1)), number(c, 2));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct call *c);
	} trial[] = { { "estop", run_estop }, { "other-stops", run_others },
		{ "frozen-stop", run_frozen_stop }, { "silence", run_silence },
		{ "restart", run_restart }, { "second-sender", run_second },
		{ "two-src", run_two_src }, { "feedback", run_feedback }, { "lease", run_lease },
		{ "receiver-frozen", run_receiver }, { "queued-engage", run_engage },
		{ "freeze", run_freeze }, { "kill", run_kill } };
	const char *seed = getenv("TELEOP_SEED");
	unsigned s = seed ? (unsigned)atoi(seed) : (unsigned)time(NULL);

	if (argc < 3 || strlen(argv[1]) > 80) {
		fprintf(stderr, "usage: chain_trial DIR TRIAL [ARGUMENT...]\n");
		return 2;
	}
	srandom(s);
	tell("TELEOP_SEED=%u", s);
	for (size_t i = 0; i < sizeof trial / sizeof trial[0]; i++)
		if (strcmp(trial[i].name, argv[2]) == 0) {
			struct call c = { argv[1], argv + 3, argc - 3 };
			return trial[i].run(&c);
		}
	fprintf(stderr, "chain_trial: no trial %s\n", argv[2]);
	return 2;
}
