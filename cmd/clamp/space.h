/*
 * Where a pose may be: a box for the flange and, with a tool, for its tip; a cone for the tool
 * axis (flange Z); a cylinder round the base Z axis that the flange stays out of.  Pure geometry.
 * Metres, radians, base frame.
 */
#ifndef CLAMP_SPACE_H
#define CLAMP_SPACE_H

#include <stdbool.h>

#include "geom/pose.h"

struct space {
	double lo[3], hi[3]; /* box, m; -INFINITY and INFINITY: free */
	bool has_tool;
	struct vec3 tool; /* tip in the flange frame */
	double tilt;      /* largest angle of flange Z to tilt_axis, rad, at most pi/2; < 0: free */
	struct vec3 tilt_axis; /* unit */
	double radius;         /* 0: none */
};

/* What was limited, as bits in the order of the names in `clamped`. */
enum space_bit {
	CLAMP_X = 1 << 0,
	CLAMP_Y = 1 << 1,
	CLAMP_Z = 1 << 2,
	CLAMP_TIP_X = 1 << 3,
	CLAMP_TIP_Y = 1 << 4,
	CLAMP_TIP_Z = 1 << 5,
	CLAMP_TILT = 1 << 6,
	CLAMP_RADIUS = 1 << 7,
	CLAMP_SPEED = 1 << 8,
	CLAMP_ACCEL = 1 << 9,
	CLAMP_ASPEED = 1 << 10,
	CLAMP_AACCEL = 1 << 11,
	CLAMP_GRIP = 1 << 12,
	CLAMP_GRIP_RATE = 1 << 13,
};
#define CLAMP_BITS 14
extern const char *const CLAMP_NAME[CLAMP_BITS];

/* Where the flange may be while the orientation is q: box of the flange and of the tip at once. */
struct span {
	double lo[3], hi[3];
	double radius;
};

void space_free(struct space *s); /* no limit at all */
bool space_any(const struct space *s);
/* false: an axis is empty; its bits (flange and tip) are added to *bits. */
bool space_span(const struct space *s, struct quat q, struct span *out, unsigned *bits);
/* Nearest orientation inside the cone; adds CLAMP_TILT when it is another. q unit. */
struct quat space_tilt(const struct space *s, struct quat q, unsigned *bits);
/* Nearest allowed place to p; false: none. */
bool space_near(const struct span *a, struct vec3 p, struct vec3 *out);
/* Names what keeps p from being allowed at q (bits of box, tip and radius; 0: allowed). */
unsigned space_breach(const struct space *s, struct quat q, struct vec3 p);
bool space_has(const struct span *a, struct vec3 p);
/* The end r and the straight way from p to it are allowed; the way may cut into the cylinder by
 * `graze` m. */
bool space_clear(const struct span *a, struct vec3 p, struct vec3 r, double graze);
/* Turning from q by rotation vectors 0..r (base frame) keeps the tool axis in the cone. */
bool space_turn_clear(const struct space *s, struct quat q, struct vec3 r);
/* The way from p to the goal (both allowed): its first leg as a direction times its length to
 * travel.  Straight when clear.  Round the cylinder when the goal is at most 90 degrees round it;
 * a goal farther round is waited for where the straight way meets the cylinder.
 * *blocked: the way was not straight. */
struct vec3 space_way(const struct span *a, struct vec3 p, struct vec3 goal, bool *blocked);
/* Rotation vector (base frame) to turn by from q towards goal, both in the cone: the short way
 * where that stays in the cone, else the tool axis first. */
struct vec3 space_turn(const struct space *s, struct quat q, struct quat goal);
/* Nearest point with whole nanometres that is allowed (records have nine decimals); false: none
 * beside p. */
bool space_round(const struct span *a, struct vec3 p, struct vec3 *out);

#endif
