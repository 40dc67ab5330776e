# shellcheck shell=bash
# shellcheck disable=SC2034
# For tests/pages/*.t, after tap.bash: which programs and pages there are, what --help offers,
# and how an example is run.
TOP=$PWD
BIN=${TELEOP_BIN:-$TOP/build/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$BIN:$TOP/pipelines:$PATH
export LC_ALL=C

mapfile -t tools < <(find cmd -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2>/dev/null | sort)
mapfile -t scripts < <(find pipelines -type f -perm -u+x ! -name '*.sh' -printf '%f\n' 2>/dev/null | sort)

# The options PROGRAM's --help lists, sorted, one a line: -n and --count apart.
help_options() {
	"$1" --help </dev/null | grep -oE '^ +(-[A-Za-z0-9](, |[ =]|$))?(--[a-z0-9][a-z0-9-]*)?' |
		grep -oE -- '--[a-z0-9-]+|-[A-Za-z0-9]' | sort -u
}

# The options PAGE tags in its lists.
page_options() {
	grep '^\.It Fl ' "$1" | grep -oE 'Fl [^ ]+' | sed -E 's/^Fl +//; s/\\-/-/g; s/^/-/' | sort -u
}

# A network of its own where the system gives one: default ports are then free.
network=()
for try in 'unshare -n' 'unshare -rn'; do
	# shellcheck disable=SC2086
	if $try ip link set lo up 2>/dev/null; then
		read -r -a network <<<"$try"
		break
	fi
done

# run_example FILE SECONDS: in the current folder; what it leaves running is killed. Success is
# 0, or 141 (a reader such as head left first).
run_example() {
	local script pid rc
	# shellcheck disable=SC2016
	script='[ "$1" = - ] || ip link set lo up; exec timeout -k 2 "$2" bash -o pipefail "$3"'
	setsid "${network[@]}" bash -c "$script" - "${network[0]:--}" "$2" "$1" \
		</dev/null >"$work/out" 2>"$work/err" 3>&- &
	pid=$!
	wait $pid
	rc=$?
	pkill -KILL -s "$pid" 2>/dev/null
	[ $rc -eq 0 ] || [ $rc -eq 141 ] || {
		echo "exit $rc (124: not done within $2 s)"
		cat "$1"
		tail -n 20 "$work/err"
		return 1
	}
	! grep -E 'command not found|: try .* --help' "$work/err"
}

# is_endpoint PROGRAM OPTION WORD: of the form of one. A tape of packets may be a plain name.
is_endpoint() {
	case $3 in
	ipc://?* | tcp://?* | tls+tcp://?* | ws://?* | wss://?*) return 0 ;;
	*://*) return 1 ;;
	- | */*) [[ $2 != -e ]] ;;
	udp:?*:?*) [ "$1$2" = rctp-send-o ] ;;
	*.bin) [ "$1$2" = rctp-send-o ] || [ "$1$2" = rctp-recv-i ] ;;
	*) return 1 ;;
	esac
}

# Every option that FILE gives to one of our programs is one of that program's, and the word behind
# -i, -o, -e and --arm is an endpoint where the program takes one.
options_exist() {
	local line word name before rc=0
	bash -n "$1" || return
	while read -r line; do
		name='' before=''
		for word in $line; do
			case $before in
			-i | -o | -e | --arm)
				[[ $name == teleop-* ]] || is_endpoint "$name" "$before" "$word" || {
					echo "$name $before: $word is no endpoint: $line"
					rc=1
				}
				;;
			esac
			[ -z "$name" ] || before=$word
			if [ -z "$name" ]; then
				[[ $word == *=* ]] && continue
				name=${word##*/}
				[[ " ${tools[*]} ${scripts[*]} " == *" $name "* ]] || break
			elif [[ $word =~ ^--?[A-Za-z] ]]; then
				help_options "$name" | grep -qxe "${word%%=*}" || {
					echo "$name has no option $word: $line"
					rc=1
				}
			fi
		done
	done < <(sed -E ':a; /\\$/ { N; s/\\\n//; ba }; s/#.*//' "$1" | sed -E 's/[|;&]+/\n/g')
	return $rc
}
