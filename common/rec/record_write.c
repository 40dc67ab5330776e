/*
 * Writer of every type but the pose, through jansson: compact, floats %.9g, keys in the order of
 * teleop-record(5).  A float that is not finite becomes null in feedback; elsewhere the record is
 * refused.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "rec/record.h"
#include "rec/record_parts.h"

struct writer {
	json_t *o;
	bool nan_is_null; /* feedback only */
	bool failed;
};

/* Takes value. */
static void put(struct writer *w, const char *key, json_t *value)
{
	if (json_object_set_new(w->o, key, value) != 0)
		w->failed = true;
}

static void put_int(struct writer *w, const char *key, int64_t v)
{
	put(w, key, json_integer(v));
}

/* Bytes that are not UTF-8 are replaced, so that no reason is lost for a bad byte in it. */
static json_t *text_of(const char *s, size_t n)
{
	json_t *v = json_stringn(s, n);
	char ascii[REC_TEXT_MAX];

	if (v != NULL)
		return v;
	for (size_t i = 0; i < n && i < sizeof ascii; i++)
		ascii[i] = (s[i] & 0x80) ? '?' : s[i];
	return json_stringn(ascii, n < sizeof ascii ? n : sizeof ascii);
}

static void put_text(struct writer *w, const char *key, const char *s)
{
	put(w, key, text_of(s, strlen(s)));
}

static json_t *real_of(struct writer *w, double x)
{
	if (isfinite(x))
		return json_real(x);
	if (!w->nan_is_null)
		w->failed = true;
	return json_null();
}

static void put_real(struct writer *w, const char *key, double x)
{
	put(w, key, real_of(w, x));
}

static json_t *reals_of(struct writer *w, const double *v, int n)
{
	json_t *a = json_array();

	for (int i = 0; i < n; i++)
		if (json_array_append_new(a, real_of(w, v[i])) != 0)
			w->failed = true;
	return a;
}

static void put_reals(struct writer *w, const char *key, const double *v, int n)
{
	put(w, key, reals_of(w, v, n));
}

static void put_vec3(struct writer *w, const char *key, struct vec3 v)
{
	put_reals(w, key, (const double[3]){ v.x, v.y, v.z }, 3);
}

static void put_pose(struct writer *w, const struct pose *o)
{
	put_vec3(w, "p", o->p);
	put_reals(w, "q", (const double[4]){ o->q.x, o->q.y, o->q.z, o->q.w }, 4);
}

static void put_list(struct writer *w, const char *key, const char *list)
{
	json_t *a = json_array();

	while (*list != '\0') {
		size_t n = strcspn(list, ",");
		if (n > 0 && json_array_append_new(a, text_of(list, n)) != 0)
			w->failed = true;
		list += n + (list[n] == ',');
	}
	put(w, key, a);
}

static void put_joints(struct writer *w, const struct rec_joints *o)
{
	put_reals(w, "j", o->j, o->nj);
	if (o->nhand == 1)
		put_real(w, "hand", o->hand[0]);
	else if (o->nhand > 1)
		put_reals(w, "hand", o->hand, o->nhand);
	if (o->has_grip)
		put_real(w, "grip", o->grip);
}

static void put_command(struct writer *w, const struct rec_command *o)
{
	put_text(w, "set", rec_set_names[o->set]);
	if (o->has_pose)
		put_pose(w, &o->pose);
	if (o->has_grip)
		put_real(w, "grip", o->grip);
	if (o->nj > 0)
		put_reals(w, "j", o->j, o->nj);
	put_int(w, "age_us", o->age_us);
	put_real(w, "lead_m", o->lead_m);
	put_real(w, "lead_rad", o->lead_rad);
	if (o->clamped[0] != '\0')
		put_list(w, "clamped", o->clamped);
}

static void put_jac(struct writer *w, const struct rec_feedback *o)
{
	json_t *rows = json_array();

	for (int i = 0; i < 6; i++)
		if (json_array_append_new(rows, reals_of(w, o->jac[i], o->njac)) != 0)
			w->failed = true;
	put(w, "jac", rows);
}

static void put_feedback(struct writer *w, const struct rec_feedback *o)
{
	w->nan_is_null = true;
	put_text(w, "kind", rec_kind_names[o->kind]);
	put_text(w, "state", rec_state_names[o->state]);
	if (o->has_gate) {
		put_text(w, "gate", o->gate);
		put_text(w, "why", o->why);
		put_int(w, "runs", o->runs);
	}
	if (o->has_pose)
		put_pose(w, &o->pose);
	if (o->has_twist) {
		put_vec3(w, "pdot", o->pdot);
		put_vec3(w, "omega", o->omega);
	}
	if (o->nj > 0)
		put_reals(w, "j", o->j, o->nj);
	if (o->njdot > 0)
		put_reals(w, "jdot", o->jdot, o->njdot);
	if (o->njac > 0)
		put_jac(w, o);
	if (o->has_grip)
		put_real(w, "grip", o->grip);
	if (o->has_mode)
		put_int(w, "mode", o->mode);
	if (o->has_faults)
		put_list(w, "faults", o->faults);
}

static void put_body(struct writer *w, const struct rec *r)
{
	switch (r->type) {
	case REC_JOINTS: put_joints(w, &r->u.joints); break;
	case REC_COMMAND: put_command(w, &r->u.command); break;
	case REC_FEEDBACK: put_feedback(w, &r->u.feedback); break;
	case REC_STOP:
		put_text(w, "level", rec_level_name(r->u.stop.level));
		put_text(w, "why", r->u.stop.why);
		break;
	case REC_EVENT:
		put_text(w, "name", r->u.event.name);
		if (r->u.event.value[0] != '\0')
			put_text(w, "value", r->u.event.value);
		put_int(w, "n", r->u.event.n);
		break;
	case REC_BEAT:
		put_int(w, "stops", r->u.beat.stops);
		put_text(w, "level", rec_level_name(r->u.beat.level));
		break;
	case REC_POSE:
	case REC_STATUS:
	case REC_OTHER: break;
	}
}

int rec_print_json(const struct rec *r, char *buf, size_t n)
{
	struct writer w = { json_object(), false, false };
	char body[REC_LINE_MAX + 1];

	if (w.o == NULL)
		return -1;
	put_text(&w, "type", r->type == REC_OTHER ? r->type_name : rec_type_names[r->type]);
	put_int(&w, "v", r->v);
	put_text(&w, "src", r->src);
	put_int(&w, "seq", r->seq);
	put_int(&w, "t", r->t_us);
	put_body(&w, r);
	size_t len = w.failed ? 0
			      : json_dumpb(w.o, body, sizeof body,
					JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(w.o);
	if (len == 0 || len > sizeof body)
		return -1;
	return rec_print_tail(r, body, len - 1, buf, n); /* without the closing brace */
}
