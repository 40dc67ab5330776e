#include "clamp/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/opt.h"

#define RAD(deg) ((deg)*0.017453292519943295)
#define REACH_MM 100000.0

/* Speeds and accelerations of gate:Numbers. The documents' box of the xArm6 begins at Z 0, which
 * is the table: 50 mm here (rctp.md 4.3). */
static const struct preset {
	const char *name;
	double side, lo_z, hi_z, radius; /* mm */
} PRESET[] = {
	{ "piper", 400, 50, 700, 100 },
	{ "xarm6", 600, 50, 900, 100 },
};

static int load_preset(const char *name, struct limits *l, char *why, size_t n)
{
	for (size_t i = 0; i < sizeof(PRESET) / sizeof(PRESET[0]); i++) {
		const struct preset *p = &PRESET[i];
		if (strcmp(name, p->name) != 0)
			continue;
		for (int k = 0; k < 2; k++) {
			l->space.lo[k] = -p->side / 1000;
			l->space.hi[k] = p->side / 1000;
		}
		l->space.lo[2] = p->lo_z / 1000;
		l->space.hi[2] = p->hi_z / 1000;
		l->space.radius = p->radius / 1000;
		l->speed = 0.25;
		l->accel = 2.5;
		l->aspeed = RAD(90);
		l->aaccel = 15;
		l->grip_rate = 2;
		return 0;
	}
	snprintf(why, n, "--preset %s: piper or xarm6", name);
	return -1;
}

static int load_axis(const char *text, int i, struct space *s, char *why, size_t n)
{
	double v[2];

	if (!text)
		return 0;
	if (strcmp(text, "off") == 0) {
		s->lo[i] = -HUGE_VAL;
		s->hi[i] = HUGE_VAL;
		return 0;
	}
	if (!opt_numbers(text, 2, v) || !(v[0] <= v[1]) || fabs(v[0]) > REACH_MM ||
		fabs(v[1]) > REACH_MM) {
		snprintf(why, n, "--%c %s: two numbers LO,HI in mm, LO not above HI, or off",
			"xyz"[i], text);
		return -1;
	}
	s->lo[i] = v[0] / 1000;
	s->hi[i] = v[1] / 1000;
	return 0;
}

static int load_tool(const char *text, struct space *s, char *why, size_t n)
{
	double v[3];

	if (!text)
		return 0;
	if (!opt_numbers(text, 3, v) || !(hypot(hypot(v[0], v[1]), v[2]) <= 2)) {
		snprintf(why, n, "--tool %s: three numbers X,Y,Z in m, at most 2 m long", text);
		return -1;
	}
	s->has_tool = true;
	s->tool = (struct vec3){ v[0], v[1], v[2] };
	return 0;
}

static int load_tilt(const char *text, struct space *s, char *why, size_t n)
{
	double v[4] = { 0, 0, 0, -1 };

	if (!text || strcmp(text, "off") == 0)
		return 0;
	if (!opt_numbers(text, 1, v) && !opt_numbers(text, 4, v))
		v[0] = -1;
	double len = sqrt(v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
	if (!(v[0] >= 1 && v[0] <= 90) || !(len > 1e-9) || !(len < 1e9)) {
		snprintf(why, n, "--tilt %s: DEG or DEG,X,Y,Z, 1 to 90 degrees round a direction",
			text);
		return -1;
	}
	s->tilt = RAD(v[0]);
	s->tilt_axis = (struct vec3){ v[1] / len, v[2] / len, v[3] / len };
	return 0;
}

/* One rate or length: above 0 and at most hi, or off. */
static int load_value(const char *name, const char *text, double hi, double scale, double *out,
	char *why, size_t n)
{
	double v;

	if (!text)
		return 0;
	if (strcmp(text, "off") == 0) {
		*out = 0;
		return 0;
	}
	if (!opt_number(text, 0, hi, &v) || !(v > 0)) {
		snprintf(why, n, "--%s %s: a number above 0, at most %g, or off", name, text, hi);
		return -1;
	}
	*out = v * scale;
	return 0;
}

static int load_values(const struct clamp_options *o, struct limits *l, char *why, size_t n)
{
	const struct {
		const char *name, *text;
		double hi, scale;
		double *out;
	} v[] = {
		{ "radius", o->radius, REACH_MM, 0.001, &l->space.radius },
		{ "speed", o->speed, 1e4, 0.001, &l->speed },
		{ "accel", o->accel, 1e3, 1, &l->accel },
		{ "aspeed", o->aspeed, 3600, RAD(1), &l->aspeed },
		{ "aaccel", o->aaccel, 1e4, 1, &l->aaccel },
		{ "grip-rate", o->grip_rate, 1e3, 1, &l->grip_rate },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		if (load_value(v[i].name, v[i].text, v[i].hi, v[i].scale, v[i].out, why, n) != 0)
			return -1;
	return 0;
}

/* Some place is allowed to the flange; the tip depends on the orientation. */
static bool has_room(const struct space *s)
{
	struct space flange = *s;
	struct span a;
	struct vec3 out;
	unsigned bits = 0;

	flange.has_tool = false;
	return space_span(&flange, QUAT_IDENTITY, &a, &bits) &&
	       space_near(&a, (struct vec3){ 0, 0, 0 }, &out);
}

int clamp_config(const struct clamp_options *o, struct limits *l, char *why, size_t n)
{
	memset(l, 0, sizeof(*l));
	space_free(&l->space);
	if (o->preset && load_preset(o->preset, l, why, n) != 0)
		return -1;
	for (int i = 0; i < 3; i++)
		if (load_axis(o->axis[i], i, &l->space, why, n) != 0)
			return -1;
	if (load_tool(o->tool, &l->space, why, n) != 0 ||
		load_tilt(o->tilt, &l->space, why, n) != 0 || load_values(o, l, why, n) != 0)
		return -1;
	if (!limits_any(l)) {
		snprintf(why, n, "no limits given: --preset piper or xarm6, or single limits");
		return -1;
	}
	if (!has_room(&l->space)) {
		snprintf(why, n, "the box lies inside the keep-out radius: no pose is allowed");
		return -1;
	}
	return 0;
}
