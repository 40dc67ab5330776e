/*
 * piper-can-write: drives one AgileX Piper over CAN. Poses come in, CAN frames go out; the gate
 * (gate.h) decides whether the arm may move.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "lock.h"
#include "wire/can.h"
#include "writer.h"

int main(int argc, char **argv)
{
	static struct options o;
	static struct writer w;

	options_parse(argc, argv, &o);
	signal(SIGPIPE, SIG_IGN); /* a reader that left is no reason to leave the arm (gate:G21) */
	if (o.stop)
		return writer_stop_once(&o);
	if (!options_ideal(&o) && lock_bus(o.bus) < 0)
		die(errno == EADDRINUSE ? 18 : EXIT_RUNTIME, "%s: %s", o.bus,
			errno == EADDRINUSE ? "another piper-can-write drives this arm"
					    : strerror(errno));
	w.o = &o;
	return o.run.clock_input ? writer_replay(&w) : writer_live(&w);
}
