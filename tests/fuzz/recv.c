/*
 * The receiver's rules: any datagrams from three sources at any times.  A datagram is a byte of
 * what it is, a time step, and either its bytes or changes to the one before.
 */
#include <math.h>

#include "fuzz.h"
#include "rctp-recv/recv.h"

#define TIME_MAX ((int64_t)1 << 53) /* as in records */
#define STEPS_MAX 2000
#define MAX_M 10.0

enum op {
	OP_FROM = 3, /* whose */
	OP_STALE = 4,
	OP_RAW = 8,    /* new bytes, length first; else changes */
	OP_FIELD = 16, /* one field anew */
	OP_LONG = 32,  /* time step in ms, else us */
	OP_BACK = 64,  /* time goes back */
};

struct seen {
	struct recv v;
	struct recv_datagram d;
	bool decoded;
	struct rctp p;
	int64_t seq_pose, seq_stop, seq_event;
	int made, stops;
	bool good, invalid_since; /* a valid pose was put out; an invalid one since */
	bool time_went_back;
	struct rec_pose last;
	int64_t last_us;
};

static bool usable(const struct rctp *p)
{
	struct rctp copy = *p;
	int grip_ok;

	return rctp_check(&copy, MAX_M, &grip_ok) == RCTP_POSE_OK;
}

static double dist(struct vec3 a, struct vec3 b)
{
	return sqrt(
		(a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

/* Nothing is valid but what was sent, tracked, fresh, and near the pose before. */
static void look_at_valid(struct seen *s, const struct rec *r)
{
	const struct rec_pose *o = &r->u.pose;

	CLAIM((s->p.flags & RCTP_VALID) && !s->d.stale && usable(&s->p));
	CLAIM(same_bits(&o->pose.p, &s->p.pose.p, sizeof o->pose.p));
	if (s->good && !s->invalid_since && !s->time_went_back) {
		double dt_s = fmax(1e-6 * (double)(r->t_us - s->last_us), RECV_JUMP_MIN_S);
		if (o->has_ts && s->last.has_ts)
			dt_s = fmax(dt_s, o->ts - s->last.ts);
		CLAIM(dist(o->pose.p, s->last.pose.p) <= RECV_JUMP_MPS * dt_s * (1 + 1e-9));
		CLAIM(r->t_us - s->last_us <= RECV_GAP_US);
	}
	s->good = true;
	s->invalid_since = false;
	s->last = *o;
	s->last_us = r->t_us;
}

static void look(void *arg, const struct rec *r)
{
	struct seen *s = arg;
	char line[REC_LINE_MAX + 1], why[200];
	static struct rec again;
	int n = rec_print(r, line, sizeof line);

	CLAIM(s->decoded && r->t_us == s->d.t_us && strcmp(r->src, "right") == 0);
	CLAIM(n > 0 && rec_parse(line, (size_t)n - 1, &again, why, sizeof why) == 0);
	s->made++;
	switch (r->type) {
	case REC_POSE:
		CLAIM(r->seq == s->seq_pose++);
		CLAIM(rec_parse_direct(line, (size_t)n - 1, &again) == 1);
		if (r->u.pose.valid)
			look_at_valid(s, r);
		else
			s->invalid_since = true;
		break;
	case REC_STOP:
		CLAIM(r->seq == s->seq_stop++ && r->u.stop.level == REC_ESTOP);
		CLAIM(s->p.flags & RCTP_ESTOP);
		s->stops++;
		break;
	case REC_EVENT: CLAIM(r->seq == s->seq_event++); break;
	default: CLAIM(r->type == REC_STOP); /* the receiver makes no other */
	}
}

/* The bytes of the next datagram, from those of the one before; its length. */
static size_t next_bytes(struct bytes *in, uint8_t op, uint8_t b[64], size_t before)
{
	if (op & OP_RAW) {
		size_t n = take_u8(in) % 64;
		take(in, b, n);
		return n;
	}
	double t;
	memcpy(&t, b + 4, sizeof t);
	t += 1e-3 * (double)(int16_t)take_u16(in);
	memcpy(b + 4, &t, sizeof t);
	b[44] = take_u8(in);
	if (op & OP_FIELD)
		take(in, b + 12 + 4 * (take_u8(in) % 8), 4);
	return before < RCTP_SIZE ? RCTP_SIZE : before;
}

static int64_t next_time(struct bytes *in, uint8_t op, int64_t t_us)
{
	int64_t step = (int64_t)take_u16(in) * (op & OP_LONG ? 1000 : 1);

	t_us += op & OP_BACK ? -step : step;
	return t_us < 0 ? 0 : t_us > TIME_MAX ? TIME_MAX : t_us;
}

/* A press of the pinned source is a stop at once, its held bit one every RECV_STOP_US. */
static void look_at_stops(const struct seen *s, bool was_held, int64_t stop_us)
{
	bool bit = s->decoded && (s->p.flags & RCTP_ESTOP);
	bool own = same_bits(&s->v.from, &s->d.from, sizeof s->v.from);
	bool due = bit && own && s->d.t_us - stop_us >= RECV_STOP_US;

	CLAIM(s->stops == 0 || bit);
	CLAIM(!(bit && own && !was_held) || s->stops == 1);
	CLAIM(!due || s->stops == 1);
	CLAIM(s->stops <= 1);
}

static void feed(struct seen *s, const uint8_t *b, size_t n, uint8_t op, int64_t t_us)
{
	struct recv_datagram d = { b, n, { { (uint8_t)(op & OP_FROM) } }, t_us,
		(op & OP_STALE) != 0 };
	int64_t stop_us = s->v.stopped ? s->v.stop_us : -RECV_STOP_US;
	bool was_held = s->v.held;

	s->d = d;
	s->decoded = rctp_decode(b, n, &s->p) == RCTP_OK;
	s->made = s->stops = 0;
	recv_datagram(&s->v, &s->d);
	CLAIM(s->made <= 5); /* stop, source, restart, invalid, pose */
	look_at_stops(s, was_held, stop_us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct seen s;
	struct bytes in = { data, n };
	uint8_t b[64] = "RCTP", op;
	size_t len = RCTP_SIZE;
	int64_t t_us = 1000000, latest = 0;
	char stats[1024];
	struct recv_conf conf = { take_u8(&in) & 1 ? 300000 : 0, MAX_M };
	static const float one = 1;

	memcpy(b + 36, &one, sizeof one);
	memset(&s, 0, sizeof s);
	recv_init(&s.v, &conf, "right", look, &s);
	for (int i = 0; i < STEPS_MAX && in.n > 0; i++) {
		op = take_u8(&in);
		t_us = next_time(&in, op, t_us);
		s.time_went_back = s.time_went_back || t_us < latest;
		latest = t_us > latest ? t_us : latest;
		len = next_bytes(&in, op, b, len);
		feed(&s, b, len, op, t_us);
	}
	CLAIM(s.v.n.poses + s.v.n.invalid == (unsigned long)s.seq_pose);
	CLAIM(recv_stats(&s.v, stats, sizeof stats) < (int)sizeof stats);
	return 0;
}
