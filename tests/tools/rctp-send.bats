#!/usr/bin/env bats
# rctp-send: what it puts on the wire, judged by rctp-recv and by the bytes.
# shellcheck disable=SC2034,SC2154 # PIDS is an associative array of the helpers
load ../lib/helpers

# A receiver on a free port: PORT.
recv() {
	mkfifo "$T/ready"
	rctp-recv --port 0 --ready-fd 9 "$@" 9>"$T/ready" >"$T/out" 2>"$T/err" 3>&- &
	PIDS[recv]=$!
	read -r -t 5 PORT <"$T/ready"
}
lines() {
	[ "$(wc -l <"$T/out")" -ge "$1" ]
}
# The packets of a file as records, and key K of each as one list.
decode() {
	rctp-recv -i "$1" --clock input --frozen 0
}
list() {
	decode "$1" | jq -c -s "map(select(.type == \"pose\")) | map($2)"
}

same_poses() {
	jq -e -n --argjson a "$(list "$1" '[.ts, .grip, .flags] + .p + .q')" \
		--argjson b "$(list "$2" '[.ts, .grip, .flags] + .p + .q')" '($a | length) == ($b | length) and
		([$a[][], 0] | length) > 1 and ([[$a[][]], [$b[][]]] | transpose | all(.[0] - .[1] | fabs < 1e-8))'
}
is_valid_again() {
	tail -n 1 "$T/out" | grep -q '"valid":true'
}

@test "a recording goes out byte for byte" {
	vectors rctp-session-leap-grab.bin
	rctp-send --speed 0 -o - "$VECTOR" | cmp - "$VECTOR"
}

@test "a recording at its own pace over UDP, all packets, spaced as recorded" {
	rctp-send --motion circle --rate 100 -n 60 --speed 0 -o "$T/m.bin"
	recv
	before=$(now_ms)
	rctp-send -o "udp:127.0.0.1:$PORT" "$T/m.bin"
	took=$(($(now_ms) - before))
	[ "$took" -ge 590 ]
	wait_for 5 grep -q '"ts":0.590000000' "$T/out"
	in_time "$T/out"
	jq -e -s 'map(.ts) | unique == [range(60) | . / 100]' "$T/out"
}

@test "--speed and --rate: the time field follows what was really sent" {
	rctp-send --motion circle -n 21 --speed 0 -o "$T/m.bin"
	before=$(now_ms)
	rctp-send --speed 2 -o "$T/fast.bin" "$T/m.bin"
	took=$(($(now_ms) - before))
	[ "$took" -ge 195 ]
	[ "$(list "$T/fast.bin" .ts | jq '.[20]')" = 0.2 ]
	rctp-send --rate 200 -o "$T/rate.bin" "$T/m.bin"
	[ "$(list "$T/rate.bin" .ts | jq '.[20]')" = 0.1 ]
	# the poses are the same
	[ "$(list "$T/rate.bin" .p)" = "$(list "$T/m.bin" .p)" ]
}

@test "-o takes a plain file name; a misspelt address makes no file" {
	cd "$T"
	rctp-send --motion idle -n 2 --speed 0 -o hand.bin
	[ "$(stat -c %s hand.bin)" -eq 90 ]
	run rctp-send --motion idle -n 2 --speed 0 -o upd:127.0.0.1:8888
	[ "$status" -eq 2 ]
	[ ! -e upd:127.0.0.1:8888 ]
}

@test "--loop goes on in time, without a restart" {
	rctp-send --motion circle -n 10 --speed 0 -o "$T/m.bin"
	rctp-send --loop -n 25 --speed 0 -o "$T/loop.bin" "$T/m.bin"
	decode "$T/loop.bin" >"$T/out"
	[ "$(jq -c -s 'map(.ts * 50 | round)' "$T/out")" = "$(jq -cn '[range(25)]')" ]
	[ "$(jq -c -s '.[10].p == .[0].p' "$T/out")" = true ]
}

@test "motions: as many packets as time and rate say, from rest, and no valid:false at the receiver" {
	for m in reach circle grasp idle; do
		rctp-send --motion "$m" --time 6s --speed 0 -o "$T/$m.bin"
		decode "$T/$m.bin" >"$T/out"
		[ "$(wc -l <"$T/out")" -eq 300 ]
		rctp-recv -i "$T/$m.bin" --clock input >"$T/strict"
		jq -e -s 'all(.type == "pose" and .valid) and
			([.[0].p, [0.1, 1.1, -0.4]] | transpose | all(.[0] - .[1] | fabs < 1e-6)) and
			([.[1].p, .[0].p] | transpose | all(.[0] - .[1] | fabs < 1e-4))' "$T/strict"
	done
	# forward is -z in OpenXR, +z in Unity
	[ "$(list "$T/reach.bin" '.p[2]' | jq 'min < -0.49 and max < -0.39')" = true ]
	rctp-send --motion reach --axes unity --time 6s --speed 0 -o "$T/unity.bin"
	[ "$(list "$T/unity.bin" '.p[2]' | jq 'max > 0.49 and min > 0.39')" = true ]
	# the gripper closes and opens
	[ "$(list "$T/grasp.bin" .grip | jq 'min < 0.01 and max == 1')" = true ]
}

@test "--size and --period" {
	rctp-send --motion reach --size 0.3 --period 2s --time 10s --speed 0 -o "$T/m.bin"
	[ "$(list "$T/m.bin" '.p[2]' | jq 'min < -0.69 and min > -0.71')" = true ]
	# 10 s less the ramps: at least three turning points forward
	[ "$(list "$T/m.bin" '.p[2]' | jq '[.[1:-1], .[:-2], .[2:]] | transpose | map(select(.[0] < .[1] and .[0] <= .[2] and .[0] < -0.6)) | length')" -ge 3 ]
}

@test "the default is 50 Hz on an absolute timer" {
	recv -n 51
	rctp-send --motion idle --time 2s -o "udp:127.0.0.1:$PORT" &
	PIDS[send]=$!
	wait_exit recv 5
	in_time "$T/out"
	jq -e -s 'map(.ts * 50 | round) | unique | [.[1:], .[:-1]] | transpose | map(.[0] - .[1]) | min == 1' "$T/out"
	wait_exit send 5
	[ "$status" -eq 0 ]
}

@test "--flags-at: a clutch, a tracking loss, an e-stop, each from its time on" {
	rctp-send --motion circle --time 500ms --speed 0 --flags-at 0.1:0x00,0.2:1,0.3:0x03,0.4:2 -o "$T/m.bin"
	decode "$T/m.bin" >"$T/out"
	[ "$(jq -c -s 'map(select(.type == "pose").flags)' "$T/out")" = \
		'[1,1,1,1,1,0,0,0,0,0,1,1,1,1,1,3,3,3,3,3,2,2,2,2,2]' ]
	[ "$(grep -c '"stop"' "$T/out")" -eq 2 ]
}

@test "--control: flags on command, and stop" {
	mkfifo "$T/ctl"
	recv
	start send rctp-send --motion circle --control "$T/ctl" -o "udp:127.0.0.1:$PORT"
	wait_for 5 lines 5
	echo "flags 0x03" >"$T/ctl"
	wait_for 5 grep -q '"type":"stop"' "$T/out"
	echo "flags 0" >"$T/ctl"
	wait_for 5 grep -q '"valid":false.*"flags":0' "$T/out"
	echo "flags 999" >"$T/ctl"
	wait_for 5 grep -q "'flags 999': not understood" "$T/send.err"
	n=$(wc -l <"$T/out")
	echo "flags auto" >"$T/ctl"
	wait_for 5 is_valid_again
	echo stop >"$T/ctl"
	wait_exit send 5
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$T/out")" -gt "$n" ]
}

@test "records from stdin at once: ts, grip and flags kept, valid:false not made valid" {
	rec() {
		echo "{\"type\":\"pose\",\"v\":1,\"src\":\"right\",\"seq\":$1,\"t\":$2,\"frame\":\"$3\",\"valid\":$4,\"p\":[0.25,1,-0.5],\"q\":[0,0,0,1]$5}"
	}
	{
		rec 0 1000000 vr true ',"grip":0.5,"ts":7.5,"flags":129'
		rec 1 1020000 vr false ',"ts":7.52,"flags":1'
		rec 2 1040000 base true ''
		echo '{"type":"event","v":1,"src":"x","seq":0,"t":1,"name":"n","n":1}'
		echo garbage
		rec 3 1060000 vr true ',"ts":7.54'
	} >"$T/in"
	rctp-send -i - --stats 100s -o "$T/m.bin" < <(cat "$T/in") 2>"$T/err"
	[ "$(stat -c %s "$T/m.bin")" -eq 135 ]
	[ "$(list "$T/m.bin" '[.ts, .grip, .flags, .valid]')" = '[[7.5,0.5,129,true],[7.52,0.5,0,false],[7.54,0.5,1,true]]' ]
	[ "$(grep '"status"' "$T/err" | jq -c '[.sent, .bad, .others]')" = '[3,1,2]' ]
	# and back again: the same to the last printed digit but one
	rctp-send --motion grasp -n 50 --speed 0 -o "$T/a.bin"
	decode "$T/a.bin" | rctp-send -i - -o "$T/b.bin"
	same_poses "$T/a.bin" "$T/b.bin"
}

@test "a file of records keeps its own pace" {
	rctp-send --motion circle -n 26 --speed 0 -o "$T/m.bin"
	decode "$T/m.bin" >"$T/rec.ndjson"
	before=$(now_ms)
	rctp-send -i "$T/rec.ndjson" -o "$T/b.bin"
	[ $(($(now_ms) - before)) -ge 490 ]
	same_poses "$T/m.bin" "$T/b.bin"
}

@test "--t0 sets the first time field" {
	rctp-send --motion circle -n 3 --t0 1000 --speed 0 -o "$T/m.bin"
	[ "$(list "$T/m.bin" .ts)" = '[1000,1000.02,1000.04]' ]
	rctp-send --t0 5 --speed 0 -o "$T/n.bin" "$T/m.bin"
	[ "$(list "$T/n.bin" '.ts * 100 | round')" = '[500,502,504]' ]
}

@test "nobody listens: goes on like a headset, exit 0, silent" {
	recv
	stop recv
	wait_exit recv 5
	run --separate-stderr rctp-send --motion idle -n 10 --rate 200 -o "udp:127.0.0.1:$PORT"
	[ "$status" -eq 0 ]
	[ -z "$output$stderr" ]
}

@test "IPv6, full disk, reader gone, signals" {
	run rctp-send --motion idle -n 2 --rate 200 -o "udp:[::1]:9"
	[ "$status" -eq 0 ]
	run rctp-send --motion idle -n 2 --speed 0 -o /dev/full
	[ "$status" -eq 1 ]
	run bash -c 'rctp-send --motion idle --speed 0 -o - | head -c 45 >/dev/null; exit "${PIPESTATUS[0]}"'
	[ "$status" -eq 141 ]
	for s in INT TERM; do
		rctp-send --motion idle --ready-fd 9 -o "udp:127.0.0.1:9" 9>"$T/ready.$s" 3>&- &
		PIDS[send]=$!
		wait_for 5 test -s "$T/ready.$s"
		stop send "$s"
		wait_exit send 5
		[ "$status" -eq $((128 + $(kill -l "$s"))) ]
	done
}

@test "usage: what does not fit together exits 2" {
	: >"$T/empty.bin"
	for o in "" "--motion dance" "--motion idle $T/empty.bin" "--motion idle -i -" "--motion idle --loop" \
		"-i - --rate 50" "--motion idle --axes left" "--motion idle --flags-at 1:300" \
		"--motion idle --rate 0" "--motion idle --time 5" "--motion idle -o udp:127.0.0.1" \
		"--motion idle -o udp:127.0.0.1:x"; do
		# shellcheck disable=SC2086
		run rctp-send $o
		[ "$status" -eq 2 ] || {
			echo "$o: $status $output"
			return 1
		}
	done
	for o in "$T/empty.bin" "/nonexistent.bin" "--motion idle -o /nonexistent/x"; do
		# shellcheck disable=SC2086
		run rctp-send $o
		[ "$status" -eq 1 ] || {
			echo "$o: $status $output"
			return 1
		}
	done
}

@test "what is no hand: a reason, exit 1; single bad ones are summed up" {
	rctp-send --motion circle -n 5 --speed 0 -o "$T/h.bin"
	rctp-recv -i "$T/h.bin" --clock input >"$T/hand"
	pose-xform -i "$T/hand" >"$T/base"
	run -1 --separate-stderr rctp-send -i "$T/base" --speed 0 -o "$T/o.bin"
	[[ $stderr == *"$T/base: no pose of frame vr in it: nothing was sent" ]]
	head -c 900 /dev/zero >"$T/zero"
	run -1 --separate-stderr rctp-send "$T/zero" --speed 0 -o "$T/o.bin"
	[[ $stderr == *"$T/zero: no RCTP packet in it" ]]
	run -1 --separate-stderr rctp-recv -i "$T/zero" --clock input
	[[ $stderr == *"$T/zero: no RCTP packet in it" ]]
	{ cat "$T/hand"; echo x; echo y; } >"$T/most"
	run -0 --separate-stderr rctp-send -i "$T/most" --speed 0 -o "$T/o.bin"
	[[ $stderr == *"2 bad lines of 7" ]]
	[ "$(wc -c <"$T/o.bin")" -eq 225 ]
	{ head -c 45 "$T/zero"; cat "$T/h.bin"; } >"$T/some.bin"
	run -0 --separate-stderr rctp-send "$T/some.bin" --speed 0 -o "$T/o.bin"
	[[ $stderr == *"1 bad packet of 6" ]]
	run -0 --separate-stderr rctp-recv -i "$T/o.bin" --clock input
	[[ $stderr == *"right: 1 bad packet of 6" ]]
	[ "${#lines[@]}" -eq 5 ]
	run -0 --separate-stderr rctp-send -i /dev/null --speed 0 -o "$T/o.bin"
	[ -z "$stderr" ]
}
