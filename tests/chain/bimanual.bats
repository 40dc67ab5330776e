#!/usr/bin/env bats
# Two hands to two simulated arms through teleop-bimanual (acceptance of two hands).
# shellcheck disable=SC2154
export BATS_TEST_TIMEOUT=${TELEOP_LONG:+1800}
BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-180}
load ../lib/helpers
load ../lib/chain

setup() {
	own_folder
	export TELEOP_BIN=$BIN TELEOP_RUNTIME_DIR=$D/rt
	PATH=$TOP/pipelines:$PATH
}

two_hands() {
	local rc=0
	python3 "$TOP/tests/lib/two_hands.py" "$D" "$@" >"$T/trial" 2>&1 3>&- || rc=$?
	cat "$T/trial"
	sed -n 's/^# /# /p' "$T/trial" >&3
	[ -z "$(ls -A "$D/rt")" ] || { ls "$D/rt"; return 1; }
	return "$rc"
}

# bats test_tags=safety
@test "an e-stop on either hand: the hold sets of both within 33 ms" {
	two_hands stops "$(count 500)"
}

@test "each arm follows its own hand, and the commands of both come together" {
	two_hands hands 300
}

@test "--swap: each arm follows the other hand" {
	two_hands hands 200 --swap
}

# bats test_tags=safety
@test "both hands towards each other: held before the tips are 60 mm apart; engaged, they come apart" {
	two_hands cross "$(count 30)" --min 60 --left-base 0,0.3,0
}

# bats test_tags=safety
@test "the watch over both frozen, then killed: both hold, the last stop on both buses" {
	two_hands watch 1
}

# bats test_tags=safety
@test "a writer killed: the other arm holds, the last stop on both buses" {
	two_hands death 0
	rm -rf "$D"
	mkdir "$D"
	two_hands death 1
}

@test "simulated hands: both arms run, exit 0, nothing left" {
	run --separate-stderr teleop-bimanual --sim -n 500 --min 60 --left-base 0,0.6,0
	echo "$stderr"
	[ "$status" -eq 0 ]
	[[ $stderr == *"teleop-bimanual: last stop sent" ]]
	jq -e -s 'map(select(.type == "command" and .set == "run") | .src) | unique == ["left", "right"]' <<<"$output"
	[ -z "$(ls -A "$D/rt")" ]
}

@test "wrong usage: one line, exit 2, nothing started" {
	local args
	for args in "" "can0" "can0 can0" "can0 can1 can2" "--sim can0" "--headset can0 can1" "--no-such" \
		"--min 60 can0 can1" "--left-base 0,1,0 can0 can1" "--left-port x can0 can1" "--sim --logs /nowhere"; do
		# shellcheck disable=SC2086
		run --separate-stderr teleop-bimanual $args
		echo "$args: $status $stderr"
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		[ ! -e "$D/rt" ]
	done
}
