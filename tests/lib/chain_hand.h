/*
 * A hand that draws a small circle round the arm's start pose, as RCTP packets: one thread, paced.
 * Its poses are meant for pose-xform without options (axes openxr): base X Y Z = vr -z -x y.
 */
#ifndef LIB_CHAIN_HAND_H
#define LIB_CHAIN_HAND_H

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "chain_rig.h"
#include "geom/chain.h"
#include "geom/quat.h"
#include "wire/rctp.h"

#define CIRCLE_M 0.015
#define CIRCLE_HZ 1.2

struct hand {
	pthread_mutex_t lock;
	pthread_t thread;
	int fd[2]; /* the hand, and a second sender */
	int rate;  /* packets a second; 0: silent */
	bool valid, estop;
	int64_t t0;        /* the sender's clock began */
	struct pose start; /* base frame */
	struct vec3 away;  /* of the circle's centre, m */
	long sent;
};
static struct hand hand = { .lock = PTHREAD_MUTEX_INITIALIZER, .rate = 100 };

static struct vec3 to_vr(struct vec3 b)
{
	return (struct vec3){ -b.y, b.z, -b.x };
}

static struct rctp hand_packet(int64_t now, uint8_t flags)
{
	double a = 2 * M_PI * CIRCLE_HZ * 1e-6 * (double)(now % 60000000);
	struct vec3 p = vec_add(hand.start.p, hand.away);
	struct quat q = hand.start.q;
	struct vec3 axis = to_vr((struct vec3){ q.x, q.y, q.z });

	p.y += CIRCLE_M * cos(a);
	p.z += CIRCLE_M * sin(a);
	return (struct rctp){ .time_s = 1e-6 * (double)(now - hand.t0),
		.pose = { to_vr(p), { axis.x, axis.y, axis.z, q.w } },
		.grip = 0.5,
		.flags = flags };
}

/* From: 0 the hand, 1 the second sender. */
static void hand_put(int from, const struct rctp *r)
{
	uint8_t b[RCTP_SIZE];

	rctp_encode(r, b);
	if (send(hand.fd[from], b, sizeof b, 0) < 0 && errno != ECONNREFUSED)
		failed("send: %s", strerror(errno));
}

static uint8_t hand_flags(void)
{
	return (uint8_t)((hand.valid ? RCTP_VALID : 0) | (hand.estop ? RCTP_ESTOP : 0));
}

static void *hand_run(void *arg)
{
	int64_t due = clock_now();

	(void)arg;
	while (!__atomic_load_n(&rig.ending, __ATOMIC_RELAXED)) {
		struct timespec ts = { due / 1000000, due % 1000000 * 1000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		pthread_mutex_lock(&hand.lock);
		int rate = hand.rate;
		if (rate) {
			struct rctp r = hand_packet(clock_now(), hand_flags());
			hand_put(0, &r);
			hand.sent++;
		}
		pthread_mutex_unlock(&hand.lock);
		due += 1000000 / (rate ? rate : 1000);
		if (due < clock_now() - 20 * MS)
			due = clock_now();
	}
	return NULL;
}

/* One packet of its own, now; the time just before it left. */
static int64_t hand_send(int from, uint8_t flags, bool is_sane)
{
	pthread_mutex_lock(&hand.lock);
	int64_t now = clock_now();
	struct rctp r = hand_packet(now, flags);
	if (!is_sane)
		r.pose.p.x = (double)NAN;
	hand_put(from, &r);
	pthread_mutex_unlock(&hand.lock);
	return now;
}

static void hand_set(bool valid, bool estop, int rate)
{
	pthread_mutex_lock(&hand.lock);
	hand.valid = valid;
	hand.estop = estop;
	hand.rate = rate;
	pthread_mutex_unlock(&hand.lock);
}

static void hand_restart_at_zero(void)
{
	pthread_mutex_lock(&hand.lock);
	hand.t0 = clock_now();
	pthread_mutex_unlock(&hand.lock);
}

static int udp_to(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
		give_up("udp: %s", strerror(errno));
	return fd;
}

static int free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 ||
		getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		give_up("udp: %s", strerror(errno));
	close(fd);
	return ntohs(a.sin_port);
}

static void hand_begin(void)
{
	const double ready[CHAIN_JOINTS] = { 0, 86 * M_PI / 180, -45 * M_PI / 180, 0,
		24 * M_PI / 180, 0 };

	hand.start = chain_fk(&PIPER_DH_NEW, ready);
	hand.t0 = clock_now() - 1000000;
	hand.valid = true;
	hand.fd[0] = udp_to(rig.port);
	hand.fd[1] = udp_to(rig.port);
	pthread_create(&hand.thread, NULL, hand_run, NULL);
}

#endif
