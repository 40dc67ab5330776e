/* Lines out of a byte stream: whole at every split, in step again after damage. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec/line.h"
#include "tap.h"

static struct line l;

/* Appends every line to got, each followed by '|'. */
static void drain(char *got)
{
	const char *text;
	size_t n;

	while (line_next(&l, &text, &n)) {
		got += strlen(got);
		memcpy(got, text, n);
		strcpy(got + n, "|");
	}
}

static void test_splits(void)
{
	static const char in[] = "one\n\ntwo\r\n\r\nthree\nfo\0ur\npart";
	size_t n = sizeof in - 1;
	int bad = 0;

	for (size_t a = 0; a <= n; a++)
		for (size_t b = a; b <= n; b++) {
			char got[100] = "";
			line_init(&l);
			size_t taken = line_feed(&l, in, a);
			drain(got);
			taken += line_feed(&l, in + a, b - a);
			drain(got);
			taken += line_feed(&l, in + b, n - b);
			drain(got);
			/* The NUL ends strlen(got): what follows it was written over by the bar. */
			bad += taken != n || strncmp(got, "one|two|three|fo", 16) != 0 ||
			       l.overlong != 0;
		}
	ok(bad == 0, "the same lines whatever the split");
}

static void test_overlong(void)
{
	static char in[3 * REC_LINE_MAX];
	char got[2 * REC_LINE_MAX];
	int bad = 0;

	/* 4095 bytes and a newline fit; 4096 do not. */
	for (size_t len = REC_LINE_MAX - 1; len <= REC_LINE_MAX + 5; len++) {
		for (size_t split = 1; split < len + 8; split += 63) {
			memset(in, 'x', len);
			memcpy(in + len, "\nafter\n", 7);
			line_init(&l);
			got[0] = '\0';
			(void)line_feed(&l, in, split);
			drain(got);
			(void)line_feed(&l, in + split, len + 7 - split);
			drain(got);
			bool is_long = len >= REC_LINE_MAX;
			bad += l.overlong != is_long || strlen(got) != (is_long ? 6 : len + 7) ||
			       strcmp(got + strlen(got) - 6, "after|") != 0;
		}
	}
	ok(bad == 0, "an overlong line is skipped and counted, the next one is read");
}

static void test_endless(void)
{
	static char block[1000];
	char got[10] = "";

	memset(block, 'y', sizeof block);
	line_init(&l);
	size_t taken = 0;
	for (int i = 0; i < 1000; i++) {
		taken += line_feed(&l, block, sizeof block);
		drain(got);
	}
	ok(taken == 1000000 && l.overlong == 1, "a megabyte without newline is one overlong line");
	(void)line_feed(&l, "\nok\n", 4);
	drain(got);
	ok(strcmp(got, "ok|") == 0, "and in step again at its newline");
}

static void test_end(void)
{
	static const struct {
		const char *in, *lines;
		unsigned long partial;
	} row[] = { { "a\nb\n", "a|b|", 0 }, { "a\nb", "a|", 1 }, { "", "", 0 }, { "b", "", 1 } };

	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		int fd[2];
		char got[20] = "";
		if (pipe(fd) != 0)
			abort();
		bool is_written =
			write(fd[1], row[i].in, strlen(row[i].in)) == (ssize_t)strlen(row[i].in);
		(void)close(fd[1]);
		line_init(&l);
		while (line_fill(&l, fd[0]) > 0)
			if (i % 2 == 0)
				drain(got);
		drain(got);
		(void)close(fd[0]);
		ok(is_written && l.eof && strcmp(got, row[i].lines) == 0 &&
				l.partial == row[i].partial,
			"end of input: %lu partial after '%s'", row[i].partial, row[i].lines);
	}
	line_init(&l);
	ok(line_fill(&l, -1) == -1, "a bad descriptor is an error");
}

int main(void)
{
	test_splits();
	test_overlong();
	test_endless();
	test_end();
	return tap_done();
}
