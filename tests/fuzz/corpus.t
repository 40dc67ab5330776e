# shellcheck shell=bash
# Every fuzz target on its corpus: the seeds, and the inputs that once failed.
. tests/lib/tap.bash
programs=${TELEOP_BUILD:-build}/tests/fuzz

# The last lines name the input and the claim.
holds() {
	"$programs/$1" "tests/fuzz/corpus/$1"/* 2>&1 | tail -n 5
	return "${PIPESTATUS[0]}"
}

for source in tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	[ "$target" != replay ] || continue
	inputs=("tests/fuzz/corpus/$target"/*)
	check "$target: ${#inputs[@]} inputs and all their beginnings" holds "$target"
done
finish
