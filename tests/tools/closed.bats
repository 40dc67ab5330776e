#!/usr/bin/env bats
# shellcheck disable=SC2016
# Started without standard descriptors: no program takes their numbers for something else.
load ../lib/helpers

# closed NAME REDIRECTIONS CMD...: as start, with e.g. '<&- >&-'.
closed() {
	start "$1" bash -c "shift; exec \"\$@\" $2" - - "${@:3}"
}

on_null() {
	[ "$(readlink "/proc/${PIDS[$1]}/fd/$2")" = /dev/null ]
}

@test "no standard output: records have nowhere to go, exit 1 with a reason" {
	rctp-send --motion circle -n 3 --speed 0 -o "$T/hand.bin"
	rctp-recv -i "$T/hand.bin" --clock input >"$T/hand"
	pose-xform -i "$T/hand" >"$T/base"
	closed recv '>&-' rctp-recv -i "$T/hand.bin" --clock input
	closed live '>&-' rctp-recv -i "$T/hand.bin"
	closed xform '>&-' pose-xform -i "$T/hand"
	closed clamp '>&-' clamp --preset piper -i "$T/base"
	for name in recv live xform clamp; do
		wait_exit "$name" 5
		[ "$status" -eq 1 ]
		[[ $(cat "$T/$name.err") == *"Bad file descriptor"* ]]
	done
}

@test "no standard input: its end" {
	closed xform '<&-' pose-xform
	closed clamp '<&- 2>&-' clamp --preset piper
	closed recv '<&-' rctp-recv -i - --clock input
	closed writer '<&-' piper-can-write "$T/can"
	for name in xform clamp recv writer; do
		wait_exit "$name" 5
		[ "$status" -eq 0 ]
	done
}

@test "none of the three: the bus gets frames only" {
	start sim piper-sim --log "$T/can.log" --ready-fd 7 "slcan:$T/bus" 7>"$T/ready"
	wait_for 5 grep -q . "$T/ready"
	mkfifo "$T/poses"
	closed w '<&- >&- 2>&-' piper-can-write -v --stats 50ms -i "$T/poses" "slcan:$T/bus"
	exec 9>"$T/poses"
	wait_for 5 on_null w 0
	on_null w 1
	on_null w 2
	stop w USR2
	exec 9>&-
	wait_exit w 5
	[ "$status" -eq 0 ]
	stop sim USR2
	stop sim
	wait_exit sim 5
	cat "$T/sim.err"
	run ! grep -E '"damaged":[1-9]' "$T/sim.err"
	closed sim2 '<&- >&- 2>&-' piper-sim "slcan:$T/bus"
	wait_for 5 on_null sim2 2
	wait_for 5 test -L "$T/bus"
	stop sim2
	wait_exit sim2 5
	[ "$status" -eq 143 ] || [ "$status" -eq 0 ]
}
