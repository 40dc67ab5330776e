/* See loop.h. */
#include "run/loop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "run/clock.h"

static void serve_signals(void *arg, short revents)
{
	struct loop *l = arg;
	struct signalfd_siginfo si;

	(void)revents;
	while (read(l->pfd[0].fd, &si, sizeof si) == (ssize_t)sizeof si) {
		int sig = (int)si.ssi_signo;

		if (sig == SIGUSR1 || sig == SIGUSR2) {
			if (l->on_signal)
				l->on_signal(l->on_signal_arg, sig);
		} else if (!l->end_signal) {
			l->end_signal = sig;
		}
	}
}

int loop_init(struct loop *l, void (*on_signal)(void *arg, int sig), void *arg)
{
	sigset_t set;
	int fd;

	memset(l, 0, sizeof *l);
	l->on_signal = on_signal;
	l->on_signal_arg = arg;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -1;
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return -1;
	loop_add(l, fd, POLLIN, serve_signals, l);
	return 0;
}

int loop_add(struct loop *l, int fd, short events, loop_fn *fn, void *arg)
{
	int i = l->n;

	if (i >= LOOP_MAX) {
		errno = ENOSPC;
		return -1;
	}
	l->n++;
	l->slot[i].fn = fn;
	l->slot[i].arg = arg;
	l->slot[i].timer = false;
	loop_set(l, i, fd, events);
	return i;
}

void loop_set(struct loop *l, int slot, int fd, short events)
{
	/* revents 0: what poll found on the old descriptor is not served on the new one. */
	l->pfd[slot] = (struct pollfd){ .fd = fd, .events = events, .revents = 0 };
}

int loop_timer(struct loop *l, loop_fn *fn, void *arg)
{
	int fd, i;

	fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (fd < 0)
		return -1;
	i = loop_add(l, fd, POLLIN, fn, arg);
	if (i < 0) {
		close(fd);
		errno = ENOSPC;
		return -1;
	}
	l->slot[i].timer = true;
	return i;
}

static struct timespec timespec_of(int64_t us)
{
	return (struct timespec){ .tv_sec = us / 1000000, .tv_nsec = (us % 1000000) * 1000 };
}

int loop_timer_set(struct loop *l, int slot, int64_t at_us, int64_t period_us)
{
	struct itimerspec it = { .it_value = timespec_of(at_us) };

	if (at_us != 0)
		it.it_interval = timespec_of(period_us);
	return timerfd_settime(l->pfd[slot].fd, TFD_TIMER_ABSTIME, &it, NULL);
}

/* Waits. 0 something or the deadline, -1 errno. */
static int wait_ready(struct loop *l, int64_t deadline_us)
{
	for (;;) {
		struct timespec ts, *timeout = NULL;

		if (deadline_us >= 0) {
			int64_t left = deadline_us - clock_now();

			ts = timespec_of(left > 0 ? left : 0);
			timeout = &ts;
		}
		if (ppoll(l->pfd, (nfds_t)l->n, timeout, NULL) >= 0)
			return 0;
		if (errno != EINTR)
			return -1;
	}
}

int loop_once(struct loop *l, int64_t deadline_us)
{
	bool was_done = l->done;
	int had_signal = l->end_signal;
	int n = l->n; /* a slot added by a callback waits for the next wake */

	if (wait_ready(l, deadline_us) < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		short revents = l->pfd[i].revents;
		uint64_t expirations;

		l->pfd[i].revents = 0;
		if (!revents)
			continue;
		/* Disarmed or set anew by an earlier callback of this wake: nothing to read. */
		if (l->slot[i].timer && read(l->pfd[i].fd, &expirations, sizeof expirations) < 0)
			continue;
		l->slot[i].fn(l->slot[i].arg, revents);
		if ((l->done && !was_done) || (l->end_signal && !had_signal))
			break;
	}
	return 0;
}

int loop_run(struct loop *l)
{
	while (!l->done && !l->end_signal)
		if (loop_once(l, -1) < 0)
			return -1;
	return 0;
}

void loop_stop(struct loop *l)
{
	l->done = true;
}

void loop_done(struct loop *l)
{
	for (int i = 0; i < l->n; i++)
		if (i == 0 || l->slot[i].timer)
			close(l->pfd[i].fd);
	l->n = 0;
}
