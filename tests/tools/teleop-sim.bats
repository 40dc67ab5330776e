#!/usr/bin/env bats
# teleop-sim: the real chain onto the simulated arm, and what its end leaves behind.
# shellcheck disable=SC2154
load ../lib/helpers

setup() {
	export TELEOP_RUNTIME_DIR=$T/rt TELEOP_BIN=$BIN
	PATH=$TOP/pipelines:$PATH
}

# The script in a session of its own.  A background program of a shell without job control
# ignores INT: that is taken back.
# shellcheck disable=SC2120
start_sim() {
	start sim python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.setsid()
os.execvp(sys.argv[1], sys.argv[1:])' teleop-sim --log "$T/arm.log" "$@"
}

gate_was() {
	jq -e -n --arg g "$1" '[inputs | select(.type == "feedback" and .gate == $g)] | length > 0' \
		<(grep '}$' "$T/sim.out")
}

stage_pid() {
	pgrep -s "${PIDS[sim]}" -x "$1"
}

nothing_left() {
	run ! grep -qv '^Z' <(ps -o stat= -s "$SESSION")
	[ -z "$(ls -A "$T/rt")" ]
}

# Hold sets are 0x151 with MOVE J (byte 1 is 1) and the joints (gate:G13).
last_is_hold_set() {
	grep -oE '\b1[5][1-9]#[0-9A-F]+' "$T/arm.log" | tail -n 4 | cut -c 1-8 | tr '\n' ' ' |
		grep -qE '^151#0101 155#.* 156#.* 157#'
}

@test "three seconds of the default hand: runs, ends 0, the last stop on the bus" {
	run --separate-stderr teleop-sim -n 180 --log "$T/arm.log"
	echo "$stderr"
	[ "$status" -eq 0 ]
	[[ $stderr == *"teleop-sim: in a second terminal:  estop -e ipc://$T/rt/"*"/stop --live"* ]]
	[[ $stderr == *"teleop-sim: last stop sent"* ]]
	echo "$output" >"$T/sim.out"
	gate_was run
	last_is_hold_set
	[ -z "$(ls -A "$T/rt")" ]
}

none_left() {
	# shellcheck disable=SC2009
	! ps -o stat= -s "$SESSION" | grep -qv '^Z'
}

# bats test_tags=safety
@test "kill -9 of the script: held, stopped, nothing left, the simulator neither" {
	start_sim
	wait_for 10 gate_was run
	SESSION=${PIDS[sim]}
	kill -KILL "${PIDS[sim]}"
	wait_for 5 grep -q "last stop sent" "$T/sim.err"
	wait_for 5 none_left
	wait_exit sim 2
	last_is_hold_set
	nothing_left
}

# bats test_tags=safety
@test "Ctrl-C: held, stopped, nothing left, ends by the signal" {
	start_sim
	wait_for 10 gate_was run
	SESSION=${PIDS[sim]}
	kill -INT "${PIDS[sim]}"
	wait_exit sim 8
	cat "$T/sim.err"
	[ "$status" -eq 130 ]
	grep -qx "teleop-sim: last stop sent" "$T/sim.err"
	last_is_hold_set
	nothing_left
}

# bats test_tags=safety
@test "kill -9 of each stage: the last stop on the bus, nothing left" {
	local who
	for who in rctp-recv pose-xform clamp piper-can-write; do
		rm -f "$T/arm.log"
		start_sim
		wait_for 10 gate_was run
		SESSION=${PIDS[sim]}
		kill -KILL "$(stage_pid "$who")"
		wait_exit sim 8
		echo "$who: $status"
		cat "$T/sim.err"
		[ "$status" -eq 137 ]
		grep -qx "teleop-sim: $who: ended by signal KILL" "$T/sim.err"
		grep -qx "teleop-sim: last stop sent" "$T/sim.err"
		last_is_hold_set
		nothing_left
	done
}

# bats test_tags=safety
@test "SIGUSR1 to the script and estop in a second terminal" {
	local url
	start_sim
	wait_for 10 gate_was run
	SESSION=${PIDS[sim]}
	url=$(grep -oE 'ipc://[^ ]+' "$T/sim.err" | head -n 1)
	stop sim USR1
	wait_for 5 gate_was estop
	kill -0 "${PIDS[sim]}"
	estop -e "$url" hold
	stop sim TERM
	wait_exit sim 8
	[ "$status" -eq 143 ]
	nothing_left
}

@test "wrong usage: one line, exit 2, nothing started" {
	local args
	for args in "can0" "--port x" "--port 70000" "--no-such" "-n" "--count=-1"; do
		# shellcheck disable=SC2086
		run --separate-stderr teleop-sim $args
		echo "$args: $status $stderr"
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		[ ! -e "$T/rt" ]
	done
	run --separate-stderr teleop-piper
	[ "$status" -eq 2 ]
	[ "$stderr" = "teleop-piper: BUS: missing; try 'teleop-piper --help'" ]
}

@test "teleop-piper: holds until an operator engages in a second terminal, then follows" {
	local url port
	start sim python3 -c 'import os, signal, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.setsid()
os.execvp(sys.argv[1], sys.argv[1:])' teleop-piper -v --bind 127.0.0.1 --port 0 "$T/arm.can"
	SESSION=${PIDS[sim]}
	wait_for 10 grep -q 'listening on 127.0.0.1 port' "$T/sim.err"
	port=$(sed -nE 's/.*listening on 127.0.0.1 port ([0-9]+).*/\1/p' "$T/sim.err")
	url=$(grep -oE 'ipc://[^ ]+' "$T/sim.err" | head -n 1)
	start hand rctp-send --motion circle -o "udp:127.0.0.1:$port"
	wait_for 10 grep -q '"gate":"hold","why":"[^"]*engage' "$T/sim.out"
	run ! gate_was run
	mkfifo "$T/pedal"
	start_in op "$T/pedal" estop -e "$url" -i "$T/pedal" --ready-fd 1
	exec 7>"$T/pedal"
	wait_for 5 grep -q ready "$T/op.out"
	# Three fresh poses and the leases are there or come within a second: give it again until then.
	wait_for 5 eval 'echo engage >&7; gate_was run'
	echo stop >&7
	wait_for 5 gate_was estop
	exec 7>&-
	stop hand
	stop sim TERM
	wait_exit sim 8
	cat "$T/sim.err"
	[ "$status" -eq 143 ]
	nothing_left
}
