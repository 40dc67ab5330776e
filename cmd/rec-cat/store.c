/* See store.h. */
#include "rec-cat/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "rec-cat/mount.h"

#define LOOK_BYTES (1 << 20) /* written between two looks at the free space */
#define MIB 1048576.0

/* Where the folder is, in words: of its disk when that can be found. */
static void disk_of(const struct store *s, char *out, size_t room)
{
	static char text[65536];
	struct stat st;
	size_t n = 0;
	long got;
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	(void)snprintf(out, room, "the one of %s", s->dir);
	while (fd >= 0 && n < sizeof text - 1 &&
		(got = read(fd, text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	if (fd >= 0)
		(void)close(fd);
	if (fstat(s->dir_fd, &st) == 0)
		(void)mount_name(text, major(st.st_dev), minor(st.st_dev), out, room);
}

static int fail(const struct store *s, const char *what, char *why, size_t n)
{
	int cause = errno;
	char disk[512];

	if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG) {
		disk_of(s, disk, sizeof disk);
		(void)snprintf(why, n, "%s/%s: %s: disk %s", s->dir, what, strerror(cause), disk);
	} else {
		(void)snprintf(why, n, "%s/%s: %s", s->dir, what, strerror(cause));
	}
	return -1;
}

static int find_number(struct store *s)
{
	int fd = dup(s->dir_fd);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (d == NULL) {
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	s->number = 1;
	while ((e = readdir(d)) != NULL) {
		long n = episode_number(e->d_name);
		if (n >= s->number)
			s->number = n + 1;
	}
	return closedir(d);
}

int store_open(struct store *s, const char *dir, int64_t floor_bytes, char *why, size_t n)
{
	*s = (struct store){ .dir = dir, .floor_bytes = floor_bytes, .dir_fd = -1, .fd = -1 };
	if (mkdir(dir, 0777) == 0 || errno == EEXIST)
		s->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0 || faccessat(s->dir_fd, ".", W_OK | X_OK, AT_EACCESS) != 0 ||
		find_number(s) != 0) {
		(void)snprintf(why, n, "%s: %s", dir, strerror(errno));
		return -1;
	}
	return store_look(s, why, n);
}

bool store_runs(const struct store *s)
{
	return s->fd >= 0;
}

int store_look(struct store *s, char *why, size_t n)
{
	struct statvfs v;
	char disk[512];

	s->since_look = 0;
	if (s->floor_bytes == 0)
		return 0;
	if (fstatvfs(s->dir_fd, &v) != 0)
		return fail(s, ".", why, n);
	double left = (double)v.f_bavail * (double)v.f_frsize;
	if (left >= (double)s->floor_bytes)
		return 0;
	disk_of(s, disk, sizeof disk);
	(void)snprintf(why, n, "disk %s: %.0f MiB free, less than the %.0f MiB to be left", disk,
		left / MIB, (double)s->floor_bytes / MIB);
	return -1;
}

static void part_name(const struct store *s, char out[EPISODE_NAME_MAX + 16])
{
	(void)snprintf(out, EPISODE_NAME_MAX + 16, "%s%s", s->name, EPISODE_PART);
}

int store_start(struct store *s, char *why, size_t n)
{
	char part[EPISODE_NAME_MAX + 16];

	if (store_look(s, why, n) != 0)
		return -1;
	do {
		episode_name(s->name, sizeof s->name, time(NULL), s->number++);
		part_name(s, part);
		s->fd = openat(s->dir_fd, part,
			O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
	} while (s->fd < 0 && errno == EEXIST);
	if (s->fd < 0)
		return fail(s, part, why, n);
	s->bytes = 0;
	s->records = 0;
	s->started++;
	return 0;
}

int store_write(struct store *s, const char *line, size_t len, char *why, size_t n)
{
	char part[EPISODE_NAME_MAX + 16];
	size_t done = 0;

	while (done < len) {
		ssize_t got = write(s->fd, line + done, len - done);
		if (got > 0) {
			done += (size_t)got;
			continue;
		}
		if (got < 0 && errno == EINTR)
			continue;
		part_name(s, part);
		int rc = fail(s, part, why, n);
		/* No room for a whole record: none of it. A reader skips what is behind the last
		 * newline all the same. */
		if (done > 0)
			(void)!ftruncate(s->fd, s->bytes);
		return rc;
	}
	s->bytes += (int64_t)len;
	s->records++;
	s->since_look += (int64_t)len;
	return s->since_look < LOOK_BYTES ? 0 : store_look(s, why, n);
}

/* Never onto a file that is there. */
static int rename_new(const struct store *s, const char *from, const char *to)
{
	if (renameat2(s->dir_fd, from, s->dir_fd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS) /* a file system that cannot do it at once */
		return -1;
	if (faccessat(s->dir_fd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(s->dir_fd, from, s->dir_fd, to);
}

int store_end(struct store *s, bool keep, char *why, size_t n)
{
	char part[EPISODE_NAME_MAX + 16], to[EPISODE_NAME_MAX + 16];
	int rc = fdatasync(s->fd);

	if (close(s->fd) != 0 && errno != EINTR)
		rc = -1;
	s->fd = -1;
	part_name(s, part);
	(void)snprintf(to, sizeof to, "%s%s", s->name, keep ? "" : EPISODE_DISCARDED);
	if (rc != 0 || rename_new(s, part, to) != 0 || fsync(s->dir_fd) != 0)
		return fail(s, part, why, n);
	if (keep)
		s->kept++;
	else
		s->discarded++;
	return 0;
}

void store_close(struct store *s)
{
	if (s->fd >= 0)
		(void)close(s->fd); /* every record went to the file when it came */
	if (s->dir_fd >= 0)
		(void)close(s->dir_fd);
	s->fd = s->dir_fd = -1;
}
