/*
 * piper-can-write: drives one AgileX Piper over CAN. Poses come in, CAN frames go out; the gate
 * (gate.h) decides whether the arm may move.
 */
#include <errno.h>
#include <string.h>

#include "lock.h"
#include "wire/can.h"
#include "writer.h"

static bool is_shared_bus(const char *bus)
{
	return strcmp(bus, "-") != 0 && strncmp(bus, "unixgram:", 9) != 0 &&
	       (strchr(bus, '/') == NULL || strncmp(bus, "slcan:", 6) == 0);
}

int main(int argc, char **argv)
{
	static struct options o;
	static struct writer w;

	options_parse(argc, argv, &o);
	if (o.stop)
		return writer_stop_once(&o);
	if (is_shared_bus(o.bus) && lock_bus(o.bus) < 0)
		die(errno == EADDRINUSE ? 18 : EXIT_RUNTIME, "%s: %s", o.bus,
			errno == EADDRINUSE ? "another piper-can-write drives this arm"
					    : strerror(errno));
	w.o = &o;
	return o.run.clock_input ? writer_replay(&w) : writer_live(&w);
}
