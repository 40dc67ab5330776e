/*
 * Records: names, the head, and which reader or writer a line goes to (DESIGN.md 2).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rec/record.h"
#include "rec/record_parts.h"

const char *const rec_type_names[] = { "pose", "joints", "command", "feedback", "stop", "event",
	"beat", "status", NULL };
const char *const rec_frame_names[] = { "vr", "base", NULL };
const char *const rec_level_names[] = { "hold", "estop", NULL };
const char *const rec_set_names[] = { "run", "hold", "ready", NULL };
const char *const rec_kind_names[] = { "status", "cartesian", "joint", "jacobian", NULL };
const char *const rec_state_names[] = { "inactive", "ready", "streaming", NULL };

void rec_init(struct rec *r, enum rec_type type, const char *src, int64_t seq, int64_t t_us)
{
	memset(r, 0, offsetof(struct rec, extra) + 1);
	r->type = type;
	if (type != REC_OTHER)
		(void)snprintf(r->type_name, sizeof r->type_name, "%s", rec_type_names[type]);
	r->v = 1;
	(void)snprintf(
		r->src, sizeof r->src, "%s", src); /* a longer one is no src: see rec_src_ok */
	r->seq = seq;
	r->t_us = t_us;
	if (type == REC_POSE)
		r->u.pose.pose.q.w = 1;
	else if (type == REC_COMMAND)
		r->u.command.pose.q.w = 1;
	else if (type == REC_FEEDBACK)
		r->u.feedback.pose.q.w = 1;
}

int rec_parse(const char *line, size_t n, struct rec *r, char *why, size_t why_n)
{
	if (rec_parse_direct(line, n, r))
		return 0;
	return rec_parse_json(line, n, r, why, why_n);
}

int rec_print(const struct rec *r, char *buf, size_t n)
{
	if (!rec_src_ok(r->src) || r->seq < 0 || r->seq > REC_INT_MAX || r->t_us < 0 ||
		r->t_us > REC_INT_MAX)
		return -1;
	return r->type == REC_POSE ? rec_print_pose(r, buf, n) : rec_print_json(r, buf, n);
}

int rec_print_tail(const struct rec *r, const char *body, size_t len, char *buf, size_t n)
{
	size_t total = len + r->extra_len + 2;

	if (total > REC_LINE_MAX || total + 1 > n)
		return -1;
	memcpy(buf, body, len);
	memcpy(buf + len, r->extra, r->extra_len);
	memcpy(buf + len + r->extra_len, "}\n", 3);
	return (int)total;
}

bool rec_name_ok(const char *s, size_t n)
{
	if (n == 0 || n >= REC_SRC_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = s[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			    c == '.' || c == '_' || c == '-'))
			return false;
	}
	return true;
}

bool rec_src_ok(const char *src)
{
	return rec_name_ok(src, strlen(src));
}

const char *rec_level_name(enum rec_level l)
{
	return rec_level_names[l == REC_ESTOP];
}

void rec_copy_text(char *out, size_t room, const char *text)
{
	size_t n = strlen(text);

	if (n >= room)
		for (n = room - 1; n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80; n--)
			;
	memcpy(out, text, n);
	out[n] = '\0';
}

bool rec_quat_ok(struct quat q)
{
	double norm = sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);

	return fabs(norm - 1) <= 1e-2; /* false for NaN and infinity */
}

/* Also with its digits on a line: what is read can be printed and read again. */
static bool is_rotation(struct quat q)
{
	return rec_quat_ok(q) && rec_quat_ok((struct quat){ rec_as_fixed9(q.x), rec_as_fixed9(q.y),
					 rec_as_fixed9(q.z), rec_as_fixed9(q.w) });
}

const char *rec_pose_refusal(const struct rec_pose *p)
{
	const double v[] = { p->pose.p.x, p->pose.p.y, p->pose.p.z };

	for (int i = 0; i < 3; i++)
		if (!(fabs(v[i]) <= REC_POSE_MAX))
			return "p: not a number within 9e9";
	if (!is_rotation(p->pose.q))
		return "q: its norm is off 1 by more than 0.01";
	if (p->has_grip && !(fabs(p->grip) <= REC_POSE_MAX))
		return "grip: not a number within 9e9";
	if (p->has_ts && !(fabs(p->ts) <= REC_POSE_MAX))
		return "ts: not a number within 9e9";
	return NULL;
}

void rec_clamped_add(char *list, const char *name)
{
	size_t len = strlen(list), n = strlen(name);

	for (const char *p = list; *p != '\0';) {
		size_t part = strcspn(p, ",");
		if (part == n && memcmp(p, name, n) == 0)
			return;
		p += part + (p[part] == ',');
	}
	if (len + n + 2 > REC_CLAMPED_MAX)
		return;
	if (len > 0)
		list[len++] = ',';
	memcpy(list + len, name, n + 1);
}
