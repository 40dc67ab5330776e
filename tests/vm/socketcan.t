# shellcheck shell=bash
# Everything in tests/vm/inside, in one guest with a real SocketCAN.  A guest that does not start
# is a failure: a skip would hide that the bus was not tested.
. tests/lib/tap.bash
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

tests/vm/guest "$dir" 240 bats --tap tests/vm/inside/*.bats >"$dir/tap" 2>"$dir/err"
status=$?
# The guest's own TAP is the result, when it is complete.
plan=$(sed -n 's/^1\.\.//p' "$dir/tap")
if [ -n "$plan" ] && [ "$(grep -cE '^(not )?ok ' "$dir/tap")" -eq "$plan" ]; then
	cat "$dir/tap"
	cat "$dir/err" >&2
	exit $status
fi
cat "$dir/tap" "$dir/err" >&2
check "the guest ran all tests (status $status)" false
finish
