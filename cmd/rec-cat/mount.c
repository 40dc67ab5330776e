/* See mount.h. */
#include "rec-cat/mount.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_octal(const char *s)
{
	return s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
	       s[3] >= '0' && s[3] <= '7';
}

/* Copies a field of mountinfo up to a blank; \ooo stands for a byte there. */
static void copy_field(const char *from, char *out, size_t room)
{
	size_t n = 0;

	while (*from != '\0' && *from != ' ' && *from != '\n' && n + 1 < room) {
		if (is_octal(from)) {
			out[n++] =
				(char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
			from += 4;
		} else {
			out[n++] = *from++;
		}
	}
	out[n] = '\0';
}

/* Behind the next n blanks of the line, NULL: it has fewer. */
static const char *field(const char *line, int n)
{
	for (; n > 0; n--) {
		while (*line != ' ' && *line != '\n' && *line != '\0')
			line++;
		if (*line != ' ')
			return NULL;
		line++;
	}
	return line;
}

int mount_name(const char *mountinfo, unsigned major, unsigned minor, char *out, size_t room)
{
	char want[40];
	int rc = -1;

	(void)snprintf(want, sizeof want, "%u:%u ", major, minor);
	for (const char *line = mountinfo; line != NULL && *line != '\0';) {
		const char *next = strchr(line, '\n');
		const char *point = field(line, 4), *dash = strstr(line, " - ");
		const char *device = field(line, 2);
		if (point != NULL && dash != NULL && (next == NULL || dash < next) &&
			strncmp(device, want, strlen(want)) == 0) {
			const char *source = field(dash + 1, 2);
			char where[200], from[200];
			copy_field(point, where, sizeof where);
			copy_field(source == NULL ? "?" : source, from, sizeof from);
			(void)snprintf(out, room, "%s (%s)", where, from);
			rc = 0;
		}
		line = next == NULL ? NULL : next + 1;
	}
	return rc;
}
