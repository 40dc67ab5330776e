#!/usr/bin/env bats
# What cannot be opened is named once, with its reason.
# shellcheck disable=SC2154
load ../lib/helpers

# refused TOOL NAME OPTION...: one line, NAME in it once.
refused() {
	local rest
	run --separate-stderr "$1" "${@:3}" </dev/null
	echo "$stderr"
	[ "$status" -eq 1 ] || [ "$status" -eq 2 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "$1: "*"$2"* ]]
	rest=${stderr#*"$2"}
	[[ $rest != *"$2"* ]]
}

@test "a file, a URL, a bus that cannot be opened: named once" {
	local no=$T/no/x
	refused piper-can-write "$no" -i "$no" -
	refused piper-can-write "$no" -e "ipc://$no" -
	refused piper-can-write "$no" -o "ipc://$no" -
	refused piper-can-write "$no" -o "$no" -
	refused piper-can-write "$no" "$no"
	refused piper-can-write "$no" --clock input "$no"
	refused piper-can-write "$no" --clock input -i "$no" -
	refused piper-can-write "$no" "slcan:$no"
	refused piper-can-write "$no" "unixgram:$no"
	refused piper-can-write "$no" --stop "slcan:$no"
	refused piper-sim "$no" "slcan:$no"
	refused pose-xform "$no" -i "$no"
	refused pose-xform "$no" --relative --arm "$no"
	refused clamp "$no" -p piper -o "$no"
	refused rctp-recv "$no" -i "$no"
	refused rctp-recv "$no" -p 0 -o "$no"
	refused rctp-send "$no" "$no"
	refused rctp-send "$no" -i "$no"
	refused rctp-send "$no" --motion reach -o "$no"
	refused estop "$no" -e "ipc://$T/s" --live -i "$no"
}
