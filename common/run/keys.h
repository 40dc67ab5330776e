/*
 * Keys of the terminal on standard input: at once and unseen. Ctrl-C stays; Ctrl-Z and Ctrl-\ are
 * off, since they would leave without an orderly end.
 */
#ifndef RUN_KEYS_H
#define RUN_KEYS_H

#include <stddef.h>

/* Standard input is a terminal and this process is in its foreground. */
int keys_possible(void);
/* 0; or an exit code for main with the reason in why. The end of the process restores the
 * terminal; keys_close does before. */
int keys_open(char *why, size_t n);
void keys_close(void);

#endif
