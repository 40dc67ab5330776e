/* The time line of a recorded run: whatever the senders' times, it never goes back. */
#include "fuzz.h"
#include "wire/rctp_tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct rctp_tape tape = RCTP_TAPE_INIT;
	struct bytes in = { data, n };
	int64_t before = 0;

	while (in.n > 0) {
		int64_t t_us = rctp_tape_next(&tape, take_f64(&in));
		CLAIM(t_us >= before);
		before = t_us;
	}
	return 0;
}
