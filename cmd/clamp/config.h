/*
 * What the limits are: presets, and options in the units people measure in (mm, mm/s, degrees),
 * to the SI of clamp/limits.h.  A single limit overrides the preset wherever it stands.
 */
#ifndef CLAMP_CONFIG_H
#define CLAMP_CONFIG_H

#include <stddef.h>

#include "clamp/limits.h"

/* Texts as they were given, NULL: not given. "off" takes a preset's limit away. */
struct clamp_options {
	const char *preset;
	const char *axis[3];   /* LO,HI mm */
	const char *tool;      /* X,Y,Z m */
	const char *tilt;      /* DEG or DEG,X,Y,Z */
	const char *radius;    /* mm */
	const char *speed;     /* mm/s */
	const char *accel;     /* m/s2 */
	const char *aspeed;    /* deg/s */
	const char *aaccel;    /* rad/s2 */
	const char *grip_rate; /* 1/s */
};

/* 0; -1: reason in why (a bad value, no limit at all, or limits that no pose can meet). */
int clamp_config(const struct clamp_options *o, struct limits *l, char *why, size_t n);

#endif
