#!/usr/bin/env bats
# shellcheck disable=SC2154 # run sets them
# A run made by hand: 3 s of poses, 2 s of motion, a hold, an e-stop answered in 1.5 ms.
load ../lib/helpers

REPORT=$TOP/pipelines/teleop-report

setup() {
	mkdir "$T/run"
	awk -v dir="$T/run" 'BEGIN {
		for (k = 0; k < 150; k++) {
			t = 1000000 + k * 20000
			x = 0.28 + 0.0005 * k
			head = sprintf("{\"type\":\"pose\",\"v\":1,\"src\":\"right\",\"seq\":%d,\"t\":%d", k, t)
			body = sprintf("\"valid\":%s,\"p\":[%.9f,0.1,0.2],\"q\":[0,1,0,0]", \
				(k >= 100 && k < 110 ? "false" : "true"), x)
			print head ",\"frame\":\"vr\"," body "}" > (dir "/raw.ndjson")
			print head ",\"frame\":\"base\"," body (k % 10 ? "" : ",\"clamped\":[\"x\",\"speed\"]") "}" \
				> (dir "/pose.ndjson")
		}
		stop = 1000000 + 120 * 20000
		print "{\"type\":\"stop\",\"v\":1,\"src\":\"right\",\"seq\":0,\"t\":" stop \
			",\"level\":\"estop\",\"why\":\"bit\"}" > (dir "/raw.ndjson")
		for (k = 0; k < 90; k++) {
			t = 1000000 + int(k * 33333.3)
			gate = t < 1100000 ? "init" : t < 3000000 ? "run" : t < stop ? "hold" : "estop"
			why = gate == "hold" ? "hand not valid for 12 ms" : gate == "estop" ? "bit" : ""
			printf "{\"type\":\"feedback\",\"v\":1,\"src\":\"arm0\",\"seq\":%d,\"t\":%d,\"kind\":\"cartesian\"," \
				"\"state\":\"ready\",\"gate\":\"%s\",\"why\":\"%s\",\"runs\":1,\"p\":[%.4f,0.1,0.2]," \
				"\"q\":[0,1,0,0]}\n", k, t, gate, why, 0.28 + 0.0008 * k > (dir "/sink.ndjson")
			if (gate == "run")
				printf "{\"type\":\"command\",\"v\":1,\"src\":\"arm0\",\"seq\":%d,\"t\":%d,\"set\":\"run\"," \
					"\"p\":[0.28,0.1,0.2],\"q\":[0,1,0,0],\"age_us\":%d,\"lead_m\":%.4f,\"lead_rad\":0.01}\n", \
					k, t - 5000, 5000 + k * 100, 0.0002 * k > (dir "/sink.ndjson")
		}
		printf "{\"type\":\"command\",\"v\":1,\"src\":\"arm0\",\"seq\":91,\"t\":%d,\"set\":\"hold\"," \
			"\"j\":[0,0,0,0,0,0],\"age_us\":1500,\"lead_m\":0,\"lead_rad\":0}\n", stop > (dir "/sink.ndjson")
		printf "{\"type\":\"feedb" > (dir "/sink.ndjson") # cut off by a crash
		print "piper-can-write: gate: run" > (dir "/sink.err")
	}'
}

# line NAME: that line of the report.
line() {
	grep "^$1 " <<<"$output"
}

@test "the report tells what the records say, on one screen" {
	run --separate-stderr "$REPORT" --no-picture "$T/run"
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "${#lines[@]}" -le 24 ]
	[[ "$(line duration)" == *" 3.0 s" ]]
	[[ "$(line poses)" == *"150 from the source, 10 not valid, 1 stops; 150 after clamp, 10 not valid" ]]
	[[ "$(line commands)" == *"57 run sets, 1 hold sets, 0 ready sets" ]]
	[[ "$(line clamped)" == *" 10.0 % of the valid poses (x 14, speed 14)" || "$(line clamped)" == *" 10.0 % of the valid poses (speed 14, x 14)" ]]
	[[ "$(line age)" == *"p50 8.2, p99 11.0, max 11.0 ms (at most 100)" ]]
	[[ "$(line lead)" == *"max 12.0 mm, 0.6 degrees (at most 37.5, 13.5)" ]]
	[[ "$(line gate)" == *"run 1.9 s, hold 0.4 s, e-stop 0.5 s, fault 0.0 s" ]]
	[[ "$output" == *"1 x hold: hand not valid for N ms"* ]]
	[[ "$output" == *"1 x estop: bit"* ]]
	[[ "$(line e-stop)" == *"1.5 ms from the packet to the hold set (at most 33)" ]]
	[[ "$(line messages)" == *"1 lines, the last: piper-can-write: gate: run" ]]
	[[ "$(line verdict)" == *" good" ]]
}

@test "the picture is a PNG of 1400 by 1000, and of the run" {
	command -v gnuplot >/dev/null || skip "gnuplot is not installed"
	run --separate-stderr "$REPORT" "$T/run"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "$(od -An -tx1 -N 24 "$T/run/demo.png" | tr -d ' \n')" = 89504e470d0a1a0a0000000d4948445200000578000003e8 ]
	"$REPORT" -o "$T/other.png" --title 'a "quoted" one' "$T/run" >/dev/null
	[ -s "$T/other.png" ]
	run ! cmp -s "$T/other.png" "$T/run/demo.png"
}

@test "a run that is not good says why and exits 1" {
	run "$REPORT" --no-picture --max-age 10 "$T/run"
	[ "$status" -eq 1 ]
	[[ "$(line verdict)" == *"age 11.0 ms is above 10" ]]
	run "$REPORT" --no-picture --lead 11,0.5 "$T/run"
	[ "$status" -eq 1 ]
	[[ "$(line verdict)" == *"lead 12.0 mm is above 11; lead 0.6 degrees is above 0.5" ]]
	run "$REPORT" --no-picture --stop-within 1 "$T/run"
	[ "$status" -eq 1 ]
	[[ "$(line verdict)" == *"stop reaction 1.5 ms is above 1" ]]
	sed -i '/"set":"hold"/d' "$T/run/sink.ndjson"
	run "$REPORT" --no-picture "$T/run"
	[ "$status" -eq 1 ]
	[[ "$(line verdict)" == *"no hold set answers the e-stop" ]]
	sed -i '/"set":"run"/d; s/"gate":"hold"/"gate":"fault"/' "$T/run/sink.ndjson"
	run "$REPORT" --no-picture "$T/run"
	[ "$status" -eq 1 ]
	[[ "$(line verdict)" == *"the arm was never moved; "*"; the gate was in fault" ]]
}

@test "an e-stop bit that stays set repeats itself and needs no second hold set" {
	echo '{"type":"stop","v":1,"src":"right","seq":1,"t":3900000,"level":"estop","why":"bit"}' >>"$T/run/raw.ndjson"
	run "$REPORT" --no-picture "$T/run"
	[ "$status" -eq 0 ]
}

@test "only the writer's records have to be there" {
	rm "$T/run/raw.ndjson" "$T/run/pose.ndjson" "$T/run/sink.err"
	run --separate-stderr "$REPORT" "$T/run"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ "$(line e-stop)" == *" none" ]]
	rm "$T/run/sink.ndjson"
	run --separate-stderr "$REPORT" "$T/run"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"sink.ndjson: cannot be read" ]]
}

@test "wrong usage exits 2 in one line" {
	local words
	for words in "" "--lead 1" "--max-age x $T/run" "$T/run $T/run" "--title"; do
		# shellcheck disable=SC2086
		run --separate-stderr "$REPORT" $words
		[ "$status" -eq 2 ] || { echo "'$words': $status"; false; }
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}
