# shellcheck shell=bash
# The EXAMPLES of every page work: each is run, page by page in a folder that was empty, with the
# programs under test.  Those marked norun are at least shell, and name only options there are.
. tests/lib/tap.bash
. tests/lib/pages.bash

one() {
	(cd "$work/in" && run_example "$1" 30)
}
for page in man/man[157]/*.[157] man/man5/*.5; do
	[ -e "$page" ] || continue
	name=$(basename "${page%.*}")
	mkdir -p "$work/ex" "$work/in"
	check "$name: examples are readable" awk -v dir="$work/ex" -f tests/lib/examples.awk "$page"
	for file in "$work"/ex/*; do
		[ -e "$file" ] || continue
		text=$(sed -n 2p "$file" | tr -d '#\\')
		case $file in
		*.run) check "$name: $text" one "$file" ;;
		*.norun) check "$name: (not run) $text" options_exist "$file" ;;
		esac
	done
	rm -rf "$work/ex" "$work/in"
done
finish
