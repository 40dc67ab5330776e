# shellcheck shell=bash
# Every program: its page, its --help, and that the two agree.
. tests/lib/tap.bash
. tests/lib/pages.bash

help_is_good() {
	local rc lines
	"$1" --help </dev/null >"$work/help" 2>"$work/err"
	rc=$?
	lines=$(wc -l <"$work/help")
	[ $rc -eq 0 ] && [ ! -s "$work/err" ] && [ "$lines" -ge 4 ] && [ "$lines" -le 60 ] &&
		head -n 1 "$work/help" | grep -q "^usage: $1 " && return
	echo "exit $rc, $lines lines (4 to 60 wanted)"
	cat "$work/err" "$work/help"
	return 1
}
version_is_good() {
	"$1" -V </dev/null | head -n 1 | grep -xE "$1 [0-9]+\.[0-9]+\.[0-9]+" && [ "$("$1" -V)" = "$("$1" --version)" ]
}
bad_option_is_refused() {
	local rc
	"$1" --no-such-option </dev/null >"$work/out" 2>"$work/err"
	rc=$?
	[ $rc -eq 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -q no-such-option "$work/err" && return
	echo "exit $rc"
	cat "$work/out" "$work/err"
	return 1
}
page_agrees() {
	diff -u --label "--help of $1" --label "page of $1" <(help_options "$1") <(page_options "man/man1/$1.1")
}
page_is_whole() {
	local page=man/man1/$1.1 s rc=0
	for s in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
		grep -qx ".Sh $s" "$page" || { echo "no section $s"; rc=1; }
	done
	grep -qx ".Nm $1" "$page" || { echo "its name is not $1"; rc=1; }
	mandoc -T ascii "$page" | tr -s ' \n' ' ' | grep -qi 'safety device' || {
		echo "does not say that a software stop is no safety device"
		rc=1
	}
	return $rc
}
page_has_examples() {
	mkdir -p "$work/$1"
	awk -v dir="$work/$1" -f tests/lib/examples.awk "man/man1/$1.1" &&
		[ "$(find "$work/$1" -type f | wc -l)" -ge 3 ]
}

for program in "${tools[@]}" "${scripts[@]}"; do
	check "$program: --help" help_is_good "$program"
	check "$program: a bad option" bad_option_is_refused "$program"
	# The script behind make demo is not installed and has no page.
	[ "$program" = demo ] && continue
	check "$program: -V" version_is_good "$program"
	check "$program: the page lists the options of --help" page_agrees "$program"
	check "$program: the page is whole" page_is_whole "$program"
	check "$program: the page has three examples" page_has_examples "$program"
done
finish
