#!/usr/bin/env python3
"""What a filter did to a stream of poses: jitter, lag, error.

usage: smooth_figures.py TRUTH BEFORE AFTER

TRUTH is a run of 45-byte RCTP packets or a file of pose records, BEFORE and AFTER are pose
records, one output line for each input line. Poses count where both are valid and the truth
reaches half a second beyond them. Prints NAME=VALUE lines, first for position (mm, ms), then,
with rot_ before the name, for rotation (degrees, ms):

  jitter_before, jitter_after  RMS of the third difference from sample to sample
  jitter_ratio                 before over after
  delay_before, delay_after    the delay of the truth that fits best (least squares)
  lag                          after less before
  rms_before, rms_after        RMS of what is left at each one's own best delay
  error                        after less before
  still_before, still_after    RMS distance from the truth at no delay at all
"""
import json
import math
import struct
import sys

MARGIN = 0.5  # s


class Series:
    """Vectors over time, between the samples a cubic through them (Hermite, central slopes)."""

    def __init__(self, times, rows):
        self.t, self.x, self.k = times, rows, 1
        self.slope = [None] + [
            [(c - a) / (times[i + 1] - times[i - 1]) for a, c in zip(rows[i - 1], rows[i + 1])]
            for i in range(1, len(rows) - 1)
        ]

    def at(self, t):
        """Value and rate of change; quickest where t moves on in small steps."""
        k = self.k
        while k > 1 and self.t[k] > t:
            k -= 1
        while k < len(self.t) - 3 and self.t[k + 1] <= t:
            k += 1
        self.k = k
        h = self.t[k + 1] - self.t[k]
        s = (t - self.t[k]) / h
        a, b, c, d = (1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s * s * (3 - 2 * s), s * s * (s - 1)
        e, f, g = 6 * s * (s - 1) / h, (1 - s) * (1 - 3 * s), s * (3 * s - 2)
        rows = list(zip(self.x[k], self.slope[k], self.x[k + 1], self.slope[k + 1]))
        return (
            [a * p + b * h * m + c * q + d * h * n for p, m, q, n in rows],
            [e * (p - q) + f * m + g * n for p, m, q, n in rows],
        )


def best_delay(truth, times, rows):
    """The delay (s) of the truth nearest to the rows in the sense of least squares, and the RMS."""
    delay = 0.0
    for _ in range(6):
        top = bottom = square = 0.0
        for t, x in zip(times, rows):
            value, rate = truth.at(t - delay)
            for a, b, r in zip(x, value, rate):
                top += (b - a) * r
                bottom += r * r
                square += (b - a) ** 2
        if bottom == 0:
            return 0.0, math.sqrt(square / len(rows))
        delay += top / bottom
        if abs(top / bottom) < 1e-6:
            break
    return delay, math.sqrt(square / len(rows))


def rms_at(truth, times, rows, delay):
    square = 0.0
    for t, x in zip(times, rows):
        square += sum((a - b) ** 2 for a, b in zip(x, truth.at(t - delay)[0]))
    return math.sqrt(square / len(rows))


def jitter(rows):
    square = 0.0
    for a, b, c, d in zip(rows, rows[1:], rows[2:], rows[3:]):
        square += sum((w - 3 * z + 3 * y - x) ** 2 for x, y, z, w in zip(a, b, c, d))
    return math.sqrt(square / (len(rows) - 3))


def continuous(quats, first=None):
    """The same rotations without a change of sign from one to the next."""
    out, last = [], first
    for q in quats:
        if last and sum(a * b for a, b in zip(q, last)) < 0:
            q = [-a for a in q]
        out.append(q)
        last = q
    return out


def load(path):
    """Times (s), positions, quaternions, validity, each a list."""
    data = open(path, "rb").read()
    if data[:4] == b"RCTP":
        rows = list(struct.iter_unpack("<4sd3f4ffB", data))
        return [r[1] for r in rows], [r[2:5] for r in rows], [r[5:9] for r in rows], [r[10] & 1 for r in rows]
    rows = [r for r in map(json.loads, data.decode().splitlines()) if r["type"] == "pose"]
    return [r["t"] * 1e-6 for r in rows], [r["p"] for r in rows], [r["q"] for r in rows], [r["valid"] for r in rows]


def figures(truth, times, before, after):
    """truth is a Series; before and after are rows at the given times. A dict, units as given."""
    inside = [i for i, t in enumerate(times) if truth.t[0] + MARGIN < t < truth.t[-1] - MARGIN]
    times = [times[i] for i in inside]
    out = {}
    for name, rows in (("before", before), ("after", after)):
        rows = [rows[i] for i in inside]
        out["jitter_" + name] = jitter(rows)
        out["delay_" + name], out["rms_" + name] = best_delay(truth, times, rows)
        out["still_" + name] = rms_at(truth, times, rows, 0)
    out["jitter_ratio"] = out["jitter_before"] / out["jitter_after"]
    out["lag"] = out["delay_after"] - out["delay_before"]
    out["error"] = out["rms_after"] - out["rms_before"]
    return out


def show(out, prefix, unit):
    for name, value in out.items():
        scale = 1 if name == "jitter_ratio" else 1000 if name.startswith(("delay", "lag")) else unit
        print(f"{prefix}{name}={value * scale:.4f}")


def main(truth_path, before_path, after_path):
    tt, tp, tq, _ = load(truth_path)
    t, bp, bq, bv = load(before_path)
    t_after, ap, aq, av = load(after_path)
    if t != t_after:
        sys.exit("before and after are not the same records")
    good = [i for i in range(len(t)) if bv[i] and av[i]]
    t, bp, bq, ap, aq = ([x[i] for i in good] for x in (t, bp, bq, ap, aq))
    show(figures(Series(tt, tp), t, bp, ap), "", 1000)
    # Twice the distance of two quaternions is the angle between them, for small ones.
    truth = Series(tt, continuous(tq))
    near = truth.at(t[0])[0]
    show(figures(truth, t, continuous(bq, near), continuous(aq, near)), "rot_", 2 * 180 / math.pi)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
