/*
 * Typed values out of a JSON object, with the reason when one is refused. Only record_json.c
 * includes this.
 *
 * Each returns 0, or -1 refused with "key: reason" in why. `has` (where it may be NULL, NULL says
 * that the key must be there) tells whether the key was there; an absent one leaves out as it is.
 */
#ifndef REC_RECORD_GET_H
#define REC_RECORD_GET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "geom/pose.h"

struct getter {
	json_t *o;
	bool null_is_nan; /* feedback only: a float that was not finite travels as null */
	char *why;
	size_t why_n;
};

int get_refuse(struct getter *d, const char *key, const char *what); /* always -1 */
int get_text(struct getter *d, const char *key, char *out, size_t room, bool *has);
int get_int(struct getter *d, const char *key, int64_t lo, int64_t hi, int64_t *out);
int get_word(struct getter *d, const char *key, const char *const *names, int *out); /* index */
int get_real(struct getter *d, const char *key, double *out, bool *has);
/* 1..most numbers of an array; the count, or -1. */
int get_reals_of(struct getter *d, const char *key, const json_t *v, int most, double *out);
/* The same by key; *n 0: absent. */
int get_reals(struct getter *d, const char *key, int most, double *out, int *n);
int get_vec3(struct getter *d, const char *key, struct vec3 *out, bool *has);
/* p and q: both or neither. */
int get_pose(struct getter *d, struct pose *out, bool *has);
/* An array of strings, joined by commas. Strict: names of a clamped list; else any text. */
int get_list(struct getter *d, const char *key, bool strict, char *out, size_t room, bool *has);

#endif
