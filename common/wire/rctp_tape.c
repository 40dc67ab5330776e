#include "wire/rctp_tape.h"

#include <math.h>

#define TIME_MAX_S 9e9     /* DESIGN.md 2: beyond it a sender's time is left out */
#define RESTART_S 1.0      /* rctp.md 5.3 */
#define RESTART_US 1000000 /* all stages start afresh after a gap of 500 ms (DESIGN.md 3) */

int64_t rctp_tape_next(struct rctp_tape *tape, double time_s)
{
	if (!isfinite(time_s) || fabs(time_s) > TIME_MAX_S)
		return tape->t_us;
	int64_t us = llround(time_s * 1e6);

	if (!tape->begun) {
		tape->begun = true;
		tape->newest_s = time_s;
		tape->shift_us = us < 0 ? -us : 0;
	} else if (tape->newest_s - time_s >= RESTART_S) {
		tape->newest_s = time_s;
		tape->shift_us = tape->t_us + RESTART_US - us;
	} else if (time_s > tape->newest_s) {
		tape->newest_s = time_s;
	}
	if (us + tape->shift_us > tape->t_us)
		tape->t_us = us + tape->shift_us;
	return tape->t_us;
}
