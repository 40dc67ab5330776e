# shellcheck shell=bash
# One float pattern of 4096 through every limit of one number; all of them: tests/long/floats.t.
. tests/lib/tap.bash
check "no float passes a limit (one pattern of 4096)" "${TELEOP_TP:-build/tests/lib}/floats" 0 4093
finish
