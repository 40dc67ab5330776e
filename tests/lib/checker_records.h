/* The writer's records as the checker needs them: each command with the gate's state before it. */
#ifndef LIB_CHECKER_RECORDS_H
#define LIB_CHECKER_RECORDS_H

#include "rec/record.h"

struct cmd {
	long line;
	enum rec_set set;
	bool has_pose, has_grip, has_joints;
	struct place at;
	double grip, j[6], lead;
	double when; /* moment of writing, s */
	double age_ms;
	char gate[12]; /* of the newest feedback record before it, "" none yet */
	int64_t runs;
};
struct records {
	struct cmd *v;
	int n, next;
};

static inline void records_take(
	struct records *r, const struct rec *rec, long line, const char *gate, int64_t runs)
{
	const struct rec_command *c = &rec->u.command;

	if ((r->n & (r->n + 1)) == 0) {
		r->v = realloc(r->v, (size_t)(2 * r->n + 2) * sizeof(*r->v));
		if (!r->v)
			abort();
	}
	struct cmd *k = &r->v[r->n++];
	memset(k, 0, sizeof(*k));
	k->line = line;
	k->set = c->set;
	k->has_pose = c->has_pose;
	k->at.p[0] = c->pose.p.x;
	k->at.p[1] = c->pose.p.y;
	k->at.p[2] = c->pose.p.z;
	k->at.r = rot_quat(c->pose.q.x, c->pose.q.y, c->pose.q.z, c->pose.q.w);
	k->has_grip = c->has_grip;
	k->grip = c->grip;
	k->has_joints = c->nj == 6;
	for (int i = 0; i < 6; i++)
		k->j[i] = c->j[i];
	k->lead = c->lead_m;
	k->when = (double)(rec->t_us + c->age_us) * 1e-6;
	k->age_ms = (double)c->age_us * 1e-3;
	memcpy(k->gate, gate, sizeof(k->gate));
	k->runs = runs;
}

/* The change to RUN is told right after the first set of that RUN: it counts for that set. */
static inline void records_gate(struct records *r, int from, const char *gate, int64_t runs)
{
	for (int i = from; i < r->n; i++)
		if (strcmp(gate, "run") == 0 && runs == r->v[i].runs + 1) {
			memcpy(r->v[i].gate, "run", 4);
			r->v[i].runs = runs;
		}
}

static inline int records_read(struct records *r, const char *path)
{
	static struct rec rec;
	char why[200], gate[12] = "", *text = NULL;
	size_t room = 0;
	ssize_t n;
	long line = 0;
	int64_t runs = 0;
	int since = 0; /* commands before this one were written before the last feedback */
	FILE *in = fopen(path, "r");

	if (!in) {
		fprintf(stderr, "checker: %s: %s\n", path, strerror(errno));
		return -1;
	}
	while ((n = getline(&text, &room, in)) > 0) {
		line++;
		if (text[n - 1] == '\n')
			n--;
		if (rec_parse(text, (size_t)n, &rec, why, sizeof(why)) != 0) {
			fprintf(stderr, "checker: %s:%ld: %s\n", path, line, why);
			return -1;
		}
		if (rec.type == REC_FEEDBACK && rec.u.feedback.has_gate) {
			memcpy(gate, rec.u.feedback.gate, sizeof(gate));
			runs = rec.u.feedback.runs;
			records_gate(r, since, gate, runs);
			since = r->n;
		} else if (rec.type == REC_COMMAND) {
			records_take(r, &rec, line, gate, runs);
		}
	}
	free(text);
	fclose(in);
	return 0;
}

#endif
