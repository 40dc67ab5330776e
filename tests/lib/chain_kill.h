/* Line 5: each stage killed with -9, the chain under pipelines/lib.sh. */
#ifndef LIB_CHAIN_KILL_H
#define LIB_CHAIN_KILL_H

#include <dirent.h>

#include "chain_fault.h"

/* Process of the session with this name, 0: none; name NULL: any that runs. */
static pid_t in_session(pid_t session, const char *name)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	while (d && !found && (e = readdir(d))) {
		char path[300], text[400], state;
		int pid = atoi(e->d_name), ppid, pgrp, sid;
		size_t n;
		FILE *f;

		snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
		if (pid <= 0 || !(f = fopen(path, "r")))
			continue;
		n = fread(text, 1, sizeof text - 1, f);
		fclose(f);
		text[n] = '\0';
		char *comm = strchr(text, '('), *end = strrchr(text, ')');
		if (!comm || !end ||
			sscanf(end + 1, " %c %d %d %d", &state, &ppid, &pgrp, &sid) != 4 ||
			sid != session || state == 'Z' || state == 'X')
			continue;
		*end = '\0';
		if (!name || strncmp(comm + 1, name, 15) == 0)
			found = pid;
	}
	if (d)
		closedir(d);
	return found;
}

static bool is_session_gone(const void *sid)
{
	return in_session(*(const pid_t *)sid, NULL) == 0;
}

static int kill_trial(const char *script, enum role who, struct figures *f, int k)
{
	pid_t runner, victim;
	struct mark m;
	int at = 0, status;

	pthread_mutex_lock(&rig.lock);
	snprintf(rig.gate, sizeof rig.gate, "none");
	pthread_mutex_unlock(&rig.lock);
	hand_set(true, false, 100);
	m = mark_now();
	runner = runner_begin(script);
	rig_run();
	observe(100 + any_of(150));
	victim = in_session(runner, role_name[who]);
	if (!victim)
		give_up("trial %d: no %s in the session", k, role_name[who]);
	for (int i = 0; i < SIM; i++)
		rig.pid[i] = in_session(runner, role_name[i]);
	m = mark_now();
	bool stood = !was_moving(&m);
	kill(victim, SIGKILL);
	status = reap(runner, 10000);
	if (status < 0)
		return failed("trial %d: %s killed: the runner goes on", k, role_name[who]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 128 + SIGKILL)
		failed("trial %d: %s killed: status %#x of the runner", k, role_name[who],
			(unsigned)status);
	if (!await(is_session_gone, &runner, 500))
		failed("trial %d: %s killed: process %d is left", k, role_name[who],
			(int)in_session(runner, NULL));
	/* The last stop: a hold set on a channel that was opened after the sink's end. */
	struct want_hold hold = { m.seen, m.t, &at };
	if (!await(has_hold, &hold, 500))
		failed("trial %d: %s killed: no stop on the bus", k, role_name[who]);
	int64_t moved = last_change(0, m.seen);
	int64_t us = moved > m.t ? moved - m.t : 0;
	if (stood || (us > MAX_AGE_US + TICK_US && held_up_since(&m)))
		return f->repeated++;
	figure(f, us);
	if (us > MAX_AGE_US + TICK_US)
		failed("trial %d: %s killed: a changed target %.1f ms later", k, role_name[who],
			1e-3 * (double)us);
	return 0;
}

static int campaign_kill(const char *dir, const char *script, enum role who, int n)
{
	static struct figures f;
	char what[80];

	opts.runner = true;
	rig_begin(dir);
	for (int k = 0; f.n < n && rig.failures < 5; k++) {
		int before = rig.openings;
		kill_trial(script, who, &f, k);
		repeats_bounded(&f, n);
		if (rig.openings - before != 2 || rig.early > k + 1)
			failed("trial %d: channel opened %d times (writer, last stop), %d early "
			       "commands",
				k, rig.openings - before, rig.early);
	}
	snprintf(what, sizeof what, "%s killed, last changed target after", role_name[who]);
	figures_tell(&f, what);
	return ended();
}

#endif
