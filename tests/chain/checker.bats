#!/usr/bin/env bats
# The judge itself: a run made by hand is clean, and each breach put into it is named.
load ../lib/helpers

# Joints (0 86 -45 0 24 0) degrees and their flange pose, in wire units.
READY=(0 86000 -45000 0 24000 0)
FLANGE=(280071 0 198997 180000 30000 180000)

# frame US ID BYTES...: integers of 4 bytes when above 255 or given as =N, else single bytes.
frame() {
	local t=$1 id=$2 data='' v
	shift 2
	for v in "$@"; do
		if [[ $v == =* ]]; then
			printf -v v %08X $((${v#=} & 0xffffffff))
		else
			printf -v v %02X "$v"
		fi
		data+=$v
	done
	printf '(%d.%06d) can0 %s#%s\n' $((t / 1000000)) $((t % 1000000)) "$id" "$data"
}

joints() { # US ID-BASE J1..J6
	local t=$1 base=$2 k id
	shift 2
	for k in 0 1 2; do
		printf -v id %03X $((base + k))
		frame "$t" "$id" "=$1" "=$2"
		shift 2
	done
}

triple() { # US X Y Z RX RY RZ
	frame "$1" 152 "=$2" "=$3"
	frame "$1" 153 "=$4" "=$5"
	frame "$1" 154 "=$6" "=$7"
}

measured() {
	joints "$1" $((0x2A5)) "${READY[@]}"
}

run_set() { # US DX-um
	frame "$1" 151 1 0 25 0 0 0 0 0
	triple "$1" $((FLANGE[0] + $2)) "${FLANGE[@]:1}"
	frame "$1" 159 =35000 3 232 1 0
}

hold_set() {
	frame "$1" 151 1 1 25 0 0 0 0 0
	joints "$1" $((0x155)) "${READY[@]}"
}

told() { # SEQ US SET [DX-um]
	local x
	if [ "$3" = run ]; then
		printf -v x '0.%06d000' $((FLANGE[0] + $4))
		printf '{"type":"command","v":1,"src":"arm0","seq":%d,"t":%d,"set":"run","p":[%s,0,0.198997],"q":[0,0.9659258262890683,0,0.25881904510252074],"grip":0.5,"age_us":10000,"lead_m":0,"lead_rad":0}\n' \
			"$1" $(($2 - 10000)) "$x"
	else
		printf '{"type":"command","v":1,"src":"arm0","seq":%d,"t":%d,"set":"hold","j":[0,1.5009831567151235,-0.7853981633974483,0,0.41887902047863906,0],"age_us":10000,"lead_m":0,"lead_rad":0}\n' \
			"$1" $(($2 - 10000))
	fi
}

gate() { # SEQ US GATE RUNS
	printf '{"type":"feedback","v":1,"src":"arm0","seq":%d,"t":%d,"kind":"status","state":"ready","gate":"%s","why":"","runs":%d}\n' "$@"
}

# A clean run: 400 ms of feedback, init, a move of 24 mm under speed and acceleration, a hold.
setup() {
	local t=0 dx=0 step k=0
	while [ $t -lt 400000 ]; do
		measured $t
		t=$((t + 20000))
	done >"$T/log"
	{
		frame $t 4AF 1 0 0 0 0 0 0 0
		frame $t 471 7 2 0 0 0 0 0 0
		hold_set $t
		measured $t
		t=$((t + 33333))
		triple $t "${FLANGE[@]}"
		for step in 2000 4000 6000 6000 4000 2000; do
			dx=$((dx + step))
			run_set $t $dx
			measured $((t + 5000))
			t=$((t + 33333))
		done
		hold_set $t
		frame $((t + 1000)) 2A1 1 0 1 0 0 0 0 0
	} >>"$T/log"
	t=433333 dx=0
	{
		gate 0 420000 hold 0
		gate 1 430000 run 1
		for step in 2000 4000 6000 6000 4000 2000; do
			dx=$((dx + step))
			told $k $t run $dx
			k=$((k + 1))
			t=$((t + 33333))
		done
		gate 2 $t hold 1
		told $k $t hold
	} >"$T/rec"
	OPTS=(--mode sim)
}

# judge: runs the checker on $T/log.
judge() {
	run "$TP/checker" "${OPTS[@]}" "$@" "$T/log"
}

# names TEXT [OPTIONS]: at least one breach, and one that says TEXT.
names() {
	local text=$1
	shift
	judge "$@"
	[ "$status" -eq 1 ] && [[ "$output" == *"$text"* ]] && return
	echo "status $status, wanted: $text"
	echo "$output"
	return 1
}

# only TEXT: exactly that one.
only() {
	names "$@" || return
	[ "${#lines[@]}" -eq 2 ] && return
	echo "more than one:"
	echo "$output"
	return 1
}

# Lines of the log, 1-based, by id and count: nth ID N.
nth() {
	grep -n " $1#" "$T/log" | sed -n "${2}s/:.*//p"
}

cut_line() {
	sed -i "${1}d" "$T/log"
}

after() { # LINE TEXT
	sed -i "${1}a $2" "$T/log"
}

@test "a clean run has no breach, and the summary tells its maxima" {
	judge
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"sets 6 holds 1 repeats 1 "* ]]
	[[ "$output" == *"speed_mm_s 180.00 accel_m_s2 1.800 "* ]]
	[[ "$output" == *"lead_mm 24.00 "* ]]
	judge --records "$T/rec"
	[ "$status" -eq 0 ]
	[[ "$output" == *"age_ms 10.0 breaches 0"* ]]
}

@test "torn sets: each frame of a set left out, and two swapped" {
	local id n=0
	for id in 151 152 153 154 159; do
		setup
		n=3
		[ $id = 151 ] && n=4 # one of them is MOVE J
		[ $id = 152 ] || [ $id = 153 ] || [ $id = 154 ] && n=4 # and one the opening
		cut_line "$(nth $id $n)"
		names "torn" || { echo "without $id"; false; }
	done
	setup
	n=$(nth 153 4)
	sed -i "${n}{h;d};$((n + 1)){G}" "$T/log"
	names "torn set begun at line"
	for id in 155 156 157; do
		setup
		cut_line "$(nth $id 2)"
		names "torn joint set" || { echo "without $id"; false; }
	done
}

@test "a log that ends inside a set" {
	sed -i "$(($(nth 153 5) + 1)),\$d" "$T/log"
	only "torn set: the log ends where 0x154 belongs"
}

@test "a set that a hold set overtook is whole when its frames follow" {
	local n
	n=$(nth 153 7)
	hold_set 600000 >"$T/hold"
	sed -i "${n}r $T/hold" "$T/log"
	judge
	[ "$status" -eq 0 ]
}

@test "0x151 keeps its content" {
	sed -i "$(nth 151 5)s/#01001900/#01003200/" "$T/log"
	names "0x151 changed its content (speed 50, was 25)"
}

@test "outside the box, for flange and tip; inside the radius; out of the cone" {
	names "flange outside the box: x 302.071 mm, by 2.071 mm" --box -400,300,-400,400,50,700
	names "flange outside the box: z 198.997 mm, by 0.097 mm" --box -400,400,-400,400,50,198.9
	names "tip outside the box: z 73.423 mm, by 0.577 mm" --tool 0,0,0.145 --box -400,400,-400,400,74,700
	names "inside the keep-out radius: 282.071 mm" --radius 283
	names "tilt 30.000 degrees, by 1.000" --tilt 29,0,0,-1
	names "tilt 60.000 degrees, by 1.000" --tilt 59,1,0,0
	judge --tilt 31,0,0,-1 --radius 280 --tool 0,0,0.145 --box -400,400,-400,400,73,700
	[ "$status" -eq 0 ]
}

@test "speed and acceleration, linear and angular" {
	names "speed 180.002 mm/s, by 30.002" --speed 150
	names "acceleration 1.800 m/s2, by 0.600" --accel 1.2 --jitter 0
	sed -i "$(nth 154 4)s/154#00007530/154#00007D00/" "$T/log" # 2 degrees at once
	names "angular speed 60.001 deg/s, by 10.001" --aspeed 50 --jitter 0
	names "angular acceleration 31.417 rad/s2, by 16.417" --jitter 0
}

@test "nothing is judged across a gap: after a HOLD motion begins anew" {
	local n
	n=$(nth 151 5)
	sed -i "${n},$((n + 4))d" "$T/log" # one set left out: a pause of two periods is judged
	judge
	[ "$status" -eq 0 ]
}

@test "lead over the measured pose, and old or missing measurements" {
	names "lead 24.000 mm, by 4.000 mm" --lead 20
	sed -i '/ 2A6#/d' "$T/log"
	names "run set without measured joints"
	setup
	n=$(nth 151 4)
	sed -i "$((n - 8)),$((n - 1))"'{/ 2A5#/d}' "$T/log"
	names "newest measured joints are"
}

@test "a hold set stands at the measured joints" {
	sed -i "$(nth 156 2)s/#FFFF5038/#FFFF5039/" "$T/log"
	only "hold set is not at the measured joints"
}

@test "the first set after MOVE J begins with the measured pose" {
	local n
	n=$(nth 152 1)
	sed -i "${n},$((n + 2))d" "$T/log"
	only "does not begin with the measured pose"
	setup
	n=$(nth 152 1)
	sed -i "${n}s/00044607/00044907/" "$T/log"
	names "opening pose is not the measured one"
}

@test "frames a writer never sends" {
	local f
	for f in 150#0200000000000000 150#0100000000000000 471#0701000000000000 474#0100000000000000 \
		475#01AE000000000000 470#FC00000000000000 477#0002000000000000 47A#0101010101010000 \
		47D#6446000000000000 479#0000000000000000 487#0101010101010000 15A#8000800800800000 \
		181#77706F0000000000 191#0101010000000000 158#0100000000000000 151#0104190000000000 \
		151#010019AD00000000 422#0000000000000000; do
		setup
		after "$(nth 2A1 1)" "(0.640000) can0 $f"
		names "forbidden frame 0x${f%%#*}" || { echo "$f"; false; }
	done
	setup
	after "$(nth 2A1 1)" "(0.640000) can0 150#0100000000000000"
	judge --damp
	[ "$status" -eq 0 ]
}

@test "nothing is sent before 300 ms of feedback" {
	sed -i "1,$(nth 2A7 8)d" "$T/log"
	only "0x4AF sent 240 ms after the first feedback"
}

@test "command records: age, gate, values, one for each set" {
	sed -i 's/"seq":3,\(.*\)"age_us":10000/"seq":3,\1"age_us":110000/' "$T/rec"
	names "was 110.0 ms old when written" --records "$T/rec"
	setup
	sed -i 's/"gate":"run"/"gate":"hold"/' "$T/rec"
	names 'run set while the gate is "hold"' --records "$T/rec"
	setup
	sed -i '4s/0\.286071000/0.286071600/' "$T/rec"
	only "differ by 0.600 um" --records "$T/rec"
	setup
	sed -i '4s/0\.258819045/0.258869045/' "$T/rec"
	names "differ by 0.000 um, 5.5" --records "$T/rec"
	setup
	sed -i '4s/"grip":0.5/"grip":0.6/' "$T/rec"
	only "gripper 35000 um, command record of line 4 says 42000.0" --records "$T/rec"
	setup
	sed -i '4d' "$T/rec"
	names "run set without a command record" --records "$T/rec"
	setup
	sed -i '$d' "$T/rec"
	told 7 700000 run 1000 >>"$T/rec"
	names "has no set on the bus" --records "$T/rec"
}

@test "an ideal arm: commands only, at tick times" {
	sed -i '/ 2A[1567]#/d' "$T/log"
	# The closing hold stands at the pose last commanded, not at the start.
	names "hold set is not at the measured joints" --mode ideal && false
	n=$(nth 151 8)
	sed -i "${n},\$d" "$T/log"
	judge --mode ideal
	[ "$status" -eq 0 ]
	[[ "$output" == *"sets 6 holds 1"* ]]
}

@test "unreadable input and wrong usage exit 2" {
	echo "not a frame" >>"$T/log"
	judge
	[ "$status" -eq 2 ]
	run "$TP/checker"
	[ "$status" -eq 2 ]
	run "$TP/checker" --speed fast "$T/log"
	[ "$status" -eq 2 ]
}

@test "acceleration that gives way to the lead bound is counted, not a breach" {
	judge --accel 1.2 --jitter 0 --lead 24.001
	[ "$status" -eq 1 ]
	[[ "$output" == *"gave_way 1 age"* ]]
}
