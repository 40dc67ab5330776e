/* Keys, lines and records to orders, and orders to what is sent on the stop channel. */
#include <string.h>

#include "estop/orders.h"
#include "estop/sender.h"
#include "tap.h"

static enum order_kind keys(const char *s)
{
	return order_keys(s, strlen(s));
}

static void test_keys(void)
{
	ok(keys(" ") == ORDER_STOP && keys("\033") == ORDER_STOP, "space and Esc stop");
	ok(keys("h") == ORDER_HOLD && keys("r") == ORDER_RESET && keys("e") == ORDER_ENGAGE &&
			keys("q") == ORDER_QUIT,
		"h r e q");
	ok(keys("x") == ORDER_NONE && keys("\r\n\tS5") == ORDER_NONE, "other keys do nothing");
	ok(keys("\033e") == ORDER_STOP, "Alt-e is Esc and e: a stop, no engage");
	ok(keys("e ") == ORDER_STOP && keys("rre\033") == ORDER_STOP, "a stop behind an engage");
	ok(keys("he") == ORDER_HOLD && keys("eh") == ORDER_HOLD, "a hold beats an engage");
	ok(keys("qe") == ORDER_QUIT && keys("q ") == ORDER_STOP,
		"quit beats an engage, not a stop");
	ok(order_keys("", 0) == ORDER_NONE, "no key");
}

static int line(const char *s, struct order *o)
{
	char why[256] = "";
	int r = order_line(s, strlen(s), 5000, o, why, sizeof why);

	return r == 0 ? (why[0] == '\0' ? 0 : -9) : (why[0] ? -1 : -9);
}

static void test_lines(void)
{
	struct order o;

	ok(line("stop", &o) == 0 && o.kind == ORDER_STOP && o.t_us == 5000, "stop, now");
	ok(line("estop", &o) == 0 && o.kind == ORDER_STOP, "estop");
	ok(line("engage", &o) == 0 && o.kind == ORDER_ENGAGE, "engage");
	ok(line("quit", &o) == -1 && o.kind == ORDER_HOLD, "quit is no line");
	ok(line("engage ", &o) == -1 && o.kind == ORDER_HOLD, "not exactly a word: a hold");
	ok(line("a word far longer than any order", &o) == -1 && o.kind == ORDER_HOLD, "long line");
	ok(order_line("stop\0x", 6, 1, &o, (char[64]){ 0 }, 64) == -1 && o.kind == ORDER_HOLD,
		"a NUL inside");
	ok(line("{\"type\":\"stop\",\"v\":1,\"src\":\"right\",\"seq\":0,\"t\":77,\"level\":"
		"\"estop\","
		"\"why\":\"bit\"}",
		   &o) == 0 &&
			o.kind == ORDER_STOP && o.t_us == 77 && strcmp(o.why, "bit") == 0,
		"stop record: its time and reason stay");
	ok(line("{\"type\":\"stop\",\"v\":1,\"src\":\"a\",\"seq\":0,\"t\":77,\"level\":\"hold\","
		"\"why\":\"\"}",
		   &o) == 0 &&
			o.kind == ORDER_HOLD,
		"hold record");
	ok(line("{\"type\":\"event\",\"v\":1,\"src\":\"a\",\"seq\":0,\"t\":77,\"name\":\"engage\","
		"\"n\":4}",
		   &o) == 0 &&
			o.kind == ORDER_ENGAGE && o.t_us == 77,
		"engage event: an old one stays old");
	ok(line("{\"type\":\"event\",\"v\":1,\"src\":\"a\",\"seq\":0,\"t\":77,\"name\":\"stale\","
		"\"n\":4}",
		   &o) == 0 &&
			o.kind == ORDER_NONE,
		"another event is none of ours");
	ok(line("{\"type\":\"beat\",\"v\":1,\"src\":\"a\",\"seq\":0,\"t\":77,\"stops\":3,"
		"\"level\":\"estop\"}",
		   &o) == 0 &&
			o.kind == ORDER_NONE,
		"a foreign beat is not repeated");
	ok(line("{\"type\":\"stop\",\"v\":1,\"src\":\"a\"", &o) == -1 && o.kind == ORDER_HOLD,
		"half a record: a hold");
}

static struct rec made(struct sender *s, enum order_kind kind, const char *why)
{
	struct order o = { .kind = kind, .t_us = 900 };
	struct rec r = { .type = REC_OTHER };

	strcpy(o.why, why);
	sender_order(s, &o, &r);
	return r;
}

static void test_sender(void)
{
	struct sender s;
	struct rec r;
	struct order none = { .kind = ORDER_NONE };
	char text[REC_LINE_MAX + 1];

	sender_init(&s, "estop-7");
	sender_beat(&s, 100, &r);
	ok(r.type == REC_BEAT && r.seq == 0 && r.t_us == 100 && r.u.beat.stops == 0, "first beat");
	r = made(&s, ORDER_STOP, "");
	ok(r.type == REC_STOP && r.u.stop.level == REC_ESTOP && r.t_us == 900 &&
			strcmp(r.src, "estop-7") == 0 && strcmp(r.u.stop.why, "operator") == 0,
		"stop");
	sender_beat(&s, 1000, &r);
	ok(r.seq == 1 && r.u.beat.stops == 1 && r.u.beat.level == REC_ESTOP, "beats tell of it");
	r = made(&s, ORDER_HOLD, "lunch");
	ok(r.u.stop.level == REC_HOLD && r.seq == 1 && strcmp(r.u.stop.why, "lunch") == 0, "hold");
	r = made(&s, ORDER_QUIT, "");
	ok(r.type == REC_STOP && r.u.stop.level == REC_HOLD, "quitting is a hold");
	sender_beat(&s, 1000, &r);
	ok(r.u.beat.stops == 3 && r.u.beat.level == REC_HOLD, "count and level of the last");
	r = made(&s, ORDER_RESET, "");
	ok(r.type == REC_EVENT && strcmp(r.u.event.name, "reset") == 0 && r.u.event.n == 1 &&
			r.seq == 0,
		"reset");
	r = made(&s, ORDER_ENGAGE, "");
	ok(strcmp(r.u.event.name, "engage") == 0 && r.u.event.n == 2 && r.seq == 1, "engage");
	ok(rec_print(&r, text, sizeof text) > 0 &&
			strcmp(text, "{\"type\":\"event\",\"v\":1,\"src\":\"estop-7\",\"seq\":1,"
				     "\"t\":900,"
				     "\"name\":\"engage\",\"n\":2}\n") == 0,
		"an event as it goes out: %s", text);
	sender_beat(&s, 1000, &r);
	ok(r.u.beat.stops == 3, "events are no stops");
	ok(!sender_order(&s, &none, &r), "nothing to send");
}

int main(void)
{
	test_keys();
	test_lines();
	test_sender();
	return tap_done();
}
