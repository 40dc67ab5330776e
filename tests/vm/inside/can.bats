#!/usr/bin/env bats
# common/wire/can on the kernel's own SocketCAN.
load ../../lib/helpers

setup() {
	ip link add vcan0 type vcan
	ip link set vcan0 up
}
teardown() {
	stop_all
	ip link del vcan0 2>/dev/null || :
}
probe() {
	run "$TP/can_probe" "$@"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "own frames come back as confirmation, one by one" {
	probe own vcan0
}
@test "urgent frames of the second socket are own too, and confirmed" {
	probe urgent vcan0
}
@test "another program here and another node on the wire are told apart" {
	ip link add vx0 type vxcan peer name vx1
	ip link set vx0 up
	ip link set vx1 up
	probe foreign vx0 vx1
	ip link del vx0
}
@test "error frames arrive marked" {
	probe error vcan0
}
@test "interface down, up again, unplugged: errors of recv and send" {
	probe down vcan0
}
@test "a full queue refuses within two sets; what was refused is counted" {
	probe refused vcan0
}
@test "frames the kernel dropped are counted, lost echoes not waited for" {
	probe overflow vcan0
}
@test "time is the kernel's stamp" {
	probe stamp vcan0
}
@test "a stop overtakes a full queue in front of a hung adapter" {
	probe queue slcan7 "$T/tty"
}
@test "length of the device queue" {
	ip link set vcan0 txqueuelen 7
	probe txqueuelen vcan0
	[ "$output" = 7 ]
}
@test "what cannot be opened says why and what to do" {
	probe why nosuch0
	[[ $output == *"no such interface"*"ip link"* ]]
	probe why lo
	[[ $output == *"not a CAN interface"* ]]
	ip link set vcan0 down
	probe why vcan0
	[[ $output == *"is down"*"ip link set vcan0 up"* ]]
}
@test "candump -L and can_print write the same bytes" {
	start dump candump -L -n 6 -T 5000 vcan0,0:0,#FFFFFFFF
	wait_for 5 grep -q vcan0 /proc/net/can/rcvlist_all
	for f in 151#0102030405060708 7FF# 00000151#AB 472#R 472#R8 20000040#0000000000000000; do
		cansend vcan0 $f
	done
	wait_exit dump 6
	[ "$(wc -l <"$T/dump.out")" -eq 6 ]
	"$TP/can_probe" rescan <"$T/dump.out" >"$T/again"
	cmp "$T/again" "$T/dump.out"
}
