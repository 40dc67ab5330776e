/*
 * Which disk a folder is on, for people. Pure.
 */
#ifndef REC_CAT_MOUNT_H
#define REC_CAT_MOUNT_H

#include <stddef.h>

/* Looks for device major:minor in the text of /proc/self/mountinfo. Writes "/mnt (/dev/sda1)",
 * of the mount that hides the others, the last. 0; -1 none: out is not touched. */
int mount_name(const char *mountinfo, unsigned major, unsigned minor, char *out, size_t room);

#endif
