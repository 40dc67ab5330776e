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
check "every make target it names exists" targets_exist
check "every program is in the table" table_is_complete
check "files it links to exist" links_exist
finish
