# shellcheck shell=bash
# For the tests of whole chains, after helpers:
#
# count N        N with TELEOP_LONG=1, a tenth of it otherwise
# trial WORD...  one run of the test program chain_trial; its figures become comments of the
#                TAP.  One that failed while the machine was held up is repeated, four times at most
# own_folder     sets D, a folder with a name short enough for sockets
# arm_up, arm_down   piper-sim and an operator in D

count() {
	if [ -n "${TELEOP_LONG:-}" ]; then
		echo "$1"
	else
		echo $(($1 / 10))
	fi
}

own_folder() {
	D=$(mktemp -d /tmp/chain.XXXXXX)
}

trial() {
	local rc try
	for try in 1 2 3 4 5; do
		[ -z "${D:-}" ] || rm -rf "$D"
		own_folder
		rc=0
		"$TP/chain_trial" "$D" "$@" >"$T/trial" 2>&1 3>&- || rc=$?
		cat "$T/trial"
		sed -n 's/^# /# /p' "$T/trial" >&3
		[ "$rc" -ne 0 ] || return 0
		tail -n 20 "$D"/*.err
		[ "$rc" -eq 75 ] || return "$rc"
		echo "# try $try failed while the machine was held up" >&3
	done
	return "$rc"
}

# An operator who says engage twice a second: a stage that the machine holds up for 100 ms is a HOLD
# that needs one.
operator() {
	rm -f "$D/words"
	mkfifo "$D/words"
	start operator estop --live -i "$D/words" -e "ipc://$D/stop"
	# shellcheck disable=SC2016
	start pacer bash -c 'exec >"$0"; while echo engage; do read -r -t 0.5 <> <(:); done' "$D/words"
}

arm_is_up() {
	[ -e "$D/arm" ]
}

# A simulated arm on slcan:$D/arm that logs to $D/bus.log, and an operator.
arm_up() {
	start sim piper-sim --start 0,86,-45,0,24,0 --log "$D/bus.log" --log-feedback "slcan:$D/arm"
	wait_for 5 arm_is_up
	operator
}

arm_down() {
	local name
	for name in operator pacer sim; do
		stop "$name" 2>/dev/null || : # one ends the other
		wait_exit "$name" 5
	done
}

teardown() {
	stop_all
	[ -z "${D:-}" ] || rm -rf "$D"
}
