/* See recorder.h. */
#include "rec-cat/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/msg.h"

#define LOOK_US 1000000 /* free space, while an episode runs */

/* What a failure of the disk leaves behind, in words. */
static int fail_store(struct recorder *r, const char *why)
{
	r->has_failed = true;
	warn("%s", why);
	if (store_runs(&r->store))
		warn("recording ended: %s/%s%s is whole to its last record", r->o->dir,
			r->store.name, EPISODE_PART);
	return EXIT_RUNTIME;
}

static int store_line(struct recorder *r, const char *line, size_t n)
{
	char why[1024];

	return store_write(&r->store, line, n, why, sizeof why) == 0 ? GO_ON : fail_store(r, why);
}

static int end_episode(struct recorder *r, bool keep)
{
	char why[1024];

	if (store_end(&r->store, keep, why, sizeof why) != 0) {
		warn("%s", why);
		return EXIT_RUNTIME;
	}
	info("%s %s: %lu records", keep ? "kept" : "discarded", r->store.name, r->store.records);
	return GO_ON;
}

static int start_episode(struct recorder *r)
{
	char why[1024];

	/* Nobody said that the one that runs is bad. */
	int code = store_runs(&r->store) ? end_episode(r, true) : GO_ON;
	if (code != GO_ON)
		return code;
	if (store_start(&r->store, why, sizeof why) != 0)
		return fail_store(r, why);
	r->had_episode = true;
	r->begun_us = r->look_us = clock_now();
	return GO_ON;
}

int recorder_do(struct recorder *r, enum episode_order o)
{
	if (o == EPISODE_START)
		return start_episode(r);
	if (!store_runs(&r->store)) {
		warn_every(&r->limit, clock_now(), "%s: no episode runs", episode_order_name(o));
		return GO_ON;
	}
	return end_episode(r, o == EPISODE_KEEP);
}

/* An order that was no record becomes one, so that the file tells of it. */
static int note_order(struct recorder *r, enum episode_order o)
{
	static struct rec rec;
	char line[REC_LINE_MAX + 1];

	rec_init(&rec, REC_EVENT, "rec-cat", r->seq, clock_now());
	(void)snprintf(rec.u.event.name, sizeof rec.u.event.name, "episode");
	(void)snprintf(rec.u.event.value, sizeof rec.u.event.value, "%s", episode_order_name(o));
	rec.u.event.n = ++r->seq;
	int n = rec_print(&rec, line, sizeof line);
	return n > 0 && store_runs(&r->store) ? store_line(r, line, (size_t)n) : GO_ON;
}

int recorder_obey(struct recorder *r, enum episode_order o)
{
	int code = GO_ON;

	if (o == EPISODE_QUIT)
		return EXIT_DONE;
	if (o != EPISODE_START)
		code = note_order(r, o);
	if (code == GO_ON)
		code = recorder_do(r, o);
	return code == GO_ON && o == EPISODE_START ? note_order(r, o) : code;
}

int recorder_obey_fifo(struct recorder *r)
{
	enum episode_order o;
	int code = GO_ON;

	while (code == GO_ON && r->control.fd >= 0 &&
		(o = control_line(&r->control)) != EPISODE_NONE)
		code = recorder_obey(r, o);
	return code;
}

enum episode_order recorder_hear(struct recorder *r, const struct rec *rec)
{
	bool is_unknown;
	enum episode_order o = episode_event(rec, &r->last, &is_unknown);

	if (is_unknown)
		warn_every(&r->limit, clock_now(),
			"event episode of %s: '%s': neither start, keep nor discard", rec->src,
			rec->u.event.value);
	return o;
}

int recorder_take(struct recorder *r, const char *line, size_t n)
{
	int code = GO_ON;

	if (!store_runs(&r->store) && !r->had_episode && !r->o->waits)
		code = start_episode(r);
	return code == GO_ON && store_runs(&r->store) ? store_line(r, line, n) : code;
}

int64_t recorder_due(const struct recorder *r)
{
	return store_runs(&r->store) ? r->look_us + LOOK_US : -1;
}

int recorder_look(struct recorder *r, int64_t now_us)
{
	char why[1024];

	if (!store_runs(&r->store) || now_us < r->look_us + LOOK_US)
		return GO_ON;
	r->look_us = now_us;
	return store_look(&r->store, why, sizeof why) == 0 ? GO_ON : fail_store(r, why);
}

int recorder_open(struct recorder *r, const struct cat_opts *o, bool keys)
{
	char why[1024];

	*r = (struct recorder){ .o = o };
	r->store.fd = r->store.dir_fd = r->control.fd = -1;
	if (store_open(&r->store, o->dir, o->free_mib << 20, why, sizeof why) == 0 &&
		control_open(&r->control, o->control, keys, why, sizeof why) == 0)
		return GO_ON;
	warn("%s", why);
	return EXIT_RUNTIME;
}

int recorder_close(struct recorder *r, int code)
{
	if (store_runs(&r->store) && !r->has_failed) {
		int rc = end_episode(r, true);
		code = rc == GO_ON ? code : rc; /* the disk counts more */
	}
	store_close(&r->store);
	control_close(&r->control);
	return code;
}

void recorder_show(const struct recorder *r, int64_t now_us, unsigned long missing)
{
	if (store_runs(&r->store))
		msg_status("REC %s  %.1f s  %lu records  missing %lu  kept %lu%s", r->store.name,
			1e-6 * (double)(now_us - r->begun_us), r->store.records, missing,
			r->store.kept,
			r->control.keys ? "  [s start k keep d discard q quit]" : "");
	else
		msg_status("waiting  kept %lu  discarded %lu%s", r->store.kept, r->store.discarded,
			r->control.keys ? "  [s start q quit]" : "");
}
