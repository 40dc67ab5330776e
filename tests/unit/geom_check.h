/* What the geometry tests share: TAP and a seeded generator. */
#ifndef GEOM_CHECK_H
#define GEOM_CHECK_H

#include <math.h>
#include <stdint.h>

#include "geom/quat.h"
#include "tap.h"

#define DEG (M_PI / 180)

static uint64_t check_state = 20240607;

/* Uniform in lo..hi. */
__attribute__((unused)) static double uniform(double lo, double hi)
{
	check_state = check_state * 6364136223846793005u + 1442695040888963407u;
	return lo + (hi - lo) * (double)(check_state >> 11) / 9007199254740992.0;
}

__attribute__((unused)) static struct quat random_quat(void)
{
	struct quat q;
	double n;

	do {
		q = (struct quat){ uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1) };
		n = quat_norm(q);
	} while (n < 0.1 || n > 1);
	return quat_unit(q);
}

/* Difference modulo one turn, 0..period/2. */
__attribute__((unused)) static double turn_diff(double a, double b, double period)
{
	return fabs(remainder(a - b, period));
}

#endif
