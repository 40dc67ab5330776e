/*
 * --help and --version of every tool, from its table.
 */
#ifndef RUN_OPT_HELP_H
#define RUN_OPT_HELP_H

#include "run/opt.h"

/* To stdout, wrapped at 78 columns: usage, the sentence, options in GNU layout, the page. Ends
 * the process with 1 when stdout cannot take it. */
void opt_help(const struct opt_tool *tool);
/* "clamp 0.1.0", then the version of the record schema (teleop-record(5)). */
void opt_version(const struct opt_tool *tool);

#endif
