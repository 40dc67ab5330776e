# shellcheck shell=bash
# The chain from a headset to a Piper, and the options teleop-piper and teleop-sim share.
# shellcheck source=pipelines/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

BUS='' BIND=any PORT=8888 COUNT=0
RECV=() XFORM=() CLAMP=(--preset piper) WRITE=(--engage first) # further words of each stage
HAND=''                                                       # function run beside the chain
SIM_PIDS=()

# shellcheck disable=SC2034 # used by the scripts
HELP_COMMON="\
      --axes A          axes of the headset, as of pose-xform (default openxr)
      --yaw DEG         turn of the room, as of pose-xform (default 0)
      --scale K         arm moves K times the hand, 0..100 (default 1)
  -n, --count N         end after N records of the source (default 0: no limit)
  -p, --port N          UDP port (default 8888)
  -v, --verbose         more messages of every stage
  -h, --help            print this help
  -V, --version         print the version"

print_version() {
	piper-can-write -V | sed "1s/^[^ ]*/$PROG/"
}

whole_number() {
	[[ $2 =~ ^[0-9]{1,15}$ ]] || bad_usage "$1: '$2' is not a whole number"
	[ "$((10#$2))" -le "$3" ] || bad_usage "$1: '$2' is above $3"
}

# common_option WORD...: takes one option; USED is how many words it was, 0: not one of these.
# shellcheck disable=SC2034
common_option() {
	USED=2
	case $1 in
	--axes | --yaw | --scale | -n | --count | -p | --port) need_value "$1" $# ;;
	esac
	case $1 in
	--axes | --yaw | --scale) XFORM+=("$1" "$2") ;;
	-n | --count) whole_number --count "$2" 999999999999999 && COUNT=$((10#$2)) ;;
	-p | --port) whole_number --port "$2" 65535 && PORT=$((10#$2)) ;;
	-v | --verbose)
		USED=1
		RECV+=(-v) XFORM+=(-v) CLAMP+=(-v) WRITE+=(-v)
		;;
	-h | --help)
		print_help
		exit 0
		;;
	-V | --version)
		find_tools piper-can-write
		print_version
		exit 0
		;;
	*) USED=0 ;;
	esac
}

# Sockets of this run: SOCKETS is a folder that goes with it.
open_sockets() {
	open_runtime
	SOCKETS=$RUN/$PROG-$$
	mkdir -m 700 "$SOCKETS" || fail 1 "$SOCKETS: cannot be made"
	STOP_URL=ipc://$SOCKETS/stop ARM_URL=ipc://$SOCKETS/arm
	at_end+=(remove_sockets)
	guard
}

remove_sockets() {
	rm -rf "${SOCKETS:?}"
}

# start_sim BUS WORD...: a simulated arm on BUS.  It outlives the chain: the last stop is for it.
start_sim() {
	local bus=$1 ready=$SOCKETS/sim-ready-${#SIM_PIDS[@]}
	shift
	set -m
	NOTIFY_SOCKET='' piper-sim --start '0,86,-45,0,24,0' "$@" --ready-fd 3 "$bus" 3>"$ready" </dev/null >/dev/null &
	SIM_PIDS+=($!)
	set +m
	[ "${#SIM_PIDS[@]}" -gt 1 ] || at_end=(end_sims "${at_end[@]}")
	until [ -s "$ready" ]; do
		kill -0 "${SIM_PIDS[-1]}" 2>/dev/null || fail 1 "piper-sim: did not start"
		sleep 0.02
	done
}

end_sims() {
	local pid
	for pid in "${SIM_PIDS[@]}"; do
		kill -TERM "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
}

# The chain itself.  Records of the writer go to standard output, unless that is a terminal.
chain() {
	local out=(-o "$ARM_URL")
	[ -t 1 ] || out+=(-o -)
	[ -z "$HAND" ] || NOTIFY_SOCKET='' "$HAND" &
	stage rctp-recv --bind "$BIND" --port "$PORT" -n "$COUNT" -e "$STOP_URL" "${RECV[@]}" |
		stage pose-xform --relative --arm "$ARM_URL" "${XFORM[@]}" |
		stage clamp "${CLAMP[@]}" |
		sink piper-can-write -e "$STOP_URL" "${out[@]}" --engage-within 0.010,3 "${WRITE[@]}" "$BUS"
	STATUSES=("${PIPESTATUS[@]}")
}

last_stop() {
	timeout -k 1 3 piper-can-write -q --stop "$BUS"
}

# What the operator has to know.
greet() {
	local a
	if [ "$BIND" = any ]; then
		for a in $(hostname -I 2>/dev/null || echo 0.0.0.0); do
			say "listening on UDP $a port $PORT"
		done
	fi
	say "in a second terminal:  estop -e $STOP_URL --live"
	say "then e engages, space stops, h holds, r resets"
}

run_piper() {
	trap 'estop -e "$STOP_URL" --why "SIGUSR1 to $PROG" stop' USR1
	run_chain chain last_stop
}
