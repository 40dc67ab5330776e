#!/usr/bin/env python3
"""Two hands through teleop-bimanual onto two simulated arms, judged from what the writers tell.

usage: two_hands.py FOLDER stops|hands|cross|watch|death COUNT [OPTION-OF-TELEOP-BIMANUAL]...

  stops   e-stops, right and left in turn: both arms get their hold set within one cycle
  hands   the right hand moves up and down, the left to and fro: each arm moves as its hand, and
          the commands of both come together
  cross   both hands move towards each other, again and again; held, then moved apart
  watch   the watch over both (apart) is frozen, then killed: both arms hold
  death   the writer of one arm is killed: the other holds too (COUNT even: right is killed)

Figures go to stdout; exit 1 with the reason when something is not as it should be.  A trial in which
this program's own 1 ms clock was more than 5 ms late is repeated and counted.
"""
import json
import math
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

FOLDER, MODE, COUNT, OPTIONS = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
CYCLE_US, LATE_US, SKEW_US = 33_000, 5_000, 10_000
SIDES = ("right", "left")


def now_us():
    return time.monotonic_ns() // 1000


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Witness(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.late = []

    def run(self):
        last = now_us()
        while True:
            time.sleep(0.001)
            now = now_us()
            if now - last > 1000 + LATE_US:
                self.late.append((last, now))
            last = now

    def was_late(self, since):
        return any(end > since for _, end in self.late)


class Hands(threading.Thread):
    """Both hands' packets, 50 a second, one right after the other."""

    def __init__(self, ports):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.ports, self.lock = ports, threading.Lock()
        self.flags = 1
        self.place = {s: (0.0, 0.0, 0.0) for s in SIDES}  # OpenXR: right, up, back
        self.way = lambda side, t: self.place[side]
        self.begun = time.monotonic()

    def packet(self, side, flags):
        t = time.monotonic() - self.begun
        x, y, z = self.way(side, t)
        shake = 1e-5 * math.sin(40 * t)  # nothing alive stands still
        return struct.pack("<4sd8fB", b"RCTP", t, x + shake, y + 1, z - 0.5, 0, 0, 0, 1, 0.5, flags)

    def send(self, side, flags):
        with self.lock:
            self.socket.sendto(self.packet(side, flags), ("127.0.0.1", self.ports[side]))

    def run(self):
        due = time.monotonic()
        while True:
            for side in SIDES:
                self.send(side, self.flags)
            due += 0.02
            time.sleep(max(0, due - time.monotonic()))


class Rig:
    def __init__(self):
        self.ports = {s: free_port() for s in SIDES}
        env = dict(os.environ, TELEOP_RUNTIME_DIR=FOLDER + "/rt")
        self.err = open(FOLDER + "/chain.err", "w+")
        self.chain = subprocess.Popen(
            ["teleop-bimanual", "--sim", "--headset", "--bind", "127.0.0.1", "--port", str(self.ports["right"]),
             "--left-port", str(self.ports["left"]), "--logs", FOLDER, *OPTIONS],
            stdout=subprocess.PIPE, stderr=self.err, env=env, start_new_session=True)
        self.said, self.gate, self.tip = [], {}, {}
        self.news = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        self.hands = Hands(self.ports)
        self.wait(lambda: len(self.gate) == 2 and "init" not in self.gate.values(), 10, "the writers do not come up")
        text = open(FOLDER + "/chain.err").read()
        self.urls = [w for w in text.split() if w.startswith("ipc://")][:2]
        words = [w for u in self.urls for w in ("-e", u)]
        self.estop = subprocess.Popen(["estop", "--live", "-i", "-", *words], stdin=subprocess.PIPE, text=True,
                                      stderr=self.err)

    def read(self):
        for line in self.chain.stdout:
            r = json.loads(line)
            with self.news:
                if r["type"] == "command":
                    self.said.append(r)
                elif r["type"] == "feedback" and "gate" in r:
                    self.gate[r["src"]] = r["gate"]
                    if r["kind"] == "cartesian":
                        self.tip[r["src"]] = r["p"]
                self.news.notify_all()

    def wait(self, condition, seconds, what):
        with self.news:
            if not self.news.wait_for(condition, 5 * seconds):  # of a busy machine
                self.fail(what)

    def order(self, word):
        self.estop.stdin.write(word + "\n")
        self.estop.stdin.flush()

    def until(self, word, gate):
        """Says the word twice a second until both gates are so."""
        for _ in range(60):
            if "fault" in self.gate.values():  # this machine stood still
                was, self.hands.flags = self.hands.flags, 0
                time.sleep(0.3)
                self.order("reset")
                time.sleep(0.3)
                self.hands.flags = was
            self.order(word)
            with self.news:
                if self.news.wait_for(lambda: all(self.gate.get(s) == gate for s in SIDES), 0.5):
                    return
        self.fail(f"no {gate} after {word}: {self.gate}")

    def fail(self, why):
        print("FAILED:", why)
        print(open(FOLDER + "/chain.err").read()[-3000:])
        self.end()
        sys.exit(1)

    def end(self):
        if hasattr(self, "estop") and self.estop.poll() is None:
            self.estop.stdin.close()
            self.estop.wait(5)
        if self.chain.poll() is None:
            self.chain.send_signal(signal.SIGTERM)
        try:
            self.chain.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.chain.pid, signal.SIGKILL)
            raise


def hold_of(rig, side, since, first):
    for r in rig.said[first:]:
        if r["src"] == side and r["set"] == "hold" and r["t"] >= since:
            return r["t"] + r["age_us"] - since
    return None


def stops(rig, witness):
    rig.hands.way = lambda side, t: (0.02 * math.sin(2 * t), 0.02 * math.sin(3 * t), 0)
    worst = again = done = 0
    while done < COUNT:
        rig.hands.flags = 1
        rig.until("engage", "run")
        time.sleep(0.05 + 0.001 * (done * 7 % 33))
        first, t0, side = len(rig.said), now_us(), SIDES[done % 2]
        rig.hands.send(side, 3 if done % 4 < 2 else 2)
        rig.wait(lambda: all(rig.gate.get(s) == "estop" for s in SIDES), 2, f"{side}: no e-stop in both: {rig.gate}")
        took = [hold_of(rig, s, t0, first) for s in SIDES]
        if None in took:
            rig.fail(f"{side}: no hold set in both: {took}")
        if max(took) > CYCLE_US:
            if not witness.was_late(t0):
                rig.fail(f"{side}: hold sets after {took} us")
            again += 1
            if again > COUNT:
                rig.fail("this machine is too busy")
        else:
            worst, done = max(worst, *took), done + 1
        rig.hands.flags = 0
        time.sleep(0.05)
        rig.until("reset", "hold")
    print(f"# {COUNT} e-stops, hold sets of both after at most {worst / 1000:.1f} ms; repeated {again}")


def hands(rig, witness):
    rig.hands.way = lambda side, t: (0, 0.04 * math.sin(2 * t), 0) if side == "right" else (0.04 * math.sin(2 * t), 0, 0)
    rig.until("engage", "run")
    first, began = len(rig.said), now_us()
    rig.wait(lambda: len(rig.said) > first + COUNT, 60, "no commands")
    run = {s: [r for r in rig.said[first:] if r["src"] == s and r["set"] == "run"] for s in SIDES}
    up = {s: [max(r["p"][k] for r in run[s]) - min(r["p"][k] for r in run[s]) for k in range(3)] for s in SIDES}
    arm = dict(zip(SIDES, reversed(SIDES))) if "--swap" in OPTIONS else dict(zip(SIDES, SIDES))
    print(f"# extent x y z of right {up['right']} left {up['left']}")
    r, l = up[arm["right"]], up[arm["left"]]
    if r[2] < 0.03 or r[1] > 0.005 or l[1] < 0.03 or l[2] > 0.005:
        rig.fail("the arms do not follow each its own hand")
    at = {s: [r["t"] + r["age_us"] for r in run[s]] for s in SIDES}
    skew = sorted(min(abs(a - b) for b in at["left"]) for a in at["right"][1:-1])
    apart = sorted(abs(a["t"] - min(run["left"], key=lambda b: abs(b["t"] + b["age_us"] - a["t"] - a["age_us"]))["t"])
                   for a in run["right"][1:-1])
    n = len(skew)
    print(f"# skew of the commands p50 {skew[n // 2] / 1e3:.2f} p99 {skew[n * 99 // 100] / 1e3:.2f} max {skew[-1] / 1e3:.2f} ms;"
          f" of the poses in them p50 {apart[n // 2] / 1e3:.2f} p99 {apart[n * 99 // 100] / 1e3:.2f} ms")
    late = sum(end > began for _, end in witness.late)
    if skew[n // 2] >= SKEW_US or sum(s >= SKEW_US for s in skew) > late:
        rig.fail("the hands' commands are 10 ms apart or more")


def cross(rig, _):
    words = dict(zip(OPTIONS[::1], OPTIONS[1:]))
    least, base = float(words["--min"]) / 1e3, [float(v) for v in words["--left-base"].split(",")]
    nearest = 9.0

    def distance():
        a, b = rig.tip["right"], rig.tip["left"]
        return math.dist(a, [p + o for p, o in zip(b, base)])

    for _ in range(COUNT):
        start = {s: now_us() for s in SIDES}
        rig.hands.way = lambda side, t: (0, 0, 0)
        rig.until("engage", "run")
        t1 = time.monotonic() - rig.hands.begun
        sign = {"right": -1, "left": 1}
        rig.hands.way = lambda side, t: (sign[side] * min(0.4, 0.3 * max(0, t - t1)), 0, 0)
        end = time.monotonic() + 6
        while "run" in rig.gate.values() and time.monotonic() < end:
            nearest = min(nearest, distance())
            time.sleep(0.002)
        if time.monotonic() >= end:
            rig.fail(f"not held, tips {distance()} m apart")
        held = now_us() + 300_000
        while now_us() < held:
            nearest = min(nearest, distance())
            time.sleep(0.002)
        if nearest < least:
            rig.fail(f"tips were {nearest} m apart")
        rig.hands.way = lambda side, t: (0, 0, 0)
        time.sleep(0.15)
        rig.until("engage", "run")
        t2 = time.monotonic() - rig.hands.begun
        rig.hands.way = lambda side, t: (-sign[side] * min(0.15, 0.2 * max(0, t - t2)), 0, 0)
        rig.wait(lambda: distance() > base[1] - 0.05 or set(rig.gate.values()) != {"run"}, 5, "did not come apart")
        if set(rig.gate.values()) != {"run"}:
            rig.fail(f"held on the way apart: {rig.gate}")
        rig.order("hold")
        rig.wait(lambda: all(rig.gate[s] == "hold" for s in SIDES), 2, "no hold")
    print(f"# {COUNT} crossings: tips never nearer than {nearest * 1e3:.0f} mm, {least * 1e3:.0f} asked for")


def watch(rig, _):
    rig.hands.way = lambda side, t: (0.02 * math.sin(2 * t), 0, 0)
    rig.until("engage", "run")
    found = subprocess.run(["pgrep", "-s", str(rig.chain.pid), "-x", "apart"], capture_output=True, text=True).stdout
    pid = int(found)
    os.kill(pid, signal.SIGSTOP)
    rig.wait(lambda: all(rig.gate[s] == "hold" for s in SIDES), 1, "a frozen watch does not hold both")
    os.kill(pid, signal.SIGCONT)
    rig.until("engage", "run")
    os.kill(pid, signal.SIGKILL)
    rig.wait(lambda: all(rig.gate[s] == "hold" for s in SIDES), 1, "a killed watch does not hold both")
    ended(rig)


def ended(rig):
    code, text = rig.chain.wait(20), open(FOLDER + "/chain.err").read()
    if code != 137:
        rig.fail(f"exit {code}, wanted 137")
    if "NOT sent" in text or "last stop sent" not in text:
        rig.fail("the last stop of both was not sent")
    for side in SIDES:
        frames = re.findall(r"\b(15[1-9])#([0-9A-F]+)", open(f"{FOLDER}/{side}.log").read())[-4:]
        if [f[0] for f in frames] != ["151", "155", "156", "157"] or frames[0][1][:4] != "0101":
            rig.fail(f"{side}: the last set on the bus holds nothing: {frames}")


def death(rig, witness):
    """The writer of one arm is killed: the other holds at once, both buses get the last stop."""
    rig.hands.way = lambda side, t: (0.02 * math.sin(2 * t), 0, 0)
    rig.until("engage", "run")
    pids = subprocess.run(["pgrep", "-s", str(rig.chain.pid), "-x", "piper-can-write"], capture_output=True, text=True).stdout
    kill = {"right": 0, "left": 1}[SIDES[COUNT % 2]]
    names = [open(f"/proc/{pid}/cmdline").read().split("\0") for pid in pids.split()]
    victim = [int(pid) for pid, n in zip(pids.split(), names) if n[n.index("--name") + 1] == SIDES[kill]][0]
    other = SIDES[1 - kill]
    t0 = now_us()
    os.kill(victim, signal.SIGKILL)
    # By the word of the watch, or sooner: its hand ends with that of the other.  A hold set is sent where
    # there is a lead (gate:G13).
    rig.wait(lambda: rig.gate[other] == "hold" or any(
        r["src"] == other and r["set"] == "hold" and r["t"] + r["age_us"] >= t0 for r in rig.said), 1, f"{other} goes on")
    t1 = now_us()
    if not witness.was_late(t0) and t1 - t0 > 250_000:
        rig.fail(f"{other} goes on for {(t1 - t0) / 1e3:.0f} ms")
    ended(rig)


def main():
    witness = Witness()
    witness.start()
    rig = Rig()
    rig.hands.start()
    {"stops": stops, "hands": hands, "cross": cross, "watch": watch, "death": death}[MODE](rig, witness)
    rig.end()


main()
