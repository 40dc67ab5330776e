#!/usr/bin/env bats
# shellcheck disable=SC2154
# pipelines/lib.sh: verdicts, and that whatever ends a chain, the last stop is sent, once, and no
# process is left.  The stages are small shell programs.
load ../lib/helpers

setup() {
	export TELEOP_RUNTIME_DIR=$T/run T
	make_stage src <<-'SH'
		echo $$ >"$T/src.pid"
		while :; do echo tick; read -r -t 0.02 <> <(:); done
	SH
	make_stage mid <<-'SH'
		echo $$ >"$T/mid.pid"
		while read -r line; do echo "$line" || exit; done
	SH
	make_stage end <<-'SH'
		echo $$ >"$T/end.pid"
		while read -r line; do echo "$line" >>"$T/seen"; done
		exit "${SINK_EXIT:-0}"
	SH
	make_stage runner <<-SH
		. "$TOP/pipelines/lib.sh"
		open_runtime
		chain() {
			stage "$T/src" | stage "$T/mid" | sink "$T/end"
			STATUSES=("\${PIPESTATUS[@]}")
		}
		last_stop() {
			echo stop >>"$T/stops"
			return "\${STOP_EXIT:-0}"
		}
		run_chain chain last_stop
	SH
}

# make_stage NAME <<'SH': a program $T/NAME
make_stage() {
	{
		echo '#!/bin/bash'
		cat
	} >"$T/$1"
	chmod +x "$T/$1"
}

running() {
	[ -s "$T/src.pid" ] && [ -s "$T/mid.pid" ] && [ -s "$T/end.pid" ] && [ -s "$T/seen" ]
}

# The runner in a session of its own, of which nothing may be left at the end.  A background
# program of a shell without job control ignores INT: that is taken back.
start_runner() {
	start runner python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.setsid()
os.execv(sys.argv[1], sys.argv[1:])' "$T/runner"
	wait_for 5 running
	SESSION=$(ps -o sid= -p "$(cat "$T/src.pid")" | tr -d ' ')
}

nothing_left() {
	run ! grep -qv '^Z' <(ps -o stat= -s "${SESSION:?}")
}

stopped_once() {
	[ "$(cat "$T/stops")" = stop ]
	[ "$(grep -cx "runner: last stop sent" "$T/runner.err")" -eq 1 ]
}

@test "verdict: statuses from left to right" {
	local case want got
	while read -r want case; do
		got=0
		# shellcheck disable=SC2086,SC2016
		bash -c '. "$1"; shift; verdict "$@"' - "$TOP/pipelines/lib.sh" $case || got=$?
		echo "$case: $got, wanted $want"
		[ "$got" -eq "$want" ]
	done <<-'END'
		0 0 0 0
		0 141 0
		0 141 141 0
		0 141 0 0
		141 0 141
		141 141 141
		1 141 1
		5 141 141 5
		5 0 0 5
		137 141 137 0
		137 137 0 0
		3 3 0 0
		3 1 3 0
		1 1 141 0
		1 1
	END
	[ "$got" -eq 1 ]
}

@test "a chain that ends by itself: 0, the last stop sent once" {
	make_stage src <<<'echo one; echo two'
	run --separate-stderr timeout 10 "$T/runner"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$stderr" = "runner: last stop sent" ]
	[ "$(cat "$T/seen")" = $'one\ntwo' ]
	[ "$(cat "$T/stops")" = stop ]
	[ "$(stat -c %a "$T/run")" = 700 ]
	[ -z "$(ls -A "$T/run")" ]
}

@test "the sink had enough: what 141 ended left of it is fine, an idle source is ended" {
	make_stage end <<<'read -r line; exit 0'
	make_stage src <<<'echo one; while :; do read -r -t 1 <> <(:); done'
	run --separate-stderr timeout 10 "$T/runner"
	[ "$status" -eq 0 ]
	[ "$(cat "$T/stops")" = stop ]
}

@test "the status of the sink is that of the chain" {
	make_stage src <<<'echo one'
	export SINK_EXIT=5
	run --separate-stderr timeout 10 "$T/runner"
	[ "$status" -eq 5 ]
	[[ $stderr == *"runner: end: exit 5"* ]]
	[ "$(cat "$T/stops")" = stop ]
}

is_zombie() {
	local state
	read -r _ _ state _ <"/proc/$1/stat"
	[ "$state" = Z ]
}

@test "the whole chain ended before the script looks: what failed is said all the same" {
	mkfifo "$T/go"
	make_stage src <<-'SH'
		ps -o pgid= -p $$ | tr -d ' ' >"$T/chain.pid"
		read -r _ <"$T/go"
		echo one
	SH
	export SINK_EXIT=5
	start runner "$T/runner"
	wait_for 5 test -s "$T/chain.pid"
	stop runner STOP
	echo >"$T/go"
	wait_for 5 is_zombie "$(cat "$T/chain.pid")"
	stop runner CONT
	wait_exit runner 8
	[ "$status" -eq 5 ]
	grep -qx "runner: end: exit 5" "$T/runner.err"
	stopped_once
}

@test "a last stop that fails is said, and does not change the verdict" {
	make_stage src <<<'echo one'
	export STOP_EXIT=1
	run --separate-stderr timeout 10 "$T/runner"
	[ "$status" -eq 0 ]
	[[ $stderr == *"last stop NOT sent (exit 1): use the hardware switch"* ]]
}

# bats test_tags=safety
@test "kill -9 of each stage: the last stop, its status, nothing left" {
	local who
	for who in src mid end; do
		rm -f "$T"/*.pid "$T/seen" "$T/stops"
		start_runner
		kill -KILL "$(cat "$T/$who.pid")"
		wait_exit runner 8
		echo "$who: $status"
		cat "$T/runner.err"
		[ "$status" -eq 137 ]
		grep -qx "runner: $who: ended by signal KILL" "$T/runner.err"
		[ "$(wc -l <"$T/runner.err")" -eq 2 ]
		stopped_once
		nothing_left
	done
}

# bats test_tags=safety
@test "the sink killed while the rest hangs: the stop does not wait for them" {
	make_stage src <<-'SH'
		trap "" TERM PIPE
		echo $$ >"$T/src.pid"
		echo tick
		while :; do read -r -t 1 <> <(:); done
	SH
	start_runner
	kill -KILL "$(cat "$T/end.pid")"
	wait_for 5 test -s "$T/stops"
	kill -0 "$(cat "$T/src.pid")"
	wait_exit runner 8
	[ "$status" -eq 137 ]
	grep -q "did not end within 2 s of SIGTERM: killed" "$T/runner.err"
	stopped_once
	nothing_left
}

none_left() {
	# shellcheck disable=SC2009
	! ps -o stat= -s "$SESSION" | grep -qv '^Z'
}

# bats test_tags=safety
@test "kill -9 of the runner: the chain is ended, the stop is sent, once, nothing left" {
	start_runner
	# Several of the ticks that look for it: while it lives nothing is ended.
	wait_for 20 eval '[ "$(wc -l <"$T/seen")" -ge 80 ]'
	[ ! -s "$T/runner.err" ]
	[ ! -e "$T/stops" ]
	kill -KILL "${PIDS[runner]}"
	wait_for 5 grep -qx "runner: last stop sent" "$T/runner.err"
	wait_for 2 none_left
	wait_exit runner 2
	[ "$status" -eq 137 ]
	cat "$T/runner.err"
	stopped_once
	grep -qx "runner: killed: ending the chain" "$T/runner.err"
}

# bats test_tags=safety
@test "INT, TERM and HUP to the runner: the chain gets TERM, then the stop; ends by the signal" {
	local sig
	make_stage end <<-'SH'
		echo $$ >"$T/end.pid"
		trap 'echo held >>"$T/stops"; exit 143' TERM
		while read -r line; do echo "$line" >>"$T/seen"; done
		wait
	SH
	for sig in INT TERM HUP; do
		rm -f "$T"/*.pid "$T/seen" "$T/stops"
		start_runner
		stop runner "$sig"
		wait_exit runner 8
		echo "$sig: $status"
		cat "$T/runner.err" "$T/stops"
		[ "$status" -eq $((128 + $(kill -l "$sig"))) ]
		[ "$(cat "$T/stops")" = $'held\nstop' ]
		grep -qx "runner: SIG$sig" "$T/runner.err"
		nothing_left
	done
}

# bats test_tags=safety
@test "Ctrl-C to the group, three times: the stop is still sent" {
	start_runner
	kill -INT -- "-$SESSION"
	kill -INT -- "-$SESSION" || :
	kill -INT -- "-$SESSION" || :
	wait_exit runner 8
	[ "$status" -eq 130 ]
	stopped_once
	nothing_left
}

# bats test_tags=safety
@test "a stage frozen by SIGSTOP does not keep the chain alive" {
	start_runner
	kill -STOP "$(cat "$T/mid.pid")"
	stop runner TERM
	wait_exit runner 8
	[ "$status" -eq 143 ]
	stopped_once
	nothing_left
}

# bats test_tags=safety
@test "the shell of the chain killed: the rest is ended, the stop sent" {
	start_runner
	kill -KILL "$(ps -o pgid= -p "$(cat "$T/src.pid")" | tr -d ' ')"
	wait_exit runner 8
	[ "$status" -eq 1 ]
	grep -qx "runner: the shell of the chain was killed" "$T/runner.err"
	stopped_once
	nothing_left
}

@test "a folder for sockets that is somebody else's, or a link, is refused" {
	mkdir "$T/there"
	ln -s "$T/there" "$T/run"
	run --separate-stderr timeout 10 "$T/runner"
	[ "$status" -eq 1 ]
	[ "$stderr" = "runner: $T/run: not a folder of this user" ]
	[ ! -e "$T/stops" ]
}
