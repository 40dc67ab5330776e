#!/usr/bin/env bats
# What cannot be opened is named once, with its reason.
# shellcheck disable=SC2154
load ../lib/helpers

codes='[12]'

# refused TOOL NAME OPTION...: one line, NAME in it once, and a status of $codes.
refused() {
	local rest
	run --separate-stderr "$1" "${@:3}" </dev/null
	echo "$status: $stderr"
	[[ $status =~ ^$codes$ ]]
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
	codes=1
	refused pose-xform "$no" -i "$no"
	refused pose-xform "$no" --relative --arm "$no"
	refused clamp "$no" -p piper -o "$no"
	refused rctp-recv "$no" -i "$no"
	refused rctp-recv "$no" -p 0 -o "$no"
	refused rctp-recv "ipc://$no" -p 0 -o "ipc://$no"
	refused rctp-send "$no" "$no"
	refused rctp-send "$no" -i "$no"
	refused rctp-send "$no" --motion reach -o "$no"
	refused estop "$no" -e "ipc://$T/s" --live -i "$no"
}

@test "a word that is no endpoint is wrong usage" {
	local codes=2 word
	for word in foo udp:h:1 http://h/x; do
		refused pose-xform "$word" -i "$word"
		refused pose-xform "$word" -o "$word"
		refused pose-xform "$word" --relative --arm "$word"
		refused clamp "$word" -p piper -i "$word"
		refused clamp "$word" -p piper -o "$word"
		refused rctp-recv "$word" -p 0 -o "$word"
		refused rctp-recv "$word" -p 0 -e "$word"
		refused rctp-recv "$word" -i /dev/null --clock input -o "$word"
		refused rctp-send "$word" -i "$word"
		refused estop "$word" -e "$word" stop
		refused estop "$word" -e "ipc://$T/s" -i "$word"
	done
	refused rctp-send http://h/x --motion reach -o http://h/x
	refused rctp-send ipc:///tmp/x --motion reach -o ipc:///tmp/x
	refused rctp-send udp:h --motion reach -o udp:h
	refused estop ./stop -e ./stop stop
}
