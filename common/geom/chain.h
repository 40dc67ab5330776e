/*
 * Serial arms in modified DH (Craig): RotX(alpha) TransX(a) RotZ(theta + offset) TransZ(d).
 * Metres, radians. Forward kinematics, Jacobian; closed-form inverse for the Piper (piper.md 8).
 */
#ifndef GEOM_CHAIN_H
#define GEOM_CHAIN_H

#include <stdbool.h>

#include "geom/pose.h"

#define CHAIN_JOINTS 6

struct chain {
	struct {
		double alpha, a, d, offset;
		double lo, hi; /* joint range, rad */
	} j[CHAIN_JOINTS];
};

/* The two published tables (piper.md 8.1): new from firmware S-V1.6-3 on; limits of piper.md 9
 * (controller default column). */
extern const struct chain PIPER_DH_NEW, PIPER_DH_OLD;

struct pose chain_fk(const struct chain *c, const double q[CHAIN_JOINTS]);
/* Rows vx vy vz wx wy wz in the base frame, columns joints. */
void chain_jacobian(
	const struct chain *c, const double q[CHAIN_JOINTS], double jac[6][CHAIN_JOINTS]);
/* Every joint inside its range widened by margin_rad (negative: narrowed). A NaN is outside. */
bool chain_within(const struct chain *c, const double q[CHAIN_JOINTS], double margin_rad);

/* Every closed-form solution (at most 8) of a Piper-shaped chain, angles wrapped to (-pi, pi],
 * limits not applied. Returns the number, 0: out of reach. A straight wrist has J4 = 0; a wrist
 * centre on the base axis has J1 = 0 and half a turn. */
#define PIPER_IK_MAX 8
int piper_ik(const struct chain *c, struct pose flange, double out[PIPER_IK_MAX][CHAIN_JOINTS]);
/* The solution inside the limits nearest to `from` (largest joint step smallest), whole turns
 * tried for each joint; up to 1e-8 rad past a limit counts as rounding and is put on the limit.
 * Where the wrist is straight within the rounding of a nine-decimal quaternion (|J5| < 1e-8) the
 * free J4/J6 split is taken nearest to `from`, and so is J1 with the wrist centre on the base
 * axis. false: none, `out` untouched. `out` may be `from`. */
bool piper_ik_near(const struct chain *c, struct pose flange, const double from[CHAIN_JOINTS],
	double out[CHAIN_JOINTS]);

#endif
