#!/usr/bin/env bats
# Freezes, crashes, silences and wrong senders: what DESIGN.md 3 and GATE.md say.
export BATS_TEST_TIMEOUT=${TELEOP_LONG:+2400}
BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-300}
load ../lib/helpers
load ../lib/chain

# 3 s, with TELEOP_LONG also 12 s
frozen() {
	local s
	for s in 3 ${TELEOP_LONG:+12}; do
		trial freeze "$1" "$s"
		rm -rf "$D"
		trial freeze "$1" "$s" old
		rm -rf "$D"
	done
}

# bats test_tags=safety
@test "gate:G3 gate:G6 gate:G7 the writer frozen and continued: HOLD first, nothing from an old pose, an engage needed" {
	frozen piper-can-write
}

# bats test_tags=safety
@test "gate:G3 gate:G7 clamp frozen and continued: its queue moves nothing, RUN again from fresh poses" {
	frozen clamp
}

# bats test_tags=safety
@test "gate:G3 gate:G7 pose-xform frozen and continued: its queue moves nothing, RUN again from fresh poses" {
	frozen pose-xform
}

# bats test_tags=safety
@test "gate:G3 gate:G24 rctp-recv frozen and continued: HOLD, an engage needed" {
	frozen rctp-recv
	trial receiver-frozen
}

# bats test_tags=safety
@test "gate:G3 silent for 60 ms: still RUN" {
	trial silence 60
}

# bats test_tags=safety
@test "gate:G3 gate:G4 silent for 300 ms: HOLD within 100 ms and a tick, RUN again" {
	trial silence 300
}

# bats test_tags=safety
@test "gate:G3 gate:G4 silent for 3 s: HOLD within 100 ms and a tick, RUN again" {
	trial silence 3000
}

@test "sender restarted at time 0: one HOLD, then RUN" {
	trial restart
}

# bats test_tags=safety
@test "second sender on the port: refused and without effect, its e-stop honoured" {
	trial second-sender
}

# bats test_tags=safety
@test "two src in one pipe: the first is followed, the stop of the other honoured" {
	trial two-src
}

# bats test_tags=safety
@test "gate:G3 feedback silent for 60 ms: HOLD, then RUN" {
	trial feedback pause 60
}

# bats test_tags=safety
@test "gate:G3 gate:G5 feedback silent for 120 ms: FAULT until reset and engage" {
	trial feedback pause 120
}

# bats test_tags=safety
@test "gate:G3 feedback late by 60 ms: HOLD, then RUN with what comes late" {
	trial feedback delay 60
}

# bats test_tags=safety
@test "gate:G3 gate:G5 feedback late by 120 ms: FAULT until reset and engage" {
	trial feedback delay 120
}

# bats test_tags=safety
@test "gate:G3 gate:G5 gate:G24 a live estop killed: HOLD until a reset drops its lease, then an engage" {
	trial lease
}

# bats test_tags=safety
@test "gate:G5 gate:G6 an engage from a frozen queue, from ESTOP, from before the reset: refused" {
	trial queued-engage
}

killed() {
	trial kill "$TOP/tests/lib/chain_runner" "$1" "$(count 100)"
}

# bats test_tags=safety
@test "gate:G3 gate:G18 rctp-recv killed: no changed target after 100 ms and a tick, last stop, nothing left" {
	killed rctp-recv
}

# bats test_tags=safety
@test "gate:G3 gate:G18 pose-xform killed: no changed target after 100 ms and a tick, last stop, nothing left" {
	killed pose-xform
}

# bats test_tags=safety
@test "gate:G3 gate:G18 clamp killed: no changed target after 100 ms and a tick, last stop, nothing left" {
	killed clamp
}

# bats test_tags=safety
@test "gate:G8 gate:G19 piper-can-write killed: last stop at the bus, nothing left" {
	killed piper-can-write
}
