/* See config.h. */
#include "pose-xform/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geom/chain.h"

#define DEG (M_PI / 180)

static const double ready_deg[CHAIN_JOINTS] = { 0, 86, -45, 0, 24, 0 }; /* piper.md 8.4 */

/* The values the document prints for the Unity inspector (rctp.md 4.3). */
static const struct {
	const char *name;
	double scale, offset[3], rot_deg[3];
} presets[] = {
	{ "svrc-piper", 0.75, { 0, 0, 0.3 }, { 0, 90, 0 } },
};

static int take(struct given *g, const char *text, int count, double bound, const char *unit,
	char *why, size_t n)
{
	double v[6];
	bool is_good = opt_numbers(text, count, v);

	for (int i = 0; is_good && i < count; i++)
		is_good = fabs(v[i]) <= bound;
	if (!is_good) {
		(void)snprintf(why, n, "'%.64s' is not %d numbers (%s, within +-%g) with commas",
			text, count, unit, bound);
		return -1;
	}
	memcpy(g->v, v, (size_t)count * sizeof v[0]);
	g->is_given = true;
	return 0;
}

int config_take_scale(void *dst, const char *text, char *why, size_t n)
{
	struct given *g = dst;

	if (!opt_number(text, 0, 100, &g->v[0])) {
		(void)snprintf(why, n, "'%.64s' is not a number from 0 to 100", text);
		return -1;
	}
	g->is_given = true;
	return 0;
}

int config_take_metres(void *dst, const char *text, char *why, size_t n)
{
	return take(dst, text, 3, 10, "metres", why, n);
}

int config_take_angles(void *dst, const char *text, char *why, size_t n)
{
	return take(dst, text, 3, 360, "degrees", why, n);
}

int config_take_joints(void *dst, const char *text, char *why, size_t n)
{
	struct given *g = dst;

	if (take(g, text, CHAIN_JOINTS, 360, "degrees", why, n) < 0)
		return -1;
	for (int i = 0; i < CHAIN_JOINTS; i++) {
		double lo = PIPER_DH_NEW.j[i].lo / DEG, hi = PIPER_DH_NEW.j[i].hi / DEG;

		if (g->v[i] < lo - 1e-9 || g->v[i] > hi + 1e-9) {
			(void)snprintf(why, n, "J%d = %g is outside %g..%g degrees", i + 1, g->v[i],
				lo, hi);
			return -1;
		}
	}
	return 0;
}

static int apply_preset(const char *name, struct xform_config *out, char *why, size_t n)
{
	for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
		const double *o = presets[i].offset, *r = presets[i].rot_deg;

		if (strcmp(name, presets[i].name) != 0)
			continue;
		out->scale = presets[i].scale;
		out->offset = (struct vec3){ o[0], o[1], o[2] };
		out->rot_offset = (struct rpy){ r[0], r[1], r[2] };
		return 0;
	}
	(void)snprintf(why, n, "--preset: '%.64s' is not svrc-piper", name);
	return -1;
}

static int check_mode(const struct config *c, char *why, size_t n)
{
	const char *fault = NULL;

	if (c->arm && !c->relative)
		fault = "--arm has no effect without --relative";
	else if (c->home.is_given && !c->relative)
		fault = "--home has no effect without --relative";
	else if (c->arm && c->run.clock_input)
		fault = "--arm cannot be used with --clock input: feedback depends on real time";
	else if (c->arm && strcmp(c->arm, "-") == 0 && strcmp(c->run.in, "-") == 0)
		fault = "--arm and --input both read standard input";
	if (fault)
		(void)snprintf(why, n, "%s", fault);
	return fault ? -1 : 0;
}

int config_build(const struct config *c, struct xform_config *out, char *why, size_t n)
{
	const double *home = c->home.is_given ? c->home.v : ready_deg;
	char reason[160];
	double q[CHAIN_JOINTS];

	*out = (struct xform_config){ .yaw_deg = c->yaw_deg,
		.scale = 1,
		.relative = c->relative,
		.with_arm = c->arm != NULL };
	if (axes_parse(c->axes, &out->axes, reason, sizeof reason) < 0) {
		(void)snprintf(why, n, "--axes: %s", reason);
		return -1;
	}
	if (check_mode(c, why, n) < 0 || (c->preset && apply_preset(c->preset, out, why, n) < 0))
		return -1;
	if (c->scale.is_given)
		out->scale = c->scale.v[0];
	if (c->offset.is_given)
		out->offset = (struct vec3){ c->offset.v[0], c->offset.v[1], c->offset.v[2] };
	if (c->rot_offset.is_given)
		out->rot_offset =
			(struct rpy){ c->rot_offset.v[0], c->rot_offset.v[1], c->rot_offset.v[2] };
	if (c->tool.is_given)
		out->tool = (struct vec3){ c->tool.v[0], c->tool.v[1], c->tool.v[2] };
	for (int i = 0; i < CHAIN_JOINTS; i++)
		q[i] = home[i] * DEG;
	out->home = chain_fk(&PIPER_DH_NEW, q);
	return 0;
}
