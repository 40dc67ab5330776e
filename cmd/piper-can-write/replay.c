/*
 * --clock input (gate:G31): the chain as a function of its input. Tick k falls at the t of the
 * first record + round(k * 1e6 / rate); before a record is used every tick up to its t is run.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "writer.h"

/* A gap longer than this holds the arm anyway: ticks without effect are left out. */
#define GAP_US 10000000

struct replay {
	int64_t t0, k;
	bool begun;
};

static int64_t tick_time(const struct writer *w, const struct replay *p)
{
	return p->t0 + llrint((double)p->k * 1e6 / w->o->rate_hz);
}

static void ticks_until(struct writer *w, struct replay *p, int64_t t)
{
	int64_t at;

	while ((at = tick_time(w, p)) <= t) {
		if (t - at > GAP_US && at - w->gate.newest_us > GAP_US) {
			int64_t skip_us = t - at - GAP_US / 2;
			p->k += (int64_t)((double)skip_us * 1e-6 * w->o->rate_hz);
			w->gate.due_us = 0; /* left out, not late */
			at = tick_time(w, p);
		}
		w->now = at;
		writer_settle(w, at);
		writer_tick(w, at, true);
		p->k++;
	}
}

static void take(struct writer *w, struct replay *p, const char *line, size_t n)
{
	static struct rec r;
	char why[8];
	bool good = rec_parse(line, n, &r, why, sizeof(why)) == 0;
	int64_t t = good && (!p->begun || r.t_us > w->now) ? r.t_us : w->now;

	if (!p->begun && good) {
		p->begun = true;
		p->t0 = t;
		gate_init(&w->gate, &w->o->gate, t);
		w->now = t;
		writer_settle(w, t);
	}
	if (p->begun)
		ticks_until(w, p, t);
	w->now = t;
	writer_line(w, line, n, false, t);
	if (p->begun)
		writer_settle(w, t);
}

static int open_all(struct writer *w)
{
	const struct run_opts *r = &w->o->run;
	bool text_out = strcmp(w->o->bus, "-") == 0;
	char why[256];

	if (!(w->bus = can_open(w->o->bus, why, sizeof(why)))) {
		warn("%s: %s", w->o->bus, why);
		return EXIT_RUNTIME;
	}
	w->in = ep_open(r->in, EP_IN, why, sizeof(why));
	if (w->in && !(text_out && r->out.n == 0))
		w->out = outq_open(r->out.v, r->out.n, why, sizeof(why));
	if (!w->in || (!w->out && !(text_out && r->out.n == 0)))
		return writer_not_open(why);
	w->is_ideal = true;
	w->report.out = w->out;
	w->report.name = w->o->name;
	return 0;
}

/* A replay has no deadline: it waits for its reader, so that nothing is left out. */
static void wait_out(struct writer *w)
{
	for (int i = 0; w->out && i < outq_n(w->out); i++) {
		struct pollfd p = { .fd = outq_fd(w->out, i, &p.events) };

		while (p.fd >= 0 && p.events & POLLOUT) {
			poll(&p, 1, -1);
			(void)outq_flush(w->out); /* the report tells */
			report_outputs(&w->report);
			p.fd = outq_fd(w->out, i, &p.events);
		}
	}
}

int writer_replay(struct writer *w)
{
	struct replay p = { 0 };
	struct gate_act act;
	const char *line;
	size_t n;
	int code = open_all(w);
	int got = 1;

	if (code)
		return code;
	ideal_init(&w->ideal, w->o->gate.chain, w->o->home);
	while (!w->ending && (got = ep_next(w->in, &line, &n)) >= 0) {
		if (got == 0) {
			struct pollfd f = { ep_fd(w->in), POLLIN, 0 };

			poll(&f, 1, -1);
			continue;
		}
		take(w, &p, line, n);
		wait_out(w);
	}
	if (got < 0 && errno != 0) {
		warn("%s: %s", w->o->run.in, strerror(errno));
		w->exit_code = EXIT_RUNTIME;
	}
	gate_leave(&w->gate, w->now, &act);
	writer_act(w, &act, w->now);
	if (w->n_again)
		(void)can_send_urgent(w->bus, w->again, w->n_again, w->now);
	report_notes(&w->report, &w->gate, w->now);
	wait_out(w);
	if (outq_close(w->out) < 0) {
		w->report.has_failed = true;
		warn("output: %s", strerror(errno));
	}
	if (w->report.has_failed)
		w->exit_code = EXIT_RUNTIME;
	(void)ep_close(w->in);
	if (can_close(w->bus, INT64_MAX) < 0) {
		warn("%s: %s", w->o->bus, strerror(errno));
		w->exit_code = EXIT_RUNTIME;
	}
	return w->exit_code ? w->exit_code : w->gate.state == GATE_ESTOP ? EXIT_ESTOP : 0;
}
