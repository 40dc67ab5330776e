/* See start.h. */
#include "rec-cat/start.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rec/endpoint.h"

static bool is_run(const struct rec *r)
{
	return r->type == REC_FEEDBACK && r->u.feedback.has_gate &&
	       strcmp(r->u.feedback.gate, "run") == 0;
}

bool start_see(
	struct start *s, const struct pick *p, const struct rec *r, const char *line, size_t n)
{
	if (is_run(r) && s->has_pose) {
		s->has_run = true;
		s->from_us = r->t_us;
		return true;
	}
	if (r->type == REC_POSE && r->u.pose.valid && pick_takes(p, r)) {
		if (!s->has_pose)
			s->from_us = r->t_us;
		s->has_pose = true;
		s->n = n;
		memcpy(s->pose, line, n);
	}
	return false;
}

int start_find(struct start *s, const struct pick *p, const char *file, char *why, size_t n)
{
	static struct rec r;
	struct start first = { .has_pose = false };
	struct ep *e = ep_open(file, EP_IN, why, n);
	const char *line;
	char refusal[200];
	size_t len;
	int rc;

	*s = first;
	if (e == NULL)
		return -1;
	while ((rc = ep_next(e, &line, &len)) == 1) {
		if (rec_parse(line, len, &r, refusal, sizeof refusal) != 0)
			continue; /* the replay itself tells of it */
		if (start_see(s, p, &r, line, len))
			break;
		if (s->has_pose && !first.has_pose)
			first = *s;
	}
	if (rc < 0 && errno != 0)
		(void)snprintf(why, n, "%s: %s", file, strerror(errno));
	else if (!s->has_pose)
		(void)snprintf(why, n, "%s: no valid pose to begin with", file);
	else
		rc = 1;
	(void)ep_close(e); /* an input has nothing to lose */
	if (!s->has_run && rc == 1)
		*s = first;
	return rc == 1 ? 0 : -1;
}
