#!/usr/bin/env bats
# rec-cat: bridge, recorder, replay.
# shellcheck disable=SC2154
# In full the kills take a minute.
export BATS_TEST_TIMEOUT=${TELEOP_LONG:+240}
load ../lib/helpers

pose() { # SEQ T [SRC]
	printf '{"type":"pose","v":1,"src":"%s","seq":%d,"t":%d,"frame":"base","valid":true,"p":[0.280000000,0.000000000,0.199000000],"q":[0.000000000,0.965925826,0.000000000,0.258819045],"grip":0.750000000}\n' \
		"${3:-right}" "$1" "$2"
}

event() { # NAME VALUE SEQ [T]
	printf '{"type":"event","v":1,"src":"op","seq":%d,"t":%d,"name":"%s","value":"%s","n":1}\n' \
		"$3" "${4:-$3}" "$1" "$2"
}

beat() {
	printf '{"type":"beat","v":1,"src":"op","seq":%d,"t":%d,"stops":0,"level":"hold"}\n' "$1" "$2"
}

stop_record() {
	printf '{"type":"stop","v":1,"src":"right","seq":%d,"t":%d,"level":"estop","why":"button"}\n' "$1" "$2"
}

# A record without digits or types of ours, whose bytes have to come through.
odd='{ "type":"wheel" , "v":7, "src":"w","seq":1,"t":5, "x":[1.23456789012345678,{"t":9}]}'

files() {
	find "$T/d" -mindepth 1 -printf '%f\n' | sort
}

# The first file whose name ends so; fails when there is none.
only() {
	local f
	f=$(compgen -G "$T/d/*$1") && head -n 1 <<<"$f"
}

@test "from stream to stream every byte passes, in order, however slow the reader" {
	local i
	{
		echo "$odd"
		for ((i = 0; i < 2000; i++)); do pose $i $((i * 5000)); done
		event engage x 1
		stop_record 1 2
	} >"$T/in"
	rec-cat -i "$T/in" | { read -r -t 0.3 <> <(:) || :; cat; } >"$T/out"
	cmp "$T/in" "$T/out"
	rec-cat <"$T/in" >"$T/out"
	cmp "$T/in" "$T/out"
	rec-cat -i "$T/in" -o "$T/a" -o "$T/b"
	cmp "$T/in" "$T/a"
	cmp "$T/in" "$T/b"
}

@test "selection by type and src, several of each; -n" {
	{
		pose 0 0
		pose 0 1 left
		stop_record 0 2
		event stale x 0
		echo "$odd"
	} >"$T/in"
	run -0 --separate-stderr rec-cat -i "$T/in" --type pose --type wheel
	[ "$(jq -r '.type + .src' <<<"$output" | tr '\n' ' ')" = "poseright poseleft wheelw " ]
	[ -z "$stderr" ]
	run -0 rec-cat -i "$T/in" --src left --src op
	[ "$(jq -r '.type + .src' <<<"$output" | tr '\n' ' ')" = "poseleft eventop " ]
	run -0 rec-cat -i "$T/in" --type stop --src right
	[ "$(wc -l <<<"$output")" -eq 1 ]
	run -0 rec-cat -i "$T/in" -n 2
	[ "$(wc -l <<<"$output")" -eq 2 ]
	run ! rec-cat -i "$T/in" --src 'a b'
	[ "$status" -eq 2 ]
}

@test "bad lines are counted and warned about, --strict ends with 3" {
	{
		pose 0 0
		echo 'no record'
		pose 1 1
		printf '{"type":"cut'
	} >"$T/in"
	run -0 --separate-stderr rec-cat -i "$T/in" --stats 100s
	[ "$(wc -l <<<"$output")" -eq 2 ]
	[[ $stderr == *"$T/in: line 2: "* ]]
	[ "$(grep '^{' <<<"$stderr" | jq -c '[.in, .out, .bad]')" = '[3,2,2]' ]
	run -3 rec-cat --strict -i "$T/in"
}

@test "several inputs, nng to nng, and what is missing is counted" {
	start b rec-cat -i "ipc://$T/a" -i "ipc://$T/c" -o "ipc://$T/b" --stats 20ms
	start r rec-cat -i "ipc://$T/b" -o "$T/out"
	mkfifo "$T/fa" "$T/fc"
	start_in a "$T/fa" rec-cat -o "ipc://$T/a"
	start_in c "$T/fc" rec-cat -o "ipc://$T/c"
	exec 7>"$T/fa" 8>"$T/fc"
	seen() {
		pose 1 1 >&7
		pose 1 1 left >&8
		grep -q right "$T/out" && grep -q left "$T/out"
	}
	wait_for 5 seen
	pose 5 1 >&7
	wait_for 5 grep -q '"seq":5' "$T/out"
	wait_for 5 grep -q '"missing":3' "$T/b.err"
	exec 7>&- 8>&-
	wait_exit a 5
	[ "$status" -eq 0 ]
	stop b
	wait_exit b 5
	[ "$status" -eq 143 ]
}

@test "a reader that left: 141; an unreadable input, a word that is no endpoint: 1" {
	run bash -c "yes '$(pose 0 0)' | rec-cat | head -n 1 >/dev/null; exit \${PIPESTATUS[1]}"
	[ "$status" -eq 141 ]
	run -1 rec-cat -i "$T/none"
	[[ $output == "rec-cat: $T/none: No such file or directory" ]]
	run -1 rec-cat -i none
}

@test "wrong usage: one line, exit 2" {
	local args
	for args in "--wait" "--control x" "--speed 1" "--loop" "--arm ipc://x" "x --dir d" "x -i y" \
		"x --speed -1" "x --speed 1e9" "x --loop --arm ipc://x" "x --speed 0 --arm ipc://x" \
		"--dir d --free -1" "x y" "--type" "--no-such"; do
		# shellcheck disable=SC2086
		run --separate-stderr rec-cat $args
		echo "$args: $status $stderr"
		[ "$status" -eq 2 ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
}

@test "recording: the first record begins an episode, the end keeps it; nothing on stdout" {
	{
		pose 0 0
		echo "$odd"
	} >"$T/in"
	run -0 rec-cat -i "$T/in" --dir "$T/d"
	[ -z "$output" ]
	[[ $(files) =~ ^[0-9]{8}T[0-9]{6}Z-0001\.ndjson$ ]]
	cmp "$T/in" "$(only -0001.ndjson)"
	# The next recorder goes on counting; with -o records pass on too.
	rec-cat -i "$T/in" --dir "$T/d" --type pose -o - >"$T/out"
	[ "$(wc -l <"$(only -0002.ndjson)")" -eq 1 ]
	cmp "$T/out" "$(only -0002.ndjson)"
	# Nothing came: no file.
	rec-cat -i /dev/null --dir "$T/d"
	[ "$(files | wc -l)" -eq 2 ]
}

@test "episodes by event records: start, keep, discard; a second start keeps the first" {
	{
		pose 0 0
		event episode start 1
		pose 1 1
		event episode start 1
		event episode keep 2
		pose 2 2
		event episode start 3
		pose 3 3
		event episode discard 4
		event episode start 5
		pose 4 4
		event episode start 6
		pose 5 5
	} >"$T/in"
	run -0 --separate-stderr rec-cat -i "$T/in" --dir "$T/d" --wait -v
	echo "$stderr"
	files
	[ "$(files | cut -d - -f 2 | tr '\n' ' ')" = \
		"0001.ndjson 0002.ndjson.discarded 0003.ndjson 0004.ndjson " ]
	[ "$(jq -r '.value // .seq' "$(only -0001.ndjson)" | tr '\n' ' ')" = "start 1 start keep " ]
	[ "$(jq -r '.value // .seq' "$(only -0002.ndjson.discarded)" | tr '\n' ' ')" = "start 3 discard " ]
	[ "$(jq -r '.value // .seq' "$(only -0003.ndjson)" | tr '\n' ' ')" = "start 4 " ]
	[ "$(jq -r '.value // .seq' "$(only -0004.ndjson)" | tr '\n' ' ')" = "start 5 " ]
}

@test "orders count although the selection leaves their records out" {
	{
		event episode start 1
		pose 1 1
		event episode keep 2
	} >"$T/in"
	rec-cat -i "$T/in" --dir "$T/d" --wait --type pose
	[ "$(cat "$(only -0001.ndjson)")" = "$(pose 1 1)" ]
}

@test "episodes by a FIFO: .part while one runs, each line of it on the disk at once" {
	mkfifo "$T/in"
	start_in r "$T/in" rec-cat --dir "$T/d" --wait --control "$T/c"
	exec 7>"$T/in"
	wait_for 5 test -p "$T/c"
	has() {
		[ "$(grep -c '"pose"' "$(only "$1")")" -eq "$2" ]
	}
	# An order and a record come by different ways: one after the other.
	echo start >"$T/c"
	wait_for 5 only .part
	[[ $(files) =~ -0001\.ndjson\.part$ ]]
	pose 0 0 >&7
	wait_for 5 has .part 1
	pose 1 1 >&7
	wait_for 5 has .part 2
	echo nonsense >"$T/c"
	echo keep >"$T/c"
	wait_for 5 only -0001.ndjson
	[ "$(jq -r '.value // .seq' "$(only -0001.ndjson)" | tr '\n' ' ')" = "start 0 1 keep " ]
	echo keep >"$T/c"
	wait_for 5 grep -q 'rec-cat: keep: no episode runs' "$T/r.err"
	grep -q "neither start, keep, discard nor quit: 'nonsense'" "$T/r.err"
	echo start >"$T/c"
	wait_for 5 only .part
	pose 2 2 >&7
	wait_for 5 has .part 1
	echo discard >"$T/c"
	wait_for 5 only .discarded
	grep -q '"seq":2' "$(only .discarded)"
	echo start >"$T/c"
	wait_for 5 only .part
	echo quit >"$T/c"
	wait_exit r 5
	[ "$status" -eq 0 ]
	[ -n "$(only -0003.ndjson)" ]
	[ ! -e "$T/c" ]
}

@test "episodes by keys" {
	mkfifo "$T/in"
	cat >"$T/keys.py" <<-'P'
		import glob, os, pty, sys, time
		d, fifo = sys.argv[1], sys.argv[2]
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp("rec-cat", ["rec-cat", "-i", fifo, "--dir", d, "--wait"])
		w = open(fifo, "w")
		def until(pattern):
		    end = time.monotonic() + 5
		    while not glob.glob(d + pattern):
		        assert time.monotonic() < end, pattern
		        time.sleep(0.01)
		until("")
		time.sleep(0)
		end = time.monotonic() + 5
		while b"s start" not in os.read(fd, 4096):
		    assert time.monotonic() < end
		os.write(fd, b"s")
		until("/*-0001.ndjson.part")
		os.write(fd, b"k")
		until("/*-0001.ndjson")
		os.write(fd, b"s")
		until("/*-0002.ndjson.part")
		os.write(fd, b"d")
		until("/*-0002.ndjson.discarded")
		os.write(fd, b"q")
		_, status = os.waitpid(pid, 0)
		assert os.waitstatus_to_exitcode(status) == 0, status
	P
	run -0 timeout 20 python3 "$T/keys.py" "$T/d" "$T/in"
}

@test "SIGTERM: the episode is kept" {
	mkfifo "$T/in"
	start_in r "$T/in" rec-cat --dir "$T/d"
	exec 7>"$T/in"
	pose 0 0 >&7
	wait_for 5 only .part
	stop r
	wait_exit r 5
	[ "$status" -eq 143 ]
	[ "$(cat "$(only .ndjson)")" = "$(pose 0 0)" ]
}

@test "nothing is overwritten: neither file nor name of another recorder" {
	mkdir "$T/d"
	pose 0 0 >"$T/in"
	echo mine >"$T/d/20200101T000000Z-0041.ndjson.discarded"
	rec-cat -i "$T/in" --dir "$T/d"
	[ -n "$(only -0042.ndjson)" ]
	# The name an episode would get is taken while it runs.
	mkfifo "$T/f"
	start_in r "$T/f" rec-cat --dir "$T/d"
	exec 7>"$T/f"
	pose 1 1 >&7
	wait_for 5 only -0043.ndjson.part
	part=$(only .part)
	echo mine >"${part%.part}"
	exec 7>&-
	wait_exit r 5
	[ "$status" -eq 1 ]
	[ "$(cat "${part%.part}")" = mine ]
	[ "$(cat "$part")" = "$(pose 1 1)" ]
}

@test "the free-space floor ends it with 1, names the disk, and the file is whole" {
	mkfifo "$T/f"
	run -1 --separate-stderr rec-cat -i /dev/null --dir "$T/d" --free 1000000000
	[[ $stderr =~ ^rec-cat:\ .*:\ [0-9]+\ MiB\ free,\ less\ than\ the\ 1000000000\ MiB\ to\ be\ left$ ]]
	[ -z "$(files)" ]
}

# A disk of 256 KiB in a namespace of its own.
@test "a full disk: exit 1, named, the file whole to its last record, its tap undisturbed" {
	unshare -rm true 2>/dev/null || skip "no mount namespaces for this user"
	mkdir "$T/d"
	cat >"$T/full.sh" <<-'S'
		mount -t tmpfs -o size=256k tmpfs "$1/d" || exit 99
		rec-cat -i "pull+ipc://$1/rec" --dir "$1/d" --free 0 2>"$1/err"
		echo $? >"$1/rc"
		cp "$1"/d/*.part "$1/copy"
	S
	start r unshare -rm bash "$T/full.sh" "$T"
	local i
	for ((i = 0; i < 3000; i++)); do pose $i $((i * 300)); done >"$T/in"
	wait_for 10 test -S "$T/rec"
	# Every record reaches the output beside the tap, whatever becomes of the recorder. What a busy
	# machine cannot push in time is lost to the recorder: again, until its disk is full.
	for i in 1 2 3 4 5; do
		rm -f "$T/out"
		timeout 20 rec-cat "$T/in" -o "push+ipc://$T/rec" -o "$T/out"
		[ "$(wc -l <"$T/out")" -eq 3000 ]
		[ ! -e "$T/copy" ] || break
	done
	wait_exit r 10
	cat "$T/err"
	[ "$(cat "$T/rc")" -eq 1 ]
	grep -qE "^rec-cat: $T/d/.*-0001.ndjson.part: No space left on device: disk $T/d \(tmpfs\)$" "$T/err"
	grep -q "recording ended: .*part is whole to its last record" "$T/err"
	[ "$(tail -c 1 "$T/copy" | od -An -c | tr -d ' ')" = '\n' ]
	# Exactly the first of the records: none lost before the end, none cut.
	cmp <(head -n "$(wc -l <"$T/copy")" "$T/in" | jq -c .seq) <(jq -c .seq "$T/copy")
	[ "$(stat -c %s "$T/copy")" -gt 200000 ]
}

# Acceptance: killed at random while 200 records a second come.
@test "kill -9 at random: whole to the last whole record, none lost before it" {
	local count=20
	[ -z "${TELEOP_LONG:-}" ] || count=200
	cat >"$T/kill.py" <<-'P'
		import glob, json, os, random, signal, subprocess, sys, time
		top, count = sys.argv[1], int(sys.argv[2])
		rng = random.Random(20261130)
		judged = 0
		for trial in range(count):
		    d = "%s/d%d" % (top, trial)
		    p = subprocess.Popen(["rec-cat", "--dir", d], stdin=subprocess.PIPE)
		    end = time.monotonic() + rng.uniform(0.05, 0.3)
		    sent, killed = 0, False
		    while not killed:
		        killed = time.monotonic() >= end
		        line = '{"type":"feedback","v":1,"src":"arm0","seq":%d,"t":%d,"kind":"joint",' \
		            '"state":"ready","j":[0,%.9g,0,0,0,0],"pad":"%s"}\n' % (
		            sent, sent * 5000, rng.random(), "x" * rng.randrange(0, 900))
		        if killed:
		            os.kill(p.pid, signal.SIGKILL)
		            break
		        p.stdin.write(line.encode())
		        p.stdin.flush()
		        sent += 1
		        time.sleep(0.005)
		    p.wait()
		    try:
		        p.stdin.close()
		    except BrokenPipeError:
		        pass
		    got = glob.glob(d + "/*")
		    if not got and sent < 40:
		        continue  # killed before it was there
		    assert len(got) == 1 and got[0].endswith("-0001.ndjson.part"), got
		    data = open(got[0], "rb").read()
		    lines = data.split(b"\n")[:-1]  # what is behind the last newline is no record
		    seqs = [json.loads(x)["seq"] for x in lines]
		    assert seqs == list(range(len(seqs))), (trial, seqs)
		    # 5 ms a record: what came 100 ms before the kill is there, also on a busy machine.
		    assert len(seqs) >= sent - 20 or sent < 40, (trial, len(seqs), sent)
		    judged += 1
		    r = subprocess.run(["rec-cat", "-i", got[0]], capture_output=True)
		    assert r.returncode == 0 and r.stdout == b"".join(x + b"\n" for x in lines), trial
		assert judged >= count / 2, judged
		print("ok")
	P
	run -0 timeout 230 python3 "$T/kill.py" "$T" "$count"
	echo "$output"
	[[ $output == *ok ]]
}

@test "replay: one constant for t, every other byte as it was, at the recorded pace" {
	local i before after
	{
		echo "$odd"
		for ((i = 0; i < 30; i++)); do pose $i $((1000000 + i * 20000)); done
	} >"$T/in"
	sed -i 's/"t":5,/"t":1000000,/' "$T/in"
	before=$(now_ms)
	rec-cat "$T/in" >"$T/out"
	after=$(now_ms)
	[ $((after - before)) -ge 580 ]
	[ "$(wc -l <"$T/out")" -eq 31 ]
	jq -n -e --slurpfile a "$T/in" --slurpfile b "$T/out" \
		'[range($a | length) | $b[.].t - $a[.].t] | unique | length == 1'
	cmp <(sed -E 's/"t":[0-9]{2,}//' "$T/in") <(sed -E 's/"t":[0-9]{2,}//' "$T/out" |
		sed 's/{"type":"wheel","v":7,"src":"w","seq":1,,"x"/{ "type":"wheel" , "v":7, "src":"w","seq":1,, "x"/')
}

@test "replay: records go out when they are due, not before" {
	local now t
	{
		pose 0 0
		pose 1 300000
	} >"$T/in"
	rec-cat "$T/in" | while read -r line; do
		read -r now _ </proc/uptime
		t=$(jq .t <<<"$line")
		# the clock of /proc/uptime counts hundredths, and time asleep
		jq -n -e "($now * 1e6 + 10000) >= $t" >"$T/due" || echo "early: $now $t" >>"$T/early"
	done
	[ ! -e "$T/early" ]
}

@test "replay: --speed scales, 0 does not wait" {
	local before after
	{
		pose 0 0
		pose 1 400000
		pose 2 1000000000
	} >"$T/in"
	before=$(now_ms)
	rec-cat --speed 0 "$T/in" >"$T/out"
	after=$(now_ms)
	[ $((after - before)) -lt 5000 ]
	jq -s -e '(.[1].t - .[0].t) == 400000 and (.[2].t - .[0].t) == 1000000000' "$T/out"
	head -n 2 "$T/in" >"$T/two"
	rec-cat --speed 4 "$T/two" | jq -s -e '(.[1].t - .[0].t) == 100000'
}

@test "replay: never a reset, an engage or a beat; stops and other events are" {
	{
		pose 0 0
		event engage op 1 1
		event reset op 2 2
		beat 0 3
		stop_record 0 4
		event stale x 3 5
	} >"$T/in"
	run -0 --separate-stderr rec-cat -v --stats 100s "$T/in"
	[ "$(jq -r '.name // .type' <<<"$output" | tr '\n' ' ')" = "pose stop stale " ]
	[[ $stderr == *"3 beats, resets and engages left out"* ]]
	[ "$(grep '^{' <<<"$stderr" | jq -c '[.in, .out, .left_out]')" = '[6,3,3]' ]
	# Also not when they alone are asked for.
	run -0 rec-cat --type event --type beat --src op "$T/in"
	[ "$(jq -r .name <<<"$output")" = stale ]
}

# bats test_tags=safety
@test "replay: what an operator's program gets of it engages nothing" {
	{
		event engage op 1 1
		event reset op 2 2
		stop_record 0 4
	} >"$T/in"
	start listen "$TP/stop_listen" "ipc://$T/stop"
	mkfifo "$T/words"
	start_in op "$T/words" estop -e "ipc://$T/stop" --live -i - --ready-fd 1
	exec 7>"$T/words"
	wait_for 5 grep -q ready "$T/op.out"
	rec-cat "$T/in" -o "$T/words"
	wait_for 5 grep -q '"type":"stop"' "$T/listen.out"
	run ! grep -E '"name":"(engage|reset)"' "$T/listen.out"
}

@test "replay: --loop begins again behind a gap that every filter sees; -n ends it" {
	{
		pose 7 500
		pose 8 20500
	} >"$T/in"
	rec-cat --loop --speed 100 -n 5 "$T/in" >"$T/out"
	[ "$(jq -r .seq "$T/out" | tr '\n' ' ')" = "7 8 7 8 7 " ]
	jq -s -e '.[1].t - .[0].t == 200 and .[2].t - .[1].t == 1000000 and .[4].t - .[3].t == 1000000' "$T/out"
	: >"$T/empty"
	run -1 rec-cat --loop "$T/empty"
	[[ $output == *"nothing in it to replay" ]]
	run -1 rec-cat --loop - <"$T/in"
}

@test "replay: a recording that was cut off plays to its last whole record" {
	{
		pose 0 0
		pose 1 1
		printf '{"type":"po'
	} >"$T/in"
	run -0 --separate-stderr rec-cat "$T/in"
	[ "$(wc -l <<<"$output")" -eq 2 ]
	[ -z "$stderr" ]
}

@test "replay: --arm holds the pose before the first run until the arm runs" {
	fb() {
		printf '{"type":"feedback","v":1,"src":"arm0","seq":%d,"t":%d,"kind":"joint","state":"ready","gate":"%s","why":"","runs":0,"j":[0,0,0,0,0,0]}\n' "$1" "$2" "$3"
	}
	{
		pose 0 1000
		fb 0 20000 hold
		pose 1 30000
		fb 1 40000 run
		pose 2 50000
		pose 3 90000
	} >"$T/in"
	mkfifo "$T/arm"
	start_in arm "$T/arm" rec-cat -o "ipc://$T/a"
	exec 7>"$T/arm"
	start p rec-cat --type pose --arm "ipc://$T/a" "$T/in"
	wait_for 5 grep -q '"seq":1' "$T/p.out"
	fb 0 1 hold >&7
	three() {
		[ "$(grep -c '"seq":1' "$T/p.out")" -ge 3 ]
	}
	wait_for 5 three
	run ! grep -qE '"seq":[023],' "$T/p.out"
	running() {
		fb 1 2 run >&7
		grep -q '"seq":3' "$T/p.out"
	}
	wait_for 5 running
	wait_exit p 5
	[ "$status" -eq 0 ]
	[ "$(jq -r .seq "$T/p.out" | uniq | tr '\n' ' ')" = "1 2 3 " ]
	jq -s -e 'map(select(.seq > 1)) | .[1].t - .[0].t == 40000' "$T/p.out"
	jq -s -e '[.[].t] | . == sort' "$T/p.out"
	fb 0 0 run >"$T/none"
	run -1 rec-cat --arm "ipc://$T/a" "$T/none"
	[[ $output == *"no valid pose to begin with" ]]
	run -4 rec-cat --arm "ipc://$T/nobody" --idle-timeout 100ms -o "$T/o" "$T/in"
}
