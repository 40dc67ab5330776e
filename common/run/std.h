/*
 * Standard descriptors that are closed at the start (`<&-`, `>&-`, a bare supervisor).  The next
 * descriptor opened would take the number, and records or messages would go to a device.
 */
#ifndef RUN_STD_H
#define RUN_STD_H

/* Opens each missing one of 0, 1, 2 on /dev/null, before anything else is opened: 0 is at its end,
 * writing to 1 fails with EBADF (records must not vanish in silence), what 2 gets is lost.  Ends the
 * process with EXIT_RUNTIME when that is not possible. */
void std_fill(void);

#endif
