/*
 * Witness of the machine (DESIGN.md 7): on each CPU a thread that wants to run every millisecond;
 * and a byte through a pseudo-terminal every 2 ms.
 *
 *   witness     prints "ready", and "late CPU|tty US" when one was more than 5 ms late
 *
 * Ends by a signal.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "run/clock.h"
#include "tty_pass.h"

#define PERIOD_US 1000
#define LATE_US 5000

static void *watch(void *arg)
{
	int cpu = (int)(intptr_t)arg;
	int64_t due = clock_now();
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET((size_t)cpu, &only);
	(void)pthread_setaffinity_np(pthread_self(), sizeof only, &only); /* not ours: any other */
	for (;;) {
		due += PERIOD_US;
		struct timespec ts = { due / 1000000, due % 1000000 * 1000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		int64_t now = clock_now();
		if (now - due > LATE_US) {
			printf("late %d %lld\n", cpu, (long long)(now - due));
			due = now;
		}
	}
	return NULL;
}

static void *watch_tty(void *arg)
{
	int fd[2];
	int64_t us;

	(void)arg;
	if (!tty_pair(fd))
		return NULL;
	while ((us = tty_pass(fd)) >= 0) {
		if (us > LATE_US)
			printf("late tty %lld\n", (long long)us);
		nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
	}
	return NULL;
}

int main(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t t;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	pthread_create(&t, NULL, watch_tty, NULL);
	for (long i = 1; i < cpus; i++)
		pthread_create(&t, NULL, watch, (void *)(intptr_t)i);
	watch(NULL);
	return 0;
}
