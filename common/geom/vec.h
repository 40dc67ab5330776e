/* Three-vectors, double, values. Units are the caller's. */
#ifndef GEOM_VEC_H
#define GEOM_VEC_H

struct vec3 {
	double x, y, z;
};

struct vec3 vec_add(struct vec3 a, struct vec3 b);
struct vec3 vec_sub(struct vec3 a, struct vec3 b);
struct vec3 vec_scale(struct vec3 a, double k);
double vec_dot(struct vec3 a, struct vec3 b);
struct vec3 vec_cross(struct vec3 a, struct vec3 b);
double vec_norm(struct vec3 a);
double vec_dist(struct vec3 a, struct vec3 b);
/* All three finite. */
int vec_finite(struct vec3 a);

#endif
