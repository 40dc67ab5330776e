/* RCTP packets: what decodes is what was sent, and what passes the check is usable. */
#include <math.h>

#include "fuzz.h"
#include "wire/rctp.h"

static bool finite_pose(const struct rctp *r)
{
	return isfinite(r->pose.p.x) && isfinite(r->pose.p.y) && isfinite(r->pose.p.z) &&
	       isfinite(r->pose.q.x) && isfinite(r->pose.q.y) && isfinite(r->pose.q.z) &&
	       isfinite(r->pose.q.w);
}

static double norm(struct quat q)
{
	return sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
}

static bool beyond(struct vec3 p, double max_m)
{
	return fabs(p.x) > max_m || fabs(p.y) > max_m || fabs(p.z) > max_m;
}

static void check(const struct rctp *sent, double max_m)
{
	struct rctp r = *sent;
	int grip_ok = -1;
	enum rctp_pose verdict = rctp_check(&r, max_m, &grip_ok);

	CLAIM(grip_ok == (isfinite(sent->grip) ? 1 : 0));
	CLAIM(!grip_ok || (r.grip >= 0 && r.grip <= 1));
	CLAIM(same_bits(&r.time_s, &sent->time_s, 8) && r.flags == sent->flags);
	switch (verdict) {
	case RCTP_POSE_OK:
		CLAIM(finite_pose(sent) && !beyond(sent->pose.p, max_m));
		CLAIM(same_bits(&r.pose.p, &sent->pose.p, sizeof r.pose.p));
		CLAIM(fabs(norm(r.pose.q) - 1) < 1e-12);
		break;
	case RCTP_POSE_NONFINITE: CLAIM(!finite_pose(sent)); break;
	case RCTP_POSE_RANGE: CLAIM(beyond(sent->pose.p, max_m)); break;
	case RCTP_POSE_QUAT:
		CLAIM(!(norm(sent->pose.q) > 0.5000001 && norm(sent->pose.q) < 1.4999999));
		break;
	}
}

/* Encodes to the same bytes; a float that is a signalling NaN may have become a quiet one. */
static void encode(const struct rctp *r, const uint8_t *sent)
{
	uint8_t out[RCTP_SIZE];

	rctp_encode(r, out);
	CLAIM(memcmp(out, sent, 12) == 0 && out[44] == sent[44]);
	for (int i = 12; i < 44; i += 4) {
		float a, b;
		memcpy(&a, out + i, 4);
		memcpy(&b, sent + i, 4);
		CLAIM(same_bits(&a, &b, 4) || (isnan(a) && isnan(b)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct rctp r;

	switch (rctp_decode(data, n, &r)) {
	case RCTP_SHORT: CLAIM(n < RCTP_SIZE); break;
	case RCTP_MAGIC: CLAIM(memcmp(data, "RCTP", 4) != 0); break;
	case RCTP_OK:
		CLAIM(n >= RCTP_SIZE);
		encode(&r, data);
		check(&r, 10);
		check(&r, 0.25);
		break;
	}
	return 0;
}
