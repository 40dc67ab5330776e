#!/usr/bin/env bats
# Recorded hands through the whole chain, judged by tests/lib/checker: no set torn, nothing outside
# the box, nothing above speed or acceleration, nothing farther ahead of the arm than L.
#
# The clamp's cone (--tilt, round the direction that the tool has at the start) keeps the turns of a
# free hand within the arm's reach; what is judged is the box.
export BATS_TEST_TIMEOUT=${TELEOP_LONG:+900}
BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-180}
load ../lib/helpers
load ../lib/chain

FREE=(--preset piper)
NARROW=(--preset piper --x '230,330' '--y=-60,60' --z '150,250')
NARROW_BOX=('--box=230,330,-60,60,150,250')
START='0.5,0,-0.866' # where the tool points at the start

# The tools built by the other compiler, with the flags of tests/lint/compilers.t: built once.
build_other() {
	OTHER=clang
	[[ ${TELEOP_CC:-gcc} != *clang* ]] || OTHER=gcc
	local tools=(rctp-recv pose-xform clamp piper-can-write)
	make -s -C "$TOP" -j2 BUILD="build-$OTHER" CC="$OTHER" CFLAGS='-O2 -g -Werror' LDFLAGS='' \
		"${tools[@]/#/build-$OTHER/bin/}"
}

# session FILE TILT CLAMP... -- POSE-XFORM...: sets SESSION, CLAMP and XFORM
session() {
	SESSION=$1
	local tilt=$2
	shift 2
	CLAMP=(--tilt "$tilt,$START") XFORM=()
	while [ "$1" != -- ]; do
		CLAMP+=("$1")
		shift
	done
	shift
	XFORM=("$@")
}

# ideal NAME BIN: onto the ideal arm by the input's clock; $T/NAME.log and .rec
ideal() {
	local bin=$2
	"$bin/rctp-recv" -i "$VECTOR" --clock input | "$bin/pose-xform" "${XFORM[@]}" |
		"$bin/clamp" "${CLAMP[@]}" |
		"$bin/piper-can-write" --clock input --engage-within 0.5,180 -o "$T/$1.rec" - \
			>"$T/$1.log"
}

# judge LEAST CHECKER-OPTION...: at least that many sets, no breach; the summary as a comment
judge() {
	local least=$1 sets rc=0
	shift
	"$TP/checker" "$@" >"$T/verdict" || rc=$?
	cat "$T/verdict"
	sed -n "s/^summary/# $SESSION:/p" "$T/verdict" >&3
	sets=$(sed -n 's/^summary sets \([0-9]*\).*/\1/p' "$T/verdict")
	[ "$rc" -eq 0 ] && [ "$sets" -ge "$least" ]
}

# same_and_clean LEAST CHECKER-OPTION...
same_and_clean() {
	local least=$1 name
	shift
	set -o pipefail
	vectors "rctp-session-$SESSION.bin"
	build_other
	ideal one "$BIN"
	ideal two "$BIN"
	ideal other "$TOP/build-$OTHER/bin"
	for name in two other; do
		cmp "$T/one.log" "$T/$name.log"
		cmp "$T/one.rec" "$T/$name.rec"
	done
	judge "$least" --mode ideal "$@" --records "$T/one.rec" "$T/one.log"
}

@test "gate:G31 avp-franka, absolute: same bytes in two runs and from two compilers, no breach" {
	session avp-franka 15 "${FREE[@]}" -- --scale 0.4 --offset 0,0,0.2 --rot-offset 0,180,0
	same_and_clean 300
}

@test "gate:G31 avp-franka, absolute, pressed against the walls of a narrow box" {
	session avp-franka 20 "${NARROW[@]}" -- --offset=-0.2,0,0.2 --rot-offset 0,180,0
	same_and_clean 300 "${NARROW_BOX[@]}"
}

@test "gate:G31 quest2-unity, absolute" {
	session quest2-unity 25 "${FREE[@]}" -- --axes unity --scale 0.3 --offset 0.25,0,-0.3 --rot-offset 0,150,0
	same_and_clean 1000
}

@test "gate:G31 quest2-unity, relative" {
	session quest2-unity 25 "${FREE[@]}" -- --axes unity --relative --scale 0.3
	same_and_clean 2500
}

@test "gate:G31 quest2-unity, relative, pressed against the walls of a narrow box" {
	session quest2-unity 20 "${NARROW[@]}" -- --axes unity --relative
	same_and_clean 2500 "${NARROW_BOX[@]}"
}

@test "gate:G31 quest2-tool, relative" {
	session quest2-tool 25 "${FREE[@]}" -- --relative --scale 0.3
	same_and_clean 1800
}

@test "gate:G31 quest2-tool, relative, turned, pressed against the walls of a narrow box" {
	session quest2-tool 20 "${NARROW[@]}" -- --relative --scale 2 --yaw 37
	same_and_clean 800 "${NARROW_BOX[@]}"
}

@test "gate:G31 quest2-truth, relative" {
	session quest2-truth 25 "${FREE[@]}" -- --relative --scale 0.3
	same_and_clean 1800
}

@test "gate:G31 quest2-truth, relative, pressed against the walls of a narrow box" {
	session quest2-truth 20 "${NARROW[@]}" -- --relative
	same_and_clean 1800 "${NARROW_BOX[@]}"
}

@test "gate:G31 leap-grab, relative, with its gripper" {
	session leap-grab 25 "${FREE[@]}" -- --relative --scale 0.5
	same_and_clean 90
}

# In real time onto piper-sim, at most this many packets of the session.  A run with too few sets
# (the machine was held up) is repeated, twice at most.
real_time() {
	local packets=$1 least=$2 try
	vectors "rctp-session-$SESSION.bin"
	[ -n "${D:-}" ] || own_folder
	head -c $((45 * packets)) "$VECTOR" >"$D/cut.bin"
	for try in 1 2 3; do
		arm_up
		rctp-recv -i "$D/cut.bin" -e "ipc://$D/stop" |
			pose-xform "${XFORM[@]}" | clamp "${CLAMP[@]}" |
			piper-can-write --engage-within 0.5,180 -e "ipc://$D/stop" \
				-o "$D/rec" -o "ipc://$D/fb" "slcan:$D/arm"
		arm_down
		run ! grep ' violation ' "$D/bus.log"
		"$TP/checker" --mode sim --records "$D/rec" "$D/bus.log" >"$T/verdict"
		[ "$(sed -n 's/^summary sets \([0-9]*\).*/\1/p' "$T/verdict")" -lt "$least" ] || break
		echo "# $SESSION: run $try was held up" >&3
	done
	judge "$least" --mode sim --records "$D/rec" "$D/bus.log"
}

# bats test_tags=safety
@test "gate:G8 avp-franka in real time: nothing farther ahead of the measured pose than L" {
	session avp-franka 15 "${FREE[@]}" -- --scale 0.4 --offset 0,0,0.2 --rot-offset 0,180,0
	real_time "$([ -n "${TELEOP_LONG:-}" ] && echo 1870 || echo 1000)" 150
}

long_only() {
	[ -n "${TELEOP_LONG:-}" ] || skip "a whole session in real time: make check-long"
}

# bats test_tags=safety,slow
@test "gate:G8 gate:G27 quest2-unity in real time, relative to the arm: nothing farther ahead than L" {
	long_only
	own_folder
	session quest2-unity 25 "${FREE[@]}" -- --axes unity --relative --scale 0.3 --arm "ipc://$D/fb"
	real_time 9874 2000
}

# bats test_tags=safety,slow
@test "gate:G8 quest2-tool in real time: nothing farther ahead than L" {
	long_only
	session quest2-tool 25 "${FREE[@]}" -- --relative --scale 0.3
	real_time 8534 2000
}

# bats test_tags=safety,slow
@test "gate:G8 quest2-truth in real time: nothing farther ahead than L" {
	long_only
	session quest2-truth 25 "${FREE[@]}" -- --relative --scale 0.3
	real_time 3555 2000
}

# bats test_tags=safety,slow
@test "gate:G8 leap-grab in real time: nothing farther ahead than L" {
	long_only
	session leap-grab 25 "${FREE[@]}" -- --relative --scale 0.5
	real_time 374 60
}
