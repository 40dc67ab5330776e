# shellcheck shell=bash
# For test files that are plain bash (*.t):  . tests/lib/tap.bash
# They run from the top of the tree.
#
# check TEXT CMD...   one test: CMD succeeds; after a failure what it printed goes to stderr
# quiet CMD...        CMD succeeds and prints nothing
# skip TEXT REASON    one test that cannot run here
# finish              the plan; exits 1 after a failure
tests=0 failures=0

check() {
	local text=$1 out
	shift
	tests=$((tests + 1))
	if out=$("$@" 2>&1); then
		echo "ok $tests - $text"
	else
		failures=$((failures + 1))
		echo "not ok $tests - $text"
		printf '%s\n' "$out" | sed 's/^/# /; 60 { s/$/\n# .../; q }' >&2
	fi
}

quiet() {
	local out
	out=$("$@" 2>&1) && [ -z "$out" ] && return
	printf '%s\n' "$out"
	return 1
}

skip() {
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

finish() {
	echo "1..$tests"
	[ $failures -eq 0 ]
	exit
}
