#!/usr/bin/env bats
# The frame every filter runs in (common/rec/filter), driven by a smallest filter.
load ../lib/helpers

F=$TP/filter_probe

pose() { # src seq x [rest]
	printf '{"type":"pose","v":1,"src":"%s","seq":%d,"t":%d,"frame":"base","valid":true,"p":[%s,0.000000000,0.000000000],"q":[0.000000000,0.000000000,0.000000000,1.000000000]%s}\n' \
		"$1" "$2" "$((1000 * $2))" "$3" "${4-}"
}

@test "a changed pose is printed anew, an unchanged one and other types pass byte for byte" {
	{
		pose a 1 1.000000000
		printf '{"src":"a", "type":"pose","v":1,"seq":2,"t":9,"frame":"vr","valid":true,"p":[5,0,0],"q":[0,0,0,1]}\n'
		printf '{"type":"gaze","v":7,"src":"eye","seq":1,"t":1, "x":[1.50,{"b":null}]}\n'
		printf '{"type":"stop","v":1,"src":"other","seq":1,"t":1,"level":"hold","why":"x","k":1}\n'
	} >"$T/in"
	run --separate-stderr "$F" <"$T/in"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "${lines[0]}" = "$(pose a 1 2.000000000)" ]
	[ "$(printf '%s\n' "${lines[@]:1}")" = "$(tail -n 3 "$T/in")" ]
}

@test "unknown keys of a changed pose are kept" {
	run "$F" < <(pose a 1 0.000000000 ',"grip":0.500000000,"k":[1.0,"x"]')
	[ "$output" = "$(pose a 1 1.000000000 ',"grip":0.500000000,"k":[1.0,"x"]')" ]
}

@test "poses of another src are dropped and counted, --src names the one" {
	{ pose a 1 0.000000000; pose b 1 0.000000000; pose a 2 0.000000000; } >"$T/in"
	run --separate-stderr "$F" --stats 100s <"$T/in"
	[ "$(jq -r .src <<<"$output" | tr -d '\n')" = aa ]
	[ "$(jq -c '[.type,.src,.in,.out,.foreign,.bad,.moved]' <<<"$stderr")" = '["status","filter_probe",3,2,1,0,2]' ]
	run "$F" --src b <"$T/in"
	[ "$(jq -r .src <<<"$output")" = b ]
	run "$F" --src 'a b' <"$T/in"
	[ "$status" -eq 2 ]
}

@test "a bad line is dropped, counted, named once a second; --strict exits 3" {
	{ pose a 1 0.000000000; echo nonsense; echo '{"type":"pose"}'; head -c 5000 /dev/zero | tr '\0' x; echo; pose a 2 0.000000000; printf '{"half'; } >"$T/in"
	run --separate-stderr "$F" --stats 100s <"$T/in"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 2 ]
	[ "$(grep -c 'line 2: not JSON' <<<"$stderr")" -eq 1 ]
	[ "$(grep -c '4 bad lines of 6$' <<<"$stderr")" -eq 1 ]
	[ "$(grep status <<<"$stderr" | jq -c '[.in,.out,.bad,.overlong,.partial]')" = '[4,2,4,1,1]' ]
	run --separate-stderr "$F" --strict <"$T/in"
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -eq 1 ]
	run "$F" --strict < <(head -c 5000 /dev/zero)
	[ "$status" -eq 3 ]
	run "$F" --strict < <(pose a 1 0.000000000; printf '{"half')
	[ "$status" -eq 3 ]
}

@test "a pose the tool refuses counts as a bad line, with its reason" {
	run --separate-stderr "$F" --strict < <(pose a 1 0.000000000 | sed 's/"p":\[0.000000000,0/"p":[0.000000000,6/')
	[ "$status" -eq 3 ]
	[[ $stderr == *'line 1: y above 5'* ]]
}

@test "-n ends after that many records" {
	mkfifo "$T/in"
	exec 9<>"$T/in"
	start_in f "$T/in" "$F" -n 2
	for i in 1 2 3 4; do pose a $i 0.000000000 >&9; done
	wait_exit f 5
	exec 9>&-
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$T/f.out")" -eq 2 ]
}

@test "--idle-timeout exits 4, not while input comes" {
	mkfifo "$T/fifo"
	start_in f "$T/fifo" "$F" --idle-timeout 1s
	exec 9>"$T/fifo"
	for i in 1 2 3 4 5; do
		pose a $i 0.000000000 >&9
		read -r -t 0.3 <> <(:) || :
	done
	wait_for 5 grep -q '"seq":5' "$T/f.out"
	wait_exit f 5
	exec 9>&-
	[ "$status" -eq 4 ]
	[ "$(wc -l <"$T/f.out")" -eq 5 ]
}

@test "a full disk is an error, on a write and in words" {
	run bash -c '"$1" <"$2" >/dev/full' - "$F" <(pose a 1 0.000000000)
	[ "$status" -eq 1 ]
	[[ $output == *'No space left'* ]]
	run "$F" -o /dev/full < <(pose a 1 0.000000000)
	[ "$status" -eq 1 ]
}

@test "a word that is no endpoint exits 2, one that cannot be opened 1, with its name" {
	run "$F" -i nonsense
	[ "$status" -eq 2 ]
	[[ $output == *nonsense* ]]
	run "$F" -o "$T/no/such" </dev/null
	[ "$status" -eq 1 ]
	[[ $output == *no/such* ]]
}

@test "a reader that leaves ends an idle filter with 141" {
	mkfifo "$T/in" "$T/out"
	exec 8<>"$T/in"
	"$F" <"$T/in" >"$T/out" 3>&- 8>&- &
	PIDS["f"]=$!
	exec 7<"$T/out"
	pose a 1 0.000000000 >&8
	read -r -u 7
	exec 7<&-
	wait_exit f 5
	exec 8>&-
	[ "$status" -eq 141 ]
}

@test "EPIPE and SIGPIPE, ignored or not, both end as 141" {
	for trap in '' "trap '' PIPE;"; do
		run bash -c "$trap"'{ for i in {1..100000}; do echo "$2"; done; } 2>/dev/null | "$1" | head -n 1 >/dev/null; echo "${PIPESTATUS[1]}"' - "$F" "$(pose a 1 0.000000000)"
		[ "$output" = 141 ]
	done
}

@test "INT, TERM and HUP kill at once, also while the reader is slow" {
	mkfifo "$T/in" "$T/out"
	for sig in INT TERM HUP; do
		exec 8<>"$T/in" 7<>"$T/out"
		# env: a background job of a shell without job control would ignore INT.
		env --default-signal "$F" <"$T/in" >"$T/out" 3>&- 7>&- 8>&- &
		PIDS["f"]=$!
		for ((i = 0; i < 800; i++)); do pose a $i 0.000000000; done | timeout 0.3 cat >&8 || :
		kill -"$sig" "${PIDS["f"]}"
		wait_exit f 5
		[ "$status" -eq $((128 + $(kill -l $sig))) ]
		exec 8>&- 7>&-
	done
}

@test "SIGUSR2 prints the counters, SIGUSR1 does nothing, also while the reader is slow" {
	mkfifo "$T/in" "$T/out"
	exec 8<>"$T/in" 7<>"$T/out"
	"$F" --ready-fd 4 <"$T/in" >"$T/out" 2>"$T/err" 4>"$T/ready" 3>&- 7>&- 8>&- &
	PIDS["f"]=$!
	wait_for 5 grep -q ready "$T/ready"
	kill -USR1 "${PIDS["f"]}"
	kill -USR2 "${PIDS["f"]}"
	wait_for 5 grep -q '"type":"status"' "$T/err"
	for ((i = 0; i < 800; i++)); do pose a $i 0.000000000; done | timeout 0.3 cat >&8 || :
	kill -USR2 "${PIDS["f"]}"
	wait_for 5 grep -q '"seq":1,' "$T/err"
	run jq -c '[.seq,.type,.bad]' "$T/err"
	[ "${lines[1]}" = '[1,"status",0]' ]
	exec 8>&- 7>&-
}

@test "nothing is lost or reordered when the reader is slow" {
	for ((i = 0; i < 3000; i++)); do pose a $i 0.000000000; done >"$T/in"
	"$F" <"$T/in" | { read -r -t 0.3 <> <(:) || :; cat; } >"$T/out"
	[ "$(jq .seq "$T/out")" = "$(seq 0 2999)" ]
}

@test "several outputs get the same, nng in place of pipes" {
	start sink "$F" -i "ipc://$T/s" -o "$T/got" --idle-timeout 10s
	mkfifo "$T/in"
	start_in src "$T/in" "$F" -o - -o "ipc://$T/s"
	exec 9>"$T/in"
	i=0
	send_one() {
		pose a $((++i)) 0.000000000 >&9
		grep -q seq "$T/got"
	}
	wait_for 5 send_one
	exec 9>&-
	wait_exit src 5
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$T/src.out")" -eq "$i" ]
	wait_for 5 grep -q "\"seq\":$i," "$T/got"
	[[ $(tail -n 1 "$T/got") == *'"p":[2.000000000,'* ]]
}

@test "tls and wss take certificate and CA from the environment, and are refused without" {
	command -v openssl >/dev/null || skip "openssl is not installed"
	run "$F" -i tls+tcp://localhost:1
	[ "$status" -eq 1 ]
	[[ $output == *TELEOP_TLS_CA* ]]
	run "$F" -o wss://localhost:1/ </dev/null
	[ "$status" -eq 1 ]
	[[ $output == *TELEOP_TLS_CERT* ]]
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$T/key" -out "$T/cert" -days 2 \
		-subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null
	cat "$T/cert" "$T/key" >"$T/both"
	mkfifo "$T/in"
	i=0
	send_one() {
		pose a $((++i)) 0.000000000 >&9
		grep -q seq "$T/got"
	}
	getent hosts localhost >/dev/null || skip "localhost has no address here"
	for url in tls+tcp://localhost:$((20000 + RANDOM)) wss://localhost:$((20000 + RANDOM))/rec; do
		: >"$T/got"
		TELEOP_TLS_CA=$T/cert start sink "$F" -i "$url" -o "$T/got"
		TELEOP_TLS_CERT=$T/both start_in src "$T/in" "$F" -o "$url"
		exec 9>"$T/in"
		wait_for 5 send_one
		exec 9>&-
		wait_exit src 5
		stop sink
		wait_exit sink 5
	done
}
