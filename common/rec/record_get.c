/* Typed values out of a JSON object; see record_get.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rec/record_get.h"
#include "rec/record_parts.h"

int get_refuse(struct getter *d, const char *key, const char *what)
{
	(void)snprintf(d->why, d->why_n, "%s: %s", key, what);
	return -1;
}

int get_text(struct getter *d, const char *key, char *out, size_t room, bool *has)
{
	json_t *v = json_object_get(d->o, key);

	if (has != NULL)
		*has = v != NULL;
	if (v == NULL)
		return has != NULL ? 0 : get_refuse(d, key, "missing");
	if (!json_is_string(v))
		return get_refuse(d, key, "not a string");
	if (json_string_length(v) >= room)
		return get_refuse(d, key, "too long");
	memcpy(out, json_string_value(v), json_string_length(v) + 1);
	return 0;
}

int get_int(struct getter *d, const char *key, int64_t lo, int64_t hi, int64_t *out)
{
	json_t *v = json_object_get(d->o, key);

	if (v == NULL)
		return get_refuse(d, key, "missing");
	if (!json_is_integer(v))
		return get_refuse(d, key, "not a whole number");
	*out = json_integer_value(v);
	return *out >= lo && *out <= hi ? 0 : get_refuse(d, key, "out of range");
}

int get_word(struct getter *d, const char *key, const char *const *names, int *out)
{
	json_t *v = json_object_get(d->o, key);

	if (v == NULL)
		return get_refuse(d, key, "missing");
	for (int i = 0; json_is_string(v) && names[i] != NULL; i++)
		if (strcmp(json_string_value(v), names[i]) == 0) {
			*out = i;
			return 0;
		}
	return get_refuse(d, key, "not one of its words");
}

static int get_real_of(struct getter *d, const char *key, const json_t *v, double *out)
{
	if (d->null_is_nan && json_is_null(v)) {
		*out = (double)NAN;
		return 0;
	}
	if (!json_is_number(v))
		return get_refuse(d, key, "not a number");
	*out = json_number_value(v);
	return 0;
}

int get_real(struct getter *d, const char *key, double *out, bool *has)
{
	json_t *v = json_object_get(d->o, key);

	if (has != NULL)
		*has = v != NULL;
	if (v == NULL)
		return has != NULL ? 0 : get_refuse(d, key, "missing");
	return get_real_of(d, key, v, out);
}

int get_reals_of(struct getter *d, const char *key, const json_t *v, int most, double *out)
{
	if (!json_is_array(v))
		return get_refuse(d, key, "not an array");
	if (json_array_size(v) == 0 || json_array_size(v) > (size_t)most)
		return get_refuse(d, key, "wrong number of values");
	for (size_t i = 0; i < json_array_size(v); i++)
		if (get_real_of(d, key, json_array_get(v, i), out + i) != 0)
			return -1;
	return (int)json_array_size(v);
}

int get_reals(struct getter *d, const char *key, int most, double *out, int *n)
{
	json_t *v = json_object_get(d->o, key);

	*n = v == NULL ? 0 : get_reals_of(d, key, v, most, out);
	return *n < 0 ? -1 : 0;
}

int get_vec3(struct getter *d, const char *key, struct vec3 *out, bool *has)
{
	double v[3];
	int n;

	if (get_reals(d, key, 3, v, &n) != 0)
		return -1;
	*has = n != 0;
	if (n == 0)
		return 0;
	if (n != 3)
		return get_refuse(d, key, "wrong number of values");
	*out = (struct vec3){ v[0], v[1], v[2] };
	return 0;
}

int get_pose(struct getter *d, struct pose *out, bool *has)
{
	double q[4];
	int n;

	if (get_vec3(d, "p", &out->p, has) != 0 || get_reals(d, "q", 4, q, &n) != 0)
		return -1;
	if (!*has && n == 0)
		return 0;
	if (!*has)
		return get_refuse(d, "p", "missing");
	if (n != 4)
		return get_refuse(d, "q", n == 0 ? "missing" : "wrong number of values");
	out->q = (struct quat){ q[0], q[1], q[2], q[3] };
	return 0;
}

int get_list(struct getter *d, const char *key, bool strict, char *out, size_t room, bool *has)
{
	json_t *v = json_object_get(d->o, key);
	size_t n = 0;

	*has = v != NULL;
	if (v == NULL)
		return 0;
	if (!json_is_array(v))
		return get_refuse(d, key, "not an array");
	for (size_t i = 0; i < json_array_size(v); i++) {
		json_t *s = json_array_get(v, i);
		if (!json_is_string(s))
			return get_refuse(d, key, "not strings");
		size_t len = json_string_length(s);
		if (strict ? !rec_name_ok(json_string_value(s), len)
			   : len == 0 || strchr(json_string_value(s), ',') != NULL)
			return get_refuse(d, key, "not names");
		if (n + (n > 0) + len >= room)
			return get_refuse(d, key, "too long");
		if (n > 0)
			out[n++] = ',';
		memcpy(out + n, json_string_value(s), len + 1);
		n += len;
	}
	return 0;
}
