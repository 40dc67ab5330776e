/* piper-sim: a Piper arm on the bus. Wires arm, log and delay to bus, timer and control FIFO. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "piper-sim/control.h"
#include "piper-sim/delay.h"
#include "piper-sim/log.h"
#include "piper-sim/options.h"
#include "run/clock.h"
#include "run/loop.h"
#include "run/msg.h"
#include "run/ready.h"
#include "wire/can.h"
#include "wire/slcan_pty.h"

#define RECV_PER_WAKE 256 /* frames taken before the timer gets its turn */
#define LOG_BUFFER 65536

struct sim {
	struct sim_opts o;
	struct loop loop;
	struct can_bus *bus;
	bool is_slcan; /* a pty made here: the channel is seen */
	unsigned long openings;
	int bus_slot, tick_slot;
	int control_fd;
	char control_line[128];
	size_t control_n;
	bool control_made;
	FILE *log_file;
	struct arm arm;
	struct log log;
	struct delay delay;
	bool channel; /* the host has opened it */
	int64_t started_us, due_us, stats_due_us;
	int64_t tick;
	int64_t pause_until, mute_until; /* 0: no, -1: without end */
	uint8_t said_status, said_ctrl;
	bool said_contact;
	unsigned long bursts, sent, dropped, received, unknown_orders, late;
};

static struct sim sim;

/* ---- the log file ---- */

static double seconds(int64_t us)
{
	return (double)us * 1e-6;
}

__attribute__((format(printf, 3, 4))) static void note(
	struct sim *s, int64_t t_us, const char *fmt, ...)
{
	va_list ap;

	if (!s->log_file)
		return;
	fprintf(s->log_file, "# (%lld.%06lld) ", (long long)(t_us / 1000000),
		(long long)(t_us % 1000000));
	va_start(ap, fmt);
	(void)vfprintf(s->log_file, fmt, ap);
	va_end(ap);
	fputc('\n', s->log_file);
}

static void log_frame(struct sim *s, const struct can_frame *f, int64_t t_us)
{
	char line[128];

	if (s->log_file && can_print(f, t_us, s->o.log_name, line, sizeof line) > 0)
		fputs(line, s->log_file);
}

static void log_flush(struct sim *s)
{
	if (!s->log_file)
		return;
	(void)fflush(s->log_file); /* ferror tells */
	if (ferror(s->log_file))
		die(EXIT_RUNTIME, "%s: cannot write the log: %s", s->o.log_path, strerror(errno));
}

static void say_violation(void *arg, int64_t t_us, enum log_kind kind, const char *text)
{
	struct sim *s = arg;

	note(s, t_us, "violation %s: %s", simlog_kind_text(kind), text);
	info("violation %s: %s", simlog_kind_text(kind), text);
}

/* Changes worth a line: control mode, status, contact with the table. */
static void note_changes(struct sim *s, int64_t now)
{
	uint8_t status = simarm_status(&s->arm);

	if (status != s->said_status || s->arm.ctrl != s->said_ctrl)
		note(s, now, "arm control %u (%s) status %u (%s)", s->arm.ctrl,
			piper_ctrl_text(s->arm.ctrl), status, piper_status_text(status));
	if (s->arm.contact && !s->said_contact)
		note(s, now, "contact: a falling part lies on the table");
	s->said_status = status;
	s->said_ctrl = s->arm.ctrl;
	s->said_contact = s->arm.contact;
}

/* ---- speaking ---- */

static bool is_silenced(int64_t *until, int64_t now)
{
	if (*until > 0 && now >= *until)
		*until = 0;
	return *until != 0;
}

static void send_frames(struct sim *s, const struct can_frame *f, int n, int64_t now)
{
	unsigned long lost = can_counts(s->bus).overflow;
	int done;

	if (s->is_slcan && !s->channel)
		return; /* nobody has opened the channel */
	done = can_send_set(s->bus, f, n, now);
	lost = s->is_slcan ? can_counts(s->bus).overflow - lost : (unsigned long)(n - done);
	s->sent += (unsigned long)n - lost;
	s->dropped += lost;
}

static void send_burst(struct sim *s, const struct delay_burst *b, int64_t now)
{
	send_frames(s, b->f, b->n, now);
	s->bursts++;
	simlog_spoken(&s->log, b->fit, now);
	if (!s->o.log_feedback)
		return;
	for (int i = 0; i < b->n; i++)
		if (b->f[i].can_id >= 0x2A1 && b->f[i].can_id <= 0x2A8)
			log_frame(s, &b->f[i], now);
}

static void speak(struct sim *s, int64_t now)
{
	bool is_mute = is_silenced(&s->mute_until, now);
	bool is_paused = is_silenced(&s->pause_until, now);
	struct delay_burst *b;
	const struct delay_burst *due;

	if (is_mute || is_paused) {
		delay_clear(&s->delay);
		return;
	}
	b = delay_put(&s->delay);
	b->made_us = now;
	b->fit = simlog_fit(&s->arm);
	b->n = simarm_feedback(&s->arm, s->tick % ARM_SLOW_EVERY == 0, b->f);
	if (b->n == 0) {
		delay_clear(&s->delay);
		return;
	}
	while ((due = delay_get(&s->delay, now)) != NULL)
		send_burst(s, due, now);
}

/* ---- listening ---- */

static void note_channel(struct sim *s, int64_t now)
{
	unsigned long n;

	if (!s->is_slcan)
		return;
	n = slcan_pty_openings(s->bus);
	if (s->channel && (n != s->openings || !slcan_pty_is_open(s->bus))) {
		note(s, now, "channel closed");
		simlog_closed(&s->log);
	}
	s->channel = slcan_pty_is_open(s->bus);
	if (s->channel && n != s->openings) {
		note(s, now, "channel opened");
		simlog_opened(&s->log, now);
	}
	s->openings = n;
}

static void hear(struct sim *s, const struct can_rx *rx, int64_t now)
{
	struct can_frame reply[ARM_REPLY_MAX];
	int n;

	s->received++;
	log_frame(s, &rx->f, rx->t_us);
	simlog_command(&s->log, &rx->f, rx->t_us);
	if (is_silenced(&s->mute_until, now))
		return;
	n = simarm_take(&s->arm, &rx->f, reply);
	if (n > 0)
		send_frames(s, reply, n, now);
}

static void on_bus(void *arg, short revents)
{
	struct sim *s = arg;
	int64_t now = clock_now();
	struct can_rx rx;
	int rc = 0;

	(void)revents; /* can_recv tells what it was */
	simarm_advance(&s->arm, now);
	for (int i = 0; i < RECV_PER_WAKE && (rc = can_recv(s->bus, &rx)) == 1; i++) {
		note_channel(s, now);
		if (!rx.own && !rx.error)
			hear(s, &rx, now);
	}
	if (rc < 0)
		die(EXIT_RUNTIME, "%s: bus lost: %s", s->o.bus, strerror(errno));
	note_channel(s, now);
	note_changes(s, now);
	loop_set(&s->loop, s->bus_slot, can_fd(s->bus), can_events(s->bus));
}

/* ---- orders ---- */

static int64_t until(int64_t now, int64_t us)
{
	return us > 0 ? now + us : -1;
}

static void obey(struct sim *s, const struct control *c, int64_t now)
{
	switch (c->kind) {
	case CONTROL_DELAY: s->delay.delay_us = c->us; break;
	case CONTROL_PAUSE: s->pause_until = until(now, c->us); break;
	case CONTROL_MUTE: s->mute_until = until(now, c->us); break;
	case CONTROL_RESUME: s->pause_until = s->mute_until = 0; break;
	case CONTROL_STATUS: simarm_force_status(&s->arm, (uint8_t)c->value); break;
	case CONTROL_JOINT: s->arm.frozen[c->value - 1] = c->on; break;
	case CONTROL_TEACH: simarm_set_teach(&s->arm, c->on); break;
	case CONTROL_POWER: simarm_set_power(&s->arm, c->on); break;
	}
}

static void order(struct sim *s, const char *line, int64_t now)
{
	struct control c;

	if (!control_parse(line, &c)) {
		s->unknown_orders++;
		warn("%s: not an order: '%.60s'", s->o.control, line);
		return;
	}
	obey(s, &c, now);
	note(s, now, "control %s", line);
	note_changes(s, now);
}

static void on_control(void *arg, short revents)
{
	struct sim *s = arg;
	int64_t now = clock_now();
	char c;

	(void)revents;
	simarm_advance(&s->arm, now);
	while (read(s->control_fd, &c, 1) == 1) {
		if (c != '\n') {
			/* What does not fit is no order: it is cut and refused by the parser. */
			if (s->control_n < sizeof s->control_line - 1)
				s->control_line[s->control_n++] = c;
			continue;
		}
		s->control_line[s->control_n] = '\0';
		s->control_n = 0;
		order(s, s->control_line, now);
	}
	log_flush(s);
}

/* ---- time ---- */

static void print_stats(struct sim *s, int64_t now)
{
	double took = fmax(seconds(now - s->started_us), 1e-6);
	char line[512];

	(void)snprintf(line, sizeof line,
		"{\"type\":\"status\",\"v\":1,\"src\":\"piper-sim\",\"t\":%lld,\"frames_per_s\":%."
		"1f,"
		"\"bursts\":%lu,\"sent\":%lu,\"dropped\":%lu,\"late\":%lu,\"received\":%lu,"
		"\"violations\":%lu,\"arm_status\":%u,\"control_mode\":%u}\n",
		(long long)now, (double)s->sent / took, s->bursts, s->sent, s->dropped, s->late,
		s->received, simlog_violations(&s->log), simarm_status(&s->arm), s->arm.ctrl);
	msg_line(line);
}

static void on_tick(void *arg, short revents)
{
	struct sim *s = arg;
	int64_t now = clock_now();

	(void)revents;
	simarm_advance(&s->arm, now);
	if (s->tick % s->o.thin == 0)
		speak(s, now);
	s->tick++;
	s->due_us += ARM_PERIOD_US;
	while (s->due_us + ARM_PERIOD_US <=
		now) { /* slept over whole periods: bursts not made up */
		s->due_us += ARM_PERIOD_US;
		s->late++;
	}
	simlog_tick(&s->log, &s->arm, now);
	note_changes(s, now);
	log_flush(s);
	if (s->o.stats_us && now >= s->stats_due_us) {
		print_stats(s, now);
		s->stats_due_us = now + s->o.stats_us;
	}
	if (s->o.duration_us && now >= s->started_us + s->o.duration_us)
		loop_stop(&s->loop);
	loop_set(&s->loop, s->bus_slot, can_fd(s->bus), can_events(s->bus));
}

static void on_signal(void *arg, int sig)
{
	if (sig == SIGUSR2)
		print_stats(arg, clock_now());
}

/* ---- beginning and end ---- */

static void open_log(struct sim *s)
{
	if (!s->o.log_path)
		return;
	s->log_file = strcmp(s->o.log_path, "-") == 0 ? stdout : fopen(s->o.log_path, "we");
	if (!s->log_file)
		die(EXIT_RUNTIME, "%s: cannot write the log: %s", s->o.log_path, strerror(errno));
	(void)setvbuf(s->log_file, NULL, _IOFBF, LOG_BUFFER);
}

/* A FIFO, opened both ways so that it never ends. */
static void open_control(struct sim *s)
{
	struct stat st;

	s->control_fd = -1;
	if (!s->o.control)
		return;
	s->control_made = mkfifo(s->o.control, 0600) == 0;
	if (!s->control_made && (stat(s->o.control, &st) != 0 || !S_ISFIFO(st.st_mode)))
		die(EXIT_RUNTIME, "%s: cannot make the control FIFO: %s", s->o.control,
			errno == EEXIST || errno == 0 ? "another file is there" : strerror(errno));
	s->control_fd = open(s->o.control, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (s->control_fd < 0)
		die(EXIT_RUNTIME, "%s: %s", s->o.control, strerror(errno));
}

/* Takes link and FIFO away, also when the program dies. */
static void clean_up(void)
{
	(void)can_close(sim.bus, clock_now()); /* what the host did not take is of no use to it */
	sim.bus = NULL;
	if (sim.control_made)
		(void)unlink(sim.o.control);
	sim.control_made = false;
}

static void begin(struct sim *s)
{
	char why[256];
	int64_t now;

	(void)atexit(clean_up); /* it has room for 32 */
	if (loop_init(&s->loop, on_signal, s) != 0)
		die(EXIT_RUNTIME, "signals: %s", strerror(errno));
	open_log(s);
	open_control(s);
	s->bus = can_open_device(s->o.bus, why, sizeof why);
	if (!s->bus)
		die(EXIT_RUNTIME, "%s: %s", s->o.bus, why);
	s->is_slcan = can_kind(s->bus) == CAN_SLCAN;
	now = clock_now();
	s->started_us = s->due_us = now;
	s->stats_due_us = now + s->o.stats_us;
	simarm_init(&s->arm, &s->o.arm, now);
	simlog_init(&s->log, say_violation, s, s->o.may_damp);
	s->delay.delay_us = s->o.delay_us;
	s->pause_until = s->o.paused ? -1 : 0;
	s->mute_until = s->o.mute ? -1 : 0;
	if (s->o.freeze_joint)
		s->arm.frozen[s->o.freeze_joint - 1] = true;
	s->bus_slot = loop_add(&s->loop, can_fd(s->bus), can_events(s->bus), on_bus, s);
	if (s->control_fd >= 0)
		(void)loop_add(&s->loop, s->control_fd, POLLIN, on_control, s);
	s->tick_slot = loop_timer(&s->loop, on_tick, s);
	if (s->tick_slot < 0 || loop_timer_set(&s->loop, s->tick_slot, now, ARM_PERIOD_US) != 0)
		die(EXIT_RUNTIME, "timer: %s", strerror(errno));
	note(s, now, "begin %s", s->o.bus);
}

static void end(struct sim *s)
{
	int64_t now = clock_now();

	simlog_end(&s->log, now);
	note(s, now, "end: %lu commands, %lu violations", s->log.commands,
		simlog_violations(&s->log));
	log_flush(s);
	if (s->o.stats_us)
		print_stats(s, now);
	loop_done(&s->loop);
	clean_up();
}

int main(int argc, char **argv)
{
	int sig;

	sim_options(&sim.o, argc, argv);
	begin(&sim);
	ready_say((int)sim.o.ready_fd, NULL);
	if (loop_run(&sim.loop) != 0)
		die(EXIT_RUNTIME, "poll: %s", strerror(errno));
	sig = sim.loop.end_signal;
	end(&sim);
	if (sim.o.strict_log && simlog_violations(&sim.log))
		die(EXIT_RUNTIME, "%lu violations, see %s", simlog_violations(&sim.log),
			sim.o.log_path ? sim.o.log_path : "--log");
	if (sig)
		msg_die_by_signal(sig);
	return EXIT_DONE;
}
