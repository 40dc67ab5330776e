#!/usr/bin/env bats
# piper-sim on SocketCAN.
# shellcheck disable=SC2034,SC2154
load ../../lib/helpers

setup() {
	ip link add vcan8 type vcan
	ip link set vcan8 up
}

teardown() {
	stop_all
	ip link del vcan8 2>/dev/null || :
}

logged() {
	grep -qE -- "$1" "$T/log"
}

@test "a virtual bus carries whole bursts, commands and answers" {
	start sim piper-sim --enabled --start 0,86,-45,0,24,0 --log "$T/log" --log-feedback --stats 60s vcan8
	start dump candump -L -T 10000 vcan8
	wait_for 10 grep -q '2A8#' "$T/dump.out"
	cansend vcan8 151#0101640000000000
	cansend vcan8 155#000013880001387C
	cansend vcan8 156#FFFF503800000000
	cansend vcan8 157#00005DC000000000
	cansend vcan8 472#0301000000000000
	wait_for 10 grep -q '473#030000F95C0BB800' "$T/dump.out"
	wait_for 20 logged ' vcan8 2A5#000013880001387C'
	stop sim
	wait_exit sim 10
	[ "$status" -eq 143 ]
	# Its own frames come back as echoes and are no commands.
	[ "$(grep -cE ' vcan8 (15|47)[0-9A-F]#' "$T/log")" -eq 5 ]
	grep -q 'end: 5 commands' "$T/log"
	jq -es '.[-1] | .dropped == 0 and .received == 5' "$T/sim.err"
	# Of what was sent candump may lose some on a busy machine, but no id altogether.
	[ "$(awk '{ split($3, f, "#"); if (f[1] ~ /^2(A|5|6)/) print f[1] }' "$T/dump.out" | sort -u | wc -l)" -eq 20 ]
}

@test "an interface that goes down ends it with 1 and words" {
	start sim piper-sim --log "$T/log" vcan8
	wait_for 10 test -s "$T/log"
	ip link set vcan8 down
	wait_exit sim 10
	[ "$status" -eq 1 ]
	grep -q vcan8 "$T/sim.err"
}

@test "no such interface: exit 1 and words" {
	run --separate-stderr piper-sim nocan
	[ "$status" -eq 1 ]
	[[ $stderr == *nocan* ]]
}
