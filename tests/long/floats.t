# shellcheck shell=bash
# All 2^32 float patterns through every limit of one number: about 90 minutes of one CPU.
. tests/lib/tap.bash
floats=${TELEOP_TP:-build/tests/lib}/floats

# One process for each CPU; each takes its share.
every_pattern() {
	local n i rc=0 pids=()
	n=$(nproc)
	for ((i = 0; i < n; i++)); do
		nice "$floats" "$i" "$n" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || rc=1
	done
	return $rc
}
check "no float passes a limit (every pattern)" every_pattern
finish
