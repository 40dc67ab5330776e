#!/usr/bin/env bats
# teleop-remote between two network namespaces over a bad link: no command older than max-age by the
# sender's clock, HOLD and resume as DESIGN.md 2 and GATE.md say (acceptance of teleop-remote).
# shellcheck disable=SC2154
export BATS_TEST_TIMEOUT=180
load ../lib/helpers
load ../lib/chain

setup() {
	own_folder
	export TELEOP_BIN=$BIN
	PATH=$TOP/pipelines:$PATH
}

# Two network namespaces of this test's own with a wire between them: 10.99.0.1 and .2 of a /24.
two_hosts() {
	local rc=0 n
	A=to-a-$$ B=to-b-$$
	ip netns add "$A" 2>/dev/null || skip "network namespaces need root"
	ip netns add "$B"
	ip netns exec "$A" true 2>/dev/null || {
		ip netns del "$A"
		ip netns del "$B"
		skip "no mounts of their own for network namespaces (a root that is no mount point)"
	}
	ip link add v0 netns "$A" type veth peer name v0 netns "$B"
	for n in "$A 1" "$B 2"; do
		ip -n "${n% *}" address add "10.99.0.${n#* }/24" dev v0
		ip -n "${n% *}" link set v0 up
		ip -n "${n% *}" link set lo up
	done
	ip netns exec "$A" python3 "$TOP/tests/lib/two_hosts.py" "$D" "$B" "$@" >"$T/trial" 2>&1 3>&- || rc=$?
	cat "$T/trial"
	sed -n 's/^# /# /p' "$T/trial" >&3
	return "$rc"
}

teardown() {
	stop_all
	for n in "${A:-}" "${B:-}"; do
		[ -z "$n" ] || ip netns del "$n" 2>/dev/null || :
	done
	[ -z "${D:-}" ] || rm -rf "$D"
}

# Both connections are dialled at the relay, 10.99.0.1.
certificate() {
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout "$D/key" -out "$D/ca" -subj /CN=10.99.0.1 \
		2>/dev/null
	cat "$D/ca" "$D/key" >"$D/cert"
	export TELEOP_TLS_CERT=$D/cert TELEOP_TLS_CA=$D/ca
}

# bats test_tags=safety
@test "tcp: stalled 2 s, delayed 20 to 400 ms, 5 % loss, broken: nothing older than max-age, HOLD, resume by engage" {
	two_hosts tcp "${TELEOP_LONG:+10}"
}

# bats test_tags=safety
@test "tls+tcp: the same" {
	certificate
	two_hosts tls+tcp "${TELEOP_LONG:+10}"
}

@test "wrong usage: one line, exit 2, nothing started" {
	local args
	export TELEOP_RUNTIME_DIR=$D/rt
	for args in "" "tcp://a:1 tcp://b:1 can0" "--robot" "--robot tcp://a:1" "--robot tcp://a:1 tcp://b:1" \
		"--robot ipc:///a tcp://b:1 can0" "--operator tcp://a:1 tcp://b:1 can0" "--operator --robot tcp://a:1 tcp://b:1" \
		"--operator --sim tcp://a:1 tcp://b:1" "--robot --sim tcp://a:1 tcp://b:1 can0" \
		"--robot --engage auto tcp://a:1 tcp://b:1 can0" "--robot --log x tcp://a:1 tcp://b:1 can0" "--no-such"; do
		# shellcheck disable=SC2086
		run --separate-stderr teleop-remote $args
		echo "$args: $status $stderr"
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		[ ! -e "$D/rt" ]
	done
}
