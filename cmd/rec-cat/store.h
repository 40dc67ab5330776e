/*
 * The folder of a recording: one file per episode (episode.h has the names). A record is written
 * with one write when it comes, so a file is whole to its last record whatever kills the recorder;
 * a short write at the end of a disk is cut back. Nothing is ever removed or overwritten.
 */
#ifndef REC_CAT_STORE_H
#define REC_CAT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rec-cat/episode.h"

struct store {
	const char *dir; /* borrowed */
	int64_t floor_bytes;
	int dir_fd, fd; /* fd -1: no episode runs */
	long number;    /* of the next episode */
	char name[EPISODE_NAME_MAX];
	int64_t bytes, since_look;
	unsigned long records, started, kept, discarded;
};

/* All: 0; -1 with the reason in why, which names the folder or file, and the disk when it is full.
 * After -1 from a write or an end the episode's file keeps its .part. */
int store_open(struct store *s, const char *dir, int64_t floor_bytes, char *why, size_t n);
bool store_runs(const struct store *s);
int store_start(struct store *s, char *why, size_t n);
/* line ends with its newline. Looks at the free space each MiB. */
int store_write(struct store *s, const char *line, size_t len, char *why, size_t n);
/* Is there still room above the floor? */
int store_look(struct store *s, char *why, size_t n);
/* The file is on the disk, then gets its name: keep, or discard. */
int store_end(struct store *s, bool keep, char *why, size_t n);
/* The running episode, if any, keeps its .part. */
void store_close(struct store *s);

#endif
