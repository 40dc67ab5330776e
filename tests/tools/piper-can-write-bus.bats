#!/usr/bin/env bats
# shellcheck disable=SC2016
# What piper-can-write does to a bus that is slow, hung or full of noise, and at which pace.
export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-240}
load ../lib/helpers

arm() {
	mkfifo "$T/orders"
	start_in arm "$T/orders" "$TP/plain_arm" "$T/bus"
	exec 8>"$T/orders"
	wait_for 5 grep -q ready "$T/arm.err"
}

# A hand in real time from the FIFO $T/poses: 3 cm to and fro within 4 s, a pose each $EVERY s.
EVERY=0.02
hand() {
	mkfifo "$T/poses"
	start hand python3 -u -c '
import math, sys, time
sys.stdout = open(sys.argv[1], "w", buffering=1)
t0 = time.monotonic()
i = 0
while True:
    now = time.monotonic()
    x = 0.28 - 0.03 * math.sin(max(0, now - t0 - 1.2) * 1.57) ** 2
    print("""{"type":"pose","v":1,"src":"right","seq":%d,"t":%d,"frame":"base","valid":true,"p":[%.9f,0.000000000,0.199000000],"q":[0.000000000,0.965925826,0.000000000,0.258819045],"grip":0.500000000}""" % (i, now * 1e6, x))
    i += 1
    time.sleep(max(0, t0 + i * float(sys.argv[2]) - time.monotonic()))
' "$T/poses" "$EVERY"
}

writer() {
	hand
	start_in w "$T/poses" piper-can-write --stats 3600s "$@" "slcan:$T/bus"
}

in_state() {
	grep -q "\"gate\":\"$1\"" "$T/w.out"
}

frames() {
	[ "$(grep -c " $1 " "$T/arm.out")" -ge "$2" ]
}

lasted() {
	[ $(($(now_ms) - $1)) -ge "$2" ]
}

# ids_of FILE: the ids of the motion frames in it, in their order.
ids_of() {
	awk '$2 ~ /^15[1-79]$/ { printf "%s ", $2 }' "$1"
}

whole_sets() {
	arm
	writer
	wait_for 8 in_state run
	wait_for 8 frames 159 30
	# A set takes 75 ms: more than two ticks.
	echo "slow 15000" >&8
	before=$(wc -l <"$T/arm.out")
	wait_for 20 frames 159 60
	stop w KILL
	wait_exit w 3
	tail -n "+$((before + 1))" "$T/arm.out" >"$T/slow"
	run -0 ids_of "$T/slow"
	[ "${#output}" -gt 400 ]
	# Nothing torn, nothing doubled: after the set that was under way only whole sets.
	left=${output#*159 }
	whole='151 152 153 154 159 '
	while [[ $left == "$whole"* ]]; do
		left=${left#"$whole"}
	done
	[[ $whole == "$left"* ]]
	# Sets that found no room were not queued: of those written at most one has not arrived. (The
	# first 0x159 enabled the gripper.)
	written=$(grep -c '"set":"run"' "$T/w.out")
	arrived=$(($(grep -c ' 159 ' "$T/arm.out") - 1))
	echo "# $written written, $arrived arrived"
	[ $((written - arrived)) -le 1 ]
}
@test "gate:G11 piper:R13 piper:R14 a slow adapter: whole sets, one at a time, each with the newest pose" {
	steady whole_sets
}

stop_overtakes() {
	arm
	writer
	wait_for 8 in_state run
	echo "slow 15000" >&8
	wait_for 20 frames 159 60
	stop w USR1
	wait_for 3 frames 157 2
	began=$(now_ms)
	wait_for 2 lasted "$began" 300
	run -0 awk '{ print $2 " " $3 }' "$T/arm.out"
	n=${#lines[@]}
	[[ ${lines[n - 8]} == "151 0101"* && ${lines[n - 4]} == "151 0101"* ]]
	[ "${lines[n - 7]} ${lines[n - 6]} ${lines[n - 5]}" = "${lines[n - 3]} ${lines[n - 2]} ${lines[n - 1]}" ]
	# At most the set that was under way came before it.
	stopped=$(jq -r 'select(.set == "hold") | .t' "$T/w.out" | head -n 1)
	run -0 awk -v t="$stopped" '$1 > t && $2 ~ /^15/ { if ($2 == "155") { print n + 0; exit } n++ }' "$T/arm.out"
	echo "# $output frames between"
	[ "$output" -le 6 ]
}
@test "gate:G15 stopped behind a slow adapter: the hold set overtakes, comes twice, and has the last word" {
	steady stop_overtakes
}

stop_in_time() {
	arm
	writer
	wait_for 8 in_state run
	echo "slow 1000" >&8
	wait_for 20 frames 159 60
	stop w USR1
	wait_for 2 frames 157 1
	stopped=$(jq -r 'select(.set == "hold") | .t' "$T/w.out" | head -n 1)
	arrived=$(awk '$2 == "157" { print $1; exit }' "$T/arm.out")
	echo "# $((arrived - stopped)) us" >&3
	[ $((arrived - stopped)) -le 33000 ]
}
@test "gate:G14 a slow adapter (1 ms a frame): the hold set is on the wire within 33 ms" {
	steady stop_in_time
}

steady_tick() {
	arm
	writer
	wait_for 8 in_state run
	wait_for 10 frames 159 120
	run -0 jq -s -e 'map(select(.set == "run") | .t + .age_us) | [range(1; length) as $i | .[$i] - .[$i - 1]]
		| sort | .[length / 2 | floor] as $mid | $mid > 33000 and $mid < 33700' "$T/w.out"
	run -0 jq -s -e 'map(select(.set == "run") | .age_us) | sort | .[length / 2 | floor] < 21000' "$T/w.out"
}
@test "piper:R23 a steady tick: 30 sets a second, the newest pose in each" {
	steady steady_tick
}

pace_arrival() {
	arm
	EVERY=0.04
	writer --pace arrival
	wait_for 8 in_state run
	wait_for 10 frames 159 60
	run -0 jq -s -e 'map(select(.set == "run") | .t + .age_us) | [range(1; length) as $i | .[$i] - .[$i - 1]] | min >= 33333' "$T/w.out"
	# A pose each 40 ms: the period of 33 ms is over, each goes at once.
	run -0 jq -s -e 'map(select(.set == "run") | .age_us) | sort | .[length / 2 | floor] < 5000' "$T/w.out"
}
@test "--pace arrival: with the pose as it comes, never sooner than a period" {
	steady pace_arrival
}

junk() {
	arm
	writer
	wait_for 8 in_state run
	echo junk >&8
	wait_for 20 frames 159 60
	[[ $(tail -n 1 "$T/w.out") == *'"gate":"run"'* ]]
	stop w
	wait_exit w 3
	run -0 bash -c 'tail -n 1 "$1" | jq .unknown' - "$T/w.err"
	[ "$output" -gt 100 ]
}
@test "piper:R25 frames nobody knows and undefined bytes are counted, not fatal" {
	steady junk
}

gripper() {
	arm
	writer
	wait_for 8 frames 159 40
	most=0 last=''
	while read -r _ _ data; do
		[ "${data:8:6}" = 03E801 ] # 1 N m, enabled
		width=$((16#${data:0:8}))
		[ -n "$last" ] || [ "$width" -eq 23000 ]
		[ $((width - ${last:-$width})) -le "$most" ] || most=$((width - last))
		last=$width
	done < <(grep ' 159 ' "$T/arm.out")
	[ "$last" -eq 35000 ]
	# 2 openings of 70 mm a second, 30 times a second; a tick may come late.
	[ "$most" -le 9400 ]
}
@test "piper:R21 the gripper is enabled at the width it has, then moves at its rate" {
	steady gripper
}

@test "piper:R11 q and -q give the same frames" {
	for sign in '' -; do
		awk -v s="$sign" 'BEGIN { for (i = 0; i < 60; i++)
			printf "{\"type\":\"pose\",\"v\":1,\"src\":\"right\",\"seq\":%d,\"t\":%d,\"frame\":\"base\",\"valid\":true,\"p\":[0.280000000,%.9f,0.199000000],\"q\":[0.000000000,%s0.965925826,0.000000000,%s0.258819045]}\n", i, 1e6 + 2e4 * i, i * 1e-4, s, s }' >"$T/in"
		piper-can-write --clock input -i "$T/in" "$T/can$sign"
	done
	cmp "$T/can" "$T/can-"
	[ "$(wc -l <"$T/can")" -gt 100 ]
}

@test "gate:G30 an ideal arm starts at --home and is where it was sent" {
	awk 'BEGIN { for (i = 0; i < 60; i++)
		printf "{\"type\":\"pose\",\"v\":1,\"src\":\"right\",\"seq\":%d,\"t\":%d,\"frame\":\"base\",\"valid\":true,\"p\":[0.280000000,%.9f,0.199000000],\"q\":[0.000000000,0.965925826,0.000000000,0.258819045]}\n", i, 1e6 + 2e4 * i, i * 1e-4 }' >"$T/in"
	piper-can-write --clock input -i "$T/in" -o "$T/rec" "$T/can"
	run -0 jq -s -e '(map(select(.kind == "joint")) | first | .j) as $j | ($j[1] * 57.29577951 - 86 | fabs) < 1e-6
		and (map(select(.set == "run")) | length > 30 and (last | .p[1]) > 0.005)
		and ((map(select(.kind == "cartesian")) | last | .p[1]) - (map(select(.set == "run")) | last | .p[1]) | fabs) < 1e-6' "$T/rec"
	run -0 piper-can-write --clock input --home 20,60,-60,0,40,0 -i "$T/in" -o "$T/rec" "$T/can"
	run ! grep -q '"set":"run"' "$T/rec"
	grep -q 'mm from the arm' "$T/rec"
}
