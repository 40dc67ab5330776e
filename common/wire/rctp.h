/*
 * RCTP, 45 bytes little-endian (rctp.md 1, by the byte table): "RCTP", f64 time s, f32 position
 * x y z m, f32 quaternion x y z w, f32 gripper 0 closed..1 open, u8 flags. Bytes behind 45 are
 * ignored.
 */
#ifndef WIRE_RCTP_H
#define WIRE_RCTP_H

#include <stddef.h>
#include <stdint.h>

#include "geom/pose.h"

#define RCTP_SIZE 45
#define RCTP_VALID 0x01u
#define RCTP_ESTOP 0x02u

struct rctp {
	double time_s; /* as sent; may be anything */
	struct pose pose;
	double grip;
	uint8_t flags;
};
enum rctp_error { RCTP_OK, RCTP_SHORT, RCTP_MAGIC };

/* Bytes to fields, no judgement beyond length and magic: floats may be NaN. */
enum rctp_error rctp_decode(const uint8_t *b, size_t n, struct rctp *out);
void rctp_encode(const struct rctp *in, uint8_t out[RCTP_SIZE]);

/* Why a pose is not usable (rctp.md 2); RCTP_POSE_OK: finite, |p| components <= max_m,
 * quaternion norm 0.5..1.5 (then renormalised in place), gripper finite is clamped to 0..1 in
 * place (not finite: *grip_ok = 0, the rest may still be used). */
enum rctp_pose { RCTP_POSE_OK, RCTP_POSE_NONFINITE, RCTP_POSE_RANGE, RCTP_POSE_QUAT };
enum rctp_pose rctp_check(struct rctp *r, double max_m, int *grip_ok);

#endif
