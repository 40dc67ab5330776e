#!/usr/bin/env bats
# shellcheck disable=SC2016
# piper-can-write: what it takes, what it puts out, how it ends. The gate's rules by themselves are
# tests/unit/gate_test.c; the chain is tests/chain.
export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-240}
load ../lib/helpers

# poses N [X_STEP_M] [T0_US] [VALID]: N poses in frame base, 20 ms apart, from the ready pose on.
poses() {
	awk -v n="$1" -v dx="${2:-0}" -v t0="${3:-1000000}" -v valid="${4:-true}" 'BEGIN {
		for (i = 0; i < n; i++)
			printf "{\"type\":\"pose\",\"v\":1,\"src\":\"right\",\"seq\":%d,\"t\":%d,\"frame\":\"base\",\"valid\":%s,\"p\":[%.9f,0.000000000,0.199000000],\"q\":[0.000000000,0.965925826,0.000000000,0.258819045],\"grip\":0.500000000}\n", i, t0 + 20000 * i, valid, 0.28 + dx * i
	}'
}

stop_line() {
	printf '{"type":"stop","v":1,"src":"right","seq":0,"t":%d,"level":"%s","why":"test"}\n' "$2" "$1"
}

sim() {
	rm -f "$T/sim.ready"
	start sim piper-sim --start 0,86,-45,0,24,0 --log "$T/can.log" --ready-fd 7 "$@" "slcan:$T/bus" 7>"$T/sim.ready"
	wait_for 5 grep -q . "$T/sim.ready"
}

# A hand in real time: at rest, from 1.5 s on 5 cm to the back. Into the FIFO $T/poses.
hand() {
	mkfifo "$T/poses"
	start hand python3 -u -c '
import sys, time
sys.stdout = open(sys.argv[1], "w", buffering=1)
t0 = time.monotonic()
i = 0
while True:
    now = time.monotonic()
    x = 0.28 - 0.05 * min(1, max(0, now - t0 - 1.5))
    print("""{"type":"pose","v":1,"src":"right","seq":%d,"t":%d,"frame":"base","valid":true,"p":[%.9f,0.000000000,0.199000000],"q":[0.000000000,0.965925826,0.000000000,0.258819045],"grip":0.500000000}""" % (i, now * 1e6, x))
    i += 1
    time.sleep(max(0, t0 + i * 0.02 - time.monotonic()))
' "$T/poses"
}

# Writer in real time with such a hand; its records in $T/w.out.
writer() {
	hand
	start_in w "$T/poses" piper-can-write "$@" "slcan:$T/bus"
}

older_than() {
	[ $(($(now_ms) - $1)) -ge "$2" ]
}

more_sets() {
	[ "$(grep -c '151#0100' "$T/can.log")" -gt $(($1 + 10)) ]
}

in_state_now() {
	tail -n 1 "$T/w.out" | grep -q "\"gate\":\"$1\""
}

last_says() {
	tail -n 1 "$T/w.out" | grep -q "$1"
}

in_state() {
	grep -q "\"gate\":\"$1\"" "$T/w.out"
}

@test "frames of a set, in order, and the first after the measured pose (G10)" {
	poses 30 -0.0005 >"$T/in"
	piper-can-write --clock input -i "$T/in" - >"$T/can"
	run -0 awk '{ split($3, a, "#"); printf "%s ", a[1] }' "$T/can"
	[[ $output == "152 153 154 151 152 153 154 159 151 152 153 154 159 "* ]]
	[[ $output == *"151 155 156 157 151 155 156 157 " ]]
}

@test "the same input gives the same bytes, records too (G31)" {
	poses 200 -0.001 >"$T/in"
	for i in 1 2; do
		piper-can-write --clock input -i "$T/in" -o "$T/rec$i" - >"$T/can$i"
	done
	cmp "$T/can1" "$T/can2"
	cmp "$T/rec1" "$T/rec2"
	[ "$(grep -c '151#01001900' "$T/can1")" -gt 100 ]
}

@test "ticks fall at the first t plus whole periods (G31)" {
	poses 20 0 5000000 >"$T/in"
	piper-can-write --clock input --rate 50 -i "$T/in" - >"$T/can"
	run -0 awk '/151#0100/ { print $1 }' "$T/can"
	[ "${lines[0]}" = "(0000000005.060000)" ]
	[ "${lines[1]}" = "(0000000005.080000)" ]
}

@test "a recording that begins at time 0 ticks from there (G31)" {
	poses 20 0 0 >"$T/in"
	piper-can-write --clock input --rate 50 -i "$T/in" - >"$T/can"
	run -0 awk '/151#0100/ { print $1 }' "$T/can"
	[ "${lines[0]}" = "(0000000000.060000)" ]
}

@test "a set every period, speed and acceleration within the limits" {
	poses 200 -0.004 >"$T/in"
	piper-can-write --clock input -i "$T/in" -o "$T/rec" - >"$T/can"
	run -0 jq -s -e '[.[] | select(.type == "command" and .set == "run") | .p[0]] as $x
		| [range(1; $x | length) | ($x[.] - $x[. - 1]) * 30] as $v
		| ($v | map(fabs) | max) <= 0.2501 and ($v | map(fabs) | max) > 0.2
		and ([range(1; $v | length) | ($v[.] - $v[. - 1]) * 30 | fabs] | max) <= 2.52' "$T/rec"
}

@test "piper:R18 end of input: a hold set from RUN, exit 0" {
	poses 30 >"$T/in"
	piper-can-write --clock input -i "$T/in" -o "$T/rec" - >"$T/can"
	run -0 jq -r 'select(.type == "command") | .set' "$T/rec"
	[ "${lines[-1]}" = hold ]
}

@test "stop in the input: hold set at its time, exit 5, later poses move nothing" {
	{
		poses 30 -0.001
		stop_line estop 1590000
		poses 100 -0.001 1600000
	} >"$T/in"
	run -5 piper-can-write --clock input -i "$T/in" -o "$T/rec" "$T/can"
	run -0 tail -n 8 "$T/can"
	[[ ${lines[0]} == "(0000000001.590000) can0 151#0101"* ]]
	[ "${#lines[@]}" -eq 8 ]
}

@test "stop hold: HOLD, and without -e only a new start helps" {
	{
		poses 30
		stop_line hold 1590000
		poses 100 0 1600000
	} >"$T/in"
	piper-can-write --clock input -i "$T/in" -o "$T/rec" "$T/can"
	run -0 jq -r 'select(.type == "feedback") | .gate + " " + .why' "$T/rec"
	[[ ${lines[-1]} == "hold needs an engage (stop hold)"*"start anew" ]]
}

@test "valid:false holds; a fresh hand near the arm runs again (auto)" {
	{
		poses 30
		poses 5 0 1600000 false
		poses 30 0 1700000
	} >"$T/in"
	piper-can-write --clock input -i "$T/in" -o "$T/rec" "$T/can"
	run -0 jq -r 'select(.type == "event") | .name' "$T/rec"
	[ "${lines[*]}" = "hold run hold run hold" ]
}

@test "frame vr, NaN, damage and a foreign src are refused; good lines beside them count" {
	{
		poses 10
		echo '{"type":"pose","v":1,"src":"right","seq":1,"t":1190000,"frame":"vr","valid":true,"p":[0,0,0],"q":[0,0,0,1]}'
		echo '{"type":"pose","v":1,"src":"right","seq":1,"t":1190000,"frame":"base","valid":true,"p":[NaN,0,0],"q":[0,0,0,1]}'
		head -c 300 /dev/zero
		echo
		poses 10 0 1200000
	} >"$T/in"
	run -0 --separate-stderr piper-can-write --clock input --stats 1s -i "$T/in" -o "$T/rec" "$T/can"
	[[ $stderr == *"input line 11"* ]]
	run -0 grep -c '"set":"run"' "$T/rec"
	[ "$output" -ge 8 ]
	run -3 piper-can-write --clock input --strict -i "$T/in" -o "$T/rec" "$T/can"
}

@test "wrong usage: exit 2 and one line" {
	for bad in "--rate 0 -" "--rate nan -" "--engage first -" "--engage maybe -" "--pace x -" "--clock input --pace arrival -" \
		"--clock input -e ipc://$T/s -" "--clock input -i ipc://$T/s -" "--speed 0,90 -" \
		"--speed-percent 0 -" "--speed-percent 101 -" "--home 0,0,0 -" "--home 0,300,0,0,0,0 -" \
		"--gripper-effort 9 -" "--max-age 5 -" "--src a/b -" "-i foo -" "-o foo -" "-e foo -" "--clock input -i foo -" "" "can0 can1"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr piper-can-write $bad
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ] || { echo "$bad: $stderr"; return 1; }
	done
	run -2 piper-can-write --clock input -i /dev/null "slcan:$T/none"
}

@test "no such bus: exit 1 in words" {
	run -1 --separate-stderr piper-can-write -i /dev/null nocan7
	[[ $stderr == *nocan7* ]]
	run -1 --separate-stderr piper-can-write -i /dev/null "slcan:$T/none"
	[[ $stderr == *"$T/none"* ]]
}

@test "a full disk for the frames of an ideal arm: exit 1" {
	poses 30 >"$T/in"
	run -1 piper-can-write --clock input -i "$T/in" -o "$T/rec" /dev/full
}

failing_output() {
	poses 30 >"$T/in"
	piper-can-write --clock input -i "$T/in" -o "$T/whole" "$T/can"
	run -1 --separate-stderr piper-can-write --clock input -i "$T/in" -o /dev/full -o "$T/rec" "$T/can"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"/dev/full: No space left on device: no more records there" ]]
	cmp "$T/whole" "$T/rec"
	sim
	hand
	mkfifo "$T/left"
	exec 8<>"$T/left"
	start_in w "$T/poses" piper-can-write -o /dev/full -o "$T/left" -o - "slcan:$T/bus" 8<&-
	wait_for 5 in_state run
	exec 8<&-
	wait_for 5 grep -q "left: its reader is gone: no more records there" "$T/w.err"
	before=$(wc -l <"$T/w.out")
	wait_for 5 eval '[ "$(wc -l <"$T/w.out")" -gt $((before + 50)) ]'
	stop hand
	wait_exit w 5
	[ "$status" -eq 0 ]
	[ "$(grep -c "no more records" "$T/w.err")" -eq 2 ]
}
@test "an output that fails is named once and leaves the others alone (G21)" {
	steady failing_output
}

@test "unixgram: one 16-byte frame a datagram" {
	poses 20 >"$T/in"
	start gram python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(5)
print("ready", flush=True)
f = [s.recv(64) for _ in range(8)]
print(" ".join("%d:%03X" % (len(x), int.from_bytes(x[:4], "little")) for x in f))
' "$T/gram"
	wait_for 5 grep -q ready "$T/gram.out"
	piper-can-write --clock input -i "$T/in" -o "$T/rec" "unixgram:$T/gram"
	wait_exit gram 5
	run -0 tail -n 1 "$T/gram.out"
	[ "$output" = "16:152 16:153 16:154 16:151 16:152 16:153 16:154 16:159" ]
}

@test "silent arm: exit 14 without having sent anything" {
	sim --mute
	mkfifo "$T/poses"
	exec 9<>"$T/poses"
	run -14 --separate-stderr piper-can-write "slcan:$T/bus" <"$T/poses" 3>&-
	[[ $stderr == *"nothing heard"* ]]
	run ! grep -q '#01' "$T/can.log"
}

whole_run() {
	sim --log-feedback
	writer
	wait_for 8 in_state run
	stop hand
	wait_exit w 5
	[ "$status" -eq 0 ]
	stop sim
	wait_exit sim 5
	run -0 grep ' 0 violations' "$T/can.log"
	[ ! -s "$T/w.err" ]
}
@test "onto a simulated arm: enables, runs, holds at the end of input, no violation" {
	steady whole_run
}

usr1_stops() {
	sim
	writer
	wait_for 8 in_state run
	stop w USR1
	wait_for 5 in_state estop
	stop hand
	wait_exit w 5
	[ "$status" -eq 5 ]
	grep -q "signal USR1" "$T/w.err"
}
@test "SIGUSR1 is an e-stop; end of input then exits 5" {
	steady usr1_stops
}

term_holds() {
	sim
	writer
	wait_for 8 in_state run
	stop w
	wait_exit w 5
	[ "$status" -eq 143 ]
	run -0 tail -n 1 "$T/w.out"
	grep -q '"set":"hold"' <(tail -n 6 "$T/w.out")
}
@test "piper:R18 SIGTERM: a hold set, then the end by the signal" {
	steady term_holds
}

frozen() {
	sim
	writer
	wait_for 8 in_state run
	stop w STOP
	wait_for 5 grep -q 'T (stopped)' "/proc/${PIDS[w]}/status"
	before=$(wc -l <"$T/w.out")
	wait_for 5 older_than "$(now_ms)" 400
	stop w CONT
	wait_for 5 grep -q '"freeze"' "$T/w.out"
	wait_for 5 last_says "needs an engage"
	run -0 jq -s -e 'map(select(.type == "command" and .set == "run") | .age_us) | max <= 100000' "$T/w.out"
	[ "$(tail -n "+$((before + 1))" "$T/w.out" | grep -c '"set":"run"')" -eq 0 ]
}
@test "frozen and continued: a freeze, HOLD, no command older than 100 ms (G6, G7)" {
	steady frozen
}

reader_dies() {
	sim
	mkfifo "$T/rec"
	start_in reader "$T/rec" head -n 50
	hand
	start w bash -c 'exec piper-can-write "slcan:$1" <"$2" >"$3"' - "$T/bus" "$T/poses" "$T/rec"
	wait_exit reader 10
	read -r frames < <(grep -c '151#0100' "$T/can.log")
	wait_for 5 more_sets "$frames"
	stop hand
	wait_exit w 5
	[ "$status" -eq 0 ]
	[ ! -s "$T/w.err" ]
}
@test "a reader of the records that dies does not matter (G21)" {
	steady reader_dies
}

second_writer() {
	sim
	writer
	wait_for 8 in_state run
	run -18 --separate-stderr piper-can-write -i /dev/null "slcan:$T/bus" 3>&-
	[[ $stderr == *"another piper-can-write"* ]]
}
@test "a second writer on the same bus: exit 18; --stop ignores the lock" {
	steady second_writer
}

one_stop() {
	sim --enabled --log-feedback
	run -0 piper-can-write --stop "slcan:$T/bus" 3>&-
	wait_for 5 grep -q '157#' "$T/can.log"
	run -0 awk '/ (15[0-9A-F])#/ { split($3, a, "#"); printf "%s ", a[1] }' "$T/can.log"
	[ "$output" = "151 155 156 157 " ]
	stop sim
	wait_exit sim 5
	rm -f "$T/sim.ready"
	sim --mute
	run -1 --separate-stderr piper-can-write --stop "slcan:$T/bus" 3>&-
	[[ $stderr == *"nothing sent"* ]]
}
@test "--stop: one hold set at the measured joints; nothing without feedback (G19)" {
	steady one_stop
}

goes_to_ready() {
	sim --start 20,60,-60,0,40,0
	mkfifo "$T/poses"
	start_in w "$T/poses" piper-can-write --ready "slcan:$T/bus"
	exec 9>"$T/poses"
	wait_for 15 in_state hold
	exec 9>&-
	wait_exit w 5
	[ "$status" -eq 0 ]
	run -0 jq -s -e '(map(select(.kind == "joint")) | last | .j) as $j
		| ($j[1] * 57.29578 - 86 | fabs) < 1.2 and ($j[0] | fabs) < 0.03
		and (map(select(.set == "ready")) | length) > 20
		and (map(select(.set == "ready") | .lead_m) | max) <= 0.0375' "$T/w.out"
}
@test "--ready: goes there before the first hold (G12)" {
	steady goes_to_ready
}

@test "--idle-timeout: holds and exits 4" {
	sim
	mkfifo "$T/poses"
	start_in w "$T/poses" piper-can-write --idle-timeout 500ms "slcan:$T/bus"
	exec 9>"$T/poses"
	wait_exit w 5
	exec 9>&-
	[ "$status" -eq 4 ]
}

stop_channel() {
	sim
	mkfifo "$T/op"
	writer -e "ipc://$T/s" --engage first
	start_in op "$T/op" estop -e "ipc://$T/s" --src op --live -i -
	exec 9>"$T/op"
	wait_for 8 last_says "needs an engage (start)"
	wait_for 5 eval 'echo engage >&9; in_state run'
	echo stop >&9
	wait_for 5 in_state estop
	echo reset >&9
	wait_for 5 grep -q 'a hand is valid' "$T/w.out"
	stop hand
	exec 9>&-
	wait_exit w 5
	[ "$status" -eq 5 ]
}
@test "stop channel: estop, reset and engage over nng (G22-G25)" {
	steady stop_channel
}

@test "gate:G22 peers that leave in the handshake do not deafen the stop channel" {
	sim
	mkfifo "$T/poses" "$T/beats"
	start_in w "$T/poses" piper-can-write -e "ipc://$T/s" "slcan:$T/bus"
	exec 9>"$T/poses"
	wait_for 8 in_state hold
	for _ in 1 2 3 4 5; do
		python3 -c '
import socket, sys
for _ in range(4):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.close()' "$T/s"
		run -0 estop -e "ipc://$T/s" hold
	done
	run -0 estop -e "ipc://$T/s" stop
	wait_for 1 in_state estop
	exec 9>&-
	wait_exit w 5
	[ "$status" -eq 5 ]
}

@test "an input that cannot be read: exit 1 in words" {
	run -1 --separate-stderr piper-can-write "$T/can" <"$T"
	[[ $stderr == *"irectory"* ]]
	run -1 --separate-stderr piper-can-write --clock input "$T/can" <"$T"
	[[ $stderr == *"irectory"* ]]
}

@test "gate:G16 gate:G18 the input ends while the arm is silent: the hold set goes out with the first fresh joints" {
	mkfifo "$T/ctl"
	rm -f "$T/ctl"
	sim --control "$T/ctl"
	writer
	wait_for 8 in_state run
	wait_for 2 older_than "$(now_ms)" 1800
	echo "mute 130ms" >"$T/ctl"
	wait_for 1 in_state_now hold
	stop hand
	wait_exit w 5
	grep -q '"set":"hold"' "$T/w.out" || grep -q "not told to hold" "$T/w.err"
}

@test "gate:G17 gate:G19 --stop leaves an arm alone that is not enabled" {
	sim
	run -0 piper-can-write --stop "slcan:$T/bus" 3>&-
	run ! grep -q '157#' "$T/can.log"
}
