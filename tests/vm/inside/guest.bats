#!/usr/bin/env bats
# The guest is what the other files here need.
load ../../lib/helpers

@test "a frame crosses a virtual bus" {
	ip link add vcan9 type vcan
	ip link set vcan9 up
	start dump candump -L -n 1 -T 5000 vcan9
	wait_for 5 grep -q vcan9 /proc/net/can/rcvlist_all
	cansend vcan9 151#0102030405060708
	wait_exit dump 5
	grep -q ' vcan9 151#0102030405060708$' "$T/dump.out"
	ip link del vcan9
}

@test "netem, pty and user programs are there" {
	ip link add va type veth peer name vb
	tc qdisc add dev va root netem delay 10ms
	ip link del va
	[ -c /dev/ptmx ]
	[ "$(id -u)" -eq 0 ]
}
