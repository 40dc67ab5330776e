#!/usr/bin/env bats
# pose-xform: axes, offsets, relative mode, refusals.  Numbers are exact: the lines are canonical.
load ../lib/helpers

# pose SEQ T_US PX,PY,PZ [VALID [QX,QY,QZ,QW [SRC [FRAME]]]]
pose() {
	printf '{"type":"pose","v":1,"src":"%s","seq":%d,"t":%d,"frame":"%s","valid":%s,"p":[%s],"q":[%s]}\n' \
		"${6:-right}" "$1" "$2" "${7:-vr}" "${4:-true}" "$3" "${5:-0,0,0,1}"
}

# feedback T_US GATE RUNS PX,PY,PZ: what piper-can-write says of its arm
feedback() {
	printf '{"type":"feedback","v":1,"src":"arm0","seq":1,"t":%d,"kind":"cartesian","state":"streaming","gate":"%s","why":"","runs":%d,"p":[%s],"q":[0,0,0,1]}\n' \
		"$1" "$2" "$3" "$4"
}

# place FILE LINE: the position on that line, as in "0.3,0,0.2 true"
place() {
	sed -n "$2p" "$1" | jq -r '"\(.p | map(. * 1e6 | round / 1e6 | tostring) | join(",")) \(.valid)"'
}

lines_of() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# send LINE: to the running tool; returns when its answer is there
send() {
	local n
	n=$(wc -l <"$T/x.out")
	printf '%s\n' "$1" >&7
	wait_for 5 lines_of "$T/x.out" $((n + 1))
}

# with_arm EP ARGS...: pose-xform --relative fed from fd 7
with_arm() {
	mkfifo "$T/in"
	start_in x "$T/in" "$BIN/pose-xform" --relative --arm "$@"
	exec 7>"$T/in"
}

teardown() {
	exec 7>&- 8>&- || :
	stop_all
}

refused() { # TEXT ARGS...: exit 2, one line that holds TEXT, nothing on stdout
	local text=$1
	shift
	run --separate-stderr pose-xform "$@" </dev/null
	echo "$*: $status $output $stderr"
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	[[ $stderr == *"$text"* ]]
}

@test "openxr by default: the whole line, grip, clock, flags and unknown keys kept" {
	echo '{"type":"pose","v":1,"src":"right","seq":17,"t":5924123456,"frame":"vr","valid":true,"p":[0.100000000,0.200000000,0.300000000],"q":[0.258819045,0.000000000,0.000000000,0.965925826],"grip":0.750000000,"ts":12.500000000,"flags":1,"note":"kept"}' >"$T/in"
	run --separate-stderr pose-xform -i "$T/in"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "$output" = '{"type":"pose","v":1,"src":"right","seq":17,"t":5924123456,"frame":"base","valid":true,"p":[-0.300000000,-0.100000000,0.200000000],"q":[0.000000000,-0.258819045,0.000000000,0.965925826],"grip":0.750000000,"ts":12.500000000,"flags":1,"note":"kept"}' ]
}

@test "unity and a permutation of one's own" {
	pose 1 1000 0.1,0.2,0.3 true 0.1,0.2,0.3,0.927361850 >"$T/in"
	run -0 pose-xform --axes unity -i "$T/in"
	[[ $output == *'"p":[0.300000000,-0.100000000,0.200000000],"q":[-0.300000000,0.100000000,-0.200000000,0.927361850]'* ]]
	run -0 pose-xform --axes y,x,z -i "$T/in"
	[[ $output == *'"p":[0.200000000,0.100000000,0.300000000],"q":[-0.200000000,-0.100000000,-0.300000000,0.927361850]'* ]]
}

@test "what is not a signed permutation exits 2 and says what is wrong" {
	refused "--axes: 'x,x,z' has x twice" --axes x,x,z
	for axes in x,y "" x,y,q "x, y, z" openXR -x,y,x x,y,z,x; do
		refused "--axes: '$axes'" --axes "$axes"
	done
}

@test "wrong options exit 2 and name the option" {
	refused --scale --scale -1
	refused --scale --scale nan
	refused --yaw --yaw inf
	refused --offset --offset 1,2
	refused --offset --offset 0,0,300
	refused --rot-offset --rot-offset 0,x,0
	refused --tool --tool 0,0,1e400
	refused --home --relative --home 0,86,45,0,24,0
	refused --preset --preset xarm6
	refused --relative --arm ipc:///tmp/x
	refused --relative --home 0,86,-45,0,24,0
	refused "standard input" --relative --arm -
	refused operand left
}

@test "gate:G31 --clock input refuses --arm, whose feedback comes in real time" {
	refused "--clock input" --clock input --relative --arm ipc:///tmp/x
	pose 1 1000 0,0,0 >"$T/in"
	run -0 pose-xform --clock input --relative -i "$T/in"
	[[ $output == *'"frame":"base","valid":true'* ]]
}

@test "preset svrc-piper, and an option wins over it wherever it stands" {
	pose 1 1000 0.2,-0.3,-0.4 >"$T/in"
	run -0 pose-xform --preset svrc-piper -i "$T/in"
	[[ $output == *'"p":[0.300000000,-0.150000000,0.075000000],"q":[0.000000000,0.707106781,0.000000000,0.707106781]'* ]]
	run -0 pose-xform --scale 1 --preset svrc-piper -i "$T/in"
	[[ $output == *'"p":[0.400000000,-0.200000000,0.000000000]'* ]]
	run -0 pose-xform --preset svrc-piper --scale 1 -i "$T/in"
	[[ $output == *'"p":[0.400000000,-0.200000000,0.000000000]'* ]]
}

@test "axes, yaw, scale, offset, rotation offset, tool: in this order" {
	pose 1 1000 0.2,0.1,-0.4 >"$T/in"
	# base (0.4,-0.2,0.1); yaw 90: (0.2,0.4,0.1); half; offset; Z of the hand turned to X, by yaw to Y
	run -0 pose-xform --yaw 90 --scale 0.5 --offset 0.01,0.02,0.03 --rot-offset 0,90,0 --tool 0,0,0.1 -i "$T/in"
	[[ $output == *'"p":[0.110000000,0.120000000,0.080000000],"q":[-0.500000000,0.500000000,0.500000000,0.500000000]'* ]]
}

@test "valid:false flows on; every other record passes byte for byte, in its place" {
	{
		pose 1 1000 0,0,-1 false
		echo '{"type":"stop","v":1,"src":"elsewhere","seq":1,"t":1500,"level":"estop","why":"test"}'
		pose 2 2000 0,0,-2
		echo '{"type":"weather","v":1,"src":"roof","seq":9,"t":1,"rain":true}'
		feedback 3000 run 1 0,0,0
	} >"$T/in"
	run -0 --separate-stderr pose-xform -i "$T/in"
	[ -z "$stderr" ]
	[ "${#lines[@]}" -eq 5 ]
	[[ ${lines[0]} == *'"valid":false,"p":[1.000000000,'* ]]
	[[ ${lines[2]} == *'"valid":true,"p":[2.000000000,'* ]]
	for i in 1 3 4; do
		[ "${lines[i]}" = "$(sed -n "$((i + 1))p" "$T/in")" ]
	done
}

@test "a pose that is in the base frame already is a bad line" {
	{
		pose 1 1000 0,0,-1 true 0,0,0,1 right base
		pose 2 2000 0,0,-2
	} >"$T/in"
	run -0 --separate-stderr pose-xform -i "$T/in"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *'"seq":2,'* ]]
	[[ $stderr == *'line 1: frame is not "vr"'* ]]
	run -3 --separate-stderr pose-xform --strict -i "$T/in"
	[ -z "$output" ]
	[[ $stderr == *'frame is not "vr"'* ]]
}

@test "a second src is dropped, its stop is not; --src chooses" {
	{
		pose 1 1000 0,0,-1
		pose 1 1000 0,0,-2 true 0,0,0,1 left
		echo '{"type":"stop","v":1,"src":"left","seq":1,"t":1500,"level":"estop","why":"test"}'
	} >"$T/in"
	run -0 pose-xform -i "$T/in"
	[ "$(jq -r '.src + " " + .type' <<<"$output" | tr '\n' ,)" = "right pose,left stop," ]
	run -0 pose-xform --src left -i "$T/in"
	[ "$(jq -r '.src + " " + .type' <<<"$output" | tr '\n' ,)" = "left pose,left stop," ]
}

@test "the same input gives the same bytes, with q or with -q" {
	for i in {1..200}; do
		pose "$i" $((i * 20000)) "0.$i,0.2,-0.$i" true 0.1,-0.5,0.7,0.5
	done >"$T/in"
	sed 's/0.1,-0.5,0.7,0.5/-0.1,0.5,-0.7,-0.5/' "$T/in" >"$T/neg"
	for mode in "" --relative; do
		pose-xform --yaw 12.5 --scale 0.7 --tool 0,0,0.145 $mode -i "$T/in" >"$T/a"
		pose-xform --yaw 12.5 --scale 0.7 --tool 0,0,0.145 $mode -i "$T/in" >"$T/b"
		pose-xform --yaw 12.5 --scale 0.7 --tool 0,0,0.145 $mode -i "$T/neg" >"$T/c"
		cmp "$T/a" "$T/b"
		[ "$(wc -l <"$T/a")" -eq 200 ]
		cmp <(jq -c .p "$T/a") <(jq -c .p "$T/c")
	done
}

@test "gate:G29 without --arm: from --home, later from the pose last put out" {
	{
		pose 1 1000000 1,1,1
		pose 2 1020000 1,1,0.9
		pose 3 1040000 1,1,0.9 false
		pose 4 1060000 5,5,5
		pose 5 1080000 5,5,4.9
		pose 6 1600000 9,9,9
	} >"$T/in"
	pose-xform --relative --scale 0.5 -i "$T/in" >"$T/out"
	[ "$(place "$T/out" 1 | cut -c1-4)" = 0.28 ]
	x=$(jq -s -c '[.[].p[0]] as $x | [.[1:][].p[0] - $x[0]] | map(. * 1e6 | round / 1e6)' "$T/out")
	[ "$x" = '[0.05,0.05,0.05,0.1,0.1]' ]
	[ "$(jq -c .valid "$T/out" | tr '\n' ' ')" = "true true false true true true " ]
	pose-xform --relative --home 90,86,-45,0,24,0 -i "$T/in" >"$T/out"
	[ "$(place "$T/out" 1 | cut -d, -f1)" = 0 ]
	[ "$(place "$T/out" 1 | cut -c1-6)" = 0,0.28 ]
}

@test "safety gate:G26-G28 with --arm: no feedback, HOLD, RUN, hand lost, new RUN" {
	mkfifo "$T/fb"
	exec 8<>"$T/fb"
	with_arm "$T/fb"
	send "$(pose 1 1000000 0,0,0)"
	[ "$(place "$T/x.out" 1)" = "0,0,0 false" ]
	feedback 1010000 hold 0 0.3,0,0.2 >&8
	send "$(pose 2 1020000 0,0,-0.5)"
	[ "$(place "$T/x.out" 2)" = "0.3,0,0.2 true" ]
	feedback 1030000 run 1 0.3,0,0.2 >&8
	send "$(pose 3 1040000 0,0,-0.5)"
	[ "$(place "$T/x.out" 3)" = "0.3,0,0.2 true" ]
	send "$(pose 4 1060000 0,0,-0.52)"
	[ "$(place "$T/x.out" 4)" = "0.32,0,0.2 true" ]
	send "$(pose 5 1080000 0,0,-0.52 false)"
	[ "$(place "$T/x.out" 5)" = "0.32,0,0.2 false" ]
	feedback 1090000 run 1 0.31,0,0.2 >&8
	send "$(pose 6 1100000 0.4,0.4,0.4)"
	[ "$(place "$T/x.out" 6)" = "0.31,0,0.2 true" ]
	feedback 1110000 run 2 0.31,0,0.2 >&8
	send "$(pose 7 1120000 0.4,0.4,0.4)"
	[ "$(place "$T/x.out" 7)" = "0.31,0,0.2 true" ]
	send "$(pose 8 1140000 0.4,0.45,0.4)"
	[ "$(place "$T/x.out" 8)" = "0.31,0,0.25 true" ]
	send "$(pose 9 1220001 0.4,0.45,0.4)" # the measured pose is 110.001 ms older
	[ "$(place "$T/x.out" 9)" = "0.31,0,0.25 false" ]
	exec 7>&-
	wait_exit x 5
	[ "$status" -eq 0 ]
	[ ! -s "$T/x.err" ]
}

@test "gate:G26 feedback over nng, a bad line in it counted; counters on request" {
	mkfifo "$T/fb"
	start_in arm "$T/fb" "$BIN/pose-xform" -o "ipc://$T/arm" # passes feedback on, as any filter
	exec 8>"$T/fb"
	with_arm "ipc://$T/arm" --stats 1s
	n=0
	valid() {
		n=$((n + 1))
		feedback $((1000000 + n)) hold 0 0.3,0.1,0.2 >&8
		send "$(pose $n $((1000000 + n)) 0,0,0)"
		[ "$(place "$T/x.out" $n)" = "0.3,0.1,0.2 true" ]
	}
	wait_for 5 valid
	exec 7>&-
	wait_exit x 5
	[ "$status" -eq 0 ]
	tail -n 1 "$T/x.err" | jq -e '.type == "status" and .measured >= 1 and .anchors == 0 and .blind == '$((n - 1))
	echo nonsense >"$T/bad"
	pose 1 1000000 0,0,0 >"$T/one"
	run -0 --separate-stderr pose-xform --relative --arm "$T/bad" -i "$T/one"
	[[ $stderr == *"$T/bad: bad line"* ]]
	[[ $output == *'"valid":false'* ]]
}

@test "an endpoint that is none exits 2 with its name" {
	run -2 --separate-stderr pose-xform --relative --arm nowhere </dev/null
	[[ $stderr == *nowhere* ]]
}
