#include "writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run/clock.h"

/* From the decision to the write: longer, and the process was held up in between. */
#define WRITE_WITHIN_US 5000
#define AGAIN_US 1000000 /* gate:G15 */
#define SETUP_US 500000  /* an adapter answers its setup within this, or not at all */

void writer_view(struct writer *w, int64_t now)
{
	struct gate_arm a;

	if (w->is_ideal)
		ideal_view(&w->ideal, now, &a);
	else
		arm_view(&w->arm, now, w->gate.awake_us, &a);
	gate_arm(&w->gate, &a);
}

/* Older than max-age at this moment, whatever it was when the gate looked (gate:G7). */
static bool is_old(const struct writer *w, const struct gate_act *act)
{
	return act->kind == GATE_POSE && clock_now() - act->t_us > w->o->run.max_age_us;
}

static bool put_on_bus(
	struct writer *w, const struct gate_act *act, const struct can_frame *f, int n, int64_t at)
{
	bool urgent = act->kind == GATE_STILL || act->kind == GATE_NOTHING;

	/* A replay waits for its reader and loses nothing (gate:G31); an error shows in sending. */
	if (w->o->run.clock_input)
		(void)can_drain(w->bus, INT64_MAX);
	if (!w->o->run.clock_input && !urgent &&
		(clock_now() - at > WRITE_WITHIN_US || is_old(w, act))) {
		w->late_sets++;
		return false;
	}
	if (!urgent && !can_ready(w->bus)) {
		w->refused_sets++;
		return false;
	}

	int sent = urgent ? can_send_urgent(w->bus, f, n, at) : can_send_set(w->bus, f, n, at);

	if (sent == n)
		return true;
	if (sent > 0)
		gate_torn(&w->gate, act);
	w->refused_sets++;
	warn_every(&w->send_limit, at, "bus refuses a set after %d of %d frames: %s", sent, n,
		strerror(errno));
	return false;
}

void writer_act(struct writer *w, struct gate_act *act, int64_t at)
{
	struct can_frame f[SET_MAX];
	int n = set_frames(act, &w->o->set, f);

	if (n == 0)
		return;
	if (n < 0) {
		warn_every(&w->send_limit, at, "a value does not fit the wire: set dropped");
		gate_sent(&w->gate, act, false, at);
		return;
	}

	bool ok = put_on_bus(w, act, f, n, at);

	gate_sent(&w->gate, act, ok, at);
	if (!ok)
		return;
	if (w->is_ideal)
		ideal_obey(&w->ideal, act);
	if (act->kind == GATE_NOTHING)
		return;
	report_command(&w->report, act, at);
	w->n_again = 0;
	if (act->kind == GATE_STILL) {
		memcpy(w->again, f, sizeof(f));
		w->n_again = n;
		w->again_until = at + AGAIN_US;
	} else {
		w->taken_us = act->t_us;
	}
}

/* The hold set once more, when all that went before it has left (gate:G15). */
static void send_again(struct writer *w, int64_t now)
{
	bool gone = can_unconfirmed(w->bus) == 0;

	if (!gate_may_repeat(&w->gate))
		w->n_again = 0;
	/* Without a confirmation each tick, but never more than the bus takes. */
	if (!w->n_again || (!gone && !(w->ticked && can_ready(w->bus))))
		return;
	if (can_send_urgent(w->bus, w->again, w->n_again, now) == w->n_again && gone)
		w->n_again = 0;
	if (now > w->again_until)
		w->n_again = 0;
}

static void bad_line(struct writer *w, const char *why, int64_t now)
{
	w->bad++;
	warn_every(&w->bad_limit, now, "input line %lu: %s", w->in_lines, why);
	if (w->o->run.strict && !w->ending) {
		w->ending = true;
		w->exit_code = EXIT_BADINPUT;
	}
}

void writer_line(struct writer *w, const char *text, size_t n, bool channel, int64_t now)
{
	static struct rec r;
	char why[200];

	w->in_lines++;
	if (rec_parse(text, n, &r, why, sizeof(why)) < 0) {
		bad_line(w, why, now);
		return;
	}
	if (r.type == REC_STOP)
		gate_stop(&w->gate, r.u.stop.level, r.src, r.u.stop.why, r.t_us);
	else if (channel && r.type == REC_BEAT)
		gate_beat(&w->gate, &r, now);
	else if (channel && r.type == REC_EVENT)
		gate_event(&w->gate, &r, now);
	else if (!channel && r.type == REC_POSE && r.u.pose.frame != REC_BASE)
		bad_line(w, "a pose in frame vr: wants base (pose-xform)", now);
	else if (!channel && r.type == REC_POSE)
		gate_pose(&w->gate, &r, now);
	else
		w->other++; /* in-band only stops and poses count (gate:G25) */
}

static void startup(struct writer *w, int64_t now)
{
	struct startup_out out;

	if (!gate_wants_startup(&w->gate)) {
		w->starting = false;
		return;
	}
	if (w->is_ideal) {
		gate_listened(&w->gate);
		gate_ready(&w->gate, now);
		return;
	}
	if (!w->starting) {
		/* Listening begins when there is something to hear with: an adapter's channel opens
		 * a little after its device. One that never answers is called silent. */
		if (!can_ready(w->bus) && now - w->gate.since_us < SETUP_US)
			return;
		w->starting = true;
		w->arm.foreign_id = 0;
		startup_init(&w->startup, &w->o->startup, now);
	}

	bool ready = startup_step(&w->startup, &w->arm, now, &out);

	if (out.text[0] && !out.fail)
		warn("%s", out.text);
	if (w->startup.phase > START_LISTEN)
		gate_listened(&w->gate);
	if (out.n && can_send_set(w->bus, out.f, out.n, now) < out.n)
		warn_every(&w->send_limit, now, "bus refuses a frame: %s", strerror(errno));
	if (out.fail) {
		warn("%s", out.text);
		w->ending = true;
		w->exit_code = out.fail;
	}
	if (ready) {
		w->starting = false;
		w->gate.cfg.chain = w->arm.chain;
		gate_ready(&w->gate, now);
	}
}

void writer_settle(struct writer *w, int64_t now)
{
	struct gate_act act;

	if (w->arm.foreign_id && w->gate.listened) {
		char why[64];

		snprintf(why, sizeof(why), "0x%03X on the bus is not ours", w->arm.foreign_id);
		gate_stop(&w->gate, REC_HOLD, "bus", why, now);
		w->arm.foreign_id = 0;
	}
	writer_view(w, now);
	gate_settle(&w->gate, now, &act);
	writer_act(w, &act, now);
	startup(w, now); /* a stop in this wake comes before it (gate:G2) */
	send_again(w, now);
	if (report_notes(&w->report, &w->gate, now)) {
		writer_view(w, now);
		report_feedback(&w->report, &w->gate, w->is_ideal ? NULL : &w->arm, now);
	}
}

void writer_tick(struct writer *w, int64_t now, bool move)
{
	struct gate_act act;

	writer_view(w, now);
	gate_tick(&w->gate, now, move, &act);
	writer_act(w, &act, now);
	writer_view(w, now);
	report_notes(&w->report, &w->gate, now);
	report_feedback(&w->report, &w->gate, w->is_ideal ? NULL : &w->arm, now);
	if (w->o->run.count && w->gate.count.poses >= (unsigned long)w->o->run.count)
		w->ending = true;
}

int writer_not_open(const char *why)
{
	int code = errno == EINVAL ? EXIT_USAGE : EXIT_RUNTIME;

	warn("%s", why);
	return code;
}

void writer_stats(struct writer *w)
{
	const struct gate_counts *c = &w->gate.count;
	struct can_counts b = can_counts(w->bus);
	char line[1024];

	snprintf(line, sizeof(line),
		"{\"type\":\"status\",\"v\":1,\"src\":\"%s\",\"seq\":0,\"t\":%" PRId64
		",\"gate\":\"%s\",\"runs\":%" PRId64 ",\"holds\":%lu,\"in\":%lu,\"bad\":%lu"
		",\"poses\":%lu,\"stale\":%lu,\"future\":%lu,\"backwards\":%lu,\"foreign\":%lu"
		",\"sets\":%lu,\"refused\":%lu,\"late\":%lu,\"can_sent\":%lu,\"can_confirmed\":%lu"
		",\"can_received\":%lu,\"can_refused\":%lu,\"can_overflow\":%lu,\"unknown\":%lu"
		",\"dropped\":%lu,\"stderr_lost\":%lu}\n",
		w->o->name, w->now, gate_state_name(w->gate.state), w->gate.runs, c->holds,
		w->in_lines, w->bad, c->poses, c->stale, c->future, c->backwards, c->foreign,
		w->report.sets, w->refused_sets, w->late_sets, b.sent, b.confirmed, b.received,
		b.refused, b.overflow, w->arm.unknown, w->out ? outq_dropped(w->out) : 0,
		msg_lost());
	msg_line(line);
}
