#!/usr/bin/env python3
"""Random hands through the whole chain onto the ideal arm, judged by the checker.

usage: random_hand.py BIN TESTPROGS FOLDER FIRST_SEED COUNT

For each seed a hand of its own (sines, a walk, steps, or all three; 50 to 113 packets a second with
jitter, now and then untracked) goes, as a recording, through rctp-recv | pose-xform | clamp |
piper-can-write with options drawn from the seed: relative or absolute, scale, a box of its own,
rate. TAP on stdout, one test for each seed.
"""
import math
import random
import struct
import subprocess
import sys

BIN, PROGS, FOLDER = sys.argv[1:4]
FIRST, COUNT = int(sys.argv[4]), int(sys.argv[5])
PACKETS = 1500
HOME = (0.28, 0.0, 0.199)  # flange of the ready joints, m


def hand(r, path):
    hz = r.choice([50, 60, 72, 90, 100, 113])
    jitter = r.choice([0, 0.002, 0.008])
    kind = r.choice(["sines", "walk", "steps", "mix"])
    freq = [[r.uniform(0.05, 3) for _ in range(3)] for _ in range(6)]
    phase = [[r.uniform(0, 6.28) for _ in range(3)] for _ in range(6)]
    size = [[r.uniform(0, 0.25) / (1 + f) for f in row] for row in freq]
    p, v, w, dw = [0, 1.1, -0.4], [0] * 3, [0] * 3, [0] * 3
    t = r.uniform(0, 1e5)
    with open(path, "wb") as out:
        for i in range(PACKETS):
            s = i / hz
            if kind == "sines" or kind == "mix" and (i // 300) % 2 == 0:
                pos = [sum(a * math.sin(f * 6.28 * s + h) for a, f, h in zip(size[k], freq[k], phase[k]))
                       for k in range(3)]
                pos = [pos[0], pos[1] + 1.1, pos[2] - 0.4]
                rot = [0.3 * math.sin(freq[3][k] * s * 3 + phase[3][k]) for k in range(3)]
            elif kind in ("walk", "mix"):
                for k in range(3):
                    v[k] = 0.97 * v[k] + r.gauss(0, 0.05)
                    p[k] += v[k] / hz
                    w[k] = 0.98 * w[k] + r.gauss(0, 0.02)
                pos, rot = p, w
            else:
                if i % int(hz * r.uniform(0.5, 2) + 1) == 0:
                    p = [r.uniform(-0.3, 0.3), 1.1 + r.uniform(-0.3, 0.3), -0.4 + r.uniform(-0.3, 0.3)]
                    w = [r.uniform(-0.5, 0.5) for _ in range(3)]
                pos, rot = p, w
            a = math.sqrt(sum(x * x for x in rot))
            q = [x / a * math.sin(a / 2) for x in rot] + [math.cos(a / 2)] if a > 1e-9 else [0, 0, 0, 1]
            t += 1 / hz + 0.5 * r.uniform(-jitter, jitter)
            flags = 1 if r.random() > 0.002 else 0
            out.write(b"RCTP" + struct.pack("<d8fB", t, *pos, *q, 0.5 + 0.5 * math.sin(s), flags))
    return f"{kind} {hz} Hz"


def trial(seed):
    r = random.Random(seed)
    tape, log, rec = f"{FOLDER}/hand.bin", f"{FOLDER}/can.log", f"{FOLDER}/rec.ndjson"
    what = hand(r, tape)
    xform = ["--relative"] if r.random() < 0.5 else ["--offset", "0.68,0,-0.9", "--rot-offset", "0,150,0"]
    xform += ["--scale", str(r.choice([1, 0.5, 0.3]))]
    # The writer's way from pose to pose is straight: it may cut the rim by what it lags.
    clamp, judge = ["--preset", "piper"], ["--radius", "97"]
    if r.random() < 0.7:
        lo = [x - r.uniform(0.005, 0.08) for x in HOME]
        hi = [x + r.uniform(0.005, 0.08) for x in HOME]
        faces = [f"{1e3 * a:.1f},{1e3 * b:.1f}" for a, b in zip(lo, hi)]
        clamp += ["--x", faces[0], "--y", faces[1], "--z", faces[2]]
        judge += ["--box", ",".join(faces)]
    rate = str(r.choice([25, 30, 50]))
    chain = (f"{BIN}/rctp-recv -i {tape} --clock input | {BIN}/pose-xform {' '.join(xform)} | "
             f"{BIN}/clamp {' '.join(clamp)} | {BIN}/piper-can-write --clock input --rate {rate} "
             f"--engage-within 0.05,170 -o {rec} {log}")
    run = subprocess.run(["bash", "-o", "pipefail", "-c", chain], capture_output=True, text=True, timeout=60)
    seen = subprocess.run([f"{PROGS}/checker", "--mode", "ideal", "--rate", rate, "--records", rec, *judge, log],
                          capture_output=True, text=True, timeout=60)
    sets = [w for w in seen.stdout.split() if w.isdigit()][:1] or ["0"]
    return run.returncode == 0 and seen.returncode == 0, what, int(sets[0]), chain, run.stderr, seen.stdout


total = failed = 0
for n in range(COUNT):
    good, what, sets, chain, err, said = trial(FIRST + n)
    total += sets
    print(f"{'ok' if good else 'not ok'} {n + 1} - seed {FIRST + n}, {what}: {sets} sets", flush=True)
    if not good:
        failed += 1
        for line in [chain, *err.split("\n")[-4:], *said.split("\n")[:6]]:
            print("#", line)
# A campaign in which nothing moved would prove nothing.
moved = total > 100 * COUNT
print(f"{'ok' if moved else 'not ok'} {COUNT + 1} - {total} sets in all")
print(f"1..{COUNT + 1}")
sys.exit(1 if failed or not moved else 0)
