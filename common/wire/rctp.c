#include "wire/rctp.h"

#include <math.h>
#include <string.h>

#define NORM_MIN 0.5 /* rctp.md 2: outside is not a rotation any more */
#define NORM_MAX 1.5

static const uint8_t magic[4] = { 0x52, 0x43, 0x54, 0x50 };

static uint64_t get_le(const uint8_t *b, int n)
{
	uint64_t v = 0;
	for (int i = n - 1; i >= 0; i--)
		v = v << 8 | b[i];
	return v;
}

static void put_le(uint8_t *b, int n, uint64_t v)
{
	for (int i = 0; i < n; i++)
		b[i] = (uint8_t)(v >> (8 * i));
}

static double get_f32(const uint8_t *b)
{
	uint32_t bits = (uint32_t)get_le(b, 4);
	float f;
	memcpy(&f, &bits, sizeof(f));
	return (double)f;
}

static void put_f32(uint8_t *b, double v)
{
	float f = (float)v;
	uint32_t bits;
	memcpy(&bits, &f, sizeof(bits));
	put_le(b, 4, bits);
}

enum rctp_error rctp_decode(const uint8_t *b, size_t n, struct rctp *out)
{
	if (n < RCTP_SIZE)
		return RCTP_SHORT;
	if (memcmp(b, magic, sizeof(magic)) != 0)
		return RCTP_MAGIC;
	uint64_t bits = get_le(b + 4, 8);
	memcpy(&out->time_s, &bits, sizeof(out->time_s));
	out->pose.p = (struct vec3){ get_f32(b + 12), get_f32(b + 16), get_f32(b + 20) };
	out->pose.q =
		(struct quat){ get_f32(b + 24), get_f32(b + 28), get_f32(b + 32), get_f32(b + 36) };
	out->grip = get_f32(b + 40);
	out->flags = b[44];
	return RCTP_OK;
}

void rctp_encode(const struct rctp *in, uint8_t out[RCTP_SIZE])
{
	uint64_t bits;
	memcpy(out, magic, sizeof(magic));
	memcpy(&bits, &in->time_s, sizeof(bits));
	put_le(out + 4, 8, bits);
	put_f32(out + 12, in->pose.p.x);
	put_f32(out + 16, in->pose.p.y);
	put_f32(out + 20, in->pose.p.z);
	put_f32(out + 24, in->pose.q.x);
	put_f32(out + 28, in->pose.q.y);
	put_f32(out + 32, in->pose.q.z);
	put_f32(out + 36, in->pose.q.w);
	put_f32(out + 40, in->grip);
	out[44] = in->flags;
}

enum rctp_pose rctp_check(struct rctp *r, double max_m, int *grip_ok)
{
	struct vec3 p = r->pose.p;
	struct quat q = r->pose.q;

	*grip_ok = isfinite(r->grip) ? 1 : 0;
	if (*grip_ok)
		r->grip = fmin(fmax(r->grip, 0.0), 1.0);
	if (!vec_finite(p) || !isfinite(q.x) || !isfinite(q.y) || !isfinite(q.z) || !isfinite(q.w))
		return RCTP_POSE_NONFINITE;
	if (fabs(p.x) > max_m || fabs(p.y) > max_m || fabs(p.z) > max_m)
		return RCTP_POSE_RANGE;
	double norm = quat_norm(q);
	if (norm < NORM_MIN || norm > NORM_MAX)
		return RCTP_POSE_QUAT;
	r->pose.q = quat_unit(q);
	return RCTP_POSE_OK;
}
