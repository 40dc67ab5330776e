#!/usr/bin/env python3
"""teleop-remote between two network namespaces, over a link that stalls, slows, loses and breaks.

usage: ip netns exec OPERATOR two_hosts.py FOLDER ROBOT_NETNS tcp|tls+tcp [SECONDS]

The operator's side runs here, the robot's side (simulated arm) in ROBOT_NETNS; both TCP connections
go through a relay in this program.  Packets carry this host's monotonic clock as their time, and a
clamp that keeps a copy tells which pose has which time: so the true age of every command is known.
"""
import json
import math
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

FOLDER, NETNS, SCHEME = sys.argv[1:4]
SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 and sys.argv[4] else 2.0
MAX_AGE_US, SLACK_US = 100_000, 2_000
HERE, THERE = "10.99.0.1", "10.99.0.2"


class Link:
    """What the network between does; one for all connections."""
    delay, stalled, loss, down = 0.020, False, 0.0, False
    sockets, lock = [], threading.Lock()


def carry(source, sink):
    """One direction: bytes in order, each chunk late by the delay of its moment; a lost segment holds up
    what is behind it until TCP has sent it again."""
    queue, ready, due = [], threading.Condition(), [0.0]

    def write():
        while True:
            with ready:
                ready.wait_for(lambda: queue)
                at, data = queue.pop(0)
            while (left := at - time.monotonic()) > 0 or Link.stalled:
                time.sleep(max(0.001, min(left, 0.005)))
            try:
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    return
                sink.sendall(data)
            except OSError:
                return

    threading.Thread(target=write, daemon=True).start()
    while True:
        try:
            data = source.recv(65536)
        except OSError:
            data = b""
        again = random.uniform(0.2, 0.4) if random.random() < Link.loss else 0
        due[0] = max(due[0], time.monotonic() + Link.delay + again)
        with ready:
            queue.append((due[0], data))
            ready.notify()
        if not data:
            return


def relay(port, target):
    listener = socket.create_server((HERE, port))

    def accept():
        while True:
            a, _ = listener.accept()
            if Link.down:
                a.close()
                continue
            try:
                b = socket.create_connection(target, 1)
            except OSError:
                a.close()
                continue
            for s in (a, b):
                s.settimeout(None)
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with Link.lock:
                Link.sockets += [a, b]
            threading.Thread(target=carry, args=(a, b), daemon=True).start()
            threading.Thread(target=carry, args=(b, a), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def drop_connections():
    with Link.lock:
        for s in Link.sockets:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()
        Link.sockets = []


class Hand(threading.Thread):
    flags = 1

    def run(self):
        out, due = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), time.monotonic()
        while True:
            t = time.monotonic()
            data = struct.pack("<4sd8fB", b"RCTP", t, 0.05 * math.sin(2 * t), 1, 0, 0, 0, 0, 1, 0.5, self.flags)
            out.sendto(data, ("127.0.0.1", 7788))
            due += 0.02
            time.sleep(max(0, due - time.monotonic()))


class Rig:
    def __init__(self):
        tools = FOLDER + "/tools"
        os.mkdir(tools)
        real = os.environ["TELEOP_BIN"]
        for name in os.listdir(real):
            os.symlink(f"{real}/{name}", f"{tools}/{name}")
        os.remove(tools + "/clamp")
        with open(tools + "/clamp", "w") as f:
            f.write(f'#!/bin/bash\nset -o pipefail\n"{real}/clamp" "$@" | tee "{FOLDER}/pose.ndjson"\n')
        os.chmod(tools + "/clamp", 0o755)
        self.files = [open(f"{FOLDER}/{n}.err", "w") for n in ("operator", "robot")]
        env = dict(os.environ, TELEOP_RUNTIME_DIR=FOLDER + "/r1")
        self.robot = subprocess.Popen(
            ["ip", "netns", "exec", NETNS, "teleop-remote", "--robot", "--sim", "--log", FOLDER + "/arm.log",
             f"{SCHEME}://{HERE}:7001", f"{SCHEME}://{THERE}:7102"], stdout=subprocess.PIPE,
            stderr=self.files[1], env=dict(env, TELEOP_BIN=tools), start_new_session=True)
        relay(7001, (HERE, 7101))
        relay(7002, (THERE, 7102))
        self.operator = subprocess.Popen(
            ["teleop-remote", "--operator", "--bind", "127.0.0.1", "--port", "7788", f"{SCHEME}://{HERE}:7101",
             f"{SCHEME}://{HERE}:7002"], stderr=self.files[0], env=dict(env, TELEOP_RUNTIME_DIR=FOLDER + "/r2"),
            start_new_session=True)
        self.news, self.commands, self.gate, self.gates, self.why = threading.Condition(), [], "", [], ""
        threading.Thread(target=self.read, daemon=True).start()
        self.estop = subprocess.Popen(["estop", "--live", "-i", "-", "-e", f"{SCHEME}://{HERE}:7002"],
                                      stdin=subprocess.PIPE, text=True, stderr=self.files[0])

    def read(self):
        for line in self.robot.stdout:
            r = json.loads(line)
            with self.news:
                if r["type"] == "command" and r["set"] == "run":
                    self.commands.append(r)
                elif r["type"] == "feedback" and "gate" in r:
                    self.gate, self.why = r["gate"], r["why"]
                    self.gates.append((time.monotonic(), self.gate))
                self.news.notify_all()

    def fail(self, why):
        print("FAILED:", why, "| gate", self.gate, self.why)
        for name in ("operator", "robot"):
            print(f"--- {name}\n" + open(f"{FOLDER}/{name}.err").read()[-1500:])
        self.end()
        sys.exit(1)

    def end(self):
        for p in (self.estop, self.operator, self.robot):
            if p.poll() is None:
                if p is self.robot:
                    os.killpg(p.pid, signal.SIGTERM)
                else:
                    p.terminate()
        for p in (self.estop, self.operator, self.robot):
            p.wait(20)

    def order(self, word):
        self.estop.stdin.write(word + "\n")
        self.estop.stdin.flush()

    def engaged(self, what):
        for _ in range(60):
            if self.gate == "fault":  # this machine stood still
                Hand.flags = 0
                time.sleep(0.3)
                self.order("reset")
                time.sleep(0.3)
                Hand.flags = 1
            self.order("engage")
            with self.news:
                if self.news.wait_for(lambda: self.gate == "run", 0.5):
                    return
        self.fail("no RUN " + what)

    def becomes(self, gate, seconds, what):
        with self.news:
            # A fault: this machine stood still, and the simulated arm with it.
            if not self.news.wait_for(lambda: self.gate == gate or gate == "hold" and self.gate == "fault", seconds):
                self.fail(f"no {gate} {what}")

    def trying(self, seconds):
        """Engages twice a second, whatever comes of it; the share of time in RUN."""
        first, end = len(self.gates), time.monotonic() + seconds
        while time.monotonic() < end:
            self.order("engage")
            time.sleep(0.5)
        seen = [g for _, g in self.gates[first:]]
        return sum(g == "run" for g in seen) / max(1, len(seen))


def judge(rig):
    sent = {}
    for line in open(FOLDER + "/pose.ndjson"):
        if line.endswith("}\n") and (r := json.loads(line))["type"] == "pose" and "ts" in r:
            sent[r["t"]] = r["ts"] * 1e6
    base = min(t - ts for t, ts in sent.items())
    ages = sorted(r["t"] + r["age_us"] - sent[r["t"]] for r in rig.commands if r["t"] in sent)
    unknown = sum(r["t"] not in sent for r in rig.commands)
    print(f"# {len(ages)} commands, true age p50 {ages[len(ages) // 2] / 1e3:.1f} max {ages[-1] / 1e3:.1f} ms, of which "
          f"the link's least {base / 1e3:.1f}")
    if unknown or len(ages) < 100:
        rig.fail(f"{unknown} commands of no known pose, {len(ages)} of a known one")
    if ages[-1] - base > MAX_AGE_US + SLACK_US:
        rig.fail(f"a command was {(ages[-1] - base) / 1e3:.1f} ms old by the sender's clock")
    if base < 15_000:
        rig.fail("the relay does not delay: nothing was tested")


def main():
    rig = Rig()
    Hand(daemon=True).start()
    rig.engaged("at the start")
    time.sleep(SECONDS)

    Link.stalled = True
    rig.becomes("hold", 2, "while the link is stalled")
    time.sleep(2)
    before = len(rig.commands)
    Link.stalled = False
    time.sleep(0.5)
    if len(rig.commands) > before:
        rig.fail("moves after a stall without an engage")
    rig.engaged("after a stall")
    time.sleep(SECONDS / 2)

    Link.delay = 0.4
    rig.becomes("hold", 3, "when the delay grows to 400 ms")
    if (share := rig.trying(SECONDS)) > 0:
        rig.fail(f"RUN for {share:.2f} of the time with a delay grown by 380 ms")
    Link.delay = 0.02
    rig.engaged("when the delay is 20 ms again")
    time.sleep(SECONDS / 2)

    Link.loss = 0.05
    print(f"# 5 % loss: in RUN {100 * rig.trying(2 * SECONDS):.0f} % of the time")
    Link.loss = 0.0
    rig.engaged("after the losses")

    Link.down = True
    drop_connections()
    rig.becomes("hold", 2, "when the connections break")
    time.sleep(0.5)
    Link.down = False
    rig.engaged("after they were made again")
    time.sleep(SECONDS / 2)

    Hand.flags = 3
    rig.becomes("estop", 2, "by the e-stop bit across the link")
    Hand.flags = 0
    time.sleep(0.3)
    rig.operator.terminate()
    if rig.operator.wait(20) != -signal.SIGTERM or "last stop sent" not in open(FOLDER + "/operator.err").read():
        rig.fail(f"the operator's side: exit {rig.operator.returncode}")
    judge(rig)
    rig.end()
    if "last stop sent" not in open(FOLDER + "/robot.err").read():
        rig.fail("the robot's side: no last stop")


main()
