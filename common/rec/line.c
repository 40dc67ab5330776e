/* Lines out of a byte stream; see line.h. */
#include <string.h>
#include <unistd.h>

#include "rec/line.h"

void line_init(struct line *l)
{
	l->start = l->end = 0;
	l->skipping = l->eof = false;
	l->overlong = l->partial = 0;
}

/* Moves the unread bytes to the front. What is left is at most one unfinished line when the
 * caller has emptied line_next, so there is always room. */
static void make_room(struct line *l)
{
	if (l->start > 0) {
		memmove(l->buf, l->buf + l->start, l->end - l->start);
		l->end -= l->start;
		l->start = 0;
	}
}

/* Bytes behind the last newline are no line; the rest of an overlong one is counted already. */
static void at_end(struct line *l)
{
	const char *begin = l->buf + l->start;
	size_t n = l->end - l->start;

	if (!l->eof && n > 0 && begin[n - 1] != '\n' &&
		!(l->skipping && memchr(begin, '\n', n) == NULL))
		l->partial++;
	l->eof = true;
}

long line_fill(struct line *l, int fd)
{
	make_room(l);
	if (l->end == sizeof l->buf) /* line_next was not emptied: nothing read, nothing lost */
		return (long)l->end;
	long n = read(fd, l->buf + l->end, sizeof l->buf - l->end);
	if (n > 0)
		l->end += (size_t)n;
	else if (n == 0)
		at_end(l);
	return n;
}

size_t line_feed(struct line *l, const char *bytes, size_t n)
{
	make_room(l);
	if (n > sizeof l->buf - l->end)
		n = sizeof l->buf - l->end;
	memcpy(l->buf + l->end, bytes, n);
	l->end += n;
	return n;
}

/* No newline in the unread bytes: an unfinished line, or an overlong one to be skipped. */
static void keep_rest(struct line *l)
{
	if (l->skipping) {
		l->start = l->end;
	} else if (l->end - l->start >= REC_LINE_MAX) {
		l->overlong++;
		l->skipping = true;
		l->start = l->end;
	}
}

bool line_next(struct line *l, const char **text, size_t *n)
{
	for (;;) {
		char *begin = l->buf + l->start;
		char *newline = memchr(begin, '\n', l->end - l->start);
		if (newline == NULL) {
			keep_rest(l);
			return false;
		}
		size_t len = (size_t)(newline - begin);
		l->start += len + 1;
		if (l->skipping) {
			l->skipping = false;
			continue;
		}
		if (len >= REC_LINE_MAX) {
			l->overlong++;
			continue;
		}
		if (len > 0 && begin[len - 1] == '\r')
			len--;
		if (len == 0)
			continue;
		*text = begin;
		*n = len;
		return true;
	}
}
