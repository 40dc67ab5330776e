#!/usr/bin/env bats
# shellcheck disable=SC2154 # run sets them
load ../lib/helpers

# pose T X Y Z [extra keys]: a canonical line.
pose() {
	printf '{"type":"pose","v":1,"src":"right","seq":%d,"t":%d,"frame":"%s","valid":%s,"p":[%.9f,%.9f,%.9f],"q":[0.000000000,0.965925826,0.000000000,0.258819045]%s}\n' \
		"$(($1 / 10000))" "$1" "${FRAME:-base}" "${VALID:-true}" "$2" "$3" "$4" "${5:-}"
}

@test "a pose that needs no limit passes byte for byte, as does everything else" {
	{
		pose 0 0.3 0 0.2 ',"grip":0.500000000'
		echo '{"type":"event","v":1,"src":"right","seq":1,"t":5,"name":"x","n":1,"own" : [1, 2]}'
		echo '{"type":"mine","v":7,"src":"z","seq":0,"t":0,"a":{"b":null}}'
		pose 10000 0.3001 0 0.2 ',"flags":1,"clamped":["x"]'
		VALID=false pose 20000 0.3001 0 0.2
	} >"$T/in"
	clamp --preset piper <"$T/in" >"$T/out" 2>"$T/err"
	cmp "$T/in" "$T/out"
	[ ! -s "$T/err" ]
}

@test "what is limited is limited, and named" {
	pose 0 0.5 0.1 0.9 ',"grip":1.200000000' | clamp -p piper >"$T/out"
	run jq -c '[.p, .grip, .clamped]' "$T/out"
	[ "$output" = '[[0.4,0.1,0.7],1,["x","z","grip"]]' ]
}

@test "names are added to those of an earlier stage" {
	pose 0 0.5 0.1 0.2 ',"clamped":["tilt"]' | clamp -p piper >"$T/out"
	[ "$(jq -c .clamped "$T/out")" = '["tilt","x"]' ]
}

@test "no limits at all exits 2 in one line, also a preset with everything off" {
	run --separate-stderr clamp </dev/null
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	run clamp -p piper --x off --y off --z off --radius off --speed off --accel off --aspeed off \
		--aaccel off --grip-rate off </dev/null
	[ "$status" -eq 2 ]
}

@test "bad limits exit 2 and are named" {
	local bad
	for bad in "--x 400" "--x 5,1" "--y nan,1" "--z 0,inf" "--tilt 0" "--tilt 91" "--tilt 20,0,0,0" \
		"--radius -1" "--speed 0" "--accel nan" "--tool 1,2" "--preset ur5" "--grip-rate x"; do
		# shellcheck disable=SC2086
		run --separate-stderr clamp -p piper $bad </dev/null
		[ "$status" -eq 2 ] || { echo "$bad: $status"; false; }
		[[ "$stderr" == *"${bad%% *}"* ]]
	done
	run clamp --x -50,50 --y -50,50 --radius 100 </dev/null
	[ "$status" -eq 2 ]
}

@test "presets: piper and xarm6, and a single limit overrides on either side" {
	[ "$(pose 0 9 -9 0 | clamp -p piper | jq -c .p)" = '[0.4,-0.4,0.05]' ]
	[ "$(pose 0 9 -9 9 | clamp -p xarm6 | jq -c .p)" = '[0.6,-0.6,0.9]' ]
	[ "$(pose 0 9 0.2 0 | clamp --z 100,200 -p xarm6 | jq -c .p)" = '[0.6,0.2,0.1]' ]
	[ "$(pose 0 9 0.2 0 | clamp -p xarm6 --x off | jq -c .p)" = '[9,0.2,0.05]' ]
	[ "$(pose 0 0.05 0 0.1 | clamp -p piper | jq -c .p)" = '[0.1,0,0.1]' ]
}

@test "the tip stays in the box too" {
	# Flange Z is (0.5, 0, -0.866): the tip is 0.0725 ahead and 0.1256 below.
	pose 0 0.39 0 0.1 | clamp -p piper --tool 0,0,0.145 >"$T/out"
	[ "$(jq -c .clamped "$T/out")" = '["tip-x","tip-z"]' ]
	jq -e '(.p[0] - 0.3275 | fabs) < 1e-6 and (.p[2] - 0.175574 | fabs) < 1e-6' "$T/out"
}

@test "the tool axis stays in the cone" {
	pose 0 0.3 0 0.2 | clamp --tilt 20 >"$T/out"
	[ "$(jq -c .clamped "$T/out")" = '["tilt"]' ]
	# Flange Z against down: cos = -(1 - 2 (x^2 + y^2)).
	jq -e '.q | (2 * (.[0] * .[0] + .[1] * .[1]) - 1) as $c | ($c - 0.9396926 | fabs) < 1e-6' "$T/out"
	pose 0 0.3 0 0.2 | clamp --tilt 1,0.5,0,-0.866025404 >"$T/out"
	[ "$(jq -c .clamped "$T/out")" = null ]
}

@test "speed: a jump becomes a ramp, and time is the records'" {
	{
		pose 0 0.3 0 0.2
		for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			pose $((k * 10000)) 0.35 0 0.2
		done
	} | clamp --speed 100 >"$T/out"
	run jq -s -c 'map(.p[0]) | [.[1], .[14], .[15]] | map(. * 1e6 | round)' "$T/out"
	[ "$output" = '[301000,314000,315000]' ]
	[ "$(tail -n 1 "$T/out" | jq -c .clamped)" = '["speed"]' ]
}

@test "a pose that is not a number is refused, and --strict exits 3" {
	pose 0 0.3 0 0.2 >"$T/in"
	sed 's/0\.300000000/NaN/' "$T/in" >"$T/nan"
	cat "$T/nan" "$T/in" | clamp -p piper >"$T/out" 2>"$T/err"
	cmp "$T/in" "$T/out"
	[ "$(wc -l <"$T/err")" -eq 2 ]
	grep -q "clamp: 1 bad line of 2$" "$T/err"
	run clamp -p piper --strict <"$T/nan"
	[ "$status" -eq 3 ]
}

@test "a pose in the headset's frame is a bad line" {
	{
		FRAME=vr pose 0 0.3 0 0.2
		pose 10000 0.3 0 0.2
	} >"$T/in"
	clamp -p piper <"$T/in" >"$T/out" 2>"$T/err"
	[ "$(wc -l <"$T/out")" -eq 1 ]
	grep -q 'frame "vr"' "$T/err"
	run clamp -p piper --strict <"$T/in"
	[ "$status" -eq 3 ]
}

@test "the keep-out cylinder: never through, whatever is asked (safety)" {
	{
		pose 0 0.3 0 0.3
		for ((k = 1; k < 400; k++)); do
			pose $((k * 10000)) -0.3 0.001 0.3
		done
	} | clamp -p piper >"$T/out"
	jq -s -e 'all(.p[0] * .p[0] + .p[1] * .p[1] >= 0.01 - 1e-12) and (.[-1].p[0] - 0.1 | fabs) < 1e-5' "$T/out"
}

@test "the same input gives the same bytes" {
	{
		for ((k = 0; k < 300; k++)); do
			pose $((k * 13333)) "0.$((k * 7919 % 500 + 100))" 0 "0.$((k * 104729 % 700 + 100))"
		done
	} >"$T/in"
	clamp -p piper --tool 0,0,0.145 <"$T/in" >"$T/a"
	clamp -p piper --tool 0,0,0.145 -i "$T/in" -o "$T/b"
	[ "$(wc -l <"$T/a")" -eq 300 ]
	cmp "$T/a" "$T/b"
}

@test "--stats tells how many were limited" {
	{
		pose 0 0.5 0 0.2
		pose 10000 0.4 0 0.2
	} | clamp -p piper --stats 10s 2>"$T/err" >"$T/out"
	tail -n 1 "$T/err" | jq -e '.poses == 2 and .limited == 1'
}

@test "--clock input is taken, as by every stage, and changes nothing" {
	pose 0 0.5 0.1 0.2 >"$T/in"
	clamp -p piper <"$T/in" >"$T/a"
	clamp -p piper --clock input <"$T/in" >"$T/b"
	cmp "$T/a" "$T/b"
}
