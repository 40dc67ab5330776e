# shellcheck shell=bash
# Runs a chain that ends in an arm, and leaves nothing behind.  Source it, then:
#
#   chain() {
#   	stage rctp-recv | stage clamp --preset piper | sink piper-can-write can0
#   	STATUSES=("${PIPESTATUS[@]}")
#   }
#   last_stop() { piper-can-write --stop can0; }
#   run_chain chain last_stop
#
# The chain has a process group of its own.  When its sink ends, a stage fails, or this script
# gets INT, TERM or HUP, the group gets TERM, two seconds, then KILL; and in every case the
# one-shot stop is run, once: if the sink was killed nobody else can stop the arm.  A script that
# was killed itself (KILL) is noticed within half a second, with the same end.  Nothing is
# restarted.  Wants bash 5.
set -u -o pipefail
shopt -s extglob

PROG=${0##*/}
LIB=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
TELEOP_GRACE=2       # seconds from TERM to KILL

say() {
	echo "$PROG: $*" >&2
}

# fail CODE TEXT...
fail() {
	local code=$1
	shift
	say "$*"
	exit "$code"
}

# One line, exit 2: the way of every program here.
bad_usage() {
	fail 2 "$*; try '$PROG --help'"
}

# value OPTION WORDS-LEFT: the option has a value behind it.
need_value() {
	[ "$2" -ge 2 ] || bad_usage "$1: needs an argument"
}

# Programs beside this file (in the tree: build/bin, installed: bin) come before those of PATH;
# TELEOP_BIN before both.
find_tools() {
	local d tool
	for d in "$LIB/../../bin" "$LIB/../build/bin" "${TELEOP_BIN:-}"; do
		[ -n "$d" ] && [ -x "$d/piper-can-write" ] && PATH=$(readlink -f "$d"):$PATH
	done
	for tool; do
		command -v "$tool" >/dev/null || fail 1 "$tool: not found on PATH nor beside $LIB"
	done
}

# Sets RUN to a folder for sockets, mode 0700, ours.  The name of a socket must fit in 107 bytes.
open_runtime() {
	RUN=${TELEOP_RUNTIME_DIR:-${XDG_RUNTIME_DIR:-/tmp}/teleop-$UID}
	[ "${#RUN}" -le 75 ] || fail 2 "$RUN: too long for sockets in it (75 bytes)"
	(umask 077 && mkdir -p "$RUN") || fail 1 "$RUN: cannot be made"
	if [ ! -d "$RUN" ] || [ -L "$RUN" ] || [ ! -O "$RUN" ]; then
		fail 1 "$RUN: not a folder of this user"
	fi
	chmod 700 "$RUN" || fail 1 "$RUN: cannot be closed to others"
}

# A stage of the chain.  Reports its end on $REPORTS; returns the status of its program.
stage() {
	_stage stage "$@"
}

# The last stage: the one that moves the arm.
sink() {
	_stage sink "$@"
}

_stage() {
	local role=$1 rc=0
	shift
	trap : INT TERM HUP # the program has its own; this shell has to report
	# A service is ready when its sink is.
	[ "$role" = sink ] || unset NOTIFY_SOCKET
	# The inner 2: bash would tell people of a killed child in its own words.
	{ "$@" 2>&9 9>&- {REPORTS}>&- || rc=$?; } 9>&2 2>/dev/null
	echo "$role ${1##*/} $rc" >&"$REPORTS"
	return $rc
}

# Name of the stage and its ending, for people.
ending() {
	if [ "$2" -gt 128 ]; then
		echo "$1: ended by signal $(kill -l $(($2 - 128)) 2>/dev/null || echo $(($2 - 128)))"
	else
		echo "$1: exit $2"
	fi
}

# verdict RC...: of the statuses of a chain from left to right.  141 (its reader was gone) is fine
# left of a stage that returned 0; otherwise the rightmost failure counts.
verdict() {
	local i rc=0 right=0
	local -a all=("$@")
	for ((i = $# - 1; i >= 0; i--)); do
		if [ "${all[i]}" -ne 0 ] && [ "$rc" -eq 0 ]; then
			[ "${all[i]}" -eq 141 ] && [ "$i" -lt $(($# - 1)) ] && [ "$right" -eq 0 ] ||
				rc=${all[i]}
		fi
		# A stage that a fine 141 ended passes the excuse on to its left.
		[ "${all[i]}" -eq 141 ] || right=${all[i]}
	done
	return "$rc"
}

chain_pid='' # leader of the chain's group, empty when it is gone
stop_fn=''   # what is still to be run as the last stop
WATCHING=''  # set while reports are read
ticker_pid=''
at_end=()    # functions run after it (a simulator to end, a folder to remove)

# No process of the group runs; one that ended and was not collected yet does not count.
group_is_gone() {
	local f
	local -a line
	kill -0 -- "-$chain_pid" 2>/dev/null || return 0
	for f in /proc/[0-9]*/stat; do
		{ mapfile -t line <"$f"; } 2>/dev/null || continue
		# after the name: state, parent, group
		[[ ${line[*]} != *") "[!Z]" "+([0-9])" $chain_pid "* ]] || return 1
	done
}

# wait_gone SECONDS: until no process of the group is left.
wait_gone() {
	local end=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000))
	until group_is_gone; do
		[ "${EPOCHREALTIME/[.,]/}" -lt "$end" ] || return 1
		sleep 0.01
	done
}

# TERM, a bounded wait, KILL.  A frozen process cannot take TERM before it goes on.
end_group() {
	[ -n "$chain_pid" ] || return 0
	if ! group_is_gone; then
		kill -TERM -- "-$chain_pid" 2>/dev/null
		kill -CONT -- "-$chain_pid" 2>/dev/null
		if ! wait_gone "$TELEOP_GRACE"; then
			say "the chain did not end within $TELEOP_GRACE s of SIGTERM: killed"
			kill -KILL -- "-$chain_pid" 2>/dev/null
			wait_gone 1 || say "processes of group $chain_pid are left"
		fi
	fi
	wait "$chain_pid" 2>/dev/null
	chain_pid=''
}

# Once, whatever happened.
run_last_stop() {
	local fn=$stop_fn rc=0
	[ -n "$fn" ] || return 0
	stop_fn=''
	"$fn" || rc=$?
	if [ "$rc" -eq 0 ]; then
		say "last stop sent"
	else
		say "last stop NOT sent (exit $rc): use the hardware switch"
	fi
}

finish() {
	local fn
	trap '' INT TERM HUP # nothing cuts this short
	WATCHING=''
	stop_ticker
	end_group
	run_last_stop
	for fn in "${at_end[@]}"; do
		"$fn"
	done
	at_end=()
}

leave_by_signal() {
	say "SIG$1"
	finish
	trap - "$1" EXIT
	kill "-$1" "$BASHPID"
}

# While the chain is watched a signal only becomes a report: bash does not survive much work in a
# trap that interrupted its read.
on_signal() {
	if [ -n "$WATCHING" ]; then
		echo "signal $1" >&"$REPORTS"
	else
		leave_by_signal "$1"
	fi
}

# From here on every way out of the script goes through finish.
guard() {
	trap finish EXIT
	trap 'on_signal INT' INT
	trap 'on_signal TERM' TERM
	trap 'on_signal HUP' HUP
}

# The chain in its own group; statuses of its stages in order go to $REPORTS last.
start_chain() {
	local fifo
	fifo=$(mktemp -u "$RUN/reports.XXXXXX")
	mkfifo -m 600 "$fifo" || fail 1 "$fifo: cannot be made"
	exec {REPORTS}<>"$fifo"
	rm -f "$fifo"
	WATCHING=1
	set -m
	(
		trap : INT TERM HUP
		STATUSES=(1)
		"$1"
		echo "chain ${STATUSES[*]}" >&"$REPORTS"
	) </dev/null &
	chain_pid=$!
	set +m
}

# next_report: waits for one; sets ROLE and WORDS.
next_report() {
	local line
	IFS= read -r -u "$REPORTS" line || return 1
	ROLE=${line%% *}
	read -r -a WORDS <<<"${line#* }"
}

# Asked by a child of this script: has it another parent now?  So a killed script that nobody has
# collected counts too.
script_is_gone() {
	local stat
	read -r stat <"/proc/$BASHPID/stat" || return 1
	stat=${stat##*) } # state, parent
	[[ $stat != ?" $$ "* ]]
}

# A report twice a second, so that a deadline and the death of the chain's shell are seen.  When
# this script itself was killed the ticker does what is left to do.
start_ticker() {
	set -m # a group of its own: its sleep goes with it
	{
		while sleep 0.5 && ! script_is_gone; do
			echo "tick -" >&"$REPORTS"
		done 2>/dev/null
		if script_is_gone; then
			trap '' PIPE # stderr may have gone with it
			say "killed: ending the chain"
			finish
		fi
	} </dev/null >/dev/null &
	ticker_pid=$!
	set +m
}

stop_ticker() {
	[ -z "$ticker_pid" ] || kill -KILL -- "-$ticker_pid" 2>/dev/null
	[ -z "$ticker_pid" ] || wait "$ticker_pid" 2>/dev/null
	ticker_pid=''
}

# stage_ended NAME STATUS: the first failure is said and kept; sets DEADLINE for the others.
stage_ended() {
	local within='' failed=''
	[ "$2" -eq 0 ] || [ "$2" -eq 141 ] || failed=1
	if [ -n "$failed" ] && [ "$FIRST_RC" -eq 0 ]; then
		FIRST_RC=$2
		say "$(ending "$@")"
	fi
	if [ "$ROLE" = sink ]; then
		within=500000 # who is left has nobody to write to
		# It did not end well: at once, before anything is waited for.
		[ "$2" -eq 0 ] || run_last_stop
	elif [ -n "$failed" ]; then
		within=2000000
	fi
	[ -z "$within" ] || [ "$DEADLINE" -ne 0 ] || DEADLINE=$((${EPOCHREALTIME/[.,]/} + within))
}

take_report() {
	case $ROLE in
	chain) STATUSES=("${WORDS[@]}") ENDED=1 ;;
	signal) leave_by_signal "${WORDS[0]}" ;;
	stage | sink) stage_ended "${WORDS[@]}" ;;
	esac
}

# What was reported but not read yet.
drain_reports() {
	while read -r -t 0 -u "$REPORTS" && next_report; do
		take_report
	done
}

# Waits for the end of the chain and sets STATUSES, the statuses of its stages; FIRST_RC is the
# first failure seen (0: none), CUT is set when the rest was ended from here.
watch_chain() {
	STATUSES=(1) FIRST_RC=0 CUT='' ENDED='' DEADLINE=0
	while [ -z "$ENDED" ]; do
		next_report || fail 1 "no reports"
		take_report
		[ -z "$ENDED" ] || return
		if ! kill -0 "$chain_pid" 2>/dev/null; then
			drain_reports
			[ -z "$ENDED" ] || return
			say "the shell of the chain was killed"
			FIRST_RC=1 CUT=1
		elif [ "$DEADLINE" -ne 0 ] && [ "${EPOCHREALTIME/[.,]/}" -ge "$DEADLINE" ]; then
			CUT=1
		fi
		[ -z "$CUT" ] || return
	done
}

# run_chain CHAIN STOP: both are functions.  Returns the verdict of the chain.
run_chain() {
	local rc=0
	stop_fn=$2
	guard
	start_chain "$1"
	start_ticker
	watch_chain
	WATCHING=''
	if [ -n "$CUT" ]; then
		# What TERM did to the others tells nothing.
		rc=$FIRST_RC
	else
		verdict "${STATUSES[@]}" || rc=$?
	fi
	finish
	trap - EXIT INT TERM HUP
	return "$rc"
}
