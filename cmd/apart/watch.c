/* See watch.h. */
#include "apart/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void watch_init(struct watch *w, const struct watch_conf *conf)
{
	*w = (struct watch){ .conf = *conf, .sent_us = INT64_MIN / 2 };
}

static struct vec3 tip_of(const struct watch *w, int i, struct pose flange)
{
	return pose_apply(pose_mul(w->conf.base[i], flange), w->conf.tool);
}

static void take_gate(struct watch *w, int i, const char *gate)
{
	struct watch_arm *a = &w->arm[i];
	bool is_run = strcmp(gate, "run") == 0, is_estop = strcmp(gate, "estop") == 0;
	bool is_fault = strcmp(gate, "fault") == 0;

	if (is_estop && a->has_gate && !a->is_estop) {
		w->owes_estop = true;
		w->edge = i;
	}
	if (is_fault && a->has_gate && !a->is_fault) {
		w->owes_hold = true;
		w->edge = i;
	}
	if (!is_run)
		a->has_cmd = false;
	a->has_gate = true;
	a->is_run = is_run;
	a->is_estop = is_estop;
	a->is_fault = is_fault;
}

static void take_command(struct watch *w, int i, const struct rec *r)
{
	const struct rec_command *c = &r->u.command;
	struct watch_arm *a = &w->arm[i];
	int64_t at = r->t_us + c->age_us;
	struct vec3 tip, from = a->cmd;
	int64_t dt = at - a->cmd_us;

	if (c->set != REC_SET_RUN) {
		a->has_cmd = a->is_run = false; /* a hold set is how RUN ends */
		return;
	}
	if (!c->has_pose)
		return;
	tip = tip_of(w, i, c->pose);
	if (!a->has_cmd || dt > WATCH_SPEED_US) {
		/* The first of a run starts from the measured pose, one tick ago or less. */
		from = a->has_pose ? a->tip : tip;
		dt = WATCH_SPEED_US / 3;
	}
	if (dt > 0)
		a->v = vec_scale(vec_sub(tip, from), 1e6 / (double)dt);
	a->has_cmd = true;
	a->cmd = tip;
	a->cmd_us = at;
}

void watch_record(struct watch *w, int i, const struct rec *r, int64_t now_us)
{
	struct watch_arm *a = &w->arm[i];

	if (r->type == REC_COMMAND) {
		take_command(w, i, r);
	} else if (r->type == REC_FEEDBACK && r->u.feedback.has_gate) {
		a->heard_us = now_us;
		take_gate(w, i, r->u.feedback.gate);
		if (r->u.feedback.kind == REC_KIND_CARTESIAN && r->u.feedback.has_pose) {
			a->tip = tip_of(w, i, r->u.feedback.pose);
			a->pose_us = r->t_us;
			a->has_pose = true;
		}
	}
}

static bool is_heard(const struct watch_arm *a, int64_t now)
{
	return a->has_gate && a->has_pose && now - a->heard_us <= WATCH_BLIND_US &&
	       now - a->pose_us <= WATCH_BLIND_US;
}

bool watch_sees(const struct watch *w, int64_t now_us)
{
	return is_heard(&w->arm[0], now_us) && is_heard(&w->arm[1], now_us);
}

/* Limits of the tip: the turning of the flange swings it too. */
static double tip_speed(const struct watch_conf *c)
{
	return c->speed_m + c->speed_rad * vec_norm(c->tool);
}

static double tip_accel(const struct watch_conf *c)
{
	return c->accel_m + (c->accel_rad + c->speed_rad * c->speed_rad) * vec_norm(c->tool);
}

/* Sets w->d_m and w->least_m (watch.h: d, D); returns M. */
static double look_ahead(struct watch *w, int64_t now)
{
	const struct watch_arm *a = w->arm;
	struct vec3 on[WATCH_ARMS], way[WATCH_ARMS], v[WATCH_ARMS], line;
	int64_t age = 0;
	double t, closing = 0, loss, most;
	int running = 0;

	for (int i = 0; i < WATCH_ARMS; i++) {
		bool is_moved = a[i].is_run && a[i].has_cmd;
		int64_t since = is_moved && a[i].cmd_us < a[i].pose_us ? a[i].cmd_us : a[i].pose_us;

		way[i] = is_moved ? a[i].cmd : a[i].tip;
		v[i] = is_moved ? a[i].v : (struct vec3){ 0, 0, 0 };
		running += a[i].is_run;
		if (now - since > age)
			age = now - since;
	}
	w->d_m = watch_segments(a[0].tip, way[0], a[1].tip, way[1], &on[0], &on[1]);
	line = vec_sub(on[1], on[0]);
	if (w->d_m > 0)
		closing = vec_dot(vec_sub(v[0], v[1]), vec_scale(line, 1 / w->d_m));
	t = 1e-6 * (double)(w->conf.react_us + age);
	loss = fmax(0, closing) * t + 0.5 * running * tip_accel(&w->conf) * t * t;
	most = running * tip_speed(&w->conf) * t;
	w->least_m = w->d_m - fmin(loss, most);
	return tip_accel(&w->conf) * t * t;
}

static bool is_too_near(struct watch *w, int64_t now)
{
	double room;

	if (!w->conf.has_min)
		return false;
	room = look_ahead(w, now);
	if (!w->arm[0].is_run && !w->arm[1].is_run) {
		w->has_far = false; /* what moves next is a new run */
		w->is_near = false;
		return false;
	}
	if (!w->has_far || w->d_m > w->far_m)
		w->far_m = w->d_m;
	w->has_far = true;
	return w->least_m < w->conf.min_m ||
	       (w->least_m < w->conf.min_m + room && w->d_m < w->far_m - WATCH_CLOSER_M);
}

static bool again(const struct watch *w, int64_t now)
{
	return now - w->sent_us >= WATCH_AGAIN_US;
}

static enum watch_order blind(struct watch *w, int64_t now, char *why, size_t n)
{
	int i = is_heard(&w->arm[0], now) ? 1 : 0;

	w->n.blind++;
	w->sent_us = now;
	(void)snprintf(why, n, "arm %d is not heard of", i + 1);
	return WATCH_HOLD;
}

enum watch_order watch_decide(struct watch *w, int64_t now_us, char *why, size_t n)
{
	if (w->owes_estop) {
		w->owes_estop = w->owes_hold = false;
		w->n.estops++;
		w->sent_us = now_us;
		(void)snprintf(why, n, "arm %d is in e-stop", w->edge + 1);
		return WATCH_ESTOP;
	}
	if (w->owes_hold) {
		w->owes_hold = false;
		w->n.faults++;
		w->sent_us = now_us;
		(void)snprintf(why, n, "arm %d is in fault", w->edge + 1);
		return WATCH_HOLD;
	}
	if (!watch_sees(w, now_us))
		return again(w, now_us) && (w->arm[0].is_run || w->arm[1].is_run)
			       ? blind(w, now_us, why, n)
			       : WATCH_GO;
	if (!is_too_near(w, now_us))
		return WATCH_GO;
	if (w->is_near && !again(w, now_us))
		return WATCH_GO;
	w->n.near += !w->is_near;
	w->is_near = true;
	w->sent_us = now_us;
	(void)snprintf(why, n, "tips %.0f mm apart, as near as %.0f mm soon", w->d_m * 1e3,
		fmax(0, w->least_m * 1e3));
	return WATCH_HOLD;
}
