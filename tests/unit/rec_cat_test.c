/* rec-cat's pure parts: selection, gaps, names of episodes, orders, time of a replay, disks. */
#include <string.h>

#include "rec-cat/episode.h"
#include "rec-cat/mount.h"
#include "rec-cat/pick.h"
#include "rec-cat/restamp.h"
#include "tap.h"

static struct rec r;

static const struct rec *rec(enum rec_type type, const char *src, int64_t seq, int64_t t_us)
{
	rec_init(&r, type, src, seq, t_us);
	return &r;
}

static const struct rec *event(const char *name, const char *value, int64_t seq)
{
	(void)rec(REC_EVENT, "op", seq, 1000 + seq);
	(void)snprintf(r.u.event.name, sizeof r.u.event.name, "%s", name);
	(void)snprintf(r.u.event.value, sizeof r.u.event.value, "%s", value);
	return &r;
}

static void test_pick(void)
{
	struct pick all = { .n_seen = 0 };
	struct pick some = { .types = { { "pose", "stop" }, 2 }, .srcs = { { "right" }, 1 } };
	const char *word = NULL;

	ok(pick_takes(&all, rec(REC_BEAT, "x", 0, 0)), "nothing named: everything passes");
	ok(pick_takes(&some, rec(REC_POSE, "right", 0, 0)) &&
			pick_takes(&some, rec(REC_STOP, "right", 0, 0)),
		"a type of the list and a src of the list");
	ok(!pick_takes(&some, rec(REC_BEAT, "right", 0, 0)) &&
			!pick_takes(&some, rec(REC_POSE, "left", 0, 0)),
		"another type, another src");
	(void)rec(REC_OTHER, "right", 0, 0);
	(void)snprintf(r.type_name, sizeof r.type_name, "wheel");
	some.types.v[1] = "wheel";
	ok(pick_takes(&some, &r), "a type this suite does not know");
	ok(pick_check(&some, &word) == 0, "good words");
	some.types.v[0] = "a type";
	ok(pick_check(&some, &word) == -1 && strcmp(word, "a type") == 0, "no type: named");
	some.types.v[0] = "";
	ok(pick_check(&some, &word) == -1, "an empty type");
	some.types.v[0] = "pose";
	some.srcs.v[0] = "ri/ght";
	ok(pick_check(&some, &word) == -1 && strcmp(word, "ri/ght") == 0, "no src: named");
}

static void test_gaps(void)
{
	struct pick p = { .n_seen = 0 };

	ok(pick_watch(&p, rec(REC_POSE, "right", 40, 0)) == 0, "the first seq is a beginning");
	ok(pick_watch(&p, rec(REC_POSE, "right", 41, 0)) == 0, "the next one");
	ok(pick_watch(&p, rec(REC_POSE, "right", 45, 0)) == 3, "three are missing");
	ok(pick_watch(&p, rec(REC_POSE, "right", 45, 0)) == 0, "the same again");
	ok(pick_watch(&p, rec(REC_STOP, "right", 0, 0)) == 0 &&
			pick_watch(&p, rec(REC_POSE, "left", 7, 0)) == 0,
		"each src and type counts for itself");
	ok(pick_watch(&p, rec(REC_POSE, "right", 0, 0)) == 0, "a new start is no gap");
	ok(pick_watch(&p, rec(REC_POSE, "right", 2, 0)) == 1 && p.missing == 4, "all in all 4");
}

static void test_names(void)
{
	char name[EPISODE_NAME_MAX];

	episode_name(name, sizeof name, 1796067901, 1);
	ok(strcmp(name, "20261130T194501Z-0001.ndjson") == 0, "name: %s", name);
	ok(episode_number(name) == 1, "its number");
	episode_name(name, sizeof name, 0, 123456);
	ok(strcmp(name, "19700101T000000Z-123456.ndjson") == 0 && episode_number(name) == 123456,
		"beyond four digits");
	ok(episode_number("20261130T194501Z-0012.ndjson.part") == 12 &&
			episode_number("20261130T194501Z-0013.ndjson.discarded") == 13,
		"part and discarded count");
	ok(episode_number("") == 0 && episode_number("20261130T194501Z-") == 0 &&
			episode_number("20261130T194501Z-0012.ndjson.bak") == 0 &&
			episode_number("20261130T194501-0012.ndjson") == 0 &&
			episode_number("20261130T194501Z-12.ndjson") == 0 &&
			episode_number("20261130T194501Z-99999999999999999999.ndjson") == 0 &&
			episode_number("notes.ndjson") == 0,
		"other files do not");
}

static void test_orders(void)
{
	struct episode_last last = { .any = false };
	bool unknown;

	ok(episode_word("start", 5) == EPISODE_START && episode_word("keep", 4) == EPISODE_KEEP &&
			episode_word("discard", 7) == EPISODE_DISCARD &&
			episode_word("quit", 4) == EPISODE_QUIT,
		"words");
	ok(episode_word("", 0) == EPISODE_NONE && episode_word("star", 4) == EPISODE_NONE &&
			episode_word("keep ", 5) == EPISODE_NONE,
		"not a word");
	ok(episode_keys("s", 1) == EPISODE_START && episode_keys("K", 1) == EPISODE_KEEP &&
			episode_keys("xd\n", 3) == EPISODE_DISCARD &&
			episode_keys("sqk", 3) == EPISODE_QUIT &&
			episode_keys("x\033[A", 4) == EPISODE_NONE,
		"keys");
	ok(episode_event(event("episode", "start", 1), &last, &unknown) == EPISODE_START &&
			!unknown,
		"event start");
	ok(episode_event(&r, &last, &unknown) == EPISODE_NONE && !unknown, "sent again: once");
	ok(episode_event(event("episode", "keep", 2), &last, &unknown) == EPISODE_KEEP &&
			episode_event(event("episode", "discard", 3), &last, &unknown) ==
				EPISODE_DISCARD,
		"event keep, discard");
	ok(episode_event(event("episode", "quit", 4), &last, &unknown) == EPISODE_NONE && unknown,
		"a record cannot end the recorder");
	ok(episode_event(event("engage", "start", 5), &last, &unknown) == EPISODE_NONE && !unknown,
		"another event");
	ok(episode_event(rec(REC_POSE, "a", 0, 0), &last, &unknown) == EPISODE_NONE && !unknown,
		"another type");
}

static void test_restamp(void)
{
	struct restamp s;

	restamp_init(&s, 1);
	restamp_begin(&s, 1000000, 9000000);
	ok(restamp_t(&s, 1000000) == 9000000 && restamp_t(&s, 1016667) == 9016667 &&
			restamp_t(&s, 999000) == 8999000,
		"speed 1: one constant, also for what came before the first");
	ok(restamp_next_base(&s) == 9016667 + 1000000, "another pass begins 1 s behind the last");
	restamp_begin(&s, 0, 5);
	ok(restamp_t(&s, INT64_C(9007199254740000)) - INT64_C(9007199254740000) == 5,
		"exact for any t");
	restamp_init(&s, 2);
	restamp_begin(&s, 100, 1000);
	ok(restamp_t(&s, 300) == 1100, "speed 2: half the time");
	restamp_init(&s, 0.25);
	restamp_begin(&s, 100, 1000);
	ok(restamp_t(&s, 110) == 1040, "speed 0.25: four times");
	ok(restamp_t(&s, INT64_C(9007199254740992)) == INT64_C(9007199254740992) &&
			restamp_t(&s, 0) == 600,
		"never beyond what t can be");
	restamp_init(&s, 0);
	restamp_begin(&s, 100, 50);
	ok(restamp_t(&s, 150) == 100 && restamp_t(&s, 10) == 0, "speed 0: as 1; never below 0");
}

static void test_plays(void)
{
	ok(restamp_plays(rec(REC_POSE, "a", 0, 0)) && restamp_plays(rec(REC_STOP, "a", 0, 0)) &&
			restamp_plays(event("stale", "", 0)) &&
			restamp_plays(event("episode", "keep", 0)),
		"poses, stops and other events are replayed");
	ok(!restamp_plays(rec(REC_BEAT, "a", 0, 0)), "a beat never");
	ok(!restamp_plays(event("reset", "", 0)) && !restamp_plays(event("engage", "x", 0)),
		"reset and engage never");
}

static void test_mount(void)
{
	static const char info[] =
		"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
		"30 22 8:17 / /mnt/my\\040disk rw shared:2 master:3 - xfs /dev/sdb1 rw,x - y\n"
		"31 22 0:25 / /run rw - tmpfs tmpfs rw\n"
		"32 22 8:1 /home /home rw - ext4 /dev/sda1 rw\n"
		"broken\n";
	char out[100] = "as before";

	ok(mount_name(info, 8, 17, out, sizeof out) == 0 &&
			strcmp(out, "/mnt/my disk (/dev/sdb1)") == 0,
		"mount point and device: %s", out);
	ok(mount_name(info, 8, 1, out, sizeof out) == 0 && strcmp(out, "/home (/dev/sda1)") == 0,
		"the last one of a device");
	ok(mount_name(info, 9, 9, out, sizeof out) == -1 && strcmp(out, "/home (/dev/sda1)") == 0,
		"none");
	ok(mount_name(info, 0, 25, out, 6) == 0 && strcmp(out, "/run ") == 0, "cut to the room");
}

int main(void)
{
	test_pick();
	test_gaps();
	test_names();
	test_orders();
	test_restamp();
	test_plays();
	test_mount();
	return tap_done();
}
