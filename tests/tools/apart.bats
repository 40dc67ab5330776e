#!/usr/bin/env bats
# apart: wrong usage, what it sends to both, its beats, its end.  The rules: apart_watch_test.
# shellcheck disable=SC2154
load ../lib/helpers

setup() {
	local side
	for side in right left; do
		start "stop-$side" "$TP/stop_listen" "ipc://$T/s-$side"
		wait_for 5 grep -q ready "$T/stop-$side.err"
	done
	CHANNELS=(-e "ipc://$T/s-right" -e "ipc://$T/s-left")
	ARMS=(-i "ipc://$T/a-right" -i "ipc://$T/a-left")
}

# is SIDE GATE Y: what the writer of that arm says from now on, Y m from its base
is() {
	echo "$2 $3" >"$T/new"
	mv "$T/new" "$T/is-$1"
}

# Two writers that say so 50 times a second.
arms_up() {
	local side
	for side in right left; do
		is "$side" hold 0
		mkfifo "$T/f-$side"
		start "talk-$side" rec-cat -i "$T/f-$side" -o "ipc://$T/a-$side"
		start_in "arm-$side" /dev/null python3 -c 'import json, sys, time
out = open(sys.argv[2], "w")
n = 0
while True:
    gate, y = open(sys.argv[1]).read().split()
    print(json.dumps({"type": "feedback", "v": 1, "src": "arm0", "seq": n, "t": time.monotonic_ns() // 1000,
        "kind": "cartesian", "state": "ready", "gate": gate, "why": "", "runs": 1,
        "p": [0.3, float(y), 0.2], "q": [0, 0, 0, 1]}, separators=(",", ":")), file=out, flush=True)
    n += 1
    time.sleep(0.02)' "$T/is-$side" "$T/f-$side"
	done
}

watch_up() {
	start apart apart "${CHANNELS[@]}" "${ARMS[@]}" --ready-fd 1 --stats 100s "$@"
	wait_for 10 grep -qx ready "$T/apart.out"
}

# heard WORDS: on both channels
heard() {
	grep -q "$1" "$T/stop-right.out" && grep -q "$1" "$T/stop-left.out"
}

no_more_beats() {
	local n
	n=$(grep -c '"beat"' "$T/stop-left.out")
	read -r -t 0.2 <> <(:) || :
	[ "$(grep -c '"beat"' "$T/stop-left.out")" -eq "$n" ]
}

# bats test_tags=safety
@test "ready only when both arms and both stop channels are there; then beats, and nothing else" {
	start apart apart "${CHANNELS[@]}" "${ARMS[@]}" --ready-fd 1
	run ! wait_for 1 grep -q ready "$T/apart.out"
	arms_up
	wait_for 10 grep -qx ready "$T/apart.out"
	wait_for 5 heard '"type":"beat".*"src":"apart".*"stops":0'
	run ! grep -q '"stop"' "$T/stop-right.out"
	[ ! -s "$T/apart.err" ]
}

# bats test_tags=safety
@test "an e-stop of one arm goes to both, once; a fault holds both" {
	arms_up
	watch_up
	is left estop 0
	wait_for 5 heard '"type":"stop".*"level":"estop","why":"arm 2 is in e-stop"'
	wait_for 5 heard '"type":"beat".*"stops":1,"level":"estop"'
	is right fault 0
	wait_for 5 heard '"type":"stop".*"level":"hold","why":"arm 1 is in fault"'
	wait_for 5 heard '"type":"beat".*"stops":2,"level":"hold"'
	[ "$(grep -c '"estop","why"' "$T/stop-right.out")" -eq 1 ]
}

# bats test_tags=safety
@test "an arm that falls silent: a hold when one runs, no beats until it is heard again" {
	arms_up
	is right run 0
	watch_up
	stop arm-left STOP
	wait_for 5 heard '"level":"hold","why":"arm 2 is not heard of"'
	wait_for 5 no_more_beats
	stop arm-left CONT
	run ! wait_for 1 no_more_beats
}

# bats test_tags=safety
@test "tips nearer than --min: both hold while one runs; --base and --tool say where the tips are" {
	arms_up
	# Bases 0.5 m apart: tips 0.3 m, later 0.1 m.
	watch_up --min 150 --base 0,0,0 --base 0,0.5,0,0,0,0 --tool 0,0,0.1
	is right run 0.2
	run ! wait_for 1 heard '"why":"tips'
	is right run 0.4
	wait_for 5 heard '"level":"hold","why":"tips 100 mm apart, as near as'
	is right hold 0.4
	wait_for 5 no_stop_for_a_while
	# Turned over: one tip up, one down.
	stop apart TERM
	wait_exit apart 5
	: >"$T/stop-right.out"
	: >"$T/stop-left.out"
	watch_up --min 150 --base 0,0,0 --base 0,0.5,0.4,180,0,180 --tool 0,0,0.1
	is right run 0.4
	run ! wait_for 1 heard '"why":"tips'
}

no_stop_for_a_while() {
	local n
	n=$(grep -c '"type":"stop"' "$T/stop-left.out")
	read -r -t 0.3 <> <(:) || :
	[ "$(grep -c '"type":"stop"' "$T/stop-left.out")" -eq "$n" ]
}

# bats test_tags=safety
@test "SIGUSR1 is an e-stop for both; its end is a hold for both, and by the signal" {
	arms_up
	watch_up
	stop apart USR1
	wait_for 5 heard '"level":"estop","why":"SIGUSR1"'
	stop apart TERM
	wait_exit apart 5
	[ "$status" -eq 143 ]
	wait_for 5 heard '"level":"hold","why":"the watch over both arms ended"'
	jq -e '.type == "status" and .src == "apart" and .stops == 2 and .bad == 0' "$T/apart.err"
}

@test "wrong usage: one line, exit 2" {
	local words
	for words in "" "-i ipc://$T/a" "-i ipc://$T/a -i ipc://$T/b" "-i $T/a -i ipc://$T/b -e ipc://$T/s" \
		"${ARMS[*]} ${CHANNELS[*]} --min 50" "${ARMS[*]} ${CHANNELS[*]} --min 50 --base 0,0,0" \
		"${ARMS[*]} ${CHANNELS[*]} --base 0,0,0 --base 0,1,0" "${ARMS[*]} ${CHANNELS[*]} --speed 0,90" \
		"${ARMS[*]} ${CHANNELS[*]} --min 50 --base 0,0 --base 0,1,0" "${ARMS[*]} ${CHANNELS[*]} --tool 1" \
		"${ARMS[*]} ${CHANNELS[*]} --min nan" "${ARMS[*]} ${CHANNELS[*]} extra"; do
		# shellcheck disable=SC2086
		run --separate-stderr timeout 5 apart $words
		echo "$words: $status $stderr"
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
}
