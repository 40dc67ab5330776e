/*
 * One writer a bus (piper:R3): an abstract socket that dies with its process.
 */
#ifndef LOCK_H
#define LOCK_H

/* 0 (held until the process ends); -1: somebody else holds it, or errno. */
int lock_bus(const char *bus);

#endif
