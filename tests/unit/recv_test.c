/* rctp-recv's rules on a virtual clock: rctp.md 2, 5.3, 5.4, 6, 8 and DESIGN.md 2, 3. */
#include "rctp-recv/recv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

/* What came out, one letter a record: V valid pose, x valid:false, S stop, R restart, C source. */
static struct recv v;
static char log_[4096];
static size_t logged;
static struct rec_pose last;
static struct rec_stop last_stop;
static int64_t last_t, last_seq;

static void take(void *arg, const struct rec *r)
{
	(void)arg;
	char c = '?';
	if (r->type == REC_POSE) {
		c = r->u.pose.valid ? 'V' : 'x';
		last = r->u.pose;
		last_t = r->t_us;
		last_seq = r->seq;
	} else if (r->type == REC_STOP) {
		c = 'S';
		last_stop = r->u.stop;
	} else if (r->type == REC_EVENT) {
		c = strcmp(r->u.event.name, "restart") == 0 ? 'R' : 'C';
	}
	if (logged + 1 < sizeof(log_))
		log_[logged++] = c;
	log_[logged] = 0;
}

static void begin(int64_t frozen_us)
{
	struct recv_conf conf = { .frozen_us = frozen_us, .max_m = 10 };
	recv_init(&v, &conf, "right", take, NULL);
	logged = 0;
	log_[0] = 0;
}

static struct rctp packet(double time_s, double x)
{
	return (struct rctp){ .time_s = time_s,
		.pose = { { x, 1, -0.5 }, { 0, 0, 0, 1 } },
		.grip = 0.75,
		.flags = RCTP_VALID };
}

static void send_full(int64_t t_us, const struct rctp *p, int source, bool stale, size_t n)
{
	uint8_t b[64] = { 0 };
	rctp_encode(p, b);
	struct recv_datagram d = { .bytes = b, .n = n, .t_us = t_us, .stale = stale };
	d.from.key[0] = (uint8_t)source;
	recv_datagram(&v, &d);
}

static void send(int64_t t_us, struct rctp p)
{
	send_full(t_us, &p, 1, false, RCTP_SIZE);
}

static void forget(void)
{
	logged = 0;
	log_[0] = 0;
}

static int said(const char *want)
{
	int same = strcmp(log_, want) == 0;
	if (!same)
		printf("# got %s, expected %s\n", log_, want);
	forget();
	return same;
}

#define MS 1000
#define S 1000000

/* A sender with a clock of its own: time 5 s less than ours. */
static void stream(int64_t from_us, int64_t to_us, double *x)
{
	for (int64_t t = from_us; t < to_us; t += 20 * MS) {
		*x += 0.001;
		send(t, packet((double)t * 1e-6 - 5, *x));
	}
}

static void plain(void)
{
	begin(500 * MS);
	send(10 * S, packet(12.5, 0.25));
	ok(said("V") && last.frame == REC_VR && last.pose.p.x == 0.25 && last.grip == 0.75 &&
			last.has_ts && last.ts == 12.5 && last.has_flags && last.flags == 1 &&
			last_t == 10 * S && last_seq == 0,
		"a packet is one record: vr, ts, flags, receive time");
	struct rctp p = packet(12.52, 0.26);
	p.flags = 0xf1;
	send_full(10 * S + 20 * MS, &p, 1, false, 64);
	ok(said("V") && last.flags == 0xf1 && last_seq == 1,
		"longer datagrams are legal, reserved flags kept (rctp.md 1, 2)");
	for (size_t n = 0; n < RCTP_SIZE; n++)
		send_full(10 * S + 40 * MS, &p, 1, false, n);
	ok(said("") && v.n.short_ == RCTP_SIZE, "each shorter length: counted, no record");
	uint8_t junk[RCTP_SIZE] = { 'R', 'C', 'T', 'Q' };
	struct recv_datagram d = { .bytes = junk, .n = RCTP_SIZE, .t_us = 10 * S + 40 * MS };
	junk[44] = RCTP_ESTOP;
	recv_datagram(&v, &d);
	ok(said("") && v.n.magic == 1, "wrong magic: counted, no record, no stop");
	send_full(10 * S + 41 * MS, &p, 1, false, 49);
	ok(v.n.len49 == 1, "49 bytes are counted (rctp.md 1.1)");
	char text[1024];
	recv_stats(&v, text, sizeof(text));
	ok(strstr(text, ",\"short\":45,\"magic\":1,") != NULL, "counters as keys");
}

static void refused(void)
{
	static const struct {
		const char *name;
		double px, qw, time_s;
		unsigned long *counter;
	} t[] = {
		{ "NaN position", (double)NAN, 1, 1.02, &v.n.nonfinite },
		{ "infinite position", (double)INFINITY, 1, 1.02, &v.n.nonfinite },
		{ "NaN quaternion", 0, (double)NAN, 1.02, &v.n.nonfinite },
		{ "11 m away", 11, 1, 1.02, &v.n.range },
		{ "zero quaternion", 0, 0, 1.02, &v.n.quat },
		{ "quaternion of norm 2", 0, 2, 1.02, &v.n.quat },
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		begin(500 * MS);
		send(S, packet(1, 0));
		struct rctp p = packet(t[i].time_s, t[i].px);
		p.pose.q.w = t[i].qw;
		p.flags = RCTP_VALID | RCTP_ESTOP;
		send(S + 20 * MS, p);
		ok(said("VS") && *t[i].counter == 1 && v.n.invalid == 0, "%s", t[i].name);
		send(S + 40 * MS, packet(1.04, 0.001));
		ok(said("V"), "and the next packet goes on");
	}
	begin(500 * MS);
	send(S, packet((double)NAN, 0));
	send(S + 20 * MS, packet((double)INFINITY, 0.001));
	ok(said("VV") && !last.has_ts, "a time that is not finite is left out, no reason to drop");
	send(S + 40 * MS, packet(9.1e9, 0.002));
	ok(said("V") && !last.has_ts, "a time beyond 9e9 is left out (DESIGN.md 2)");
}

static void gripper(void)
{
	begin(500 * MS);
	struct rctp p = packet(1, 0);
	p.grip = (double)NAN;
	send(S, p);
	ok(said("V") && !last.has_grip, "gripper NaN before any: left out");
	p = packet(1.02, 0.001);
	p.grip = 1.5;
	send(S + 20 * MS, p);
	ok(said("V") && last.has_grip && last.grip == 1, "gripper is clamped to 0..1");
	p = packet(1.04, 0.002);
	p.grip = -(double)NAN;
	send(S + 40 * MS, p);
	ok(said("V") && last.grip == 1, "gripper NaN: the last one is kept (rctp.md 2)");
}

static void quaternion(void)
{
	begin(500 * MS);
	struct rctp p = packet(1, 0);
	p.pose.q = (struct quat){ 0, 0.707, 0, 0.707 };
	send(S, p);
	ok(said("V") && fabs(last.pose.q.y - sqrt(0.5)) < 1e-12, "renormalised");
	p = packet(1.02, 0.001);
	p.pose.q = (struct quat){ 0, -0.7, 0, -0.714 };
	send(S + 20 * MS, p);
	ok(said("V") && last.pose.q.y > 0 && last.pose.q.w > 0 && last.pose.q.w > last.pose.q.y,
		"hemisphere of the last accepted one is kept");
}

static void tracking(void)
{
	begin(500 * MS);
	struct rctp p = packet(1, (double)NAN);
	p.flags = 0;
	send(S, p);
	ok(said("x") && last.pose.p.x == 0 && last.pose.q.w == 1 && !last.has_grip,
		"untracked before any pose: p 0, identity, no grip");
	send(S + 20 * MS, packet(1.02, 0.1));
	p = packet(1.04, 3);
	p.flags = 0;
	p.grip = 0;
	send(S + 40 * MS, p);
	ok(said("Vx") && fabs(last.pose.p.x - 0.1) < 1e-6 && last.grip == 0.75 && last.flags == 0,
		"untracked: valid:false with the last good p q grip");
	send(S + 60 * MS, packet(1.06, 0.1));
	ok(said("V") && v.n.untracked == 2, "tracked again: valid at once");
}

static void stopping(void)
{
	begin(500 * MS);
	double x = 0;
	stream(10 * S, 10 * S + 100 * MS, &x);
	forget();
	struct rctp p = packet(5.1, x + 0.001);
	p.flags = RCTP_VALID | RCTP_ESTOP;
	send(10 * S + 100 * MS, p);
	ok(said("SV") && last_stop.level == REC_ESTOP, "bit 1: the stop goes before the pose");
	int n = 0;
	for (int i = 1; i <= 50; i++) {
		p.time_s = 5.1 + 0.02 * i;
		p.pose.p.x += 0.001;
		send(10 * S + 100 * MS + 20 * MS * i, p);
	}
	for (size_t i = 0; i < logged; i++)
		n += log_[i] == 'S';
	ok(n == 10, "held 1 s at 50 Hz: again every 100 ms (DESIGN.md 2)");
	forget();
	p.flags = RCTP_VALID;
	p.time_s = 6.12;
	send(11 * S + 120 * MS, p);
	p.flags = RCTP_VALID | RCTP_ESTOP;
	p.time_s = 6.14;
	send(11 * S + 140 * MS, p);
	ok(said("VSV"), "a new press counts at once, whenever the last was");
	ok(v.n.estop == 52 && v.n.stops == 12, "packets with the bit and stops are counted");
	p.flags = RCTP_ESTOP;
	p.time_s = 6.16;
	send(11 * S + 300 * MS, p);
	ok(said("Sx"), "with tracking lost: stop and valid:false");
	send(11 * S + 401 * MS, p);
	ok(said("S") && v.n.duplicate == 1, "on a duplicate: stop, no pose");
	p.time_s = 6.0;
	send(11 * S + 502 * MS, p);
	ok(said("S") && v.n.reordered == 1, "on a reordered packet: stop, no pose");
	send_full(11 * S + 603 * MS, &p, 1, true, RCTP_SIZE);
	ok(said("S"), "on a stale one");
	send_full(11 * S + 604 * MS, &p, 2, false, RCTP_SIZE);
	ok(said("S") && v.n.foreign == 1 && strstr(last_stop.why, "foreign"),
		"of a foreign source: stop, no pose (rctp.md 6)");
	send_full(11 * S + 650 * MS, &p, 2, false, RCTP_SIZE);
	ok(said(""), "a foreign one repeats at most every 100 ms too");
	send_full(11 * S + 651 * MS, &p, 3, false, RCTP_SIZE);
	ok(said("S"), "another foreign one counts at once");
	p.flags = 0;
	send_full(11 * S + 660 * MS, &p, 3, false, RCTP_SIZE);
	p.flags = RCTP_ESTOP;
	send_full(11 * S + 670 * MS, &p, 3, false, RCTP_SIZE);
	ok(said("S"), "and so does its next press");
	for (int i = 0; i < 100; i++)
		send_full(11 * S + 671 * MS, &p, 100 + i, false, RCTP_SIZE);
	unsigned long many = v.n.stops;
	ok(many == 19 + RECV_FOREIGN - 2, "a crowd makes a bounded number of stops");
	forget();
	send_full(11 * S + 772 * MS, &p, 250, false, RCTP_SIZE);
	ok(said("S"), "and one more counts when its time is over");
	struct rec beat;
	recv_beat(&v, 7, 12 * S, &beat);
	ok(beat.type == REC_BEAT && beat.u.beat.stops == (int64_t)v.n.stops &&
			v.n.stops == 20 + RECV_FOREIGN - 2 && beat.u.beat.level == REC_ESTOP &&
			beat.seq == 7 && strcmp(beat.src, "right") == 0,
		"the beat carries the running count and the level (gate:G23)");
}

static void order(void)
{
	begin(500 * MS);
	send(S, packet(5, 0));
	send(S + 20 * MS, packet(5.02, 0.001));
	send(S + 21 * MS, packet(5.02, 0.001));
	ok(said("VV") && v.n.duplicate == 1, "same bytes, same time: duplicate");
	send(S + 22 * MS, packet(5.02, 0.002));
	ok(said("V"), "same time, other payload is new (float32 step, rctp.md 5.3)");
	send(S + 23 * MS, packet(5.0, 0));
	ok(said("") && v.n.reordered == 1, "older by less than 1 s: reordered, dropped");
	send(S + 40 * MS, packet(4.021, 0.003));
	ok(said("") && v.n.reordered == 2, "0.999 s older: dropped");
	send(S + 41 * MS, packet(4.019, 0.003));
	ok(said("RxV") && v.n.restart == 1, "1.001 s older: restart, valid:false, pose");
	send(S + 60 * MS, packet(4.04, 0.004));
	ok(said("V"), "and goes on by the new clock");

	begin(500 * MS);
	send(S, packet(0.3, 0));
	send(S + 499 * MS, packet(0.1, 0.001));
	ok(said("V") && v.n.reordered == 1, "older after 499 ms of silence: dropped");
	begin(500 * MS);
	send(S, packet(0.3, 0));
	send(S + 500 * MS, packet(0.1, 0.001));
	ok(said("VRxV"), "older after 500 ms of silence: restart (rctp.md 5.3)");
	begin(500 * MS);
	send(S, packet(0.3, 0));
	struct rctp p = packet(0.0, (double)NAN);
	send(S + 600 * MS, p);
	send(S + 620 * MS, packet(0.02, 0));
	ok(said("VRxV"), "a bad first packet after a silence does not hide the restart");
	begin(500 * MS);
	send(S, packet(1e9, 0));
	send(S + 20 * MS, packet(1.0, 0.001));
	send(S + 40 * MS, packet(1.02, 0.002));
	ok(said("VRxVV"), "one absurd time does not lock the stream out");
}

static void sources(void)
{
	begin(500 * MS);
	struct rctp a = packet(1, 0), b = packet(9, 2);
	send_full(S, &a, 1, false, RCTP_SIZE);
	for (int i = 1; i < 50; i++)
		send_full(S + 20 * MS * i, &b, 2, false, RCTP_SIZE);
	ok(said("V") && v.n.foreign == 49, "a second source is refused and counted");
	send_full(S + 999 * MS, &b, 2, false, RCTP_SIZE);
	ok(said(""), "still after 999 ms");
	send_full(2 * S, &b, 2, false, RCTP_SIZE);
	ok(said("CxV") && v.n.source == 1 && last.pose.p.x == 2,
		"silent for 1 s: the other takes over, valid:false first");
	send_full(2 * S + 20 * MS, &a, 1, false, RCTP_SIZE);
	ok(said(""), "and the first one is foreign now");
	/* a pinned source that only sends rejected or untracked packets is not silent */
	begin(500 * MS);
	send_full(S, &a, 1, false, RCTP_SIZE);
	struct rctp bad = packet(1.5, (double)NAN);
	send_full(S + 900 * MS, &bad, 1, false, RCTP_SIZE);
	send_full(S + 1100 * MS, &b, 2, false, RCTP_SIZE);
	ok(said("V") && v.n.foreign == 1, "rejected poses keep the pin");
}

static void gaps(void)
{
	begin(500 * MS);
	send(S, packet(1, 0));
	send(S + 100 * MS, packet(1.1, 0.001));
	ok(said("VV"), "100 ms is no gap");
	send(S + 201 * MS, packet(1.201, 0.002));
	ok(said("xV") && v.n.gap == 1 && last.pose.p.x > 0.0015, "101 ms: one valid:false first");
	send(S + 701 * MS, packet(1.701, 0.003));
	ok(said("RxV"), "500 ms of silence: restart event too");
}

static void frozen(void)
{
	begin(500 * MS);
	send(S, packet(1, 0.1));
	for (int i = 1; i <= 30; i++)
		send(S + 20 * MS * i, packet(1 + 0.02 * i, 0.1));
	ok(said("VVVVVVVVVVVVVVVVVVVVVVVVVxxxxxx") && v.n.frozen == 6,
		"identical for 500 ms: frozen, every record valid:false (rctp.md 5.4)");
	send(S + 620 * MS, packet(1.62, 0.1001));
	ok(said("V"), "and over with the first change");
	struct rctp p = packet(1.64, 0.1001);
	p.grip = 0.1;
	send(S + 640 * MS, p);
	ok(v.same, "the gripper alone is no movement");
	begin(0);
	for (int i = 0; i < 60; i++)
		send(S + 20 * MS * i, packet(1 + 0.02 * i, 0.1));
	ok(v.n.frozen == 0 && v.n.poses == 60, "--frozen 0: never");
	begin(500 * MS);
	send(S, packet(1, 0.1));
	send(S + 600 * MS, packet(1.6, 0.1));
	ok(said("VRxV"), "two equal poses across a silence are not frozen");
}

static void jumps(void)
{
	begin(500 * MS);
	send(S, packet(1, 0));
	send(S + 20 * MS, packet(1.02, 0.099));
	ok(said("VV"), "4.95 m/s is a hand");
	send(S + 40 * MS, packet(1.04, 0.2));
	ok(said("xV") && v.n.jump == 1 && last.pose.p.x > 0.19, "5.05 m/s: one valid:false first");
	send(S + 41 * MS, packet(1.06, 0.25));
	ok(said("V"), "back to back arrival is no jump: the sender's clock counts too");
	send(S + 60 * MS, packet(1.062, 0.30));
	ok(said("V"), "nor is a small step of the sender's clock after a pause of ours");
	begin(500 * MS);
	send(S, packet(1, 0));
	send(S, packet(1, 0.039));
	send(S, packet(1, 0.081));
	ok(said("VVxV"), "equal times are judged over 8 ms");
}

static void late(void)
{
	double x = 0;
	begin(500 * MS);
	stream(10 * S, 11 * S, &x);
	forget();
	send(11 * S + 20 * MS, packet(6.02 - 0.149, x + 0.001));
	ok(said("") && v.n.reordered == 1, "(an older one is still reordered)");
	/* the network stalls 400 ms, then hands out its queue */
	for (int i = 0; i < 20; i++)
		send(11 * S + 400 * MS + i * 100, packet(6.0 + 0.02 * i, x += 0.001));
	ok(said("xxxxxxxxxxxxxVVVVVVV") && v.n.late == 13,
		"delay grown by more than 150 ms: late, valid:false (DESIGN.md 3)");

	begin(500 * MS);
	stream(10 * S, 11 * S, &x);
	forget();
	for (int i = 0; i < 200; i++)
		send(11 * S + 20 * MS * i, packet(6.0 + 0.02 * i - 0.0, x += 0.001));
	v.n.late = 0;
	/* 160 ms more, for good: the minimum rises 0.1 ms a second, 10 ms take 100 s */
	int64_t t = 15 * S + 160 * MS;
	double ts = 10.0;
	int64_t first_good = 0;
	for (int i = 0; i < 6000 && !first_good; i++, t += 20 * MS, ts += 0.02) {
		logged = 0;
		send(t, packet(ts, x += 1e-4));
		if (log_[0] == 'V' || log_[1] == 'V')
			first_good = t;
	}
	int64_t took = first_good - 15 * S - 160 * MS;
	ok(took > 90 * S && took < 110 * S, "the least delay may rise 0.1 ms a second, no faster");

	begin(500 * MS);
	x = 0;
	stream(10 * S, 11 * S, &x);
	forget();
	for (int i = 0; i < 12; i++)
		send(11 * S + 20 * MS + i * 20 * MS, packet(6.2 + 0.02 * i, x += 0.001));
	ok(said("VVVVVVVVVVVV"), "less delay never hurts");

	begin(500 * MS);
	x = 0;
	stream(10 * S, 11 * S, &x);
	forget();
	/* 700 ms of silence, then the queue of the network */
	for (int i = 0; i < 35; i++)
		send(11 * S + 680 * MS + i * 100, packet(6.0 + 0.02 * i, x += 0.001));
	ok(log_[0] == 'R' && strchr(log_, 'V') == log_ + 1 + 27,
		"a queue handed out after a long stall is late too, restart or not");
	forget();
	/* a new clock that goes on by chance: late for half a second only */
	send(13 * S, packet(6.9, x += 0.001));
	send(13 * S + 480 * MS, packet(7.38, x += 0.001));
	send(13 * S + 500 * MS, packet(7.4, x += 0.001));
	ok(said("RxxV"), "a new clock that runs on from the old one is believed after 500 ms");
}

static void stale(void)
{
	begin(500 * MS);
	send(10 * S, packet(5, 0.1));
	struct rctp p = packet(5.02, 0.2);
	send_full(9 * S + 20 * MS, &p, 1, true, RCTP_SIZE);
	ok(said("Vx") && v.n.stale == 1 && fabs(last.pose.p.x - 0.1) < 1e-6 &&
			last_t == 9 * S + 20 * MS,
		"an unusable stamp: valid:false, counted (DESIGN.md 3)");
	send(10 * S + 40 * MS, packet(5.04, 0.101));
	ok(said("V"), "and nothing of it stays");
	/* a receiver that slept 3 s: what the socket kept is stale, then fresh */
	begin(500 * MS);
	double x = 0;
	stream(10 * S, 10 * S + 100 * MS, &x);
	forget();
	for (int i = 0; i < 100; i++) {
		p = packet(5.1 + 0.02 * i, x += 0.001);
		send_full(12 * S + 100 * MS, &p, 1, true, RCTP_SIZE);
	}
	ok(v.n.stale == 100 && v.n.poses == 5, "no pose of them");
	forget();
	send(13 * S + 90 * MS, packet(8.09, x += 0.001));
	ok(strchr(log_, 'V') && log_[logged - 1] == 'V' && strchr(log_, 'x'),
		"valid:false before the first fresh one");
}

int main(void)
{
	plain();
	refused();
	gripper();
	quaternion();
	tracking();
	stopping();
	order();
	sources();
	gaps();
	frozen();
	jumps();
	late();
	stale();
	return tap_done();
}
