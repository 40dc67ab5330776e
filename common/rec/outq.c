/* A source's output; see outq.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rec/outq.h"
#include "run/clock.h"
#include "run/opt.h"

#define STATES 64
#define STOPS 64
#define SLOTS (OUTQ_EVENTS + STATES + STOPS)
#define CLOSE_US 200000

/* What waits for one reader. Free slots have order 0. */
struct slot {
	uint64_t order;
	enum rec_type type;
	int sub; /* stop: level; feedback: kind; pose: 1 is a valid:false kept before the newest */
	bool invalid; /* a pose with valid:false */
	char src[REC_SRC_MAX], type_name[32];
	size_t n;
};
struct reader {
	struct ep *ep;
	struct slot slot[SLOTS];
	char text[SLOTS][REC_LINE_MAX];
	int waiting;
	char *where;
	int cause;    /* errno of its failure, 0 none: written to no more */
	bool is_told; /* by outq_failed */
};
struct outq {
	int n;
	struct reader *reader[OPT_LIST_MAX];
	uint64_t order;
	unsigned long dropped;
};

struct outq *outq_open(const char *const *where, int n, char *why, size_t why_n)
{
	static const char *const standard[] = { "-" };
	struct outq *q = calloc(1, sizeof *q);

	if (n == 0) {
		where = standard;
		n = 1;
	}
	(void)snprintf(why, why_n, "%s", n > OPT_LIST_MAX ? "too many outputs" : "out of memory");
	errno = n > OPT_LIST_MAX ? EINVAL : ENOMEM;
	for (int i = 0; q != NULL && i < n; i++) {
		struct reader *r = n > OPT_LIST_MAX ? NULL : calloc(1, sizeof *r);
		if (r != NULL)
			q->reader[q->n++] = r;
		if (r == NULL || (r->where = strdup(where[i])) == NULL ||
			(r->ep = ep_open(where[i], EP_OUT, why, why_n)) == NULL) {
			int cause = errno;
			(void)outq_close(q); /* nothing was written */
			errno = cause;
			return NULL;
		}
	}
	return q;
}

static bool is_same_state(const struct slot *a, const struct slot *b)
{
	return a->type == b->type && a->sub == b->sub && strcmp(a->src, b->src) == 0 &&
	       strcmp(a->type_name, b->type_name) == 0;
}

static struct slot *find(struct reader *r, const struct slot *like)
{
	for (struct slot *s = r->slot; s < r->slot + SLOTS; s++)
		if (s->order != 0 && is_same_state(s, like))
			return s;
	return NULL;
}

static void release(struct reader *r, struct slot *s)
{
	s->order = 0;
	r->waiting--;
}

/* The longest waiting slot, stops before everything. */
static struct slot *first(struct reader *r, bool only_states)
{
	struct slot *best = NULL;

	for (struct slot *s = r->slot; s < r->slot + SLOTS; s++) {
		if (s->order == 0 || (only_states && (s->type == REC_STOP || s->type == REC_EVENT)))
			continue;
		bool urgent = s->type == REC_STOP;
		if (best == NULL || urgent > (best->type == REC_STOP) ||
			(urgent == (best->type == REC_STOP) && s->order < best->order))
			best = s;
	}
	return best;
}

/* A free slot within what its class may use; a stop takes a state's place before it is lost. */
static struct slot *take_slot(struct reader *r, enum rec_type type)
{
	int used = 0, most = type == REC_EVENT ? OUTQ_EVENTS : type == REC_STOP ? SLOTS : STATES;
	struct slot *gap = NULL;

	for (struct slot *s = r->slot; s < r->slot + SLOTS; s++) {
		if (s->order == 0)
			gap = gap == NULL ? s : gap;
		else if (type == REC_EVENT)
			used += s->type == REC_EVENT;
		else
			used += s->type != REC_EVENT && s->type != REC_STOP;
	}
	if (type == REC_STOP && gap == NULL && (gap = first(r, true)) != NULL)
		release(r, gap);
	if (gap == NULL || (type != REC_STOP && used >= most))
		return NULL;
	r->waiting++;
	return gap;
}

/* A newer pose comes: what of the waiting ones stays? A valid:false before a valid newest does,
 * so that the sink's hold and a filter's fresh start are not lost with it (DESIGN.md 3). */
static void make_way_for_pose(struct outq *q, struct reader *r, const struct slot *newest)
{
	struct slot key = *newest;
	struct slot *old = find(r, &key);

	key.sub = 1;
	struct slot *kept = find(r, &key);
	if (newest->invalid) {
		if (kept != NULL) {
			release(r, kept);
			q->dropped++;
		}
	} else if (old != NULL && old->invalid) {
		if (kept != NULL) {
			release(r, kept);
			q->dropped++;
		}
		old->sub = 1;
	}
}

static void keep(struct outq *q, struct reader *r, const struct slot *like, const char *line)
{
	struct slot *s = NULL;

	if (like->type == REC_POSE)
		make_way_for_pose(q, r, like);
	if (like->type != REC_EVENT)
		s = find(r, like);
	if (s != NULL) {
		q->dropped++;
		if (like->type == REC_STOP) /* the one that waits says it already */
			return;
	} else if ((s = take_slot(r, like->type)) == NULL) {
		q->dropped++;
		return;
	}
	*s = *like;
	s->order = ++q->order;
	memcpy(r->text[s - r->slot], line, like->n);
}

static int lose(struct reader *r, int cause)
{
	r->cause = cause != 0 ? cause : EIO;
	return -1;
}

/* 0 while there is an endpoint, or -1 with the reason of the last (none of them failed now: 0). */
static int verdict(const struct outq *q, int failed)
{
	if (failed < 0)
		return 0;
	for (int i = 0; i < q->n; i++)
		if (q->reader[i]->cause == 0)
			return 0;
	errno = q->reader[failed]->cause;
	return -1;
}

static bool has_left(const struct reader *r)
{
	struct pollfd p = { .fd = ep_fd(r->ep) };

	return !ep_is_nng(r->ep) && poll(&p, 1, 0) == 1 && p.revents & (POLLERR | POLLNVAL);
}

/* Writes what waits, as far as the reader takes it. */
static int flush_reader(struct reader *r)
{
	if (r->cause != 0)
		return 0;
	if (has_left(r))
		return lose(r, EPIPE);
	int rc = ep_has_rest(r->ep) ? ep_try(r->ep, "", 0) : 1;
	while (rc == 1 && r->waiting > 0) {
		struct slot *s = first(r, false);
		rc = ep_try(r->ep, r->text[s - r->slot], s->n);
		if (rc == 1)
			release(r, s);
	}
	return rc < 0 ? lose(r, errno) : 0;
}

static int put_reader(struct outq *q, struct reader *r, const struct slot *s, const char *line)
{
	if (r->cause != 0)
		return 0;
	if (r->waiting == 0) {
		int rc = ep_try(r->ep, line, s->n);
		if (rc != 0)
			return rc < 0 ? lose(r, errno) : 0;
	}
	keep(q, r, s, line);
	return flush_reader(r);
}

int outq_put(struct outq *q, const struct rec *r)
{
	char line[REC_LINE_MAX + 1];
	int n = rec_print(r, line, sizeof line);

	if (n < 0) {
		q->dropped++;
		return 0;
	}
	return outq_put_line(q, r, line, (size_t)n);
}

int outq_put_line(struct outq *q, const struct rec *r, const char *line, size_t n)
{
	struct slot s = { .type = r->type };
	int failed = -1;

	memcpy(s.src, r->src, sizeof s.src);
	memcpy(s.type_name, r->type_name, sizeof s.type_name);
	s.n = n;
	s.sub = r->type == REC_STOP       ? (int)r->u.stop.level
		: r->type == REC_FEEDBACK ? (int)r->u.feedback.kind
					  : 0;
	s.invalid = r->type == REC_POSE && !r->u.pose.valid;
	for (int i = 0; i < q->n; i++)
		if (put_reader(q, q->reader[i], &s, line) != 0)
			failed = i;
	return verdict(q, failed);
}

int outq_flush(struct outq *q)
{
	int failed = -1;

	for (int i = 0; i < q->n; i++)
		if (flush_reader(q->reader[i]) != 0)
			failed = i;
	return verdict(q, failed);
}

bool outq_failed(struct outq *q, const char **where, int *cause)
{
	for (int i = 0; i < q->n; i++) {
		struct reader *r = q->reader[i];
		if (r->cause == 0 || r->is_told)
			continue;
		r->is_told = true;
		*where = r->where;
		*cause = r->cause;
		return true;
	}
	return false;
}

int outq_fd(const struct outq *q, int i, short *events)
{
	const struct reader *r = q->reader[i];

	*events = r->cause == 0 && (r->waiting > 0 || ep_has_rest(r->ep)) ? POLLOUT : 0;
	return r->cause != 0 ? -1 : ep_fd(r->ep);
}

int outq_n(const struct outq *q)
{
	return q->n;
}

unsigned long outq_dropped(const struct outq *q)
{
	unsigned long n = q->dropped;

	for (int i = 0; i < q->n; i++) {
		struct ep_counts c = ep_counts(q->reader[i]->ep);
		n += c.dropped + c.oversize + c.refused;
	}
	return n;
}

int outq_drain(struct outq *q, int64_t until_us)
{
	for (;;) {
		struct pollfd p[OPT_LIST_MAX];
		bool is_empty = true;
		if (outq_flush(q) != 0)
			return -1;
		for (int i = 0; i < q->n; i++) {
			p[i].fd = outq_fd(q, i, &p[i].events);
			if (p[i].events == 0)
				p[i].fd = -1;
			is_empty = is_empty && p[i].fd < 0;
		}
		int64_t left_us = until_us - clock_now();
		if (is_empty)
			return 0;
		if (left_us <= 0)
			return 1;
		if (left_us > 3600000000)
			left_us = 3600000000;
		if (poll(p, (nfds_t)q->n, (int)((left_us + 999) / 1000)) < 0 && errno != EINTR)
			return -1;
	}
}

int outq_close(struct outq *q)
{
	int rc = 0, cause = 0;

	if (q == NULL)
		return 0;
	if (q->n > 0 && q->reader[q->n - 1]->ep != NULL)
		(void)outq_drain(q, clock_now() + CLOSE_US); /* each reader keeps its cause */
	for (int i = 0; i < q->n; i++) {
		struct reader *r = q->reader[i];
		if (ep_close(r->ep) != 0 && r->cause == 0)
			(void)lose(r, errno);
		if (r->cause != 0 && !r->is_told) {
			rc = -1;
			cause = r->cause;
		}
		free(r->where);
		free(r);
	}
	free(q);
	errno = cause;
	return rc;
}
