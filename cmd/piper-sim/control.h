/*
 * Lines that change the simulated arm while it runs (--control), one order a line:
 *
 *   delay D            feedback is delivered D late (0ms..1s)
 *   pause [D]          feedback stops, commands are obeyed; for D, or until resume
 *   mute [D]           the arm neither speaks nor hears
 *   resume             ends pause and mute
 *   status N           status N (0..255) in 0x2A1; 0 ends it, as does a reset
 *   joint J freeze     joint J (1..6) is stuck where it is
 *   joint J free
 *   teach on|off       the button on the arm
 *   power on|off
 */
#ifndef PIPER_SIM_CONTROL_H
#define PIPER_SIM_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

enum control_kind {
	CONTROL_DELAY,
	CONTROL_PAUSE,
	CONTROL_MUTE,
	CONTROL_RESUME,
	CONTROL_STATUS,
	CONTROL_JOINT,
	CONTROL_TEACH,
	CONTROL_POWER
};
struct control {
	enum control_kind kind;
	int64_t us; /* delay; pause and mute: length, 0 without end */
	int value;  /* status; joint 1..6 */
	bool on;    /* joint: frozen; teach, power */
};

/* False: not an order (the text is not changed). Blanks around and between words are free. */
bool control_parse(const char *line, struct control *out);

#endif
