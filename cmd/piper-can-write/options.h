/* Command line of piper-can-write. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "gate.h"
#include "run/opt.h"
#include "sets.h"
#include "startup.h"

struct options {
	struct run_opts run;
	const char *bus;
	const char *name; /* src of the records it writes */
	bool stop;        /* --stop: one hold set, then end */
	bool on_arrival;  /* --pace arrival */
	double rate_hz;
	struct gate_cfg gate;
	struct set_cfg set;
	struct startup_cfg startup;
	double home[CHAIN_JOINTS]; /* of an ideal arm, rad */
};

/* Ends the process on wrong usage (2), --help and --version (0). */
void options_parse(int argc, char **argv, struct options *o);

/* BUS is an ideal arm (gate:G30). */
bool options_ideal(const struct options *o);

#endif
