#include "rctp-recv/recv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum order { NEXT, DUPLICATE, REORDERED, RESTART_BACK, RESTART_SILENT };
enum verdict { GOOD, UNTRACKED, STALE, LATE, FROZEN };

#define POSE_AT 12 /* bytes 12..39 are position and rotation, rctp.md 1 */
#define POSE_LEN 28

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void recv_init(
	struct recv *v, const struct recv_conf *conf, const char *src, recv_emit *emit, void *arg)
{
	memset(v, 0, sizeof(*v));
	v->conf = *conf;
	v->src = src;
	v->emit = emit;
	v->arg = arg;
	v->good = POSE_IDENTITY;
	v->good_time_s = (double)NAN;
}

static void emit_stop(struct recv *v, int64_t t_us, bool own)
{
	struct rec r;
	rec_init(&r, REC_STOP, v->src, v->seq_stop++, t_us);
	r.u.stop.level = REC_ESTOP;
	snprintf(r.u.stop.why, sizeof(r.u.stop.why), "%s",
		own ? "rctp e-stop bit" : "rctp e-stop bit of a foreign source");
	v->n.stops++;
	v->emit(v->arg, &r);
}

static void emit_event(struct recv *v, int64_t t_us, const char *name, unsigned long n)
{
	struct rec r;
	rec_init(&r, REC_EVENT, v->src, v->seq_event++, t_us);
	snprintf(r.u.event.name, sizeof(r.u.event.name), "%s", name);
	r.u.event.n = (int64_t)n;
	v->emit(v->arg, &r);
}

/* A pose record of this packet with the last good p q grip. */
static void emit_pose(struct recv *v, int64_t t_us, const struct rctp *p, bool valid)
{
	struct rec r;
	rec_init(&r, REC_POSE, v->src, v->seq_pose++, t_us);
	r.u.pose.frame = REC_VR;
	r.u.pose.valid = valid;
	r.u.pose.pose = v->good;
	r.u.pose.has_grip = v->has_grip;
	r.u.pose.grip = v->grip;
	r.u.pose.has_ts = isfinite(p->time_s) && fabs(p->time_s) <= RECV_TS_MAX;
	r.u.pose.ts = r.u.pose.has_ts ? p->time_s : 0;
	r.u.pose.has_flags = true;
	r.u.pose.flags = p->flags;
	if (valid)
		v->n.poses++;
	else
		v->n.invalid++;
	v->owed = false;
	v->emit(v->arg, &r);
}

/* Pins the first source, or another when the pinned one is silent (rctp.md 9, 16). */
static bool is_own(struct recv *v, const struct recv_datagram *d)
{
	if (v->pinned && memcmp(&v->from, &d->from, sizeof(v->from)) == 0)
		return true;
	if (v->pinned && d->t_us - v->seen_us < RECV_PIN_US)
		return false;
	if (v->pinned) {
		v->n.source++;
		v->moved_source = true;
		v->owed = true;
	}
	v->pinned = true;
	v->from = d->from;
	v->seen_us = d->t_us;
	v->held = v->begun = v->silent = v->has_time = v->has_delay = v->probation = false;
	v->good_time_s = (double)NAN;
	return true;
}

static bool is_recent(int64_t stop_us, int64_t t_us)
{
	return t_us - stop_us < RECV_STOP_US;
}

/* Does the bit of a foreign source make a stop? */
static bool foreign_stops(struct recv *v, const struct recv_datagram *d, bool bit)
{
	int room = -1;

	for (int i = 0; i < RECV_FOREIGN; i++) {
		bool is_new = !v->foreign[i].held || !is_recent(v->foreign[i].stop_us, d->t_us);
		if (v->foreign[i].held &&
			memcmp(&v->foreign[i].from, &d->from, sizeof(d->from)) == 0) {
			v->foreign[i].held = bit;
			room = is_new ? i : -1;
			break;
		}
		if (is_new && room < 0)
			room = i;
	}
	if (!bit || room < 0)
		return false;
	v->foreign[room].held = true;
	v->foreign[room].from = d->from;
	v->foreign[room].stop_us = d->t_us;
	return true;
}

static bool pinned_stops(struct recv *v, const struct recv_datagram *d, bool bit)
{
	bool press = bit && !v->held;

	v->held = bit;
	if (!bit || (!press && v->stopped && is_recent(v->stop_us, d->t_us)))
		return false;
	v->stopped = true;
	v->stop_us = d->t_us;
	return true;
}

/* rctp.md 6: one packet suffices, from any source; a new press counts at once, whoever else
 * holds the bit. */
static void look_for_estop(
	struct recv *v, const struct recv_datagram *d, const struct rctp *p, bool own)
{
	bool bit = (p->flags & RCTP_ESTOP) != 0;

	v->n.estop += bit;
	if (own ? pinned_stops(v, d, bit) : foreign_stops(v, d, bit))
		emit_stop(v, d->t_us, own);
}

/* rctp.md 5.3. */
static enum order order_of(const struct recv *v, const uint8_t *bytes, const struct rctp *p)
{
	if (!v->begun)
		return NEXT;
	if (v->silent)
		return RESTART_SILENT;
	if (!v->has_time || !isfinite(p->time_s))
		return NEXT;
	double older_s = v->time_s - p->time_s;
	if (older_s < 0)
		return NEXT;
	if (older_s >= RECV_RESTART_S)
		return RESTART_BACK;
	if (older_s > 0)
		return REORDERED;
	return memcmp(bytes, v->bytes, RCTP_SIZE) == 0 ? DUPLICATE : NEXT;
}

/* False: the pose cannot be used, the reason is counted. */
static bool pose_usable(struct recv *v, struct rctp *p, int *grip_ok)
{
	switch (rctp_check(p, v->conf.max_m, grip_ok)) {
	case RCTP_POSE_OK: return true;
	case RCTP_POSE_NONFINITE: v->n.nonfinite++; break;
	case RCTP_POSE_RANGE: v->n.range++; break;
	case RCTP_POSE_QUAT: v->n.quat++; break;
	}
	return false;
}

/* A restart means another clock, except after mere silence with time going on: then the old
 * least delay stays on probation, for a network that stalled and now delivers its queue. */
static void begin_epoch(
	struct recv *v, const struct recv_datagram *d, const struct rctp *p, enum order order)
{
	bool goes_on = order == RESTART_SILENT && v->has_time && p->time_s > v->time_s;
	v->n.restart++;
	v->owed = true;
	v->good_time_s = (double)NAN;
	v->has_time = false;
	v->probation = goes_on && v->has_delay;
	v->probation_us = d->t_us;
	if (!v->probation)
		v->has_delay = false;
	emit_event(v, d->t_us, "restart", v->n.restart);
}

/* Takes the packet as the newest of its source. */
static void accept(
	struct recv *v, const struct recv_datagram *d, const struct rctp *p, enum order order)
{
	bool anew = !v->begun || order != NEXT;

	if (v->moved_source)
		emit_event(v, d->t_us, "source", v->n.source);
	v->moved_source = false;
	if (order != NEXT) {
		begin_epoch(v, d, p, order);
	} else if (v->begun && d->t_us - v->accepted_us > RECV_GAP_US) {
		v->n.gap++;
		v->owed = true;
		anew = true;
	}
	v->accepted_us = v->begun ? later(v->accepted_us, d->t_us) : d->t_us;
	v->same = !anew && (v->bytes[44] & p->flags & RCTP_VALID) != 0 &&
		  memcmp(v->bytes + POSE_AT, d->bytes + POSE_AT, POSE_LEN) == 0;
	if (!v->same)
		v->same_us = v->accepted_us;
	v->begun = true;
	v->silent = false;
	if (isfinite(p->time_s)) {
		v->has_time = true;
		v->time_s = p->time_s;
	}
	memcpy(v->bytes, d->bytes, RCTP_SIZE);
}

/* DESIGN.md 3: the sender's clock may make a pose stale, never fresh. */
static bool is_late(struct recv *v, const struct recv_datagram *d, const struct rctp *p)
{
	if (!isfinite(p->time_s) || fabs(p->time_s) > RECV_TS_MAX)
		return false;
	double now_us = (double)d->t_us;
	double delay_us = now_us - p->time_s * 1e6;
	if (v->has_delay)
		v->delay_us += RECV_LATE_RISE * fmax(now_us - v->delay_at_us, 0);
	if (!v->has_delay || delay_us < v->delay_us)
		v->delay_us = delay_us;
	v->has_delay = true;
	v->delay_at_us = now_us;
	if (delay_us - v->delay_us <= RECV_LATE_US) {
		v->probation = false;
		return false;
	}
	if (v->probation && d->t_us - v->probation_us >= RECV_SILENT_US) {
		v->probation = false;
		v->delay_us = delay_us;
		return false;
	}
	return true;
}

static enum verdict judge(struct recv *v, const struct recv_datagram *d, const struct rctp *p)
{
	if (d->stale) {
		v->n.stale++;
		return STALE;
	}
	bool late = is_late(v, d, p);
	if (!(p->flags & RCTP_VALID)) {
		v->n.untracked++;
		return UNTRACKED;
	}
	if (late) {
		v->n.late++;
		return LATE;
	}
	if (v->conf.frozen_us > 0 && d->t_us - v->same_us >= v->conf.frozen_us) {
		v->n.frozen++;
		return FROZEN;
	}
	return GOOD;
}

/* Farther from the last good pose than a hand moves; the longer of both clocks' steps counts,
 * since packets may arrive back to back. */
static bool is_jump(const struct recv *v, int64_t t_us, const struct rctp *p)
{
	double dt_s = fmax((double)(t_us - v->good_us) * 1e-6, RECV_JUMP_MIN_S);
	if (isfinite(v->good_time_s) && isfinite(p->time_s))
		dt_s = fmax(dt_s, p->time_s - v->good_time_s);
	return vec_dist(p->pose.p, v->good.p) > RECV_JUMP_MPS * dt_s;
}

static void put_good(
	struct recv *v, const struct recv_datagram *d, const struct rctp *p, bool grip_ok)
{
	if (v->has_good && is_jump(v, d->t_us, p)) {
		v->n.jump++;
		v->owed = true;
	}
	if (v->owed)
		emit_pose(v, d->t_us, p, false);
	v->good.p = p->pose.p;
	v->good.q = v->has_good ? quat_near(p->pose.q, v->good.q) : p->pose.q;
	v->good_us = d->t_us;
	v->good_time_s = p->time_s;
	v->has_good = true;
	if (grip_ok) {
		v->has_grip = true;
		v->grip = p->grip;
	}
	emit_pose(v, d->t_us, p, true);
}

void recv_datagram(struct recv *v, const struct recv_datagram *d)
{
	struct rctp p;
	int grip_ok = 0;

	v->n.packets++;
	v->n.len49 += d->n == 49;
	switch (rctp_decode(d->bytes, d->n, &p)) {
	case RCTP_OK: break;
	case RCTP_SHORT: v->n.short_++; return;
	case RCTP_MAGIC: v->n.magic++; return;
	}
	bool own = is_own(v, d);
	look_for_estop(v, d, &p, own);
	if (!own) {
		v->n.foreign++;
		return;
	}
	if (v->begun && d->t_us - v->seen_us >= RECV_SILENT_US)
		v->silent = true;
	v->seen_us = later(v->seen_us, d->t_us);

	enum order order = order_of(v, d->bytes, &p);
	if (order == DUPLICATE || order == REORDERED) {
		v->n.duplicate += order == DUPLICATE;
		v->n.reordered += order == REORDERED;
		return;
	}
	if ((p.flags & RCTP_VALID) && !pose_usable(v, &p, &grip_ok))
		return;
	accept(v, d, &p, order);
	if (judge(v, d, &p) == GOOD)
		put_good(v, d, &p, grip_ok != 0);
	else
		emit_pose(v, d->t_us, &p, false);
}

void recv_beat(const struct recv *v, int64_t seq, int64_t t_us, struct rec *out)
{
	rec_init(out, REC_BEAT, v->src, seq, t_us);
	out->u.beat.stops = (int64_t)v->n.stops;
	out->u.beat.level = REC_ESTOP;
}

int recv_stats(const struct recv *v, char *buf, size_t n)
{
	const struct recv_counts *c = &v->n;
	const struct {
		const char *key;
		unsigned long value;
	} t[] = { { "packets", c->packets }, { "poses", c->poses }, { "invalid", c->invalid },
		{ "short", c->short_ }, { "magic", c->magic }, { "foreign", c->foreign },
		{ "duplicate", c->duplicate }, { "reordered", c->reordered },
		{ "nonfinite", c->nonfinite }, { "range", c->range }, { "quat", c->quat },
		{ "restart", c->restart }, { "source", c->source }, { "gap", c->gap },
		{ "jump", c->jump }, { "frozen", c->frozen }, { "late", c->late },
		{ "stale", c->stale }, { "untracked", c->untracked }, { "estop", c->estop },
		{ "stops", c->stops }, { "len49", c->len49 } };
	size_t at = 0;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]) && at < n; i++) {
		int k = snprintf(buf + at, n - at, ",\"%s\":%lu", t[i].key, t[i].value);
		at += k > 0 ? (size_t)k : 0;
	}
	return (int)(at < n ? at : n - 1);
}
