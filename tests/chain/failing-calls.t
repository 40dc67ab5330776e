# shellcheck shell=bash
# Calls of the system that fail, one at a time, in each stage: a clean end or continued operation,
# never a wrong frame.  A hand by the clock of its recording, and one in real time onto piper-sim.
# TELEOP_LONG: each call, each error.
bin=${TELEOP_BIN:-build/bin} programs=${TELEOP_TP:-build/tests/lib}
# Nothing looks for leaks under strace.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
work=$(mktemp -d /tmp/fail.XXXXXX)
trap 'rm -rf "$work"' EXIT
"$bin/rctp-send" -m circle --period 1s --t0 1 --speed 0 -n 120 -o "$work/hand.bin"
python3 tests/lib/failing_calls.py "$bin" "$programs" "$work" "$work/hand.bin"
