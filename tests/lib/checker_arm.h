/*
 * The checker's own idea of a Piper: candump text, frame layout, Euler angles, forward kinematics,
 * from piper.md 2-5 and 8.  Shares nothing with common/wire or common/geom.
 */
#ifndef LIB_CHECKER_ARM_H
#define LIB_CHECKER_ARM_H

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

struct frame {
	double t; /* s */
	unsigned id;
	int n;
	uint8_t d[8];
};

struct rot {
	double m[3][3];
};

/* Position m, rotation. */
struct place {
	double p[3];
	struct rot r;
};

/* "(1.000000) can0 151#0100..." ; false: not such a line. An extended, remote or error frame has
 * an id above 0x7ff. */
static inline bool frame_read(const char *line, struct frame *f)
{
	char name[32], text[64], *end;
	if (sscanf(line, " (%lf) %31s %63s", &f->t, name, text) != 3)
		return false;
	char *hash = strchr(text, '#');
	if (!hash || hash[1] == '#')
		return false;
	*hash = 0;
	f->id = (unsigned)strtoul(text, &end, 16);
	if (*end || end == text)
		return false;
	if (end - text > 3)
		f->id |= 0x80000000u;
	const char *h = hash + 1;
	for (f->n = 0; f->n < 8 && isxdigit((unsigned char)h[0]) && isxdigit((unsigned char)h[1]);
		f->n++, h += 2) {
		char two[3] = { h[0], h[1], 0 };
		f->d[f->n] = (uint8_t)strtoul(two, NULL, 16);
	}
	if (*h == 'R')
		f->id |= 0x80000000u;
	else if (*h)
		return false;
	memset(f->d + f->n, 0, (size_t)(8 - f->n));
	return true;
}

static inline int32_t frame_int(const struct frame *f, int at)
{
	return (int32_t)((uint32_t)f->d[at] << 24 | (uint32_t)f->d[at + 1] << 16 |
			 (uint32_t)f->d[at + 2] << 8 | f->d[at + 3]);
}

static inline struct rot rot_mul(struct rot a, struct rot b)
{
	struct rot o = { { { 0 } } };
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			for (int k = 0; k < 3; k++)
				o.m[i][j] += a.m[i][k] * b.m[k][j];
	return o;
}

/* About axis 0 x, 1 y, 2 z. */
static inline struct rot rot_axis(int axis, double a)
{
	int u = (axis + 1) % 3, v = (axis + 2) % 3;
	struct rot o = { { { 0 } } };
	o.m[axis][axis] = 1;
	o.m[u][u] = o.m[v][v] = cos(a);
	o.m[u][v] = -sin(a);
	o.m[v][u] = sin(a);
	return o;
}

static inline struct rot rot_quat(double x, double y, double z, double w)
{
	double s = 2 / (x * x + y * y + z * z + w * w);
	return (struct rot){ {
		{ 1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w) },
		{ s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w) },
		{ s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y) },
	} };
}

/* Rotation vector from a to b, in the base frame; away from half turns. */
static inline void rot_between(struct rot a, struct rot b, double out[3])
{
	struct rot t, d;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			t.m[i][j] = a.m[j][i];
	d = rot_mul(b, t);
	const double v[3] = { d.m[2][1] - d.m[1][2], d.m[0][2] - d.m[2][0], d.m[1][0] - d.m[0][1] };
	double s = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
	double ang = atan2(s, (d.m[0][0] + d.m[1][1] + d.m[2][2] - 1) / 2);
	for (int i = 0; i < 3; i++)
		out[i] = s > 1e-12 ? v[i] / 2 / s * ang : v[i] / 2;
	if (s <= 1e-12 && ang > 1)
		out[0] = PI; /* a half turn: its length is what matters */
}

static inline double len3(const double v[3])
{
	return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static inline double place_gap(const struct place *a, const struct place *b)
{
	double d[3] = { a->p[0] - b->p[0], a->p[1] - b->p[1], a->p[2] - b->p[2] };
	return len3(d);
}

static inline double place_turn(const struct place *a, const struct place *b)
{
	double v[3];
	rot_between(a->r, b->r, v);
	return len3(v);
}

/* um and 0.001 degrees of 0x152-0x154: R = Rz(RZ) Ry(RY) Rx(RX). */
static inline struct place place_raw(const int32_t raw[6])
{
	const double k = PI / 180000;
	struct place o;
	for (int i = 0; i < 3; i++)
		o.p[i] = raw[i] * 1e-6;
	o.r = rot_mul(
		rot_mul(rot_axis(2, raw[5] * k), rot_axis(1, raw[4] * k)), rot_axis(0, raw[3] * k));
	return o;
}

/* Flange by forward kinematics; joints in 0.001 degrees; modified DH of piper.md 8.1. */
static inline struct place place_joints(const int32_t raw[6], bool new_dh)
{
	const double alpha[6] = { 0, -90, 0, 90, -90, 90 };
	const double a[6] = { 0, 0, 0.28503, -0.02198, 0, 0 };
	const double d[6] = { 0.123, 0, 0, 0.25075, 0, 0.091 };
	const double off[6] = { 0, new_dh ? -172.22 : -174.22, new_dh ? -102.78 : -100.78, 0, 0,
		0 };
	struct place o = { { 0, 0, 0 }, { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } } };
	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < 3; k++)
			o.p[k] += o.r.m[k][0] * a[i];
		o.r = rot_mul(o.r, rot_axis(0, alpha[i] * PI / 180));
		for (int k = 0; k < 3; k++)
			o.p[k] += o.r.m[k][2] * d[i];
		o.r = rot_mul(o.r, rot_axis(2, (raw[i] / 1000.0 + off[i]) * PI / 180));
	}
	return o;
}

#endif
