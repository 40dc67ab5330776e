#!/usr/bin/env bats
# Recording beside a chain that runs, and a recording onto an arm again.
# shellcheck disable=SC2154
load ../lib/helpers
load ../lib/chain

setup() {
	export TELEOP_RUNTIME_DIR=$T/rt TELEOP_BIN=$BIN
	PATH=$TOP/pipelines:$PATH
}

kept() {
	compgen -G "$T/$1/*-0001.ndjson"
}

# Frames without their times, then their times from the first on.
frames_alike() {
	cmp <(cut -d ' ' -f 3 "$1") <(cut -d ' ' -f 3 "$2") &&
		cmp <(times "$1") <(times "$2")
}

times() {
	tr -d '()' <"$1" | awk '{ split($1, s, "."); us = s[1] * 1000000 + s[2]
		if (NR == 1) first = us; printf "%.0f\n", us - first }'
}

# J POSES: 4 s of a hand from the joints J on, as clamp puts it out.
hand_from() {
	rctp-send --motion circle --time 4s --t0 100 --speed 0 -o - | rctp-recv -i - --clock input |
		pose-xform --relative --home "$1" | clamp --preset piper >"$2"
}

# A record of the run the ideal arm makes of these poses: both, by time.
record_of() {
	piper-can-write --clock input --home "$1" -i "$2" -o "$T/arm.ndjson" "$T/frames"
	jq -s -c 'sort_by(.t)[]' "$2" "$T/arm.ndjson"
}

@test "restamped by rec-cat, the record of a --clock input run gives the same frames" {
	local home=0,86,-45,0,24,0
	hand_from $home "$T/hand"
	rec-cat -i "$T/hand" --dir "$T/d"
	cmp "$T/hand" "$(kept d)"
	piper-can-write --clock input -i "$T/hand" "$T/first" >/dev/null
	[ "$(grep -c '152#' "$T/first")" -gt 90 ]
	rec-cat "$(kept d)" | piper-can-write --clock input "$T/second" >/dev/null
	frames_alike "$T/first" "$T/second"
	# Three constants more, and times that are not the same.
	rec-cat --speed 0 "$(kept d)" | piper-can-write --clock input "$T/third" >/dev/null
	frames_alike "$T/first" "$T/third"
	run ! cmp "$T/first" "$T/third"
	# Twice as fast is another run: the comparison can tell.
	rec-cat --speed 2 "$(kept d)" | piper-can-write --clock input "$T/fast" >/dev/null
	run ! frames_alike "$T/first" "$T/fast"
}

# The measured path of $1 beside that of $2, both from their first run on: largest distance [m] of
# samples at the same time, its bound is L of GATE.md; and how far the path goes.
follows() {
	jq -n -e --slurpfile a "$1" --slurpfile b "$2" '
		def path: [.[] | select(.type == "feedback" and .gate == "run" and .p)] |
			.[0].t as $t | map({t: (.t - $t), p});
		def apart($x; $y): [$x, $y] | transpose | map(.[0] - .[1] | . * .) | add | sqrt;
		($a | path) as $a | ($b | path) as $b |
		[$a[] as $s | ($b | map(select(.t - $s.t | fabs < 20000)))[0] | select(.) |
			apart(.p; $s.p)] as $d |
		{n: ($d | length), apart: ($d | max), moved: ([$a[] | apart(.p; $a[0].p)] | max)} |
		., (.n > 80 and .apart <= 0.0375 and .moved > 0.05)' >"$T/follows"
	cat "$T/follows"
	tail -n 1 "$T/follows" | grep -qx true
}

@test "teleop-replay: from the joints of the first run, and within L of the recorded path" {
	local home=20,80,-50,0,30,10
	hand_from $home "$T/hand"
	record_of $home "$T/hand" >"$T/rec.ndjson"
	run -0 --separate-stderr timeout 50 teleop-replay --log "$T/arm.log" "$T/rec.ndjson"
	echo "$stderr"
	echo "$output" >"$T/out"
	[[ $stderr == *"teleop-replay: last stop sent"* ]]
	jq -s -e '[.[] | select(.type == "feedback" and .gate == "run" and .j)][0].j |
		[., [20, 80, -50, 0, 30, 10]] | transpose |
		map(.[0] - .[1] * 0.017453292519943295 | fabs) | max < 0.02' "$T/out"
	follows "$T/out" "$T/rec.ndjson"
	[ "$(jq -s '[.[] | select(.type == "feedback")] | last.runs' "$T/out")" -eq 1 ]
	[ -z "$(ls -A "$T/rt")" ]
}

# bats test_tags=safety
@test "teleop-replay: a stop in the recording stops it" {
	local home=0,86,-45,0,24,0
	hand_from $home "$T/hand"
	record_of $home "$T/hand" >"$T/rec"
	jq -s -c '[.[] | select(.type == "pose")] as $p | .[] |
		., (select(.type == "pose" and .seq == $p[60].seq) | {type: "stop", v: 1, src, seq: 0, t,
		level: "estop", why: "button"})' "$T/rec" >"$T/rec.ndjson"
	run timeout 50 teleop-replay "$T/rec.ndjson"
	[ "$status" -eq 5 ]
	grep -q '"gate":"estop"' <<<"$output"
}

@test "teleop-replay: a recording it cannot begin with" {
	hand_from 0,86,-45,0,24,0 "$T/hand"
	run -1 teleop-replay "$T/hand"
	[[ $output == *": no run in it: "* ]]
	sed 's/"frame":"base"/"frame":"vr"/' "$T/hand" >"$T/vr"
	run -1 teleop-replay "$T/vr"
	[[ $output == *": its poses are a headset's: "* ]]
	run -1 teleop-replay /dev/null
	: >"$T/empty"
	run -1 teleop-replay "$T/empty"
	[[ $output == *": no poses in it" ]]
	run -2 teleop-replay
	run -2 teleop-replay a b c
	run -2 teleop-replay --no-such a
	[ ! -e "$T/rt" ]
}

@test "teleop-record: a run of teleop-sim in one file, and teleop-replay makes it again" {
	run -1 teleop-record
	[[ $output == *"no chain runs here"* ]]
	start sim teleop-sim -n 240
	wait_for 10 grep -q 'estop -e' "$T/sim.err"
	start rec teleop-record --dir "$T/d" --idle-timeout 2s
	wait_exit sim 20
	[ "$status" -eq 0 ]
	wait_exit rec 10
	[ "$status" -eq 4 ]
	[ ! -s "$T/rec.err" ]
	# From the first run on nothing is missing of what the writer told its standard output.
	cmp <(jq -c 'select(.type == "command")' "$T/sim.out") \
		<(jq -c 'select(.type == "command")' "$(kept d)")
	run -0 --separate-stderr timeout 50 teleop-replay "$(kept d)"
	echo "$output" >"$T/out"
	follows "$T/out" "$(kept d)"
}

# What the writer's commands were behind of their poses, 99.9 of 100.
age() {
	jq -s '[.[] | select(.set == "run").age_us] | sort | .[(length * 0.999 | floor)]' "$1"
}

# bats test_tags=safety
@test "a recorder without disk, and one that is frozen: the chain does not feel it" {
	start sim teleop-sim -n 300
	wait_for 10 grep -q 'estop -e' "$T/sim.err"
	if unshare -rm true 2>/dev/null; then
		mkdir "$T/d"
		# shellcheck disable=SC2016
		start full unshare -rm bash -c 'mount -t tmpfs -o size=32k tmpfs "$0/d" &&
			teleop-record --free 0 --dir "$0/d"' "$T"
	else
		start full teleop-record --free 1000000000 --dir "$T/d"
	fi
	start frozen teleop-record --dir "$T/e"
	wait_for 5 compgen -G "$T/e/*.part"
	stop frozen STOP
	wait_exit full 10
	[ "$status" -eq 1 ]
	grep -q 'disk /' "$T/full.err"
	wait_exit sim 20
	[ "$status" -eq 0 ]
	stop frozen CONT
	stop frozen
	wait_exit frozen 5
	[ "$(jq -s '[.[] | select(.type == "feedback")] | last.runs' "$T/sim.out")" -ge 1 ]
	# It tells of every tick to the end: nothing in it waited for a recorder.  (What a busy machine
	# holds up by 100 ms is held; that is no matter of the recorder.)
	[ "$(jq -s '[.[] | select(.type == "feedback" and .p)] | length' "$T/sim.out")" -gt 100 ]
	run ! grep -qE '"gate":"(fault|estop)"' "$T/sim.out"
	# The figure of the acceptance, for a machine with time to spare.
	teleop-sim -n 300 >"$T/alone.out" 2>/dev/null
	echo "# age p99.9: $(age "$T/alone.out") us alone, $(age "$T/sim.out") us beside both" >&3
}
