#!/usr/bin/env bats
# pose-smooth: options, what passes as it is, fresh starts, and the figures of its page.
load ../lib/helpers

# pose SEQ T_US PX,PY,PZ [VALID [QX,QY,QZ,QW [EXTRA]]]: a canonical line
pose() {
	local IFS=,
	# shellcheck disable=SC2086
	printf '{"type":"pose","v":1,"src":"%s","seq":%d,"t":%d,"frame":"%s","valid":%s,"p":[%.9f,%.9f,%.9f],"q":[%.9f,%.9f,%.9f,%.9f]%s}\n' \
		"${SRC:-right}" "$1" "$2" "${FRAME:-vr}" "${4:-true}" $3 ${5:-0,0,0,1} "${6:-}"
}

refused() { # TEXT ARGS...: exit 2, one line that holds TEXT, nothing on stdout
	local text=$1
	shift
	run --separate-stderr pose-smooth "$@" </dev/null
	echo "$*: $status $output $stderr"
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"$text"* ]]
}

# figures TRUTH BEFORE AFTER: sets FIGURE[name]
declare -gA FIGURE=()
figures() {
	local name value
	while IFS='=' read -r name value; do
		FIGURE[$name]=$value
	done < <(python3 "$TOP/tests/lib/smooth_figures.py" "$@")
	[ "${#FIGURE[@]}" -eq 22 ]
}

# figure NAME OP NUMBER
figure() {
	echo "$1 = ${FIGURE[$1]}, wanted $2 $3"
	awk "BEGIN { exit !(${FIGURE[$1]} $2 $3) }"
}

@test "wrong options exit 2 and name the option" {
	local o
	for o in min-cutoff beta d-cutoff rot-min-cutoff rot-beta rot-d-cutoff; do
		refused "--$o" "--$o" -1
		refused "--$o" "--$o" nan
		refused "--$o" "--$o" 1e9
	done
	refused --min-cutoff --min-cutoff 0
	refused --rot-d-cutoff --rot-d-cutoff 0
	for o in 0.3 0.7,0.3 0.5,0.5 -0.1,0.5 0.5,1.1 a,b nan,1 0.1,0.2,0.3; do
		refused --grip --grip "$o"
	done
	refused operand right
}

@test "a hand at rest, the first pose and all other records pass byte for byte" {
	{
		echo '{"type":"pose","v":1,"src":"right","seq":0,"t":0,"frame":"vr","valid":true,"p":[0.1,0.2,0.3],"q":[0.1,0.2,0.3,0.9273618495],"grip":0.5,"own":[1, 2]}'
		echo '{"type":"event","v":1,"src":"right","seq":1,"t":5,"name":"x","n":1,"own" : [1, 2]}'
		echo '{"type":"stop","v":1,"src":"elsewhere","seq":1,"t":1500,"level":"estop","why":"test"}'
		echo '{"type":"pose","v":1,"src":"right","seq":2,"t":14000,"frame":"vr","valid":true,"p":[0.1,0.2,0.3],"q":[0.1,0.2,0.3,0.9273618495],"grip":0.7}'
	} >"$T/in"
	run -0 --separate-stderr pose-smooth -i "$T/in" -o "$T/out"
	[ -z "$output$stderr" ]
	cmp "$T/in" "$T/out"
}

@test "what is smoothed keeps its head, gripper, clock, flags and unknown keys" {
	{
		pose 0 0 0,0,0
		pose 7 14000 0.1,0,0 true 0,0,0,1 ',"grip":0.700000000,"ts":12.500000000,"flags":1,"clamped":["x"],"note":"kept"'
	} >"$T/in"
	run -0 --separate-stderr pose-smooth -i "$T/in"
	[ -z "$stderr" ]
	[[ ${lines[1]} =~ ^'{"type":"pose","v":1,"src":"right","seq":7,"t":14000,"frame":"vr","valid":true,"p":[0.0'[1-9][0-9]+',0.000000000,0.000000000],"q":[0.000000000,0.000000000,0.000000000,1.000000000],"grip":0.700000000,"ts":12.500000000,"flags":1,"clamped":["x"],"note":"kept"}'$ ]]
}

@test "teleop-users:D2 valid:false repeats the last output and is never an input; afterwards afresh" {
	{
		pose 0 0 0.2,1.1,-0.4
		pose 1 14000 0.2,1.1,-0.4
		pose 2 28000 0,0,0 false 1,0,0,0
		pose 3 42000 0,0,0 false 1,0,0,0
		pose 4 56000 0.2,1.1,-0.4
		pose 5 70000 0.3,1.1,-0.4 false
		pose 6 84000 0.25,1.1,-0.4
	} >"$T/in"
	run -0 --separate-stderr pose-smooth -i "$T/in" -o "$T/out"
	[ -z "$stderr" ]
	[ "$(jq -c '[.valid, .p, .q]' "$T/out" | tr '\n' ' ')" = "$(
		printf '%s ' '[true,[0.2,1.1,-0.4],[0,0,0,1]]' '[true,[0.2,1.1,-0.4],[0,0,0,1]]' \
			'[false,[0.2,1.1,-0.4],[0,0,0,1]]' '[false,[0.2,1.1,-0.4],[0,0,0,1]]' \
			'[true,[0.2,1.1,-0.4],[0,0,0,1]]' '[false,[0.2,1.1,-0.4],[0,0,0,1]]' \
			'[true,[0.25,1.1,-0.4],[0,0,0,1]]'
	)" ]
}

@test "a gap of more than 500 ms starts afresh, a shorter one does not; time is the records' own" {
	{
		pose 0 0 0,0,0
		pose 1 500000 1,0,0
		pose 2 1000001 2,0,0
	} >"$T/in"
	run -0 pose-smooth -i "$T/in" -o "$T/out"
	[ "$(jq -c '.p[0] | if . == floor then . else "between" end' "$T/out" | tr '\n' ' ')" = '0 "between" 2 ' ]
	pose-smooth --clock input -i "$T/in" | cmp - "$T/out"
}

@test "NaN, infinity and what is no record never reach the filter" {
	{
		pose 0 0 0,0,0
		pose 1 14000 0,0,0
		pose 2 28000 0,0,0 | sed 's/"p":\[0.000000000/"p":[NaN/'
		pose 3 42000 0,0,0 | sed 's/"q":\[0.000000000/"q":[nan/'
		pose 4 56000 0,0,0 | sed 's/"p":\[0.000000000/"p":[1e999/'
		pose 5 70000 0,0,0 | sed 's/"p":\[0.000000000/"p":[null/'
		pose 6 84000 2e6,0,0
		pose 7 98000 0,0,0
	} >"$T/in"
	run -0 --separate-stderr pose-smooth -i "$T/in" -o "$T/out"
	[[ $stderr == *"line 3: "* ]]
	[ "$(jq -c '[.seq, .p[0]]' "$T/out" | tr '\n' ' ')" = '[0,0] [1,0] [7,0] ' ]
	run -3 --separate-stderr pose-smooth --strict -i "$T/in" -o "$T/out"
	sed -n '1,2p;7p' "$T/in" >"$T/far"
	run -3 --separate-stderr pose-smooth --strict -i "$T/far" -o "$T/out"
	[[ $stderr == *"position farther than 1e6 m"* ]]
}

@test "gripper: two thresholds; without them it passes; a lost hand keeps it" {
	local g n=0
	for g in 0.5 0.9 0.5 0.2 0.5 0.79; do
		pose $n $((n++ * 14000)) 0,0,0 true 0,0,0,1 ",\"grip\":${g}00000000"
	done | sed 's/0.7900000000/0.790000000/' >"$T/in"
	pose 6 84000 0,0,0 false 0,0,0,1 ',"grip":1.000000000' >>"$T/in"
	run -0 pose-smooth --grip 0.3,0.8 -i "$T/in" -o "$T/out"
	[ "$(jq .grip "$T/out" | tr '\n' ' ')" = '0.5 1 1 0 0 0 0 ' ]
	run -0 pose-smooth -i "$T/in" -o "$T/out"
	[ "$(jq .grip "$T/out" | tr '\n' ' ')" = '0.5 0.9 0.5 0.2 0.5 0.79 0.79 ' ]
}

@test "a second src is dropped, its stop is not; counters" {
	{
		pose 0 0 0,0,0
		SRC=left pose 0 7000 5,5,5
		echo '{"type":"stop","v":1,"src":"left","seq":1,"t":1500,"level":"estop","why":"test"}'
		pose 1 14000 0,0,0 false
	} >"$T/in"
	run -0 --separate-stderr pose-smooth --stats 100s -i "$T/in"
	[ "${#lines[@]}" -eq 3 ]
	[[ ${lines[1]} == *'"type":"stop","v":1,"src":"left"'* ]]
	[ "$(jq -c '[.foreign, .poses, .invalid, .fresh]' <<<"${stderr_lines[-1]}")" = '[1,2,1,1]' ]
}

@test "the figures of the page: jitter 5 x lower, at most 15 ms later, at most 1 mm off" {
	vectors rctp-session-quest2-truth.bin
	local truth=$VECTOR
	vectors rctp-session-quest2-tool.bin
	rctp-recv -i "$VECTOR" --clock input >"$T/before"
	pose-smooth <"$T/before" >"$T/after"
	figures "$truth" "$T/before" "$T/after"
	figure jitter_ratio '>=' 5
	figure lag '<=' 15
	figure error '<=' 1
	# at no delay at all, too
	echo "${FIGURE[still_after]} ${FIGURE[still_before]}"
	awk "BEGIN { exit !(${FIGURE[still_after]} - ${FIGURE[still_before]} <= 1) }"
	# rotation
	figure rot_jitter_ratio '>=' 5
	figure rot_lag '<=' 15
	figure rot_error '<=' 0.1
}

@test "those figures are what they say: a stream one sample late and twice as rough" {
	vectors rctp-session-quest2-truth.bin
	# the truth itself, its times as they are; with a tremble; and a copy of that later and off
	rctp-recv -i "$VECTOR" --clock input | jq -c 'select(.seq < 1500)' >"$T/truth"
	jq -c '.seq as $s | .p[0] += 0.001 * (if $s % 2 == 0 then 1 else -1 end)' <"$T/truth" >"$T/before"
	jq -c --slurpfile truth "$T/truth" '.seq as $s | .p = $truth[[$s - 1, 0] | max].p |
		.p[0] += 0.002 * (if $s % 2 == 0 then 1 else -1 end)' <"$T/truth" >"$T/after"
	figures "$T/truth" "$T/before" "$T/after"
	figure jitter_before '>' 7.9
	figure jitter_ratio '>' 0.49
	figure jitter_ratio '<' 0.51
	figure delay_before '>' -0.5
	figure delay_before '<' 0.5
	figure lag '>' 32.5
	figure lag '<' 34.5
	figure rms_before '>' 0.95
	figure rms_before '<' 1.05
	figure error '>' 0.95
	figure error '<' 1.05
	figure rot_lag '==' 0
}
