# shellcheck shell=bash
# README.md: every command in it.
. tests/lib/tap.bash
. tests/lib/pages.bash
mkdir "$work/ex" "$work/in"

one() {
	(cd "$work/in" && run_example "$1" 60)
}
targets_exist() {
	local t rc=0
	for t in $(grep -ohE '\bmake [a-z-]+' README.md | cut -d ' ' -f 2 | sort -u); do
		make -n -s "$t" >/dev/null || { echo "make $t"; rc=1; }
	done
	return $rc
}
# The table has one line for each program, and no other.
table_is_complete() {
	diff -u --label README.md --label programs \
		<(grep -oE '^\| `[a-z-]+`' README.md | tr -d '|` ' | sort) \
		<(printf '%s\n' "${tools[@]}" "${scripts[@]}" | grep -vx demo | sort)
}
# The live chain as it stands there, with a simulated arm and hand in the place of the real ones:
# it holds until somebody engages, and then runs.
live_chain() {
	local chain engage file
	for file in "$work"/ex/*.norun; do
		grep -q can0 "$file" && chain=$(grep -v '^#' "$file")
		grep -q 'engage$' "$file" && engage=$(grep -v '^#' "$file")
	done
	chain=${chain/--bind any /}
	chain=${chain/% can0/ -o .\/run.ndjson slcan:.\/arm}
	mkdir "$work/live"
	cat >"$work/live.sh" <<-END
		until_seen() {
			until grep -q "\$1" run.ndjson 2>/dev/null; do read -r -t 0.05 <> <(:); done
		}
		mkfifo ready
		piper-sim --start 0,86,-45,0,24,0 --ready-fd 3 slcan:./arm 3>ready &
		read -r _ <ready
		rctp-send --motion reach &
		{ $chain; } &
		until_seen '"why":"needs an engage'
		grep -q '"gate":"run"' run.ndjson && exit 1
		$engage
		until_seen '"gate":"run"'
		until_seen '"set":"run"'
	END
	(cd "$work/live" && run_example "$work/live.sh" 20) || {
		tail -n 3 "$work/live/run.ndjson"
		return 1
	}
}
links_exist() {
	local f rc=0
	for f in $(grep -oE '\]\([^)#]+\)' README.md | tr -d ']()'); do
		[ -e "$f" ] || { echo "$f"; rc=1; }
	done
	return $rc
}

check "blocks are readable" awk -v dir="$work/ex" -f tests/lib/examples.awk README.md
for file in "$work"/ex/*; do
	text=$(sed -n 2p "$file" | tr -d '#\\')
	case $file in
	*.run) check "$text" one "$file" ;;
	*.norun) check "(not run) $text" options_exist "$file" ;;
	esac
done
check "the live chain, onto a simulated arm" live_chain
check "every make target it names exists" targets_exist
check "every program is in the table" table_is_complete
check "files it links to exist" links_exist
finish
