/*
 * rctp-send: stand-in for a headset. Plays recorded packets, sends pose records, or moves by
 * itself, at the pace of an absolute timer.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rctp-send/flags.h"
#include "rctp-send/out.h"
#include "rctp-send/source.h"
#include "rec/line.h"
#include "run/clock.h"
#include "run/loop.h"
#include "run/msg.h"
#include "run/opt.h"
#include "run/ready.h"

#define LAG_US 100000 /* a motion does not catch up with more than this: what is past is past */
#define BURST 64      /* packets at once, then the other descriptors have their turn */

struct app {
	struct run_opts o;
	const char *to, *control, *motion, *axes;
	double rate_hz, speed, size_m, t0_s;
	int64_t period_us, time_us;
	bool loop_file;
	struct flags_plan plan;

	struct loop loop;
	struct source source;
	struct out out;
	struct packet next;
	bool has_next;
	int timer, ep_slot, control_slot;
	bool is_paced; /* the packets' times rule, else each goes as it comes */
	bool begun;
	int64_t start_us;
	double base_s; /* time field of the first packet, when it is rewritten */
	int flags;     /* by the control FIFO, -1: none */
	struct line line;
	int64_t sent, skipped, failed;
	struct msg_limit bad, send;
	int code;
};

static void finish(struct app *a, int code)
{
	if (!a->loop.done)
		a->code = code;
	loop_stop(&a->loop);
}

static void must(int r, const char *what)
{
	if (r < 0)
		die(EXIT_RUNTIME, "%s: %s", what, strerror(errno));
}

/* When a packet is due, us from the first one, by the pace of --speed. */
static int64_t paced(const struct app *a, int64_t at_us)
{
	return a->speed > 0 ? llround((double)at_us / a->speed) : at_us;
}

static void set_time(uint8_t *bytes, double time_s)
{
	struct rctp r = { .time_s = time_s };
	uint8_t b[RCTP_SIZE];
	rctp_encode(&r, b);
	memcpy(bytes + 4, b + 4, sizeof time_s); /* rctp.md 1: bytes 4..11 */
}

/* Time and flags as the options have them; else the packet stays as it is. */
static void dress(struct app *a, struct packet *p)
{
	bool is_own = a->speed == 0 || a->speed == 1;
	bool by_rate = a->source.kind == SOURCE_FILE && a->rate_hz > 0;
	int flags = a->flags >= 0 ? a->flags : flags_at(&a->plan, paced(a, p->at_us));

	if (!isnan(a->t0_s) || !is_own || by_rate || a->source.again)
		set_time(p->bytes, a->base_s + (double)paced(a, p->at_us) * 1e-6);
	if (flags >= 0)
		p->bytes[RCTP_SIZE - 1] = (uint8_t)flags;
}

static void begin(struct app *a, const struct packet *p)
{
	a->begun = true;
	a->start_us = clock_now();
	a->base_s = !isnan(a->t0_s) ? a->t0_s : isfinite(p->time_s) ? p->time_s : 0;
}

static void send_packet(struct app *a, struct packet *p)
{
	dress(a, p);
	if (out_put(&a->out, p->bytes) == 0) {
		a->sent++;
	} else if (errno == EPIPE) {
		finish(a, EXIT_EPIPE);
		return;
	} else if (a->out.ep) {
		warn("%s: %s", a->to, strerror(errno));
		finish(a, EXIT_RUNTIME);
		return;
	} else { /* a network that fails comes back */
		a->failed++;
		warn_every(&a->send, clock_now(), "%s: %s", a->to, strerror(errno));
	}
	if (a->sent + a->failed == a->o.count)
		finish(a, EXIT_DONE);
}

/* The next packet into a->next; at the end of the source or of --time it is over. */
static void fetch(struct app *a)
{
	const char *line;
	size_t n;
	int r;

	if (a->source.kind != SOURCE_RECORDS) {
		r = source_next(&a->source, &a->next);
	} else {
		while ((r = ep_next(a->source.ep, &line, &n)) > 0)
			if (source_record(&a->source, line, n, &a->next))
				break;
		if (r < 0 && errno == 0)
			r = 0;
	}
	if (r < 0)
		warn("input: %s", strerror(errno));
	if (r > 0 && a->time_us > 0 && paced(a, a->next.at_us) >= a->time_us)
		r = 0;
	a->has_next = r > 0;
	if (r <= 0)
		finish(a, r < 0 ? EXIT_RUNTIME : EXIT_DONE);
}

static void on_due(void *arg, short revents)
{
	struct app *a = arg;
	int64_t due_us = 0;
	(void)revents;

	for (int i = 0; i < BURST && !a->loop.done; i++) {
		int64_t now_us = clock_now();
		if (!a->has_next)
			fetch(a);
		if (!a->has_next)
			return;
		if (!a->begun)
			begin(a, &a->next);
		due_us = a->speed > 0 ? a->start_us + paced(a, a->next.at_us) : now_us;
		if (due_us > now_us)
			break;
		a->has_next = false;
		if (a->source.kind == SOURCE_MOTION && now_us - due_us > LAG_US)
			a->skipped++;
		else
			send_packet(a, &a->next);
	}
	if (!a->loop.done)
		must(loop_timer_set(&a->loop, a->timer, due_us, 0), "timer");
}

static void warn_bad(struct app *a, unsigned long bad)
{
	if (a->source.bad > bad)
		warn_every(&a->bad, clock_now(), "%s: not a record, dropped (%lu so far)", a->o.in,
			a->source.bad);
}

/* Records of a pipe or URL go as they come. */
static void on_records(void *arg, short revents)
{
	struct app *a = arg;
	unsigned long bad = a->source.bad;
	const char *line;
	size_t n;
	int r = 0;
	(void)revents;

	while (!a->loop.done && (r = ep_next(a->source.ep, &line, &n)) > 0) {
		if (!source_record(&a->source, line, n, &a->next))
			continue;
		if (!a->begun)
			begin(a, &a->next);
		if (a->time_us > 0 && clock_now() - a->start_us >= a->time_us)
			finish(a, EXIT_DONE);
		else
			send_packet(a, &a->next);
	}
	warn_bad(a, bad);
	if (r < 0) {
		if (errno != 0)
			warn("%s: %s", a->o.in, strerror(errno));
		finish(a, errno != 0 ? EXIT_RUNTIME : EXIT_DONE);
	}
}

static void on_control(void *arg, short revents)
{
	struct app *a = arg;
	const char *text;
	size_t n;
	(void)revents;

	if (line_fill(&a->line, a->loop.pfd[a->control_slot].fd) <= 0)
		return; /* nothing yet: the FIFO is open for writing here too, so it never ends */
	while (line_next(&a->line, &text, &n)) {
		switch (flags_command(text, n, &a->flags)) {
		case COMMAND_FLAGS: break;
		case COMMAND_STOP: finish(a, EXIT_DONE); break;
		case COMMAND_BAD:
			warn_every(&a->bad, clock_now(), "%s: '%.*s': not understood", a->control,
				(int)(n < 64 ? n : 64), text);
		}
	}
}

static void print_stats(struct app *a)
{
	char line[REC_LINE_MAX + 1];
	struct rec r;

	rec_init(&r, REC_STATUS, a->o.src, 0, clock_now());
	int n = snprintf(r.extra, sizeof r.extra,
		",\"sent\":%lld,\"skipped\":%lld,\"failed\":%lld,\"bad\":%lu,\"others\":%lu",
		(long long)a->sent, (long long)a->skipped, (long long)a->failed, a->source.bad,
		a->source.others);
	r.extra_len = n > 0 ? (size_t)n : 0;
	if (rec_print(&r, line, sizeof line) > 0)
		msg_line(line);
}

static void on_stats(void *arg, short revents)
{
	(void)revents;
	print_stats(arg);
}

static void on_signal(void *arg, int sig)
{
	if (sig == SIGUSR2)
		print_stats(arg);
}

static void open_control(struct app *a)
{
	struct stat st;
	/* Read and write: a writer that comes and goes is no end. */
	int fd = open(a->control, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		die(EXIT_RUNTIME, "--control: %s: %s", a->control, strerror(errno));
	if (!S_ISFIFO(st.st_mode))
		die(EXIT_USAGE, "--control: %s: not a FIFO", a->control);
	line_init(&a->line);
	a->control_slot = loop_add(&a->loop, fd, POLLIN, on_control, a);
	must(a->control_slot, "control");
}

static void open_records(struct app *a)
{
	struct stat st;
	char why[256];

	a->source.kind = SOURCE_RECORDS;
	a->source.grip = 1; /* until a record has one: open */
	a->source.ep = ep_open(a->o.in, EP_IN, why, sizeof why);
	if (!a->source.ep)
		die(errno == EINVAL ? EXIT_USAGE : EXIT_RUNTIME, "--input: %s", why);
	a->is_paced = !ep_is_nng(a->source.ep) && fstat(ep_fd(a->source.ep), &st) == 0 &&
		      S_ISREG(st.st_mode);
	if (a->is_paced)
		return;
	a->ep_slot = loop_add(&a->loop, ep_fd(a->source.ep), POLLIN, on_records, a);
	must(a->ep_slot, "input");
}

static void open_source(struct app *a, const char *file)
{
	struct source *s = &a->source;
	char why[256];

	a->is_paced = true;
	s->loop = a->loop_file;
	s->rate_hz = a->rate_hz;
	if (a->o.in) {
		open_records(a);
	} else if (file) {
		if (source_open_file(s, file, why, sizeof why) < 0)
			die(EXIT_RUNTIME, "%s", why);
	} else {
		s->kind = SOURCE_MOTION;
		s->rate_hz = a->rate_hz > 0 ? a->rate_hz : 50; /* rctp.md 1: about 50 Hz */
		s->motion.size_m = a->size_m;
		s->motion.period_s = (double)a->period_us * 1e-6;
		s->motion.total_s = (double)a->time_us * 1e-6 * (a->speed > 0 ? a->speed : 1);
		s->motion.unity = strcmp(a->axes, "unity") == 0;
	}
}

static void start(struct app *a, const char *file)
{
	char why[256];
	int slot;

	must(loop_init(&a->loop, on_signal, a), "signals");
	(void)signal(SIGPIPE, SIG_IGN); /* EPIPE tells */
	if (a->control)
		open_control(a);
	open_source(a, file);
	if (out_open(&a->out, a->to, why, sizeof why) < 0)
		die(errno == EINVAL ? EXIT_USAGE : EXIT_RUNTIME, "--output: %s", why);
	a->timer = loop_timer(&a->loop, on_due, a);
	must(a->timer, "timer");
	if (a->is_paced)
		must(loop_timer_set(&a->loop, a->timer, clock_now(), 0), "timer");
	if (a->o.stats_us) {
		slot = loop_timer(&a->loop, on_stats, a);
		must(slot, "timer");
		must(loop_timer_set(&a->loop, slot, clock_now() + a->o.stats_us, a->o.stats_us),
			"timer");
	}
	ready_say((int)a->o.ready_fd, NULL);
}

static void check_options(struct app *a, int operands)
{
	if (operands + (a->o.in != NULL) + (a->motion != NULL) != 1)
		die(EXIT_USAGE, "one of FILE, --input and --motion is needed; try '%s --help'",
			msg_tool());
	if (a->motion && !motion_named(a->motion, &a->source.motion.kind))
		die(EXIT_USAGE, "--motion: '%.64s': reach, circle, grasp or idle", a->motion);
	if (strcmp(a->axes, "openxr") != 0 && strcmp(a->axes, "unity") != 0)
		die(EXIT_USAGE, "--axes: '%.64s': openxr or unity", a->axes);
	if (a->loop_file && operands != 1)
		die(EXIT_USAGE, "--loop: only with FILE");
	if (a->o.in && a->rate_hz > 0)
		die(EXIT_USAGE, "--rate: not with --input, records have their times");
}

/* What was no packet or no record, once. Records without a single vr pose are the wrong ones. */
static void sum_up(struct app *a)
{
	const struct source *s = &a->source;
	bool is_file = s->kind == SOURCE_FILE;
	unsigned long all = (unsigned long)s->n + (is_file ? 0 : s->bad + s->others);

	if (s->bad > 0)
		warn("%lu bad %s%s of %lu", s->bad, is_file ? "packet" : "line",
			s->bad == 1 ? "" : "s", all);
	if (s->kind == SOURCE_RECORDS && s->n == 0 && all > 0 && a->code == EXIT_DONE &&
		!a->loop.end_signal) {
		warn("%s: no pose of frame vr in it: nothing was sent", a->o.in);
		a->code = EXIT_RUNTIME;
	}
}

static void end(struct app *a)
{
	sum_up(a);
	if (a->o.stats_us)
		print_stats(a);
	if (out_close(&a->out) < 0 && a->code == EXIT_DONE) {
		warn("%s: %s", a->to, strerror(errno));
		a->code = EXIT_RUNTIME;
	}
	(void)ep_close(a->source.ep); /* an input */
	if (a->source.file)
		(void)fclose(a->source.file); /* an input */
	if (a->loop.end_signal)
		msg_die_by_signal(a->loop.end_signal);
}

int main(int argc, char **argv)
{
	static struct app a = { .o = RUN_OPTS_INIT,
		.to = "udp:127.0.0.1:8888",
		.axes = "openxr",
		.speed = 1,
		.size_m = 0.1,
		.t0_s = (double)NAN,
		.period_us = 4000000,
		.flags = -1 };
	const struct opt opts[] = {
		{ OPT_STR, 'i', "input", &a.o.in, "EP", "send the vr pose records of EP", 0, 0, 0 },
		{ OPT_STR, 'm', "motion", &a.motion, "M", "move: reach, circle, grasp or idle", 0,
			0, 0 },
		{ OPT_STR, 'o', "output", &a.to, "EP",
			"udp:HOST:PORT, a file or - (default udp:127.0.0.1:8888)", 0, 0, 0 },
		OPT_COUNT(a.o),
		{ OPT_NUM, 'r', "rate", &a.rate_hz, "HZ",
			"packets a second (default: FILE its own pace, motions 50)", 0.1, 2000, 0 },
		{ OPT_NUM, 0, "speed", &a.speed, "K",
			"K times as fast, 0: without waiting (default 1)", 0, 100, 0 },
		{ OPT_DUR, 0, "time", &a.time_us, "D", "end after D (default: no limit)", 1000,
			1e12, 0 },
		{ OPT_FLAG, 0, "loop", &a.loop_file, NULL, "FILE again and again", 0, 0, 0 },
		{ OPT_NUM, 0, "size", &a.size_m, "M", "extent of the motion, metres (default 0.1)",
			0, 2, 0 },
		{ OPT_DUR, 0, "period", &a.period_us, "D", "one round of the motion (default 4s)",
			100000, 1e9, 0 },
		{ OPT_STR, 0, "axes", &a.axes, "A", "of motions: openxr (default) or unity", 0, 0,
			0 },
		{ OPT_NUM, 0, "t0", &a.t0_s, "S",
			"time field of the first packet, s (default: FILE its own, motions 0)",
			-9e9, 9e9, 0 },
		{ OPT_CALL, 0, "flags-at", &a.plan, "T:F[,T:F]",
			"flags F from T seconds on (default: as they are)", 0, 0, flags_parse },
		{ OPT_STR, 0, "control", &a.control, "FIFO",
			"take lines: flags N, flags auto, stop (default: none)", 0, 0, 0 },
		OPT_STATS(a.o),
		OPT_READY(a.o),
		{ OPT_END, 0, 0, 0, 0, 0, 0, 0, 0 },
	};
	const struct opt_tool tool = { "rctp-send", "[FILE]",
		"Stand in for a headset: send RCTP packets of a recording, records or a motion.",
		opts, 0, 1 };

	a.o.in = NULL;
	a.o.src = "rctp-send";
	int at = opt_parse(&tool, argc, argv);
	check_options(&a, argc - at);
	start(&a, at < argc ? argv[at] : NULL);
	must(loop_run(&a.loop), "poll");
	end(&a);
	return a.code;
}
