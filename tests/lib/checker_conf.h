/* Configuration of a judged run: options with the defaults of GATE.md and the clamp preset. */
#ifndef LIB_CHECKER_CONF_H
#define LIB_CHECKER_CONF_H

#include <errno.h>

struct conf {
	bool ideal, joints, new_dh, gripper, damp, ready;
	double box[6]; /* m */
	double radius, tool[3], tilt, tilt_axis[3];
	bool has_tool;
	double speed, accel, aspeed, aaccel;
	double lead, alead, jlead;
	double rate, max_age_ms, grip_um, jitter; /* Hz, ms, um, s (< 0: by mode) */
	const char *records;
};

/* Exactly n numbers with commas between. */
static inline bool conf_numbers(const char *s, int n, double *out)
{
	for (int i = 0; i < n; i++) {
		char *end;
		out[i] = strtod(s, &end);
		if (end == s || !isfinite(out[i]) || *end != (i + 1 < n ? ',' : 0))
			return false;
		s = end + 1;
	}
	return true;
}

enum {
	O_MODE = 256,
	O_RECORDS,
	O_BOX,
	O_RADIUS,
	O_TOOL,
	O_TILT,
	O_SPEED,
	O_ACCEL,
	O_ASPEED,
	O_AACCEL,
	O_LEAD,
	O_ALEAD,
	O_JLEAD,
	O_RATE,
	O_MAX_AGE,
	O_GRIP,
	O_NO_GRIPPER,
	O_DAMP,
	O_READY,
	O_VIA,
	O_DH,
	O_JITTER
};

static inline bool conf_word(struct conf *c, int o, const char *v)
{
	switch (o) {
	case O_MODE: c->ideal = strcmp(v, "ideal") == 0; return c->ideal || strcmp(v, "sim") == 0;
	case O_VIA:
		c->joints = strcmp(v, "joints") == 0;
		return c->joints || strcmp(v, "pose") == 0;
	case O_DH: c->new_dh = strcmp(v, "new") == 0; return c->new_dh || strcmp(v, "old") == 0;
	case O_RECORDS: c->records = v; return true;
	case O_NO_GRIPPER: c->gripper = false; return true;
	case O_DAMP: c->damp = true; return true;
	case O_READY: c->ready = true; return true;
	default: return false;
	}
}

static inline bool conf_list(struct conf *c, int o, const char *v)
{
	double t[4] = { 0, 0, 0, -1 };

	if (o == O_BOX) {
		bool good = conf_numbers(v, 6, c->box);
		for (int i = 0; i < 6; i++)
			c->box[i] /= 1000;
		return good;
	}
	if (o == O_TOOL)
		return c->has_tool = conf_numbers(v, 3, c->tool);
	if (!conf_numbers(v, 1, t) && !conf_numbers(v, 4, t))
		return false;
	double n = len3(t + 1);
	c->tilt = t[0] * PI / 180;
	for (int i = 0; i < 3; i++)
		c->tilt_axis[i] = t[i + 1] / n;
	return n > 0;
}

static inline bool conf_number(struct conf *c, int o, const char *v)
{
	const struct {
		int o;
		double *to, scale;
	} n[] = { { O_RADIUS, &c->radius, 1e-3 }, { O_SPEED, &c->speed, 1e-3 },
		{ O_ACCEL, &c->accel, 1 }, { O_ASPEED, &c->aspeed, PI / 180 },
		{ O_AACCEL, &c->aaccel, 1 }, { O_LEAD, &c->lead, 1e-3 },
		{ O_ALEAD, &c->alead, PI / 180 }, { O_JLEAD, &c->jlead, 1 },
		{ O_RATE, &c->rate, 1 }, { O_MAX_AGE, &c->max_age_ms, 1 },
		{ O_GRIP, &c->grip_um, 1 }, { O_JITTER, &c->jitter, 1e-3 } };
	double x;

	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		if (n[i].o != o || !conf_numbers(v, 1, &x) || x < 0)
			continue;
		*n[i].to = x * n[i].scale;
		return true;
	}
	return false;
}

static inline int conf_parse(struct conf *c, int argc, char **argv)
{
	static const struct option table[] = { { "mode", 1, 0, O_MODE },
		{ "records", 1, 0, O_RECORDS }, { "box", 1, 0, O_BOX },
		{ "radius", 1, 0, O_RADIUS }, { "tool", 1, 0, O_TOOL }, { "tilt", 1, 0, O_TILT },
		{ "speed", 1, 0, O_SPEED }, { "accel", 1, 0, O_ACCEL },
		{ "aspeed", 1, 0, O_ASPEED }, { "aaccel", 1, 0, O_AACCEL },
		{ "lead", 1, 0, O_LEAD }, { "alead", 1, 0, O_ALEAD }, { "jlead", 1, 0, O_JLEAD },
		{ "rate", 1, 0, O_RATE }, { "max-age", 1, 0, O_MAX_AGE },
		{ "grip-um", 1, 0, O_GRIP }, { "no-gripper", 0, 0, O_NO_GRIPPER },
		{ "damp", 0, 0, O_DAMP }, { "ready", 0, 0, O_READY }, { "via", 1, 0, O_VIA },
		{ "dh", 1, 0, O_DH }, { "jitter", 1, 0, O_JITTER }, { 0, 0, 0, 0 } };
	int o;

	*c = (struct conf){ .new_dh = true,
		.gripper = true,
		.box = { -0.4, 0.4, -0.4, 0.4, 0.05, 0.7 },
		.radius = 0.1,
		.tilt = -1,
		.speed = 0.25,
		.accel = 2.5,
		.aspeed = PI / 2,
		.aaccel = 15,
		.lead = 0.0375,
		.alead = 13.5 * PI / 180,
		.jlead = 0.12,
		.rate = 30,
		.max_age_ms = 100,
		.grip_um = 70000,
		.jitter = -1 };
	while ((o = getopt_long(argc, argv, "", table, NULL)) != -1) {
		bool good = o != '?' &&
			    (o == O_BOX || o == O_TOOL || o == O_TILT
					    ? conf_list(c, o, optarg)
					    : conf_word(c, o, optarg) ||
						      (optarg && conf_number(c, o, optarg)));
		if (good)
			continue;
		if (o != '?')
			fprintf(stderr, "checker: bad value %s\n", optarg ? optarg : "");
		return -1;
	}
	if (optind + 1 != argc) {
		fprintf(stderr,
			"usage: checker [--mode ideal|sim] [--records FILE] [options] LOG\n");
		return -1;
	}
	return 0;
}

#endif
