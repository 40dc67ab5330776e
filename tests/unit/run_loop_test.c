/* Order of serving, timers, and what callbacks may do to the loop. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/loop.h"

static int n, failed;
static char seen[64];
static struct loop l;
static int slot_of[4];

static void ok(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++n, what);
	failed += !good;
}

static void note(const char *what)
{
	strncat(seen, what, sizeof seen - strlen(seen) - 1);
}

static void take(void *arg, short revents)
{
	(void)revents;
	note(arg);
}

static void on_signal(void *arg, int sig)
{
	(void)arg;
	note(sig == SIGUSR1 ? "U" : "u");
}

static void turns_c_off(void *arg, short revents)
{
	(void)arg, (void)revents;
	note("x");
	loop_set(&l, slot_of[2], -1, 0);
}

static void stops(void *arg, short revents)
{
	(void)arg, (void)revents;
	note("s");
	loop_stop(&l);
}

static int full_pipe(int p[2])
{
	if (pipe(p) < 0 || write(p[1], "x", 1) != 1)
		return -1;
	return p[0];
}

static void start(void)
{
	seen[0] = '\0';
	if (loop_init(&l, on_signal, NULL) < 0)
		ok(false, "loop_init");
}

static void order(void)
{
	int p[3][2];

	start();
	/* Descriptors in an order of their own: only the registration counts. */
	for (int i = 0; i < 3; i++)
		full_pipe(p[i]);
	loop_add(&l, p[2][0], POLLIN, take, "a");
	loop_add(&l, p[0][0], POLLIN, take, "b");
	loop_add(&l, -1, POLLIN, take, "off");
	loop_add(&l, p[1][0], POLLIN, take, "c");
	raise(SIGUSR1);
	loop_once(&l, clock_now());
	ok(strcmp(seen, "Uabc") == 0, "signals first, then the order of registration");
	seen[0] = '\0';
	raise(SIGTERM);
	ok(loop_run(&l) == 0 && l.end_signal == SIGTERM && seen[0] == '\0',
		"an ending signal ends the run before anything else is served");
	loop_once(&l, clock_now());
	ok(strcmp(seen, "abc") == 0, "after it loop_once still serves (to drain)");
	loop_done(&l);
	for (int i = 0; i < 3; i++)
		close(p[i][0]), close(p[i][1]);
}

static void callbacks(void)
{
	int p[3][2];

	start();
	for (int i = 0; i < 3; i++)
		full_pipe(p[i]);
	slot_of[0] = loop_add(&l, p[0][0], POLLIN, turns_c_off, NULL);
	slot_of[1] = loop_add(&l, p[1][0], POLLIN, take, "b");
	slot_of[2] = loop_add(&l, p[2][0], POLLIN, take, "c");
	loop_once(&l, clock_now());
	ok(strcmp(seen, "xb") == 0, "a slot turned off in this wake is not served in it");
	loop_done(&l);

	start();
	loop_add(&l, p[0][0], POLLIN, stops, NULL);
	loop_add(&l, p[1][0], POLLIN, take, "b");
	ok(loop_run(&l) == 0 && l.done && strcmp(seen, "s") == 0,
		"loop_stop ends the run and the wake");
	loop_done(&l);
	for (int i = 0; i < 3; i++)
		close(p[i][0]), close(p[i][1]);
}

static int fired;

static void fire(void *arg, short revents)
{
	(void)arg;
	fired += revents == POLLIN;
}

static int second_timer;
static void disarm_other(void *arg, short revents)
{
	(void)revents;
	fire(arg, POLLIN);
	loop_timer_set(&l, second_timer, 0, 0);
}

static void timers(void)
{
	int64_t t0, end;
	int a;

	start();
	a = loop_timer(&l, fire, NULL);
	t0 = clock_now();
	loop_once(&l, t0 + 2000);
	ok(fired == 0 && clock_now() >= t0 + 2000, "disarmed at first; the deadline is waited for");
	loop_timer_set(&l, a, clock_now() + 5000, 0);
	t0 = clock_now();
	loop_once(&l, t0 + 2000000);
	ok(fired == 1 && clock_now() >= t0 + 4500, "fires once at its time, not sooner");
	loop_once(&l, clock_now() + 8000);
	ok(fired == 1, "and not again");

	fired = 0;
	t0 = clock_now();
	loop_timer_set(&l, a, t0 - 1000, 5000); /* begins in the past */
	end = t0 + 2000000;
	while (fired < 4 && clock_now() < end)
		loop_once(&l, end);
	ok(fired == 4 && clock_now() >= t0 + 13000, "period on a grid of absolute times");
	loop_timer_set(&l, a, 0, 5000);
	fired = 0;
	loop_once(&l, clock_now() + 12000);
	ok(fired == 0, "time 0 disarms a periodic timer");
	loop_done(&l);

	start();
	fired = 0;
	a = loop_timer(&l, disarm_other, NULL);
	second_timer = loop_timer(&l, fire, NULL);
	loop_timer_set(&l, a, 1, 0);
	loop_timer_set(&l, second_timer, 1, 0);
	loop_once(&l, clock_now() + 1000000);
	ok(fired == 1, "a timer disarmed in this wake does not fire in it");
	loop_done(&l);
}

static void limits(void)
{
	int i;

	start();
	for (i = 1; i < LOOP_MAX; i++)
		if (loop_add(&l, -1, 0, take, "") != i)
			break;
	ok(i == LOOP_MAX && loop_add(&l, -1, 0, take, "") == -1 && loop_timer(&l, fire, NULL) == -1,
		"a full loop says so");
	loop_done(&l);
}

int main(void)
{
	alarm(30);
	order();
	callbacks();
	timers();
	limits();
	printf("1..%d\n", n);
	return failed != 0;
}
