#!/usr/bin/env bats
# piper-can-write on SocketCAN: enable, run, a second commander, the last stop beside it, a lost bus.
# shellcheck disable=SC2016,SC2034,SC2154
load ../../lib/helpers

setup() {
	ip link add vcan7 type vcan
	ip link set vcan7 up
}

teardown() {
	stop_all
	ip link del vcan7 2>/dev/null || :
}

# A hand at rest in real time, from the FIFO $T/poses.
chain() {
	start sim piper-sim --thin 4 --start 0,86,-45,0,24,0 --log "$T/log" vcan7
	wait_for 10 test -s "$T/log"
	mkfifo "$T/poses"
	start hand python3 -u -c '
import sys, time
sys.stdout = open(sys.argv[1], "w", buffering=1)
i = 0
while True:
    print("""{"type":"pose","v":1,"src":"right","seq":%d,"t":%d,"frame":"base","valid":true,"p":[0.280000000,0.000000000,0.199000000],"q":[0.000000000,0.965925826,0.000000000,0.258819045],"grip":0.500000000}""" % (i, time.monotonic() * 1e6))
    i += 1
    time.sleep(0.02)
' "$T/poses"
	# The guest has one slow processor: what is tested here is the bus, not the time.
	start_in w "$T/poses" piper-can-write --freeze 1s --silent 500ms --measured 500ms --max-age 1s vcan7
	wait_for 30 grep -q '"gate":"run"' "$T/w.out"
}

sets() {
	[ "$(grep -c " 159#" "$T/dump.out")" -ge "$1" ]
}

last_why() {
	tail -n 1 "$T/w.out" | grep -qE "$1"
}

@test "enables a simulated arm on a real bus and runs; candump sees whole sets" {
	start dump candump -L vcan7
	chain
	wait_for 30 sets 20
	stop w
	wait_exit w 10
	[ "$status" -eq 143 ]
	run -0 awk '{ split($3, f, "#"); if (f[1] ~ /^15[1-49]$/) printf "%s ", f[1] }' "$T/dump.out"
	[[ $output == *"152 153 154 151 152 153 154 159 151 152 153 154 159 "* ]]
	run ! grep -qE 'violation (torn|forbidden|far)' "$T/log"
}

@test "piper:R3 a foreign command holds the arm and is named" {
	chain
	cansend vcan7 152#0000000000000000
	wait_for 10 last_why '"gate":"hold".*needs an engage'
	grep -q 'not ours' "$T/w.out"
	grep -q 0x152 "$T/w.out"
}

@test "gate:G19 --stop beside a running writer: it holds too" {
	chain
	wait_for 10 piper-can-write --stop vcan7
	wait_for 10 last_why '"gate":"hold".*needs an engage'
	run -0 grep -c ' 157#' "$T/log"
	[ "$output" -ge 2 ] # the one of the start, the last stop
}

@test "an interface that goes down: exit 16 in words" {
	chain
	ip link set vcan7 down
	wait_exit w 10
	[ "$status" -eq 16 ]
	grep -q 'bus' "$T/w.err"
}

@test "bus-off reported by an error frame: no more motion, exit 16" {
	chain
	cansend vcan7 20000040#0000000000000000
	wait_exit w 10
	[ "$status" -eq 16 ]
}
