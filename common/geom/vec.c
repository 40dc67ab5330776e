/* Three-vectors. */
#include "geom/vec.h"

#include <math.h>

struct vec3 vec_add(struct vec3 a, struct vec3 b)
{
	return (struct vec3){ a.x + b.x, a.y + b.y, a.z + b.z };
}

struct vec3 vec_sub(struct vec3 a, struct vec3 b)
{
	return (struct vec3){ a.x - b.x, a.y - b.y, a.z - b.z };
}

struct vec3 vec_scale(struct vec3 a, double k)
{
	return (struct vec3){ a.x * k, a.y * k, a.z * k };
}

double vec_dot(struct vec3 a, struct vec3 b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

struct vec3 vec_cross(struct vec3 a, struct vec3 b)
{
	return (struct vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

double vec_norm(struct vec3 a)
{
	return sqrt(vec_dot(a, a));
}

double vec_dist(struct vec3 a, struct vec3 b)
{
	return vec_norm(vec_sub(a, b));
}

int vec_finite(struct vec3 a)
{
	return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}
