#!/usr/bin/env python3
"""System calls that fail, one at a time, in each stage of the chain.

usage: failing_calls.py BIN TESTPROGS FOLDER RECORDING

strace makes the Nth call of one kind in one stage fail with one error.  After each such run the
stage has gone on, or has ended with a message that names it and the reason; and no wrong frame was
sent.  TELEOP_LONG tries every N up to 40 and every seventh behind it instead of a few.

file: RECORDING by its own clock onto the ideal arm.  Interrupted calls (EINTR, EAGAIN) change not a
byte.  After another failure the frames are those of the undisturbed run as far as they go, with
nothing behind them but the hold of a chain that ended; the checker finds no breach.
live: a moving hand over UDP onto piper-sim; no violation at the arm, no breach by the checker.  A
set that the bus was lost in is the last.

clock_gettime and time are no system calls here (the vDSO answers), so they cannot fail; a call of
a stage that does not occur is left out.  TAP on stdout, one test for each stage and call.
"""
import os
import re
import signal
import socket
import subprocess
import sys
import time

BIN, PROGS, FOLDER, RECORDING = sys.argv[1:5]
LONG = bool(os.environ.get("TELEOP_LONG"))
AGAIN = ("EINTR", "EAGAIN")
ERRORS = {
    "read": ["EINTR", "EAGAIN", "EIO"],
    "write": ["EINTR", "EAGAIN", "EIO", "ENOSPC", "EPIPE"],
    "poll": ["EINTR", "ENOMEM"],
    "ppoll": ["EINTR", "ENOMEM"],
    "recvmsg": ["EINTR", "EAGAIN", "ENOMEM", "EIO"],
    "recvmmsg": ["EINTR", "EAGAIN", "ENOMEM", "EIO"],
    "recvfrom": ["EINTR", "EAGAIN", "ENOMEM", "EIO"],
    "sendmsg": ["EINTR", "EAGAIN", "ENOBUFS", "EPIPE"],
    "sendto": ["EINTR", "EAGAIN", "ENOBUFS"],
    "timerfd_settime": ["ENOMEM"],
    "clock_gettime": ["EINVAL"],
}
tests = failed = injected = 0


def report(bad, text):
    global tests, failed
    tests += 1
    print(f"{'not ok' if bad else 'ok'} {tests} - {text}", flush=True)
    failed += bool(bad)
    for line in bad[:12]:
        print(f"# {line}", flush=True)


def strace(call, trace, inject):
    words = ["strace", "-f", "-qq", "--seccomp-bpf", "-o", trace, "-e", f"trace={call}", "-e", "signal=none"]
    return words + (["-e", f"inject={call}:{inject}"] if inject else [])


def lines_of(path):
    with open(path, "rb") as f:
        return f.read().splitlines(keepends=True)


def spread(first, last):
    """Which calls fail: those from the first to the last of the program itself."""
    if LONG:
        return list(range(first, min(first + 40, last + 1))) + list(range(first + 40, last + 1, 7))
    return sorted({n for n in (first, first + 1, (first + last) // 2, last) if first <= n <= last})


def calls_of(trace, call):
    """Number of the first call after the loader's, and of the last; of the busiest thread."""
    threads, loader = {}, {}
    for line in lines_of(trace):
        m = re.match(rb"(\d+) +(\w+)\(", line)
        if not m or m.group(2).decode() != call:
            continue
        threads[m.group(1)] = threads.get(m.group(1), 0) + 1
        if b'"\\177ELF' in line:
            loader[m.group(1)] = threads[m.group(1)]
    if not threads:
        return 1, 0
    who = max(threads, key=threads.get)
    return loader.get(who, 0) + 1, threads[who]


def was_injected(trace):
    global injected
    hit = any(b"(INJECTED)" in line for line in lines_of(trace))
    injected += hit
    return hit


class Chain:
    def __init__(self, stages):
        self.stages = stages
        self.out = f"{FOLDER}/out.log"

    def run(self, victim=None, call=None, inject=None, live=None):
        """Exit codes and messages; standard output of the last in {out}, strace of the victim in FOLDER/trace."""
        procs, before = [], subprocess.DEVNULL
        errs = [open(f"{FOLDER}/err{i}", "w+b") for i in range(len(self.stages))]
        with open(self.out, "wb") as out:
            for i, (name, words) in enumerate(self.stages):
                cmd = [f"{BIN}/{name}", *words]
                if i == victim:
                    cmd = strace(call, f"{FOLDER}/trace", inject) + cmd
                last = i + 1 == len(self.stages)
                p = subprocess.Popen(cmd, stdin=before, stdout=out if last else subprocess.PIPE, stderr=errs[i])
                if before is not subprocess.DEVNULL:
                    before.close()
                before = p.stdout
                procs.append(p)
        if live:
            live(procs)
        codes, texts = [], []
        deadline = time.monotonic() + 60
        for p, e in zip(procs, errs):
            try:
                codes.append(p.wait(max(0.1, deadline - time.monotonic())))
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
                codes.append("hangs")
            e.seek(0)
            texts.append(e.read().decode(errors="replace"))
            e.close()
        return codes, texts


def ended_well(name, code, text, error):
    """What the stage that was disturbed may do."""
    if code in (0, 141, -13):
        return code == 0 or error == "EPIPE"
    named = re.search(rf"^{name}: .+", text, re.M) is not None
    return code == 1 and (named or "error while loading shared libraries" in text)


def is_hold(tail):
    """Frames behind the undisturbed ones: one set that stands still, and the same once more."""
    body = [line.split(b" ", 1)[1] for line in tail]
    if len(body) not in (0, 4, 8) or any(len(set(body[i::4])) != 1 for i in range(4)):
        return not body
    return [b[5:8] for b in body[:4]] == [b"151", b"155", b"156", b"157"]


def judge_bytes(want, got, error, whole):
    if whole:
        return [] if got == want else ["not the same frames as undisturbed"]
    same = 0
    while same < min(len(want), len(got)) and want[same] == got[same]:
        same += 1
    return [] if is_hold(got[same:]) else [f"other frames from line {same + 1} on: {got[same][:60]}"]


def check_breaches(mode, records, log):
    words = ["--records", records] if records else []
    seen = subprocess.run([f"{PROGS}/checker", "--mode", mode, *words, log], capture_output=True, text=True,
                          timeout=60)
    return [] if seen.returncode == 0 else (seen.stdout + seen.stderr).splitlines()[:4]


def try_file(chain, want, want_rec, victim, call, error, n):
    name, rec = chain.stages[victim][0], f"{FOLDER}/rec"
    codes, texts = chain.run(victim, call, f"error={error}:when={n}")
    if not was_injected(f"{FOLDER}/trace"):
        return []
    bad = []
    if not ended_well(name, codes[victim], texts[victim], error):
        bad.append(f"ended with {codes[victim]}, saying {texts[victim]!r}")
    if error in AGAIN and codes != [0] * len(codes):
        bad.append(f"interrupted, and did not go on: {codes} {texts[victim]!r}")
    for i, code in enumerate(codes):
        if i != victim and code not in (0, 141):
            bad.append(f"{chain.stages[i][0]} ended with {code}: {texts[i]!r}")
    whole = codes == [0] * len(codes)
    records = lines_of(rec)
    left = error == "EPIPE" and records == want_rec[:len(records)]  # their reader may leave
    if whole and not left and records != want_rec:
        bad.append("other records than undisturbed")
    bad += judge_bytes(want, lines_of(chain.out), error, whole)
    told = "no more records there" in texts[victim]
    bad += check_breaches("ideal", None if told or left else rec, chain.out)
    return [f"{call} {n} {error}: {b}" for b in bad]


def file_chain():
    chain = Chain([
        ("rctp-recv", ["-i", RECORDING, "--clock", "input"]),
        ("pose-xform", ["--relative", "--scale", "0.5"]),
        ("clamp", ["--preset", "piper"]),
        ("piper-can-write", ["--clock", "input", "-o", f"{FOLDER}/rec", "-"]),
    ])
    codes, texts = chain.run()
    want, want_rec = lines_of(chain.out), lines_of(f"{FOLDER}/rec")
    report([] if codes == [0] * 4 and len(want) > 80 else [f"{codes} {texts} {len(want)} frames"],
           f"undisturbed: {len(want)} frames")
    for victim, (name, _) in enumerate(chain.stages):
        for call in ("read", "write", "poll", "ppoll", "timerfd_settime", "clock_gettime"):
            chain.run(victim, call)
            first, last = calls_of(f"{FOLDER}/trace", call)
            bad, before = [], injected
            for error in ERRORS[call]:
                for n in spread(first, last):
                    bad += try_file(chain, want, want_rec, victim, call, error, n)
            if injected > before:
                report(bad, f"{name}: {call} fails ({injected - before} times)")


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, seconds):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)


class Live:
    """A hand that moves, the chain, and a simulated arm; all new for each run."""

    def __init__(self):
        self.bus, self.rec, self.runs = f"{FOLDER}/bus.log", f"{FOLDER}/rec", 0

    def sets(self):
        try:
            return sum(b" 157#" in line or b" 154#" in line for line in lines_of(self.bus))
        except FileNotFoundError:
            return 0

    def run(self, victim=None, call=None, inject=None, seconds=4):
        self.runs += 1
        arm, stop, port = f"{FOLDER}/arm{self.runs}", f"ipc://{FOLDER}/stop{self.runs}", free_port()
        for path in (self.bus, self.rec):
            open(path, "wb").close()
        sim = subprocess.Popen([f"{BIN}/piper-sim", "--start", "0,86,-45,0,24,0", "--log", self.bus, "--log-feedback",
                                f"slcan:{arm}"], stdin=subprocess.DEVNULL)
        wait_for(lambda: os.path.exists(arm), 10)
        hand = subprocess.Popen([f"{BIN}/rctp-send", "-q", "-m", "circle", "--period", "1s", "-o",
                                 f"udp:127.0.0.1:{port}"], stdin=subprocess.DEVNULL)
        chain = Chain([
            ("rctp-recv", ["-p", str(port), "-e", stop, "--idle-timeout", "300ms"]),
            ("pose-xform", ["--relative", "--scale", "0.5"]),
            ("clamp", ["--preset", "piper"]),
            ("piper-can-write", ["-e", stop, "-o", self.rec, f"slcan:{arm}"]),
        ])

        def live(procs):
            began = time.monotonic()
            wait_for(lambda: any(p.poll() is not None for p in procs)
                     or self.sets() >= 20 and time.monotonic() > began + 0.7, seconds)
            hand.send_signal(signal.SIGTERM)
            hand.wait()

        codes, texts = chain.run(victim, call, inject, live)
        sim.send_signal(signal.SIGTERM)
        sim.wait()
        return codes, texts, [name for name, _ in chain.stages]

    def judge(self, victim, codes, texts, names, error):
        bad = []
        if codes[victim] not in (4, 16) and not ended_well(names[victim], codes[victim], texts[victim], error):
            bad.append(f"ended with {codes[victim]}, saying {texts[victim]!r}")
        for i, code in enumerate(codes):
            if i != victim and code not in (0, 4, 141):
                bad.append(f"{names[i]} ended with {code}: {texts[i]!r}")
        bad += [line.decode() for line in lines_of(self.bus) if b" violation " in line]
        lost = "no more records there" in texts[3] or victim == 3 and error == "EPIPE"
        bad += check_breaches("sim", None if lost else self.rec, self.bus)
        if victim == 3 and codes[3] == 16 and bad:  # the bus was lost inside its last set
            cut = ("set not completed", "torn set: the log ends", "set without a command record", "summary ")
            bad = [line for line in bad if not any(word in line for word in cut)]
        return bad


def live_chain():
    live = Live()
    codes, texts, names = live.run(seconds=15)
    report([] if codes == [4, 0, 0, 0] and live.sets() >= 20 else [f"{codes} {texts} {live.sets()} sets"],
           f"undisturbed: {live.sets()} sets")
    turn = 0
    for victim, name in enumerate(names):
        live.run(victim, ",".join(ERRORS))
        seen = {call: calls_of(f"{FOLDER}/trace", call) for call in ERRORS}
        for call, (first, last) in seen.items():
            numbers = [n for n in sorted({first, first + 1, (first + last) // 2, last - 5}) if first <= n <= last]
            trials = [(n, e) for n in numbers for e in ERRORS[call]]
            if not LONG and trials:  # one each, another errno and number from call to call
                trials = [trials[turn * 7 % len(trials)]]
                turn += 1
                if name == "piper-can-write" and call == "write":
                    trials += [((first + last) // 2 + i, "EIO") for i in range(2)]  # records and bus
            bad, before = [], injected
            for n, error in trials:
                codes, texts, _ = live.run(victim, call, f"error={error}:when={n}")
                if was_injected(f"{FOLDER}/trace"):
                    bad += [f"{call} {n} {error}: {b}" for b in live.judge(victim, codes, texts, names, error)]
            if injected > before:
                report(bad, f"live, {name}: {call} fails ({injected - before} times)")


def main():
    file_chain()
    live_chain()
    print(f"# {injected} calls failed", flush=True)
    print(f"1..{tests}")
    return 1 if failed else 0


sys.exit(main())
