#!/usr/bin/env bats
# shellcheck disable=SC2034,SC2154 # PIDS is an associative array of the helpers
# rctp-recv by real datagrams on loopback, and by replays. The rules are those of rctp.md 2, 5.3,
# 5.4, 6 and DESIGN.md 3; recv_test.c walks their borders on a virtual clock.
load ../lib/helpers

ROW1='52435450 0000000000002940 0000803e 0000803f 000000bf 00000000 00000000 00000000 0000803f 0000403f'

# Starts it on a free port; PORT (and LEFT) from --ready-fd.
recv() {
	mkfifo "$T/ready"
	rctp-recv --port 0 --left-port 0 --ready-fd 9 "$@" 9>"$T/ready" >"$T/out" 2>"$T/err" 3>&- &
	PIDS[recv]=$!
	read -r -t 5 PORT LEFT <"$T/ready"
}
# Commands of rctp_udp.py from stdin.
udp() {
	"$TOP/tests/lib/rctp_udp.py" "${1:-$PORT}" "${@:2}"
}
# Ends it and shows what came: V valid, x valid:false, S stop, R restart, C change of source.
letters() {
	jq -rj 'if .type == "pose" then (if .valid then "V" else "x" end)
		elif .type == "stop" then "S"
		elif .name == "restart" then "R" elif .name == "source" then "C" else "?" end' "$T/out"
}
monotonic() {
	python3 -c 'import time; print(time.monotonic_ns() // 1000)'
}
lines() {
	[ "$(wc -l <"$T/out")" -ge "$1" ]
}
# The counter NAME, by SIGUSR2.
counter() {
	local before
	before=$(grep -c '"status"' "$T/err" || :)
	stop recv USR2
	wait_for 5 more_status "$before"
	grep '"status"' "$T/err" | tail -n 1 | jq ".$1"
}
counted() {
	[ "$(counter "$1")" -ge "$2" ]
}
more_status() {
	[ "$(grep -c '"status"' "$T/err")" -gt "$1" ]
}

@test "the first hex vector becomes the canonical line, byte for byte" {
	recv -n 1
	udp <<<"hex a $ROW1 01"
	wait_exit recv 5
	[ "$status" -eq 0 ]
	run cat "$T/out"
	[[ $output =~ ^'{"type":"pose","v":1,"src":"right","seq":0,"t":'[0-9]+',"frame":"vr","valid":true,"p":[0.250000000,1.000000000,-0.500000000],"q":[0.000000000,0.000000000,0.000000000,1.000000000],"grip":0.750000000,"ts":12.500000000,"flags":1}'$ ]]
	[ ! -s "$T/err" ]
}

@test "t is the moment of arrival on the monotonic clock" {
	recv -n 1
	before=$(monotonic)
	udp <<<"pkt"
	wait_exit recv 5
	t=$(jq .t "$T/out")
	after=$(monotonic)
	[ "$t" -ge "$before" ]
	[ "$t" -le "$after" ]
}

@test "e-stop and tracking vectors: stop first, then valid:false without tracking" {
	recv -n 4
	udp <<-E
		hex a $ROW1 03
		at 150
		hex a 52435450 000000000000f03f 0000c07f 00000000 00000000 00000000 f304353f 00000000 f304353f 0000803f 02
	E
	wait_exit recv 5
	[ "$(jq -c '[.type, .level, .valid]' "$T/out" | tr -d '\n')" = '["stop","estop",null]["pose",null,true]["stop","estop",null]["event",null,null]' ]
}

@test "short, wrong magic: nothing comes out, each is counted" {
	recv
	udp <<-E
		hex a 524354
		pkt n=44 f=3
		hex a 52435451 0000000000002940 0000803e 0000803f 000000bf 00000000 00000000 00000000 0000803f 0000403f 03
		pkt t=1
	E
	wait_for 5 lines 1
	[ "$(letters)" = V ]
	[ "$(counter short)" -eq 2 ]
	[ "$(counter magic)" -eq 1 ]
	grep -v '"status"' "$T/err" && return 1
	[ "$(counter poses)" -eq 1 ]
}

@test "not finite, out of range, no rotation: no record, but the e-stop bit counts" {
	recv
	udp <<-E
		pkt t=1
		pkt t=1.01 x=nan f=3
		pkt t=1.02 q=0,0,0,inf
		pkt t=1.03 y=10.5
		pkt t=1.04 q=0,0,0,0.3
		pkt t=1.05 x=0.001 q=0,0,0,1.002
	E
	wait_for 5 lines 3
	[ "$(letters)" = VSV ]
	[ "$(counter nonfinite)" -eq 2 ]
	[ "$(counter range)" -eq 1 ]
	[ "$(counter quat)" -eq 1 ]
	jq -e -s '.[2].q == [0,0,0,1]' "$T/out"
}

@test "gripper: clamped to 0..1, NaN keeps the last" {
	recv -n 3
	udp <<-E
		pkt t=1 g=1.8
		pkt t=1.02 g=-3 x=0.001
		pkt t=1.04 g=nan x=0.002
	E
	wait_exit recv 5
	[ "$(jq -c -s 'map(.grip)' "$T/out")" = '[1,0,0]' ]
}

@test "tracking lost repeats the last good p q grip; before any: p 0 and identity" {
	recv -n 4
	udp <<-E
		pkt t=1 x=nan f=0
		pkt t=1.02 x=0.25 g=0.5
		pkt t=1.04 x=3 g=0 q=0,1,0,0 f=0xf0
		pkt t=1.06 x=0.26
	E
	wait_exit recv 5
	[ "$(letters)" = xVxV ]
	jq -e -s '.[0].p == [0,0,0] and .[0].q == [0,0,0,1] and (.[0] | has("grip") | not) and
		.[2].p == .[1].p and .[2].q == .[1].q and .[2].grip == 0.5 and .[2].flags == 240' "$T/out"
}

@test "duplicate and reordered are dropped, equal time with another pose is new" {
	recv
	udp <<-E
		pkt t=5
		pkt t=5
		pkt t=5 x=0.001
		pkt t=4.5 x=0.002
		pkt t=5.02 x=0.003
	E
	wait_for 5 lines 3
	[ "$(letters)" = VVV ]
	[ "$(counter duplicate)" -eq 1 ]
	[ "$(counter reordered)" -eq 1 ]
}

@test "a sender that restarts at 0: event, valid:false, pose" {
	recv
	udp <<-E
		pkt t=100 of=3
		at 60
		pkt t=0.02 x=0.003 of=2
	E
	wait_for 5 lines 7
	[ "$(letters)" = VVVRxVV ]
	jq -e -s 'map(select(.type == "event")) | .[0].name == "restart" and .[0].n == 1 and .[0].src == "right"' "$T/out"
	[ "$(counter restart)" -eq 1 ]
}

@test "half a second of silence is a restart too, 150 ms is a gap" {
	recv
	udp <<-E
		pkt t=1
		at 200
		pkt t=1.2 x=0.001
		at 800
		pkt t=1.8 x=0.002
	E
	wait_for 5 lines 6
	[ "$(letters)" = VxVRxV ]
	[ "$(counter gap)" -eq 1 ]
}

@test "a second source is refused, its e-stop honoured; after 1 s of silence it is taken" {
	recv
	udp <<-E
		pkt s=a t=1 of=3
		pkt s=b t=9 x=2
		pkt s=b t=9.02 x=2 f=2
		at 1200
		pkt s=b t=10 x=2.1
	E
	wait_for 5 lines 7
	[ "$(letters)" = VVVSCxV ]
	jq -e -s 'map(select(.type == "stop")) | .[0].why | contains("foreign")' "$T/out"
	[ "$(counter foreign)" -eq 2 ]
	grep -c 'second source is refused' "$T/err" | grep -x 1
	grep -E 'right: 127\.0\.0\.1:[0-9]+: a second source' "$T/err"
}

# bats test_tags=safety
@test "a held e-stop bit repeats at most every 100 ms" {
	recv
	udp <<<"pkt t=1 f=3 of=51"
	wait_for 5 counted poses 51
	stop recv
	wait_exit recv 5
	n=$(letters | tr -dc S | wc -c)
	[ "$n" -ge 9 ]
	[ "$n" -le 11 ]
	jq -e -s 'map(select(.type == "stop").t) | [.[1:], .[:-1]] | transpose | all(.[0] - .[1] >= 100000)' "$T/out"
	jq -e -s 'map(select(.type == "stop").seq) == [range(map(select(.type == "stop")) | length)]' "$T/out"
}

@test "an identical pose for 500 ms is frozen: valid:false until it moves; --frozen 0 off" {
	recv
	udp <<-E
		pkt t=1 of=36 dx=0
		pkt t=1.72 x=0.001
	E
	wait_for 5 lines 37
	[[ $(letters) =~ ^V{24,26}x{10,12}V$ ]]
	stop recv
	wait_exit recv 5
	rm "$T/ready"
	recv --frozen 0 -n 37
	udp <<<"pkt t=1 of=37 dx=0"
	wait_exit recv 5
	[ "$(letters | tr -d V)" = "" ]
}

@test "a jump faster than 5 m/s: one valid:false first" {
	recv -n 5
	udp <<-E
		pkt t=1
		at 20
		pkt t=1.02 x=0.05
		at 40
		pkt t=1.04 x=0.50
		at 60
		pkt t=1.06 x=0.51
	E
	wait_exit recv 5
	[ "$(letters)" = VVxVV ]
}

# bats test_tags=safety
@test "packets that a network kept for 300 ms are late: valid:false" {
	recv
	udp <<-E
		pkt t=1 of=5
		at 400
		pkt t=1.1 x=0.005
		pkt t=1.4 x=0.01
	E
	wait_for 5 lines 7
	[ "$(letters)" = VVVVVxV ]
	[ "$(counter late)" -eq 1 ]
}

@test "49 bytes: read by the table, one warning" {
	recv -n 2
	udp <<-E
		hex a $ROW1 0000803f 01
		pkt t=12.52 n=49
	E
	wait_exit recv 5
	jq -e -s '.[0].flags == 0 and .[0].valid == false' "$T/out"
	[ "$(grep -c '49 bytes' "$T/err")" -eq 1 ]
}

@test "--left opens a second port with a src and numbers of its own; without it there is none" {
	recv --left
	udp "$PORT" <<<"pkt t=1"
	udp "$LEFT" <<<"pkt t=1 f=3"
	wait_for 5 lines 3
	jq -e -s 'map(select(.src == "left").type) == ["stop", "pose"] and
		map(select(.src == "right").seq) == [0] and (map(select(.type == "pose").seq) == [0, 0])' "$T/out"
	stop recv
	wait_exit recv 5
	rm "$T/ready"
	recv
	[ -z "$LEFT" ]
}

@test "binds loopback unless told; any serves IPv4 and IPv6; a taken port is an error" {
	recv -v
	grep -q '127.0.0.1 port' "$T/err"
	run rctp-recv --port "$PORT"
	[ "$status" -eq 1 ]
	[[ $output == *"port $PORT"* ]]
	stop recv
	wait_exit recv 5
	rm "$T/ready"
	recv --bind any
	if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
		udp <<-E
			pkt t=1
			pkt s=b h=::1 t=2 f=3
		E
		wait_for 5 lines 2
		[ "$(letters)" = VS ]
		[ "$(counter foreign)" -eq 1 ]
	else
		udp <<<"pkt t=1"
		wait_for 5 lines 1
	fi
	run rctp-recv --bind example.org
	[ "$status" -eq 2 ]
}

# bats test_tags=safety
@test "a reader that stands still: the newest pose, a valid:false before it and the stop survive" {
	mkfifo "$T/pipe"
	tail -f /dev/null 4<"$T/pipe" 3>&- &
	PIDS[reader]=$!
	mkfifo "$T/ready"
	rctp-recv --port 0 --ready-fd 9 9>"$T/ready" >"$T/pipe" 2>"$T/err" 3>&- &
	PIDS[recv]=$!
	read -r -t 5 PORT <"$T/ready"
	exec 8<"$T/pipe"
	{
		for k in 1 2 3 4; do
			for i in {101..300}; do
				echo "pkt t=$k.$i x=0.$((k * 1000 + i))"
				[ $((i % 20)) -ne 0 ] || echo "at $((200 * k + i))"
			done
		done
		echo "at 1200"
		echo "pkt t=6 x=0.1 f=0"
		echo "pkt t=6.01 x=0.1 f=3"
		echo "pkt t=6.02 x=0.777"
	} | udp
	wait_for 5 counted packets 803
	[ "$(counter dropped)" -gt 100 ]
	timeout 5 head -c 400000 <&8 >"$T/out" &
	PIDS[drain]=$!
	stop reader
	stop recv
	wait_exit recv 5
	exec 8<&-
	wait_exit drain 6
	tail -n 3 "$T/out" >"$T/tail"
	jq -e -s 'map(.type) == ["stop", "pose", "pose"] and .[1].valid == false and .[2].valid and
		(.[2].p[0] - 0.777 | fabs < 1e-6)' "$T/tail"
}

@test "the reader goes away: 141, also without a packet" {
	mkfifo "$T/pipe" "$T/ready"
	rctp-recv --port 0 --ready-fd 9 >"$T/pipe" 9>"$T/ready" 2>"$T/err" 3>&- &
	PIDS[recv]=$!
	exec 8<"$T/pipe"
	read -r -t 5 PORT <"$T/ready"
	exec 8<&-
	wait_exit recv 5
	[ "$status" -eq 141 ]
}

@test "one output of several fails: it is named, the others go on; the last one ends it" {
	recv -o /dev/full -o - -n 3
	udp <<<$'pkt t=1\nat 20\npkt t=1.02 x=0.1\nat 40\npkt t=1.04 x=0.2'
	wait_exit recv 5
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$T/out")" -eq 3 ]
	[ "$(cat "$T/err")" = "rctp-recv: /dev/full: No space left on device: no more records there" ]
	rm "$T/ready"
	recv -o /dev/full
	udp <<<"pkt t=1"
	wait_exit recv 5
	[ "$status" -eq 1 ]
	[[ $(cat "$T/err") == *"No space left on device" ]]
	rm "$T/ready"
	mkfifo "$T/left"
	exec 8<>"$T/left"
	recv -o "$T/left" -o - 8<&-
	exec 8<&-
	wait_for 5 grep -q "left: its reader is gone" "$T/err"
	udp <<<"pkt t=1"
	wait_for 5 lines 1
	stop recv
	wait_exit recv 5
	[ "$status" -eq 143 ]
}

@test "the reader of standard output ends it, whatever else it writes to" {
	mkfifo "$T/pipe" "$T/ready"
	rctp-recv --port 0 --ready-fd 9 -o "$T/file" -o - >"$T/pipe" 9>"$T/ready" 2>"$T/err" 3>&- &
	PIDS[recv]=$!
	exec 8<"$T/pipe"
	read -r -t 5 PORT <"$T/ready"
	exec 8<&-
	wait_exit recv 5
	[ "$status" -eq 141 ]
}

@test "signals end it by the signal and send nothing; USR1 is ignored" {
	for s in INT TERM; do
		rm -f "$T/ready"
		recv
		stop recv USR1
		udp <<<"pkt t=1"
		wait_for 5 lines 1
		stop recv "$s"
		wait_exit recv 5
		[ "$status" -eq $((128 + $(kill -l "$s"))) ]
		[ "$(letters)" = V ]
	done
}

@test "--idle-timeout: 4, counted from the last datagram" {
	recv --idle-timeout 2s
	before=$(now_ms)
	udp <<-E
		at 700
		pkt t=1
	E
	wait_exit recv 8
	[ "$status" -eq 4 ]
	[ $(($(now_ms) - before)) -ge 2690 ]
	[ "$(letters)" = V ]
}

# bats test_tags=safety
@test "-e: stops at once and beats with the running count" {
	start beats "$TP/stop_listen" "ipc://$T/stop"
	wait_for 5 grep -q ready "$T/beats.err"
	recv -e "ipc://$T/stop"
	wait_for 5 grep -q '"stops":0' "$T/beats.out"
	udp <<<"pkt t=1 f=3"
	wait_for 5 grep -q '"type":"stop"' "$T/beats.out"
	wait_for 5 grep -q '"type":"beat".*"stops":1,"level":"estop"' "$T/beats.out"
	jq -e -s '[map(select(.type == "beat").t) | [.[1:], .[:-1]] | transpose[] | .[0] - .[1]] | sort | .[length / 2 | floor] | . > 20000 and . < 30000' "$T/beats.out"
}

@test "replay with --clock input: t from the packets, all of them, the same twice" {
	vectors rctp-session-quest2-unity.bin
	rctp-recv -i "$VECTOR" --clock input >"$T/a"
	rctp-recv -i - --clock input <"$VECTOR" >"$T/b"
	cmp "$T/a" "$T/b"
	[ "$(wc -l <"$T/a")" -eq 9874 ]
	[ "$(head -n 1 "$T/a" | jq -c '.t')" -eq 1706706424628678 ]
	jq -e -s 'all(.valid) and (map(.t) | . == sort)' "$T/a"
}

@test "replay at its own pace, stamped now" {
	rctp-send --motion circle --time 500ms --speed 0 -o "$T/m.bin"
	before=$(now_ms)
	rctp-recv -i "$T/m.bin" >"$T/out"
	took=$(($(now_ms) - before))
	[ "$took" -ge 450 ]
	[ "$(letters)" = VVVVVVVVVVVVVVVVVVVVVVVVV ]
	in_time "$T/out"
}

@test "replay: a cut last packet is told, damage in the middle is counted" {
	rctp-send --motion circle -n 3 --speed 0 -o "$T/m.bin"
	head -c 125 "$T/m.bin" >"$T/cut.bin"
	run rctp-recv -i "$T/cut.bin" --clock input
	[ "$status" -eq 0 ]
	[[ ${lines[2]} == *"35 bytes behind the last whole packet"* ]]
	printf X | dd of="$T/m.bin" bs=1 seek=45 conv=notrunc status=none
	rctp-recv -i "$T/m.bin" --clock input --stats 1000s >"$T/out" 2>"$T/err"
	[ "$(letters)" = VV ]
	[ "$(jq .magic "$T/err")" -eq 1 ]
}

@test "a full disk is reported" {
	rctp-send --motion circle -n 100 --speed 0 -o "$T/m.bin"
	run rctp-recv -i "$T/m.bin" --clock input -o /dev/full
	[ "$status" -eq 1 ]
	[[ $output == *"No space left"* ]]
}

@test "usage: what does not fit together exits 2" {
	for o in "--clock input" "-i x.bin --left" "-i x.bin --clock input -e ipc:///tmp/x" "--src left --left" \
		"--src a/b" "-i tcp://127.0.0.1:1" "--port 65536" "--frozen 5" "--bind localhost"; do
		# shellcheck disable=SC2086
		run rctp-recv $o
		[ "$status" -eq 2 ] || {
			echo "$o: $status $output"
			return 1
		}
	done
	run rctp-recv -i /nonexistent.bin
	[ "$status" -eq 1 ]
}
