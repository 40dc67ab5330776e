/*
 * Readiness: one line "ready\n" to a descriptor, which is then closed, and READY=1 to the
 * socket of $NOTIFY_SOCKET (systemd's protocol, a leading @ is an abstract name).
 */
#ifndef RUN_READY_H
#define RUN_READY_H

/* fd -1: only the notify socket, if any. `detail` (or NULL) is printed instead of "ready", for
 * example the port that was bound. Failures are warned about and ignored. */
void ready_say(int fd, const char *detail);
/* Any sd_notify text, for example "STOPPING=1". */
void ready_notify(const char *text);

#endif
