/* Rows of an .ndjson fixture. Run from the top of the tree, or with TELEOP_FIXTURES set. */
#ifndef GEOM_FIXTURE_H
#define GEOM_FIXTURE_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *fixture_open(const char *name)
{
	const char *dir = getenv("TELEOP_FIXTURES");
	char path[512];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s", dir ? dir : "tests/fixtures", name);
	f = fopen(path, "r");
	if (!f) {
		printf("Bail out! %s: cannot be opened\n", path);
		exit(1);
	}
	return f;
}

/* The next row, owned by the caller; NULL at the end. */
static json_t *fixture_row(FILE *f)
{
	static char line[65536];
	json_error_t e;
	json_t *j;

	if (!fgets(line, sizeof line, f))
		return NULL;
	j = json_loads(line, 0, &e);
	if (!j) {
		printf("Bail out! fixture: %s\n", e.text);
		exit(1);
	}
	return j;
}

static void numbers(const json_t *j, int n, double *out)
{
	if (json_array_size(j) != (size_t)n) {
		printf("Bail out! fixture: %d numbers expected\n", n);
		exit(1);
	}
	for (int i = 0; i < n; i++)
		out[i] = json_number_value(json_array_get(j, (size_t)i));
}

#endif
