#include "rctp-send/motion.h"

#include <math.h>
#include <string.h>

#define RAMP_S 1.0      /* from rest to the full motion, and back */
#define TREMOR_M 0.0005 /* amplitude per axis */
#define TREMOR_RAD 0.002
#define CLOSE_AT 0.20 /* of the period: the gripper begins to close, then to open */
#define OPEN_AT 0.70
#define GRIP_FOR 0.10

static const struct vec3 place = { 0.1, 1.1, -0.4 }; /* elbow bent, before the right shoulder */

static const double tau = 6.283185307179586;

bool motion_named(const char *name, enum motion_kind *out)
{
	static const char *const names[] = { "idle", "reach", "circle", "grasp" };

	for (int i = 0; i < 4; i++)
		if (strcmp(name, names[i]) == 0) {
			*out = (enum motion_kind)i;
			return true;
		}
	return false;
}

/* 0..1 with no speed and no acceleration at both ends. */
static double smooth(double x)
{
	x = fmin(fmax(x, 0), 1);
	return x * x * x * (10 + x * (-15 + 6 * x));
}

static double strength(const struct motion *m, double t_s)
{
	double ramp_s = m->total_s > 0 ? fmin(RAMP_S, m->total_s / 3) : RAMP_S;
	double s = smooth(t_s / ramp_s);
	return m->total_s > 0 ? s * smooth((m->total_s - t_s) / ramp_s) : s;
}

/* Displacement m, rotation vector rad, closedness 0..1 of the full motion. */
static void full(const struct motion *m, double t_s, struct vec3 *d, struct vec3 *w, double *closed)
{
	double turn = t_s / m->period_s, a = tau * turn, phase = turn - floor(turn);
	double out = 0.5 * (1 - cos(a)), down = 0.5 * (1 - cos(2 * a));

	*d = *w = (struct vec3){ 0, 0, 0 };
	*closed = 0;
	switch (m->kind) {
	case MOTION_IDLE: break;
	case MOTION_REACH:
		*d = (struct vec3){ 0, 0.2 * m->size_m * out, -m->size_m * out };
		*w = (struct vec3){ -0.15 * out, 0, 0 };
		*closed = out;
		break;
	case MOTION_CIRCLE:
		*d = (struct vec3){ 0.5 * m->size_m * sin(a), m->size_m * out, 0 };
		*w = (struct vec3){ 0, 0, -0.2 * sin(a) };
		break;
	case MOTION_GRASP:
		*d = (struct vec3){ 0, -m->size_m * down, 0 };
		*w = (struct vec3){ -0.3 * down, 0, 0 };
		*closed = smooth((phase - CLOSE_AT) / GRIP_FOR) -
			  smooth((phase - OPEN_AT) / GRIP_FOR);
		break;
	}
	d->x += TREMOR_M * sin(tau * 1.1 * t_s);
	d->y += TREMOR_M * sin(tau * 0.7 * t_s);
	d->z += TREMOR_M * sin(tau * 0.9 * t_s);
	w->y += TREMOR_RAD * sin(tau * 0.8 * t_s);
}

void motion_at(const struct motion *m, double t_s, struct pose *pose, double *grip)
{
	double s = strength(m, t_s), closed;
	struct vec3 d, w;

	full(m, t_s, &d, &w, &closed);
	pose->p = vec_add(place, vec_scale(d, s));
	pose->q = quat_exp(vec_scale(w, s));
	*grip = 1 - s * closed;
	if (m->unity) {
		pose->p.z = -pose->p.z;
		pose->q.x = -pose->q.x;
		pose->q.y = -pose->q.y;
	}
}
