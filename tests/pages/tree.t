# shellcheck shell=bash
# What the suite promises about itself and about the programs as files.
. tests/lib/tap.bash
. tests/lib/pages.bash

every_test_is_run() {
	diff -u --label 'files that are tests' --label 'files the suite runs' \
		<(find tests -path tests/vm/inside -prune -o -name '*.bats' -print -o -name '*.t' -print -o -path 'tests/unit/*_test.c' -print | sort) \
		<(make -s list-tests | sed -E 's,^(\./)?build[^/]*/(.*)$,\2.c,' | sort)
}
every_tool_has_tests() {
	local t rc=0
	for t in "${tools[@]}"; do
		[ -e "tests/tools/$t.bats" ] || { echo "no tests/tools/$t.bats"; rc=1; }
	done
	return $rc
}
# What could drop or reconfigure an arm is not part of the writer (gate:G20).
without_config() {
	local object=${TELEOP_BUILD:-build}/common/wire/piper_config.o
	nm --defined-only "$object" | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | sort >"$work/config"
	nm --defined-only "$BIN/piper-can-write" | awk 'NF == 3 { print $3 }' | sort >"$work/writer"
	[ -s "$work/config" ] && [ -s "$work/writer" ] && [ -z "$(comm -12 "$work/config" "$work/writer")" ]
}
libraries() {
	local t rc=0
	for t in "${tools[@]}"; do
		objdump -p "$BIN/$t" | awk '$1 == "NEEDED" { print $2 }' |
			grep -vE '^lib(nng|jansson|c|m|asan|ubsan)\.so' && { echo "linked into $t"; rc=1; }
	done
	return $rc
}
installs() {
	local d=$work/dest
	make -s install DESTDIR="$d" PREFIX=/usr BUILD="${TELEOP_BUILD:-build}" || return
	local t
	for t in "${tools[@]}"; do
		[ -x "$d/usr/bin/$t" ] && [ -e "$d/usr/share/man/man1/$t.1" ] || { echo "$t"; return 1; }
	done
	for t in "${scripts[@]}"; do
		[[ $t == teleop-* ]] || continue
		PATH=$d/usr/bin:/usr/bin:/bin "$d/usr/bin/$t" --help >/dev/null || return
	done
	make -s uninstall DESTDIR="$d" PREFIX=/usr && [ -z "$(find "$d" ! -type d)" ]
}

check "every test file is run by check or check-long" every_test_is_run
check "every tool has tests" every_tool_has_tests
check "nothing but nng, jansson, libc and libm is linked" libraries
check "install, start from there, uninstall" installs
if [ -d cmd/piper-can-write ]; then
	check "the writer holds nothing of piper_config" without_config
fi
finish
