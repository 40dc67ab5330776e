#!/usr/bin/env bats
# A replay onto the text bus is a function of its input, however slow the reader is (gate:G31).
load ../lib/helpers

# Enough sets to fill a pipe and the bus's own buffer.
poses() {
	awk 'BEGIN { for (k = 0; k < 2400; k++) printf "{\"type\":\"pose\",\"v\":1,\"src\":\"right\"," \
		"\"seq\":%d,\"t\":%d,\"frame\":\"base\",\"valid\":true," \
		"\"p\":[%.9f,0.000000000,0.199000000]," \
		"\"q\":[0.000000000,0.965925826,0.000000000,0.258819045],\"grip\":0.500000000}\n", \
		k, 1000000 + k * 16667, 0.28 + 0.01 * sin(k / 50) }'
}
sleeps_or_is_gone() {
	local state
	is_gone "$1" || {
		read -r _ _ state _ <"/proc/$1/stat"
		[[ $state == [SZ] ]]
	}
}

@test "a reader that comes late gets every line of a replay" {
	poses >"$T/poses"
	piper-can-write --clock input -i "$T/poses" - >"$T/want"
	[ "$(wc -c <"$T/want")" -gt 200000 ]
	mkfifo "$T/fifo"
	exec 4<>"$T/fifo"
	piper-can-write --clock input -i "$T/poses" - >"$T/fifo" 2>"$T/err" 3>&- 4>&- &
	PIDS["writer"]=$!
	wait_for 10 sleeps_or_is_gone "${PIDS["writer"]}"
	start reader cat "$T/fifo" 4>&-
	# Until it has opened the FIFO ours is the only reader: without one the writer's frames are lost.
	wait_for 5 test -s "$T/reader.out"
	exec 4>&-
	wait_exit writer 10
	[ "$status" -eq 0 ]
	wait_exit reader 10
	cmp "$T/want" "$T/reader.out"
	[ ! -s "$T/err" ]
}
