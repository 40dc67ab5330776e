#!/usr/bin/env bats
# Any stage can be another program, a file, or lie behind an nng endpoint.
# shellcheck disable=SC2030,SC2031
export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-120}
load ../lib/helpers
load ../lib/chain

XFORM=('--offset=-0.12,0.1,-0.901' --rot-offset '0,150,0')

setup() {
	set -o pipefail
	own_folder
	rctp-send --motion reach --time 6s --speed 0 -o "$D/hand.bin"
}

source_() {
	rctp-recv -i "$D/hand.bin" --clock input
}

# Frames of an ideal arm, by the input's clock.
sink_() {
	piper-can-write --clock input -
}

# More than a hundred targets, 0x152, in a log as of candump -L; not all the same.
moves() {
	[ "$(grep -cE '^\([0-9.]+\) [^ ]+ 152#[0-9A-F]{16}$' "$1")" -gt 100 ]
	[ "$(grep -oE ' 152#[0-9A-F]{16}$' "$1" | sort -u | wc -l)" -gt 50 ]
}

# live WORD...: the words are a filter between rctp-recv and the writer, in real time onto piper-sim
live() {
	arm_up
	rctp-recv -i "$D/hand.bin" -e "ipc://$D/stop" | "$@" |
		piper-can-write -e "ipc://$D/stop" -o "$D/rec" "slcan:$D/arm"
	arm_down
	judge_live
}

judge_live() {
	local sets
	run ! grep ' violation ' "$D/bus.log"
	"$TP/checker" --mode sim --records "$D/rec" "$D/bus.log" | tee "$T/verdict"
	sets=$(sed -n 's/^summary sets \([0-9]*\).*/\1/p' "$T/verdict")
	[ "$sets" -ge 40 ]
}

without_clamp() {
	pose-xform "${XFORM[@]}" | jq --unbuffered -c .
}

without_xform() {
	"$TOP/tests/chain/xform.py" | clamp --preset piper
}

@test "clamp replaced by jq: what passes jq moves the arm as what passes nothing" {
	source_ | pose-xform "${XFORM[@]}" | sink_ >"$T/plain"
	source_ | without_clamp | sink_ >"$T/jq"
	cmp "$T/plain" "$T/jq"
	moves "$T/jq"
}

@test "clamp replaced by jq, in real time" {
	live without_clamp
}

@test "pose-xform replaced by ten lines of Python: the same frames" {
	source_ | pose-xform "${XFORM[@]}" | clamp --preset piper | sink_ >"$T/c"
	source_ | without_xform | sink_ >"$T/python"
	cmp "$T/c" "$T/python"
	moves "$T/python"
}

@test "pose-xform replaced by ten lines of Python, in real time" {
	live without_xform
}

@test "source, sink and what is between: each by a file, the same frames" {
	source_ | pose-xform "${XFORM[@]}" | clamp --preset piper | sink_ >"$T/pipes"
	rctp-recv -i "$D/hand.bin" --clock input -o "$T/1.ndjson"
	pose-xform "${XFORM[@]}" -i "$T/1.ndjson" -o "$T/2.ndjson"
	clamp --preset piper -i "$T/2.ndjson" -o "$T/3.ndjson"
	piper-can-write --clock input -i "$T/3.ndjson" -o "$T/4.ndjson" "$T/files"
	cmp "$T/pipes" "$T/files"
	moves "$T/files"
	pose-xform "${XFORM[@]}" <"$T/1.ndjson" | clamp --preset piper >"$T/out"
	cmp "$T/3.ndjson" "$T/out"
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# endpoint KIND N
endpoint() {
	case $1 in
	pipe)
		rm -f "$D/p$2"
		mkfifo "$D/p$2"
		echo "$D/p$2"
		;;
	ipc) echo "ipc://$D/s$2" ;;
	tcp) echo "tcp://127.0.0.1:$(free_port)" ;;
	esac
}

# chain_over KIND KIND KIND: rctp-recv, pose-xform, clamp and writer with these between them
chain_over() {
	rctp-send --motion reach --time 60s --speed 0 -o "$D/hand.bin" # longer than the writer needs
	local e=("$(endpoint "$1" 1)" "$(endpoint "$2" 2)" "$(endpoint "$3" 3)") name
	arm_up
	start writer piper-can-write -n 120 -i "${e[2]}" -e "ipc://$D/stop" -o "$D/rec" "slcan:$D/arm"
	start clamp clamp --preset piper -i "${e[1]}" -o "${e[2]}"
	start xform pose-xform "${XFORM[@]}" -i "${e[0]}" -o "${e[1]}"
	start recv rctp-recv -i "$D/hand.bin" -e "ipc://$D/stop" -o "${e[0]}"
	wait_exit writer 20
	cat "$T"/*.err
	[ "$status" -eq 0 ]
	arm_down
	for name in clamp xform recv; do
		stop "$name" 2>/dev/null || :
		wait_exit "$name" 5
	done
	echo "$*"
	judge_live
}

@test "nng in place of the pipe after rctp-recv" {
	chain_over ipc pipe pipe
	chain_over tcp pipe pipe
}

@test "nng in place of the pipe after pose-xform" {
	chain_over pipe ipc pipe
	chain_over pipe tcp pipe
}

@test "nng in place of the pipe after clamp" {
	chain_over pipe pipe ipc
	chain_over pipe pipe tcp
}

@test "nng in place of every pipe" {
	chain_over tcp ipc tcp
}
