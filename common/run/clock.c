/* See clock.h. */
#include "run/clock.h"

#define SECOND_US 1000000

static int64_t read_us(clockid_t id)
{
	struct timespec ts;

	/* Cannot fail: both clocks exist on every Linux and the pointer is good. */
	(void)clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * SECOND_US + ts.tv_nsec / 1000;
}

int64_t clock_now(void)
{
	return read_us(CLOCK_MONOTONIC);
}

int clock_convert(int64_t stamp_real_us, int64_t now_real_us, int64_t now_mono_us, int64_t *t_us)
{
	int64_t age;

	if (__builtin_sub_overflow(now_real_us, stamp_real_us, &age) || age < 0 ||
		age > SECOND_US) {
		*t_us = now_mono_us - SECOND_US;
		return -1;
	}
	*t_us = now_mono_us - age;
	return 0;
}

int clock_from_stamp(const struct timespec *stamp, int64_t *t_us)
{
	int64_t mono = 0, real = 0, sec_us, stamp_us;

	/* The two clocks are read one after the other. When the process loses the processor in
	 * between, the datum would look older than it is: read again, a few times at most. */
	for (int i = 0; i < 4; i++) {
		mono = clock_now();
		real = read_us(CLOCK_REALTIME);
		if (clock_now() - mono < 50)
			break;
	}
	if (__builtin_mul_overflow((int64_t)stamp->tv_sec, SECOND_US, &sec_us) ||
		__builtin_add_overflow(sec_us, (int64_t)stamp->tv_nsec / 1000, &stamp_us)) {
		*t_us = mono - SECOND_US;
		return -1;
	}
	return clock_convert(stamp_us, real, mono, t_us);
}
