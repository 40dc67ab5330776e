#!/usr/bin/env bats
# piper-sim as a process: bus, log, orders, ends. The arm itself: tests/unit/sim_*_test.c
# shellcheck disable=SC2034,SC2154
load ../lib/helpers

READY=0,86,-45,0,24,0

# sim [OPTIONS]: an arm on $T/arm with a log.
sim() {
	start sim piper-sim --log "$T/log" "$@" "slcan:$T/arm"
	wait_for 5 test -e "$T/arm"
}

# host: opens the channel as a program would; what the arm says lands in $T/heard.
host() {
	exec 7<>"$T/arm"
	cat <&7 >"$T/heard" 3>&- 2>/dev/null &
	PIDS[reader]=$!
	printf 'C\rS8\rO\r' >&7
	wait_for 5 grep -q 'channel opened' "$T/log"
}

# put ID HEX...: frames onto the bus in one write.
put() {
	local text=
	while [ $# -gt 0 ]; do
		printf -v text '%st%s%d%s\r' "$text" "$1" $((${#2} / 2)) "$2"
		shift 2
	done
	printf '%s' "$text" >&7
}

logged() {
	grep -qE -- "$1" "$T/log"
}

# log_has PATTERN within 5 s
log_has() {
	wait_for 5 logged "$1"
}

violations() {
	grep -c '^# .*violation' "$T/log"
}

# Host that has listened for 300 ms (feedback counts the time: 200 bursts a second).
listened() {
	heard_60() {
		[ "$(grep -ao 't2A1' "$T/heard" | wc -l)" -ge 65 ]
	}
	wait_for 5 heard_60
}

@test "feedback: each fast id as often as the others, slow ids a fifth, whole bursts" {
	sim --duration 2s --stats 10s
	host
	wait_exit sim 10
	[ "$status" -eq 0 ]
	tr '\r' '\n' <"$T/heard" | grep -a '^t2[56A]' | cut -c2-4 | sort | uniq -c >"$T/ids"
	[ "$(wc -l <"$T/ids")" -eq 20 ]
	read -r status_n _ < <(grep 2A1 "$T/ids")
	[ "$status_n" -gt 100 ]
	awk -v n="$status_n" '
		$2 ~ /^26/ { if ($1 < n / 5 - 1 || $1 > n / 5 + 1) exit 1; next }
		{ if ($1 < n - 1 || $1 > n + 1) exit 1 }' "$T/ids"
	# The timer is absolute: bursts and the periods slept over make up the whole time; the last
	# tick, with what it slept over, may come after it.
	jq -es '.[-1] | .bursts + .late >= 395 and .bursts + .late <= 500' "$T/sim.err"
}

@test "one burst comes from one moment: pose and joints move together" {
	sim --enabled --start $READY --log-feedback
	host
	listened
	put 151 0101640000000000 155 0000EA6000014FF0 156 FFFF503800000000 157 00005DC000000000
	# joint 1 arrives at 60 degrees: flange x = 0.28 cos 60 = 0.14 m, y = 0.242 m
	log_has '2A5#0000EA60'
	run grep -A 8 -m1 '2A5#0000EA60' "$T/log"
	[ "$(violations)" -eq 1 ] # 60 degrees away is far for a first target
	log_has 'violation far'
	log_has '2A2#00022'
}

@test "enabling: tries, lag, bits in 0x261, acknowledgement" {
	sim --enable-tries 2
	host
	listened
	put 471 0702000000000000
	wait_for 5 grep -qa t47687100 "$T/heard"
	run ! grep -qaE 't261800F000241F40' "$T/heard"
	put 471 0702000000000000
	wait_for 5 grep -qaE 't261800F000241F40' "$T/heard"
	wait_for 5 grep -qaE 't266800F000241F40' "$T/heard"
}

@test "firmware and limits are answered" {
	sim --firmware S-V1.8-6
	host
	listened
	put 4AF 0100000000000000 472 0301000000000000
	wait_for 5 grep -qa 't4AF82E382D36' "$T/heard"
	wait_for 5 grep -qa 't473803' "$T/heard"
	[ "$(tr '\r' '\n' <"$T/heard" | grep -ac '^t4AF')" -eq 11 ]
	[ "$(violations)" -eq 0 ]
}

@test "a pose that cannot be reached: status 2, then cleared" {
	sim --enabled --start $READY --log-feedback
	host
	listened
	# The pose of READY: x 0.280, z 0.199, RX 180 RY 30 RZ 180
	good='152 0004456000000000 153 000309580002BF20 154 000075300002BF20'
	# shellcheck disable=SC2086
	put 151 0100640000000000 $good
	log_has 'arm control 1'
	put 151 0100640000000000 152 004C4B4000000000 153 000309580002BF20 154 000075300002BF20
	log_has 'status 2 \(no IK solution\)'
	# shellcheck disable=SC2086
	put 151 0100640000000000 $good
	log_has 'status 0'
}

@test "log: commands as candump text, violations as comments" {
	sim --enabled --start $READY
	host
	put 151 0101190000000000
	log_has 'violation early'
	listened
	put 150 0200000000000000
	log_has 'violation forbidden: 0x150 reset'
	put 152 0004456000000000 153 000309580002BF20
	log_has 'violation torn: pose set not completed'
	put 7FF 00
	log_has 'violation malformed'
	[ "$(violations)" -eq 4 ]
	run grep -cE '^\([0-9]+\.[0-9]{6}\) arm (151|150|152|153|7FF)#' "$T/log"
	[ "$output" -eq 5 ]
	run ! grep -vE '^(#|\([0-9]+\.[0-9]{6}\) arm [0-9A-F]{3}#[0-9A-F]*$)' "$T/log"
}

@test "each opening of the channel is judged anew" {
	sim
	host
	listened
	put 472 0101000000000000
	log_has ' arm 472#'
	[ "$(violations)" -eq 0 ]
	printf 'C\rS8\rO\r' >&7
	put 472 0101000000000000
	log_has 'violation early'
}

@test "--strict-log: exit 1 with violations, also after TERM; 143 without" {
	sim --strict-log
	host
	listened
	put 471 0701000000000000
	log_has 'violation forbidden'
	stop sim
	wait_exit sim 5
	[ "$status" -eq 1 ]
	grep -q '1 violations' "$T/sim.err"
	[ ! -e "$T/arm" ] && [ ! -L "$T/arm" ]

	sim --strict-log
	stop sim
	wait_exit sim 5
	[ "$status" -eq 143 ]
	[ ! -L "$T/arm" ]
	[ ! -s "$T/sim.err" ]
	tail -n 1 "$T/log" | grep -q 'end: 0 commands, 0 violations'
}

@test "INT ends by the signal and removes link and FIFO" {
	# Background jobs of a script ignore INT; env gives it back.
	start sim env --default-signal=INT piper-sim --control "$T/ctl" "slcan:$T/arm"
	wait_for 5 test -e "$T/arm"
	stop sim INT
	wait_exit sim 5
	[ "$status" -eq 130 ]
	[ ! -L "$T/arm" ] && [ ! -e "$T/ctl" ]
}

@test "orders: status, teach, joint; what is none is said and ignored" {
	sim --enabled --start $READY --control "$T/ctl" --log-feedback
	host
	listened
	echo "status 7" >"$T/ctl"
	log_has 'arm control 1 \(.*\) status 7 \(collision\)'
	log_has '2A1#0107'
	printf 'status 0\nteach on\n' >"$T/ctl"
	log_has 'arm control 2 \(teach\) status 0'
	echo "fly away" >"$T/ctl"
	wait_for 5 grep -q "not an order: 'fly away'" "$T/sim.err"
	printf 'teach off\njoint 1 freeze\n' >"$T/ctl"
	log_has 'control joint 1 freeze'
	put 151 0101640000000000 155 000013880001 156 FFFF503800000000 157 00005DC000000000
	log_has 'violation malformed'
	put 155 000013880001387C 156 FFFF503800000000 157 00005DC000000000
	log_has '2A5#000000000001387C' # joint 2 at 79.996 degrees, joint 1 still at 0
}

@test "orders: mute is silent and deaf, pause is silent" {
	sim --enabled --start $READY --control "$T/ctl" --log-feedback
	host
	listened
	echo mute >"$T/ctl"
	log_has 'control mute'
	put 471 0102000000000000
	log_has ' arm 471#'
	echo "status 9" >"$T/ctl"
	log_has 'control status 9'
	run ! grep -qa t476 "$T/heard"
	run ! grep -q '2A1#0109' "$T/log"
	echo resume >"$T/ctl"
	log_has '2A1#0109'
	echo pause >"$T/ctl"
	log_has 'control pause'
	put 472 0101000000000000
	wait_for 5 grep -qa t473 "$T/heard"
}

@test "orders: delayed feedback is late by the delay" {
	sim --enabled --start $READY --control "$T/ctl" --log-feedback --feedback-delay 200ms
	host
	wait_for 5 grep -qa t2A1 "$T/heard"
	echo "status 9" >"$T/ctl"
	log_has '2A1#0109'
	awk -F '[()]' '
		/control status 9/ { at = $2 }
		/2A1#0109/ { late = $2 - at; exit }
		END { exit !(late >= 0.2 && late < 0.6) }' "$T/log"
}

@test "a host that does not read holds nothing up" {
	start sim piper-sim --log "$T/log" --stats 100ms "slcan:$T/arm"
	wait_for 5 test -e "$T/arm"
	exec 7<>"$T/arm"
	printf 'C\rS8\rO\r' >&7
	goes_on() {
		jq -es '.[-1] | .dropped > 1000 and .bursts > 300' "$T/sim.err"
	}
	wait_for 20 goes_on
	stop sim
	wait_exit sim 5
	[ "$status" -eq 143 ]
}

@test "options that begin with a fault: mute, paused, frozen, silent firmware" {
	sim --mute --firmware '' --control "$T/ctl" --log-feedback
	host
	put 472 0101000000000000
	log_has ' arm 472#'
	echo resume >"$T/ctl"
	wait_for 5 grep -qa t2A1 "$T/heard"
	run ! grep -qa t473 "$T/heard"
	put 4AF 0100000000000000 472 0201000000000000
	wait_for 5 grep -qa t473 "$T/heard"
	run ! grep -qa t4AF "$T/heard"
	stop sim
	wait_exit sim 5
	exec 7>&-

	sim --feedback-pause --freeze-joint 1 --enabled --start $READY --control "$T/ctl" --log-feedback
	host
	put 151 0101640000000000 155 000013880001387C 156 FFFF503800000000 157 00005DC000000000
	put 472 0101000000000000
	wait_for 5 grep -qa t473 "$T/heard"
	run ! grep -qa t2A1 "$T/heard"
	echo resume >"$T/ctl"
	log_has '2A5#000000000001387C'
}

@test "options of the model: latch, gripper, damp, kinematics" {
	sim --enabled --start $READY --latch each --gripper 30 --dh old --allow-damp --log-feedback
	host
	listened
	log_has '2A8#0000753000008000'
	# Old kinematics: the flange stands elsewhere than the 0.280, 0.199 m of the new.
	run ! grep -q '2A2#000445' "$T/log"
	put 151 0101640000000000 155 000013880001387C
	log_has '2A5#000013880001387C' # the other joints were never sent: taken as 0
	put 150 0100000000000000
	log_has 'arm control 1 \(CAN\) status 1'
	run ! grep -q 'violation forbidden' "$T/log"
}

@test "--ready-fd, SIGUSR2, -v" {
	mkfifo "$T/ready"
	start sim bash -c 'exec piper-sim -v --ready-fd 8 --log "$0/log" "slcan:$0/arm" 8>"$0/ready"' "$T"
	read -r -t 5 line <"$T/ready"
	[ "$line" = ready ]
	[ -L "$T/arm" ]
	stop sim USR2
	wait_for 5 grep -q '"type":"status"' "$T/sim.err"
	stop sim USR1
	host
	put 150 0000000000000000
	wait_for 5 grep -q 'violation forbidden: 0x150' "$T/sim.err"
}

@test "wrong usage exits 2 with one line" {
	for args in "" "a b" "--start 1,2,3 x" "--start 0,-5,0,0,0,0 x" "--latch now x" \
		"--feedback-delay 2s x" "--freeze-joint 7 x" "--gripper 90 x" "--speed nan x"; do
		# shellcheck disable=SC2086
		run --separate-stderr piper-sim $args
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "a bus or log that cannot be exits 1 and says why" {
	run --separate-stderr piper-sim "slcan:$T/no/arm"
	[ "$status" -eq 1 ]
	[[ $stderr == *"$T/no/arm"* ]]
	: >"$T/file"
	run --separate-stderr piper-sim "slcan:$T/file"
	[ "$status" -eq 1 ]
	[ -f "$T/file" ]
	run --separate-stderr piper-sim --control "$T/file" "slcan:$T/arm"
	[ "$status" -eq 1 ]
	run --separate-stderr piper-sim --log /dev/full --duration 1s "slcan:$T/arm"
	[ "$status" -eq 1 ]
	[[ $stderr == *"/dev/full"* ]]
	[ ! -L "$T/arm" ]
}
