/*
 * Single-threaded poll loop: file descriptors in a fixed order, signals by signalfd, timers by
 * timerfd.  On each wake the ready descriptors are served in the order of their registration
 * (gate:G2 needs that), signals always first.  A wake in which loop_stop is called or the first
 * ending signal is seen serves nothing further.  A callback may call any function here but
 * loop_once, loop_run and loop_done.
 *
 * loop_init blocks INT TERM HUP USR1 USR2 before anything else; call it before any nng call
 * (PIPELINES.md 4: signals must be blocked before nng starts threads) and never fork after nng.
 */
#ifndef RUN_LOOP_H
#define RUN_LOOP_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#define LOOP_MAX 24

/* `revents` as poll gave it (POLLIN, POLLERR, POLLHUP ...). For timers: number of expirations
 * is consumed by the loop; revents is POLLIN. */
typedef void loop_fn(void *arg, short revents);

struct loop {
	struct pollfd pfd[LOOP_MAX]; /* [0] is the signalfd */
	struct {
		loop_fn *fn;
		void *arg;
		bool timer;
	} slot[LOOP_MAX];
	int n;
	int end_signal; /* INT, TERM or HUP seen: its number, else 0; ends loop_run */
	bool done;      /* set by loop_stop */
	void (*on_signal)(void *arg, int sig); /* USR1, USR2: both ignored when NULL */
	void *on_signal_arg;
};

/* 0, or -1 with errno. on_signal gets SIGUSR1 and SIGUSR2 (and INT/TERM/HUP never: see end_signal). */
int loop_init(struct loop *l, void (*on_signal)(void *arg, int sig), void *arg);

/* Registers fd (borrowed). Returns the slot, -1 when full. fd -1: a slot that is off for now. */
int loop_add(struct loop *l, int fd, short events, loop_fn *fn, void *arg);
void loop_set(struct loop *l, int slot, int fd, short events);

/* A timer slot (its timerfd is owned by the loop). Starts disarmed. -1 with errno. */
int loop_timer(struct loop *l, loop_fn *fn, void *arg);
/* Absolute CLOCK_MONOTONIC us, then every period_us (0: once). at_us 0: disarm. */
int loop_timer_set(struct loop *l, int slot, int64_t at_us, int64_t period_us);

/* One wake: waits until something is ready or until deadline_us (absolute; -1 none), serves it.
 * Returns 0, or -1 with errno (EINTR is handled inside). */
int loop_once(struct loop *l, int64_t deadline_us);
/* loop_once until loop_stop or an ending signal. 0 or -1 with errno. */
int loop_run(struct loop *l);
void loop_stop(struct loop *l);
void loop_done(struct loop *l);

#endif
