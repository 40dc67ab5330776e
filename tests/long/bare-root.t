# shellcheck shell=bash
# One command each on a fresh Debian 12 with git and make only: the demo with its picture, the
# whole check.
. tests/lib/tap.bash
dir=$(mktemp -d)
trap 'rm -rf --one-file-system "$dir"' EXIT

has_picture() {
	find "$dir/root/teleop-utils/build" -name '*.png' -size +1k | grep .
}
check_passes() {
	tests/lib/bare-root "$dir" check >"$dir/log" 2>&1 && grep -x 'Result: PASS' "$dir/log" && return
	tail -n 50 "$dir/log"
	return 1
}

if [ "$(id -u)" != 0 ]; then
	skip "make demo, make check" "needs root"
else
	check "make demo" tests/lib/bare-root "$dir" demo
	check "it leaves a picture" has_picture
	check "make check" check_passes
fi
finish
