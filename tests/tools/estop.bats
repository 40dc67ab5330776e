#!/usr/bin/env bats
# estop: what reaches the sink's side of the stop channel (gate:G22-G25).
load ../lib/helpers

# listen NAME: a sink's ear on ipc://$T/NAME; what it hears is in $T/NAME.out
listen() {
	start "$1" "$TP/stop_listen" "ipc://$T/$1"
	wait_for 5 grep -q ready "$T/$1.err"
}

heard() { # NAME JQ-FILTER: some line matches
	jq -e -n "[inputs | select($2)] | length > 0" "$T/$1.out"
}

live() { # args...: live mode reading the FIFO $T/in, held open by fd 7
	mkfifo "$T/in"
	start_in op "$T/in" "$BIN/estop" --live --ready-fd 1 "$@"
	exec 7>"$T/in"
	wait_for 5 grep -q ready "$T/op.out"
}

teardown() {
	exec 7>&- || :
	stop_all
}

@test "one-shot stop: three times the same record, no beat, silent" {
	listen a
	run --separate-stderr estop -e "ipc://$T/a" stop --why "hand in cell"
	[ "$status" -eq 0 ]
	[ -z "$output$stderr" ]
	wait_for 5 eval '[ "$(wc -l <"$T/a.out")" -ge 3 ]'
	[ "$(wc -l <"$T/a.out")" -eq 3 ]
	[ "$(sort -u "$T/a.out" | wc -l)" -eq 1 ]
	heard a '.type == "stop" and .level == "estop" and .why == "hand in cell" and (.src | startswith("estop-"))'
	run ! grep -q beat "$T/a.out"
}

@test "hold, reset and engage; --src names the sender" {
	listen a
	estop -e "ipc://$T/a" --src pedal hold
	estop -e "ipc://$T/a" --src pedal reset
	estop -e "ipc://$T/a" --src pedal engage
	wait_for 5 heard a '.type == "stop" and .level == "hold" and .src == "pedal"'
	wait_for 5 heard a '.type == "event" and .name == "reset" and .n == 1'
	wait_for 5 heard a '.type == "event" and .name == "engage" and .v == 1'
}

@test "two arms: both are stopped" {
	listen a
	listen b
	estop -e "ipc://$T/a" -e "ipc://$T/b" stop
	wait_for 5 heard a '.level == "estop"'
	wait_for 5 heard b '.level == "estop"'
}

@test "an arm that does not answer is named after 1 s, the other one is stopped at once" {
	listen a
	start once "$BIN/estop" -e "ipc://$T/none" -e "ipc://$T/a" stop
	wait_for 1 heard a '.level == "estop"'
	wait_exit once 5
	[ "$status" -eq 1 ]
	grep -q "estop: ipc://$T/none: no arm reached there" "$T/once.err"
	[ "$(wc -l <"$T/once.err")" -eq 1 ]
}

@test "an arm that begins to listen within the second is reached" {
	start once "$BIN/estop" -e "ipc://$T/a" hold
	listen a
	wait_exit once 5
	[ "$status" -eq 0 ]
	heard a '.level == "hold"'
}

@test "wrong usage: one line, exit 2" {
	local args
	for args in "stop" "-e ipc://x" "-e ipc://x halt" "-e ipc://x --live stop" \
		"-e ipc://x --src a/b stop" "-e nonsense stop" "-e ipc://x stop hold"; do
		# shellcheck disable=SC2086
		run --separate-stderr estop $args
		echo "$args: $status $stderr"
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
}

# bats test_tags=safety
@test "live: beats every 25 ms with the running count of stops" {
	listen a
	live -e "ipc://$T/a" --src op
	wait_for 5 heard a '.type == "beat" and .src == "op" and .stops == 0'
	echo stop >&7
	wait_for 5 heard a '.type == "stop" and .level == "estop"'
	wait_for 5 heard a '.type == "beat" and .stops == 1 and .level == "estop"'
	echo hold >&7
	wait_for 5 heard a '.type == "beat" and .stops == 2 and .level == "hold"'
	wait_for 5 eval '[ "$(grep -c beat "$T/a.out")" -ge 20 ]'
	# At its pace in the middle, whatever this machine was doing at the ends: 20 to 32 ms.
	jq -s -e '[.[] | select(.type == "beat") | .t] | [range(1; length) as $i | .[$i] - .[$i - 1]]
		| sort | .[length / 2 | floor] | . > 20000 and . < 32000' "$T/a.out"
}

@test "live: the stop is followed at once by a beat that tells of it" {
	listen a
	live -e "ipc://$T/a"
	echo stop >&7
	wait_for 5 heard a '.type == "beat" and .stops == 1'
	grep -A1 '"stop"' "$T/a.out" | tail -n 1 | jq -e '.type == "beat" and .stops == 1'
}

@test "live: words and records; the time of a record stays" {
	listen a
	live -e "ipc://$T/a" --src op
	echo engage >&7
	wait_for 5 heard a '.name == "engage" and .n == 1'
	echo '{"type":"event","v":1,"src":"pedal","seq":4,"t":12345,"name":"reset","n":1}' >&7
	wait_for 5 heard a '.name == "reset" and .t == 12345 and .src == "op" and .n == 2'
	echo '{"type":"stop","v":1,"src":"pedal","seq":4,"t":12346,"level":"estop","why":"foot"}' >&7
	wait_for 5 heard a '.level == "estop" and .t == 12346 and .why == "foot"'
	echo '{"type":"lamp","v":1,"src":"pedal","seq":4,"t":12346}' >&7
	echo reset >&7
	wait_for 5 heard a '.name == "reset" and .n == 3'
	[ ! -s "$T/op.err" ]
}

# bats test_tags=safety
@test "live: a line that is not understood holds" {
	listen a
	live -e "ipc://$T/a"
	echo STOP >&7
	wait_for 5 heard a '.type == "stop" and .level == "hold" and .why == "line not understood"'
	wait_for 5 grep -q "estop: input: neither stop, hold, reset or engage nor a record: holding" "$T/op.err"
}

# bats test_tags=safety
@test "live: the end of the input is a hold" {
	listen a
	live -e "ipc://$T/a"
	exec 7>&-
	wait_exit op 5
	[ "$status" -eq 0 ]
	[ "$(grep -c '"level":"hold","why":"sender ended"' "$T/a.out")" -eq 3 ]
}

# bats test_tags=safety
@test "live: SIGTERM leaves a hold behind and ends by the signal; SIGUSR1 is an e-stop" {
	listen a
	live -e "ipc://$T/a"
	stop op USR1
	wait_for 5 heard a '.type == "stop" and .level == "estop" and .why == "SIGUSR1"'
	run ! heard a '.type == "stop" and .level == "hold"'
	stop op TERM
	wait_exit op 5
	[ "$status" -eq 143 ]
	heard a '.type == "stop" and .level == "hold"'
}

# bats test_tags=safety
@test "live: an engage that came while the program was frozen is refused, a stop is not" {
	listen a
	live -e "ipc://$T/a"
	stop op STOP
	wait_for 5 eval 'grep -q "^State:.T" /proc/${PIDS[op]}/status'
	echo engage >&7
	echo stop >&7
	echo engage >&7
	read -r -t 0.3 <> <(:) || : # the freeze itself, longer than 100 ms
	stop op CONT
	wait_for 5 heard a '.type == "stop" and .level == "estop"'
	wait_for 5 grep -q "estop: engage: refused" "$T/op.err"
	run ! heard a '.name == "engage"'
	echo engage >&7
	wait_for 5 eval 'echo engage >&7; heard a ".name == \"engage\""'
}

@test "live: counters on SIGUSR2, --stats and the loss of an arm in words" {
	listen a
	live -e "ipc://$T/a" --stats 50ms
	wait_for 5 grep -q '"type":"status".*"arms":1,"connected":1' "$T/op.err"
	stop a KILL
	wait_for 5 grep -q "estop: ipc://$T/a: connection lost" "$T/op.err"
	echo stop >&7
	wait_for 5 grep -q "estop: stop: sent, but 1 of 1 arms are not connected" "$T/op.err"
}

@test "keys of a terminal: raw while it runs, as before afterwards" {
	listen a
	run python3 - "$BIN/estop" "ipc://$T/a" "$T/a.out" <<-'PY'
		import os, pty, sys, termios, time
		tool, url, heard = sys.argv[1:]
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(tool, [tool, "-e", url, "--live"])
		def wait(claim):
		    end = time.monotonic() + 5
		    while not claim():
		        assert time.monotonic() < end, open(heard).read()
		        time.sleep(0.01)
		lines = lambda: open(heard).read()
		before = None
		wait(lambda: '"beat"' in lines())
		flags = termios.tcgetattr(fd)[3]
		assert not flags & (termios.ICANON | termios.ECHO), "not raw"
		os.write(fd, b"\x1be")
		wait(lambda: '"level":"estop"' in lines())
		os.write(fd, b"r")
		wait(lambda: '"name":"reset"' in lines())
		assert '"name":"engage"' not in lines(), "Alt-e engaged"
		os.write(fd, b"e")
		wait(lambda: '"name":"engage"' in lines())
		wait(lambda: b"arms 1/1" in os.read(fd, 4096))
		os.write(fd, b"q")
		wait(lambda: '"why":"sender ended"' in lines())
		seen = b""
		try:
		    while True:
		        seen += os.read(fd, 4096)
		        flags = termios.tcgetattr(fd)[3]
		except OSError:
		    pass
		assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
	PY
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "the terminal is as before after q and after SIGTERM" {
	listen a
	run python3 - "$BIN/estop" "ipc://$T/a" "$T/a.out" <<-'PY'
		import os, pty, signal, subprocess, sys, termios, time
		tool, url, heard = sys.argv[1:]
		def in_foreground():
		    os.setsid()
		    os.close(os.open(os.ttyname(0), os.O_RDWR))
		for how in (lambda p: os.write(master, b"q"), lambda p: p.send_signal(signal.SIGTERM)):
		    master, slave = os.openpty()
		    before = termios.tcgetattr(slave)
		    p = subprocess.Popen([tool, "-e", url, "--live"], stdin=slave, stderr=slave,
		                         preexec_fn=in_foreground)
		    end = time.monotonic() + 5
		    while termios.tcgetattr(slave) == before:
		        assert time.monotonic() < end, "never raw"
		        time.sleep(0.01)
		    how(p)
		    p.wait(5)
		    assert termios.tcgetattr(slave) == before, "not restored"
	PY
	echo "$output"
	[ "$status" -eq 0 ]
}
