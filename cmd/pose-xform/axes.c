/* See axes.h. */
#include "pose-xform/axes.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *axes;
} presets[] = {
	{ "openxr", "-z,-x,y" },
	{ "unity", "z,-x,y" },
};

static int determinant(const struct axes *a)
{
	int cyclic = a->from[1] == (a->from[0] + 1) % 3 ? 1 : -1;

	return cyclic * a->sign[0] * a->sign[1] * a->sign[2];
}

/* One sign and letter; returns what follows, or NULL. */
static const char *take_axis(const char *s, int *from, int *sign)
{
	*sign = *s == '-' ? -1 : 1;
	if (*s == '-' || *s == '+')
		s++;
	if (*s < 'x' || *s > 'z')
		return NULL;
	*from = *s - 'x';
	return s + 1;
}

int axes_parse(const char *text, struct axes *out, char *why, size_t n)
{
	const char *s = text;
	struct axes a;
	int seen = 0;

	for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
		if (strcmp(text, presets[i].name) == 0)
			s = presets[i].axes;
	for (int i = 0; i < 3; i++) {
		s = take_axis(s, &a.from[i], &a.sign[i]);
		if (!s || *s != (i < 2 ? ',' : '\0')) {
			(void)snprintf(why, n,
				"'%.64s' is not openxr, unity or three signed axes as in "
				"\"-z,-x,y\"",
				text);
			return -1;
		}
		s++;
		if (seen & 1 << a.from[i]) {
			(void)snprintf(why, n,
				"'%.64s' has %c twice: each of x, y, z has to occur once", text,
				'x' + a.from[i]);
			return -1;
		}
		seen |= 1 << a.from[i];
	}
	a.det = determinant(&a);
	*out = a;
	return 0;
}

static struct vec3 permute(const struct axes *a, struct vec3 v)
{
	const double in[3] = { v.x, v.y, v.z };

	return (struct vec3){ a->sign[0] * in[a->from[0]], a->sign[1] * in[a->from[1]],
		a->sign[2] * in[a->from[2]] };
}

struct pose axes_map(const struct axes *a, struct pose in)
{
	struct vec3 v = permute(a, (struct vec3){ in.q.x, in.q.y, in.q.z });

	return (struct pose){ permute(a, in.p),
		{ a->det * v.x, a->det * v.y, a->det * v.z, in.q.w } };
}
