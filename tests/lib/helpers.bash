# shellcheck shell=bash
# shellcheck disable=SC2034
# Shared by every .bats file:  load ../lib/helpers
#
# BIN    folder of the programs under test (TELEOP_BIN, default build/bin)
# TP     folder of the test programs (build/tests/lib)
# TOP    top of the tree;  FIX tests/fixtures;  T this test's own folder
# start NAME CMD...       run in the background; output in $T/NAME.out and $T/NAME.err
# wait_for SECONDS CMD... until CMD succeeds; fails when the time is up
# wait_exit NAME SECONDS  until NAME ended; its status in $status
# stop NAME [SIGNAL]      signal one started program (default TERM)
# steady FUNCTION         a trial in real time: repeated when the machine was held up meanwhile
# in_time FILE            its poses came at the pace of their own ts
# vectors FILE            sets VECTOR, the path of a recorded session, or skips with the reason
bats_require_minimum_version 1.5.0
TOP=$(cd "${BATS_TEST_DIRNAME:?}" && git rev-parse --show-toplevel 2>/dev/null || (cd "$BATS_TEST_DIRNAME/../.." && pwd))
BIN=${TELEOP_BIN:-$TOP/build/bin}
TP=${TELEOP_TP:-$TOP/build/tests/lib}
FIX=$TOP/tests/fixtures
SHARED=${TELEOP_VECTORS:-$TOP/../shared/vectors}
T=${BATS_TEST_TMPDIR:-/tmp}
PATH=$BIN:$PATH
export LC_ALL=C BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-60}

declare -gA PIDS=()

start() {
	local name=$1
	shift
	"$@" >"$T/$name.out" 2>"$T/$name.err" 3>&- &
	PIDS[$name]=$!
}

# As start, with standard input from a file or FIFO (first argument after the name).
start_in() {
	local name=$1 in=$2
	shift 2
	"$@" <"$in" >"$T/$name.out" 2>"$T/$name.err" 3>&- &
	PIDS[$name]=$!
}

now_ms() {
	local t=$EPOCHREALTIME
	echo $((${t%.*} * 1000 + 10#${t#*.} / 1000))
}

wait_for() {
	local end
	end=$(($(now_ms) + $1 * 1000))
	shift
	until "$@" >/dev/null 2>&1; do
		if [ "$(now_ms)" -ge "$end" ]; then
			echo "not within the bound: $*" >&2
			return 1
		fi
		read -r -t 0.02 <> <(:) || :
	done
}

is_gone() {
	! kill -0 "$1" 2>/dev/null
}

wait_exit() {
	local pid=${PIDS[$1]}
	wait_for "$2" is_gone "$pid" || return 1
	status=0
	wait "$pid" || status=$?
	unset "PIDS[$1]"
}

stop() {
	kill "-${2:-TERM}" "${PIDS[$1]}"
}

# From the first half to the second, to 10 ms. What held single packets up does not count: of each
# half the earliest speaks.
in_time() {
	jq -e -s 'map(select(.valid) | .t - .ts * 1e6) | (length / 2 | floor) as $h |
		$h >= 10 and ((.[:$h] | min) - (.[$h:] | min) | fabs < 10000)' "$1"
}

# Not for a $(...): a skip there would leave only the subshell.
vectors() {
	VECTOR=$SHARED/$1
	[ -e "$VECTOR" ] || skip "recorded session $1 is not on this machine"
}

# A trial that fails while the machine itself was held up (a witness on some CPU woke more than 5 ms
# late) proves nothing: it is repeated, and that is told; the fifth counts whatever happened.
# Each has a folder T of its own, and what it started is ended.
steady() {
	local try rc base=$T
	for try in 1 2 3 4 5; do
		T=$base/try$try
		mkdir "$T"
		start witness "$TP/witness"
		wait_for 5 grep -q ready "$T/witness.out"
		set +e
		(
			trap stop_all EXIT
			trap 'echo "line $LINENO: $BASH_COMMAND" >&2' ERR
			unset 'PIDS[witness]'
			set -e
			"$@"
		)
		rc=$?
		set -e
		stop witness
		wait_exit witness 5
		[ "$rc" -ne 0 ] && [ "$try" -lt 5 ] && grep -q late "$T/witness.out" || break
		echo "# repeated: held up $(sort -n -k 3 "$T/witness.out" | tail -n 1 | cut -d ' ' -f 3) us" >&3
	done
	T=$base
	return "$rc"
}

stop_all() {
	local p
	for p in "${PIDS[@]}"; do
		kill -CONT "$p" 2>/dev/null || :
		kill -TERM "$p" 2>/dev/null || :
	done
	for p in "${PIDS[@]}"; do
		wait_for 2 is_gone "$p" || kill -KILL "$p" 2>/dev/null || :
		wait "$p" 2>/dev/null || :
	done
	PIDS=()
}

teardown() {
	stop_all
}
