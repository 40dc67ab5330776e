/*
 * Every line that is not the canonical pose: read through jansson (DESIGN.md 2).  Strict where
 * a key is known (type, range, length), silent where it is not: unknown keys are kept as their
 * own text in `extra`, in order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "rec/record.h"
#include "rec/record_get.h"
#include "rec/record_parts.h"

/* Bodies. */

static int read_pose(struct getter *d, struct rec *r)
{
	struct rec_pose *o = &r->u.pose;
	json_t *valid = json_object_get(d->o, "valid");
	const char *reason;
	int64_t flags;
	int frame;
	bool has;

	if (get_word(d, "frame", rec_frame_names, &frame) != 0)
		return -1;
	o->frame = (enum rec_frame)frame;
	if (!json_is_boolean(valid))
		return get_refuse(d, "valid", "neither true nor false");
	o->valid = json_is_true(valid);
	if (get_pose(d, &o->pose, &has) != 0 || get_real(d, "grip", &o->grip, &o->has_grip) != 0 ||
		get_real(d, "ts", &o->ts, &o->has_ts) != 0)
		return -1;
	if (!has)
		return get_refuse(d, "p", "missing");
	o->has_flags = json_object_get(d->o, "flags") != NULL;
	if (o->has_flags) {
		if (get_int(d, "flags", 0, UINT32_MAX, &flags) != 0)
			return -1;
		o->flags = (uint32_t)flags;
	}
	if (get_list(d, "clamped", true, o->clamped, sizeof o->clamped, &has) != 0)
		return -1;
	reason = rec_pose_refusal(o);
	if (reason != NULL)
		(void)snprintf(d->why, d->why_n, "%s", reason);
	return reason == NULL ? 0 : -1;
}

static int read_joints(struct getter *d, struct rec *r)
{
	struct rec_joints *o = &r->u.joints;
	json_t *hand = json_object_get(d->o, "hand");

	if (get_reals(d, "j", REC_JOINT_MAX, o->j, &o->nj) != 0)
		return -1;
	if (o->nj == 0)
		return get_refuse(d, "j", "missing");
	if (json_is_number(hand)) {
		o->nhand = 1;
		o->hand[0] = json_number_value(hand);
	} else if (hand != NULL) {
		if (get_reals(d, "hand", 6, o->hand, &o->nhand) != 0)
			return -1;
		if (o->nhand != 6)
			return get_refuse(d, "hand", "neither a number nor six");
	}
	return get_real(d, "grip", &o->grip, &o->has_grip);
}

/* x with the digits of the writer, record_write.c. */
static double as_printed(double x)
{
	char text[32];

	(void)snprintf(text, sizeof text, "%.9g", x);
	return strtod(text, NULL);
}

/* Also with its digits on a line: what is read can be printed and read again. */
static bool is_rotation(struct quat q)
{
	return rec_quat_ok(q) && rec_quat_ok((struct quat){ as_printed(q.x), as_printed(q.y),
					 as_printed(q.z), as_printed(q.w) });
}

static int read_command(struct getter *d, struct rec *r)
{
	struct rec_command *o = &r->u.command;
	int set;
	bool has;

	if (get_word(d, "set", rec_set_names, &set) != 0 ||
		get_pose(d, &o->pose, &o->has_pose) != 0 ||
		get_real(d, "grip", &o->grip, &o->has_grip) != 0 ||
		get_reals(d, "j", REC_JOINT_MAX, o->j, &o->nj) != 0 ||
		get_int(d, "age_us", -REC_INT_MAX, REC_INT_MAX, &o->age_us) != 0 ||
		get_real(d, "lead_m", &o->lead_m, NULL) != 0 ||
		get_real(d, "lead_rad", &o->lead_rad, NULL) != 0 ||
		get_list(d, "clamped", true, o->clamped, sizeof o->clamped, &has) != 0)
		return -1;
	o->set = (enum rec_set)set;
	if (o->has_pose && !is_rotation(o->pose.q))
		return get_refuse(d, "q", "its norm is off 1 by more than 0.01");
	return 0;
}

static int read_jac(struct getter *d, struct rec_feedback *o)
{
	json_t *rows = json_object_get(d->o, "jac");

	if (rows == NULL)
		return 0;
	if (!json_is_array(rows) || json_array_size(rows) != 6)
		return get_refuse(d, "jac", "not six rows");
	for (size_t i = 0; i < 6; i++) {
		int n = get_reals_of(d, "jac", json_array_get(rows, i), REC_JOINT_MAX, o->jac[i]);
		if (n < 0)
			return -1;
		if (i > 0 && n != o->njac)
			return get_refuse(d, "jac", "rows differ in length");
		o->njac = n;
	}
	return 0;
}

/* gate, why and runs stand together in the feedback of a writer (gate:G26). */
static int read_gate(struct getter *d, struct rec_feedback *o)
{
	static const char *const gates[] = { "init", "hold", "run", "estop", "fault", NULL };
	bool has_why;
	int gate;

	if (get_text(d, "why", o->why, sizeof o->why, &has_why) != 0)
		return -1;
	o->has_gate = has_why || json_object_get(d->o, "gate") != NULL ||
		      json_object_get(d->o, "runs") != NULL;
	if (!o->has_gate)
		return 0;
	if (!has_why)
		return get_refuse(d, "why", "missing");
	if (get_word(d, "gate", gates, &gate) != 0)
		return -1;
	(void)snprintf(o->gate, sizeof o->gate, "%s", gates[gate]);
	return get_int(d, "runs", 0, REC_INT_MAX, &o->runs);
}

static int read_feedback(struct getter *d, struct rec *r)
{
	struct rec_feedback *o = &r->u.feedback;
	int kind, state;
	bool has_omega;
	int64_t mode;

	d->null_is_nan = true;
	if (get_word(d, "kind", rec_kind_names, &kind) != 0 ||
		get_word(d, "state", rec_state_names, &state) != 0 || read_gate(d, o) != 0 ||
		get_pose(d, &o->pose, &o->has_pose) != 0 ||
		get_vec3(d, "pdot", &o->pdot, &o->has_twist) != 0 ||
		get_vec3(d, "omega", &o->omega, &has_omega) != 0 ||
		get_reals(d, "j", REC_JOINT_MAX, o->j, &o->nj) != 0 ||
		get_reals(d, "jdot", REC_JOINT_MAX, o->jdot, &o->njdot) != 0 ||
		read_jac(d, o) != 0 || get_real(d, "grip", &o->grip, &o->has_grip) != 0 ||
		get_list(d, "faults", false, o->faults, sizeof o->faults, &o->has_faults) != 0)
		return -1;
	o->kind = (enum rec_kind)kind;
	o->state = (enum rec_state)state;
	if (o->has_twist != has_omega)
		return get_refuse(d, has_omega ? "pdot" : "omega", "missing");
	o->has_mode = json_object_get(d->o, "mode") != NULL;
	if (!o->has_mode)
		return 0;
	if (get_int(d, "mode", 0, INT32_MAX, &mode) != 0)
		return -1;
	o->mode = (int)mode;
	return 0;
}

/* A stop is never lost for its words: `why` may be absent, and a long one is cut. */
static int read_stop(struct getter *d, struct rec *r)
{
	struct rec_stop *o = &r->u.stop;
	json_t *why = json_object_get(d->o, "why");
	int level;

	if (get_word(d, "level", rec_level_names, &level) != 0)
		return -1;
	o->level = (enum rec_level)level;
	if (why == NULL)
		return 0;
	if (!json_is_string(why))
		return get_refuse(d, "why", "not a string");
	rec_copy_text(o->why, sizeof o->why, json_string_value(why));
	return 0;
}

static int read_event(struct getter *d, struct rec *r)
{
	struct rec_event *o = &r->u.event;
	bool has;

	if (get_text(d, "name", o->name, sizeof o->name, NULL) != 0 ||
		get_text(d, "value", o->value, sizeof o->value, &has) != 0)
		return -1;
	return get_int(d, "n", 0, REC_INT_MAX, &o->n);
}

static int read_beat(struct getter *d, struct rec *r)
{
	struct rec_beat *o = &r->u.beat;
	int level = REC_HOLD;

	if (get_int(d, "stops", 0, REC_INT_MAX, &o->stops) != 0)
		return -1;
	if ((o->stops > 0 || json_object_get(d->o, "level") != NULL) &&
		get_word(d, "level", rec_level_names, &level) != 0)
		return -1;
	o->level = (enum rec_level)level;
	return 0;
}

static int read_nothing(struct getter *d, struct rec *r)
{
	(void)d;
	(void)r;
	return 0;
}

/* By type: how its body is read and which keys that uses; the rest is extra. */
static const struct {
	int (*read)(struct getter *d, struct rec *r);
	const char *keys[16];
} bodies[] = {
	[REC_POSE] = { read_pose,
		{ "frame", "valid", "p", "q", "grip", "ts", "flags", "clamped" } },
	[REC_JOINTS] = { read_joints, { "j", "hand", "grip" } },
	[REC_COMMAND] = { read_command,
		{ "set", "p", "q", "grip", "j", "age_us", "lead_m", "lead_rad", "clamped" } },
	[REC_FEEDBACK] = { read_feedback,
		{ "kind", "state", "gate", "why", "runs", "p", "q", "pdot", "omega", "j", "jdot",
			"jac", "grip", "mode", "faults" } },
	[REC_STOP] = { read_stop, { "level", "why" } },
	[REC_EVENT] = { read_event, { "name", "value", "n" } },
	[REC_BEAT] = { read_beat, { "stops", "level" } },
	[REC_STATUS] = { read_nothing, { NULL } },
	[REC_OTHER] = { read_nothing, { NULL } },
};

static bool is_known_key(enum rec_type type, const char *key)
{
	static const char *const head[] = { "type", "v", "src", "seq", "t" };

	for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
		if (strcmp(key, head[i]) == 0)
			return true;
	for (size_t i = 0; i < 16 && bodies[type].keys[i] != NULL; i++)
		if (strcmp(key, bodies[type].keys[i]) == 0)
			return true;
	return false;
}

static int read_head(struct getter *d, struct rec *r)
{
	char name[sizeof r->type_name], src[REC_SRC_MAX];
	int64_t v, seq, t;
	int type = 0;

	if (get_text(d, "type", name, sizeof name, NULL) != 0 ||
		get_int(d, "v", 1, INT32_MAX, &v) != 0 ||
		get_text(d, "src", src, sizeof src, NULL) != 0 ||
		get_int(d, "seq", 0, REC_INT_MAX, &seq) != 0 ||
		get_int(d, "t", 0, REC_INT_MAX, &t) != 0)
		return -1;
	if (!rec_src_ok(src))
		return get_refuse(d, "src", "not letters, digits, . _ -");
	while (rec_type_names[type] != NULL && strcmp(name, rec_type_names[type]) != 0)
		type++;
	if (type != REC_OTHER && v != 1)
		return get_refuse(d, "v", "not 1");
	rec_init(r, (enum rec_type)type, src, seq, t);
	(void)snprintf(r->type_name, sizeof r->type_name, "%s", name);
	r->v = (int)v;
	return 0;
}

/* Past one JSON value of a line that jansson has accepted; stops before , : } ] or blank. */
static const char *past_value(const char *p)
{
	int depth = 0;

	for (;; p++) {
		if (*p == '"') {
			for (p++; *p != '"'; p++)
				p += *p == '\\';
			if (depth == 0)
				return p + 1;
		} else if (*p == '[' || *p == '{') {
			depth++;
		} else if (*p == ']' || *p == '}') {
			if (depth == 0)
				return p;
			if (--depth == 0)
				return p + 1;
		} else if (depth == 0 && strchr(",: \t\r", *p) != NULL) {
			return p;
		}
	}
}

static const char *past_blank(const char *p)
{
	return p + strspn(p, " \t\r");
}

/* Copies the text of the unknown members. The line is a valid object, so the i-th member of the
 * text is the i-th of the jansson object, which keeps the order and has no duplicates. */
static void keep_unknown(const char *line, json_t *o, struct rec *r)
{
	const char *p = strchr(line, '{') + 1, *key;
	json_t *value;

	json_object_foreach(o, key, value)
	{
		const char *k = past_blank(p);
		const char *k_end = past_value(k);
		const char *v = past_blank(past_blank(k_end) + 1);
		const char *v_end = past_value(v);

		if (!is_known_key(r->type, key)) {
			int n = snprintf(r->extra + r->extra_len, sizeof r->extra - r->extra_len,
				",%.*s:%.*s", (int)(k_end - k), k, (int)(v_end - v), v);
			r->extra_len += (size_t)n; /* never longer than the line itself */
		}
		p = past_blank(v_end) + 1;
	}
}

int rec_parse_json(const char *line, size_t n, struct rec *r, char *why, size_t why_n)
{
	struct getter d = { NULL, false, why, why_n };
	char text[REC_LINE_MAX];
	json_error_t err;

	if (n >= sizeof text)
		return get_refuse(&d, "line", "too long");
	if (memchr(line, '\n', n) != NULL || memchr(line, '\0', n) != NULL)
		return get_refuse(&d, "line", "holds a newline or NUL");
	memcpy(text, line, n);
	text[n] = '\0';
	d.o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &err);
	if (d.o == NULL) {
		char *near =
			strstr(err.text, " near '"); /* bytes of the line: not for a terminal */
		if (near != NULL)
			*near = '\0';
		(void)snprintf(why, why_n, "not JSON: %s at byte %d", err.text, err.position);
		return -1;
	}
	int rc = -1;
	if (!json_is_object(d.o))
		(void)get_refuse(&d, "line", "not an object");
	else if (read_head(&d, r) == 0 && bodies[r->type].read(&d, r) == 0)
		rc = 0;
	if (rc == 0)
		keep_unknown(text, d.o, r);
	json_decref(d.o);
	return rc;
}
