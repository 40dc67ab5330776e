/* What the bus shows: sets, hold sets, ages, and the summary of a campaign. */
#ifndef LIB_CHAIN_JUDGE_H
#define LIB_CHAIN_JUDGE_H

#include "chain_talk.h"

static bool is_motion(const struct seen *s)
{
	return s->id >= 0x152 && s->id <= 0x154;
}

static bool is_mode(const struct seen *s, int move)
{
	return s->id == 0x151 && s->d[0] == 1 && s->d[1] == move;
}

struct want_hold {
	int from; /* place */
	int64_t t;
	int *at;
};

/* A hold set that begins at or after t: 0x151 MOVE J and 0x155-0x157. */
static bool has_hold(const void *arg)
{
	const struct want_hold *w = arg;

	for (int i = w->from; i + 3 < rig.n_seen; i++) {
		const struct seen *s = &rig.seen[i];
		if (s->t >= w->t && is_mode(s, 1) && s[1].id == 0x155 && s[2].id == 0x156 &&
			s[3].id == 0x157) {
			*w->at = i;
			return true;
		}
	}
	return false;
}

/* Frames of motion from place `from` on, seen in t0..t1; *first its time. */
static int motion_between(int from, int64_t t0, int64_t t1, int64_t *first)
{
	int n = 0;

	pthread_mutex_lock(&rig.lock);
	for (int i = from; i < rig.n_seen; i++)
		if (is_motion(&rig.seen[i]) && rig.seen[i].t >= t0 && rig.seen[i].t < t1 && !n++ &&
			first)
			*first = rig.seen[i].t;
	pthread_mutex_unlock(&rig.lock);
	return n;
}

/* Nothing moves for ms. */
static bool stands_still(int ms, const char *when)
{
	struct mark m = mark_now();
	int64_t first = 0;

	observe(ms);
	if (motion_between(m.seen, m.t, INT64_MAX, &first))
		return failed("motion %.1f ms after: %s", 1e-3 * (double)(first - m.t), when);
	return true;
}

/* Time of the last frame from place `from` up to `to` (0: all) that differs from the one of its
 * identifier before it. */
static int64_t last_change(int to, int from)
{
	struct seen last[3] = { { 0 } };
	int64_t t = 0;

	pthread_mutex_lock(&rig.lock);
	for (int i = 0; i < (to ? to : rig.n_seen); i++) {
		const struct seen *s = &rig.seen[i];
		if (!is_motion(s))
			continue;
		if (i >= from && memcmp(last[s->id - 0x152].d, s->d, 8) != 0)
			t = s->t;
		last[s->id - 0x152] = *s;
	}
	pthread_mutex_unlock(&rig.lock);
	return t;
}

/* The arm was being moved when the trial began: else it proves nothing and is repeated. */
static bool was_moving(const struct mark *m)
{
	return m->t - last_change(m->seen, 0) <= 2 * TICK_US + 10 * MS;
}

/* gate:G7 by two witnesses, from the mark on: what the writer says of the age of each set, and the
 * bus: each set there is a set the writer tells of, and its pose is not older at the arm either. */
static void judge_ages(const struct mark *m)
{
	int64_t worst_said = 0, worst_seen = 0;
	int sets = 0, old_said = 0, old_seen = 0, unknown = 0, held_up = 0;
	int k = m->said;

	pthread_mutex_lock(&rig.lock);
	for (int i = m->said; i < rig.n_said; i++)
		if (rig.said[i].type == REC_COMMAND && rig.said[i].set == REC_SET_RUN) {
			worst_said = rig.said[i].age > worst_said ? rig.said[i].age : worst_said;
			old_said += rig.said[i].age > MAX_AGE_US;
		}
	pthread_mutex_unlock(&rig.lock);
	for (int i = m->seen; i < rig.n_seen; i++) {
		struct seen s = rig.seen[i];
		const struct said *from = NULL;
		if (!is_mode(&s, 0) || s.t < m->t)
			continue;
		sets++;
		for (; k < rig.n_said && rig.said[k].t <= s.t; k++)
			;
		for (int j = k - 1; j >= m->said && !from; j--)
			if (rig.said[j].type == REC_COMMAND && rig.said[j].set == REC_SET_RUN &&
				rig.said[j].t + rig.said[j].age <= s.t + MS)
				from = &rig.said[j];
		if (!from) {
			unknown++;
			continue;
		}
		int64_t age = s.t - from->t;
		if (was_held_up(s.t - 50 * MS, s.t)) {
			held_up++;
			continue;
		}
		worst_seen = age > worst_seen ? age : worst_seen;
		old_seen += age > MAX_AGE_US + 10 * MS;
	}
	tell("ages: %d sets at the bus, oldest pose %.1f ms when written, %.1f ms at the arm (%d "
	     "not "
	     "judged: machine held up)",
		sets, 1e-3 * (double)worst_said, 1e-3 * (double)worst_seen, held_up);
	if (old_said)
		failed("%d commands from poses older than max-age", old_said);
	if (old_seen)
		failed("%d sets at the arm from poses older than max-age", old_seen);
	if (unknown > 1) /* the set of this moment may not have been told yet */
		failed("%d sets at the bus that no command record tells of", unknown);
	if (sets == 0)
		failed("no motion at all: nothing was judged");
}

struct figures {
	int n, max;
	int64_t *v;
	int repeated;
};

static void figure(struct figures *f, int64_t v)
{
	GROW(f->v, f->n, f->max);
	f->v[f->n++] = v;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void figures_tell(struct figures *f, const char *what)
{
	if (!f->n)
		return;
	qsort(f->v, (size_t)f->n, sizeof *f->v, by_value);
	tell("%s: %d trials, median %.2f, p99 %.2f, worst %.2f ms; %d repeated (machine held up)",
		what, f->n, 1e-3 * (double)f->v[f->n / 2], 1e-3 * (double)f->v[f->n * 99 / 100],
		1e-3 * (double)f->v[f->n - 1], f->repeated);
}

/* A campaign on a machine that hardly runs proves nothing: not more repeats than trials. */
static void repeats_bounded(const struct figures *f, int n)
{
	if (f->repeated > (n < 20 ? 20 : n))
		give_up("%d trials repeated because the machine was held up", f->repeated);
}

static int ended(void)
{
	if (rig.violations)
		failed("piper-sim: %d violations, the last: %s", rig.violations, rig.violation);
	if (!opts.runner && rig.early)
		failed("the writer did not listen for 300 ms");
	return rig.failures ? 1 : 0;
}

#endif
