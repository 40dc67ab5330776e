/* A source's output queue: what waits, what is replaced, what overtakes (DESIGN.md 3). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rec/line.h"
#include "rec/outq.h"
#include "run/clock.h"
#include "tap.h"

static char dir[] = "/tmp/rec-outq-XXXXXX", path[100], file[100], why[300];
static int reader;
static struct outq *q;
static struct line l;
static struct rec r;

/* Fresh queue over an empty FIFO; then the pipe is filled to its last page. */
static void open_full(void)
{
	const char *where[] = { path };
	long filled = 0;

	reader = open(path, O_RDONLY | O_NONBLOCK);
	q = outq_open(where, 1, why, sizeof why);
	if (reader < 0 || q == NULL) {
		printf("Bail out! %s\n", why);
		exit(1);
	}
	(void)fcntl(reader, F_SETPIPE_SZ, 4096);
	for (int i = 0; i < 1000 && filled < 1000; i++) {
		short events;
		rec_init(&r, REC_STATUS, "fill", i, 0);
		(void)outq_put(q, &r);
		(void)outq_fd(q, 0, &events);
		if (events & POLLOUT)
			filled = 1000;
	}
	if (filled != 1000) {
		printf("Bail out! the pipe was never full\n");
		exit(1);
	}
	line_init(&l);
}

static void done(void)
{
	(void)outq_close(q);
	(void)close(reader);
}

static void pose(const char *src, int64_t seq, bool valid)
{
	rec_init(&r, REC_POSE, src, seq, 0);
	r.u.pose.valid = valid;
	(void)outq_put(q, &r);
}

static void stop(const char *src, int64_t seq, enum rec_level level)
{
	rec_init(&r, REC_STOP, src, seq, 0);
	r.u.stop.level = level;
	(void)outq_put(q, &r);
}

static void event(int64_t seq)
{
	rec_init(&r, REC_EVENT, "a", seq, 0);
	strcpy(r.u.event.name, "engage");
	(void)outq_put(q, &r);
}

static void feedback(int64_t seq, enum rec_kind kind)
{
	rec_init(&r, REC_FEEDBACK, "arm0", seq, 0);
	r.u.feedback.kind = kind;
	(void)outq_put(q, &r);
}

/* Reads until nothing comes any more; what is not filling as "type-letter src seq" words: P a
 * valid pose, p an invalid one, S estop, H hold, E event, F feedback, B beat, J joints. */
static const char *all(void)
{
	static char got[4000];
	const char *text;
	size_t n;

	got[0] = '\0';
	for (;;) {
		long k = line_fill(&l, reader);
		if (k <= 0 && outq_flush(q) == 0 && (k = line_fill(&l, reader)) <= 0)
			return got;
		while (line_next(&l, &text, &n)) {
			if (rec_parse(text, n, &r, why, sizeof why) != 0)
				return "damaged";
			static const char letter[] = "PJCFSEB";
			char c = r.type == REC_STATUS ? 0 : letter[r.type];
			if (c == 'P' && !r.u.pose.valid)
				c = 'p';
			if (c == 'S' && r.u.stop.level == REC_HOLD)
				c = 'H';
			if (c != 0)
				(void)snprintf(got + strlen(got), sizeof got - strlen(got),
					"%c%s%d ", c, r.src, (int)r.seq);
		}
	}
}

static void expect(const char *want, unsigned long dropped, const char *what)
{
	unsigned long before = outq_dropped(q);
	const char *got = all();

	if (!ok(strcmp(got, want) == 0 && before == dropped, "%s", what))
		printf("# got '%s' want '%s', dropped %lu want %lu\n", got, want, before, dropped);
	done();
}

static unsigned long fill_dropped(void)
{
	open_full();
	return outq_dropped(q);
}

static void test_states(void)
{
	unsigned long d = fill_dropped();

	for (int i = 1; i <= 5; i++)
		pose("a", i, true);
	expect("Pa5 ", d + 4, "the newest pose waits, older ones are counted");
	d = fill_dropped();
	pose("a", 1, true);
	pose("b", 1, true);
	pose("a", 2, true);
	expect("Pb1 Pa2 ", d + 1, "one for each src");
	d = fill_dropped();
	feedback(1, REC_KIND_JOINT);
	feedback(2, REC_KIND_CARTESIAN);
	feedback(3, REC_KIND_JOINT);
	expect("Farm02 Farm03 ", d + 1, "one for each kind of feedback");
}

static void test_invalid(void)
{
	unsigned long d = fill_dropped();

	pose("a", 1, true);
	pose("a", 2, false);
	pose("a", 3, true);
	pose("a", 4, true);
	expect("pa2 Pa4 ", d + 2, "a valid:false waits before the newest pose");
	d = fill_dropped();
	pose("a", 1, false);
	pose("a", 2, true);
	pose("a", 3, false);
	expect("pa3 ", d + 2, "a newest valid:false is enough");
	d = fill_dropped();
	pose("a", 1, false);
	pose("a", 2, true);
	pose("a", 3, false);
	pose("a", 4, true);
	expect("pa3 Pa4 ", d + 2, "one of them, the last");
	d = fill_dropped();
	pose("a", 1, false);
	pose("b", 1, true);
	pose("a", 2, true);
	expect("pa1 Pb1 Pa2 ", d, "not for another src");
}

static void test_stops(void)
{
	unsigned long d = fill_dropped();

	pose("a", 1, true);
	event(1);
	stop("a", 1, REC_HOLD);
	stop("a", 2, REC_ESTOP);
	stop("b", 1, REC_ESTOP);
	stop("a", 3, REC_ESTOP);
	pose("a", 2, true);
	expect("Ha1 Sa2 Sb1 Ea1 Pa2 ", d + 2, "stops overtake, one for each src and level");
	d = fill_dropped();
	for (int i = 0; i < 300; i++) {
		char src[16];
		(void)snprintf(src, sizeof src, "s%d", i);
		pose(src, i, true);
	}
	for (int i = 0; i < 100; i++)
		event(i);
	int stops = 0;
	for (int i = 0; i < 100; i++) {
		char src[16];
		(void)snprintf(src, sizeof src, "x%d", i);
		stop(src, i, REC_ESTOP);
	}
	const char *got = all();
	for (const char *p = got; *p == 'S'; p = strchr(p, ' ') + 1)
		stops++;
	int events = 0;
	for (const char *p = got; (p = strchr(p, 'E')) != NULL; p++)
		events++;
	ok(stops == 100, "stops of a hundred src are all kept, at the cost of states (%d)", stops);
	ok(events == OUTQ_EVENTS && outq_dropped(q) > d + 200,
		"%d events wait, the rest is counted", events);
	done();
}

static void test_order(void)
{
	unsigned long d = fill_dropped();

	for (int i = 0; i < 5; i++)
		event(i);
	expect("Ea0 Ea1 Ea2 Ea3 Ea4 ", d, "events stay in order");
}

static void test_ends(void)
{
	const char *two[] = { path, file };
	char text[5000] = "";
	short events;

	open_full();
	pose("a", 1, true);
	ok(outq_drain(q, clock_now() + 20000) == 1, "draining a full pipe ends in time");
	(void)close(reader);
	errno = 0;
	ok(outq_flush(q) == -1 && errno == EPIPE, "a reader that went is EPIPE");
	pose("a", 2, true);
	ok(outq_put(q, &r) == 0 && outq_fd(q, 0, &events) == -1, "once");
	(void)outq_close(q);

	reader = open(path, O_RDONLY | O_NONBLOCK);
	q = outq_open(two, 2, why, sizeof why);
	pose("a", 1, true);
	(void)close(reader);
	rec_init(&r, REC_POSE, "a", 2, 0);
	const char *where = "";
	int cause = 0;
	ok(outq_n(q) == 2 && outq_put(q, &r) == 0, "one of two outputs fails: the other goes on");
	ok(outq_failed(q, &where, &cause) && strcmp(where, path) == 0 && cause == EPIPE,
		"which, and why, is told");
	ok(!outq_failed(q, &where, &cause), "once");
	ok(outq_fd(q, 0, &events) == -1 && events == 0 && outq_fd(q, 1, &events) >= 0,
		"only the failed one is polled no more");
	ok(outq_drain(q, clock_now() + 1000000) == 0, "nothing waits");
	r.u.pose.pose.p.x = 1e300;
	unsigned long d = outq_dropped(q);
	ok(outq_put(q, &r) == 0 && outq_dropped(q) == d + 1,
		"a record that cannot be printed is counted");
	(void)outq_close(q);
	int fd = open(file, O_RDONLY);
	ok(read(fd, text, sizeof text - 1) > 0 && strstr(text, "\"seq\":1,") &&
			strstr(text, "\"seq\":2,"),
		"the other got everything");
	(void)close(fd);
	const char *full[] = { file, "/dev/full" };
	q = outq_open(full, 2, why, sizeof why);
	rec_init(&r, REC_POSE, "a", 3, 0);
	ok(outq_put(q, &r) == 0 && outq_close(q) == -1 && errno == ENOSPC,
		"a failure that was not told before is told by the closing");
	q = outq_open(full, 2, why, sizeof why);
	ok(outq_put(q, &r) == 0 && outq_failed(q, &where, &cause) && cause == ENOSPC &&
			outq_close(q) == 0,
		"and only such a one");
	reader = open(path, O_RDONLY | O_NONBLOCK);
	q = outq_open(two, 2, why, sizeof why);
	(void)close(reader);
	ok(outq_flush(q) == 0 && outq_failed(q, &where, &cause) && strcmp(where, path) == 0,
		"a reader that left is found without a record");
	(void)outq_close(q);
	const char *bad[] = { file, "nonsense" };
	errno = 0;
	ok(outq_open(bad, 2, why, sizeof why) == NULL && errno == EINVAL && strstr(why, "nonsense"),
		"a bad word is named");
}

int main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	if (mkdtemp(dir) == NULL)
		return 1;
	(void)snprintf(path, sizeof path, "%s/fifo", dir);
	(void)snprintf(file, sizeof file, "%s/file", dir);
	if (mkfifo(path, 0600) != 0)
		return 1;
	test_states();
	test_invalid();
	test_stops();
	test_order();
	test_ends();
	int rc = tap_done();
	(void)unlink(path);
	(void)unlink(file);
	(void)rmdir(dir);
	return rc;
}
