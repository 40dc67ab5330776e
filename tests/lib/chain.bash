# shellcheck shell=bash
# For the tests of whole chains, after helpers:
#
# count N        N with TELEOP_LONG=1, a tenth of it otherwise
# trial WORD...  one run of the test program chain_trial; its figures become comments of the TAP

count() {
	if [ -n "${TELEOP_LONG:-}" ]; then
		echo "$1"
	else
		echo $(($1 / 10))
	fi
}

# A folder with a name short enough for sockets.
own_folder() {
	D=$(mktemp -d /tmp/chain.XXXXXX)
}

trial() {
	own_folder
	local rc=0
	"$TP/chain_trial" "$D" "$@" >"$T/trial" 2>&1 3>&- || rc=$?
	cat "$T/trial"
	sed -n 's/^# /# /p' "$T/trial" >&3
	if [ "$rc" -ne 0 ]; then
		tail -n 20 "$D"/*.err
	fi
	return "$rc"
}

teardown() {
	stop_all
	[ -z "${D:-}" ] || rm -rf "$D"
}
