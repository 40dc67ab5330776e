/*
 * Inputs to outputs, and into the folder of a recording.
 */
#ifndef REC_CAT_FLOW_H
#define REC_CAT_FLOW_H

#include "rec-cat/options.h"

/* Runs to the end of every input, an order to quit, or a signal; returns the exit code for main,
 * or ends by that signal. An episode that runs then is kept. */
int flow_run(struct cat_opts *o);

#endif
