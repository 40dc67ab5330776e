/*
 * Lines out of a byte stream, fed in any pieces, against a plain reading of the whole.
 *
 * The stream is the input, where 0xFF C N stands for 33 x N times C, and 0xFE begins a new piece.
 */
#include "fuzz.h"
#include "rec/line.h"

#define STREAM_MAX (1 << 18)

static char stream[STREAM_MAX];
static size_t length;
static bool cut[STREAM_MAX + 1]; /* a piece begins here */

static void expand(struct bytes in)
{
	length = 0;
	memset(cut, 0, sizeof cut);
	while (in.n > 0) {
		uint8_t c = take_u8(&in);
		size_t times = 1;
		if (c == 0xFE) {
			cut[length] = true;
			continue;
		}
		if (c == 0xFF) {
			c = take_u8(&in);
			times = (size_t)33 * take_u8(&in);
		}
		for (; times > 0 && length < STREAM_MAX; times--)
			stream[length++] = (char)c;
	}
}

/* The next line of the stream from *at on, as line.h says; counts those too long. */
static bool plain_next(size_t *at, const char **text, size_t *n, unsigned long *overlong)
{
	for (;;) {
		char *begin = stream + *at, *newline = memchr(begin, '\n', length - *at);
		size_t len = newline ? (size_t)(newline - begin) : length - *at;
		*overlong += len >= REC_LINE_MAX;
		if (newline == NULL) {
			*at = length;
			return false;
		}
		*at += len + 1;
		if (len >= REC_LINE_MAX)
			continue;
		len -= len > 0 && begin[len - 1] == '\r';
		if (len == 0)
			continue;
		*text = begin;
		*n = len;
		return true;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct line l;
	const char *text, *want;
	size_t len, want_len, at = 0;
	unsigned long overlong = 0;

	expand((struct bytes){ data, n });
	line_init(&l);
	for (size_t from = 0, to; from < length; from = to) {
		for (to = from + 1; to < length && !cut[to]; to++)
			;
		while (from < to) {
			size_t took = line_feed(&l, stream + from, to - from);
			CLAIM(took > 0);
			from += took;
			while (line_next(&l, &text, &len)) {
				CLAIM(plain_next(&at, &want, &want_len, &overlong));
				CLAIM(len == want_len && memcmp(text, want, len) == 0);
			}
		}
	}
	CLAIM(!plain_next(&at, &want, &want_len, &overlong));
	CLAIM(l.overlong == overlong);
	return 0;
}
