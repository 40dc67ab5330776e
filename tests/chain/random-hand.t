# shellcheck shell=bash
# Any hand whatever: nothing outside the box, nothing above speed or acceleration, no set torn
# (safety:H3, H5). The seeds are fixed; TELEOP_LONG tries ten times as many.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=60
[ -z "${TELEOP_LONG:-}" ] || count=600
python3 tests/lib/random_hand.py "${TELEOP_BIN:-build/bin}" "${TELEOP_TP:-build/tests/lib}" "$work" 1000 "$count"
