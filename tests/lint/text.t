# shellcheck shell=bash
# Shell scripts, man pages, and what may stand in the tree.
. tests/lib/tap.bash

# Every file under version control that is a shell script by name or by its first line.
scripts() {
	local f
	git ls-files | while read -r f; do
		[ -f "$f" ] || continue
		case $f in
		*.sh | *.bash | *.bats | *.t) echo "$f" ;;
		*.*) [[ $f == .ci/* ]] && echo "$f" ;;
		*) head -n 1 "$f" | grep -qaE '^#!.*[/ ](ba|da)?sh( |$)' && echo "$f" ;;
		esac
	done
}
mapfile -t shell < <(scripts)
mapfile -t pages < <(git ls-files 'man/man*/*.[157]')

groff_is_quiet() {
	local p
	for p in "${pages[@]}"; do
		quiet groff -mdoc -Tutf8 -ww -z "$p" || return
	done
}
# The card of the project: nothing else on the top level but dot files.
top_level() {
	! git ls-tree --name-only HEAD | grep -vE '^(\..*|Makefile|README\.md|cmd|common|pipelines|tests|man)$'
}

check "there are scripts and pages" test ${#shell[@]} -gt 0 -a ${#pages[@]} -gt 0
mapfile -t bats < <(printf '%s\n' "${shell[@]}" | grep '\.bats$')
mapfile -t other < <(printf '%s\n' "${shell[@]}" | grep -v '\.bats$')
check "shellcheck" shellcheck -S warning "${other[@]}"
# SC2154: it does not know the variables that run --separate-stderr sets.
check "shellcheck, bats" shellcheck -S warning -e SC2154 "${bats[@]}"
check "mandoc" quiet mandoc -Tlint -W warning "${pages[@]}"
check "groff" groff_is_quiet
check "top level holds what the card allows" top_level
finish
