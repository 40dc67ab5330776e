#!/usr/bin/env python3
"""Sends RCTP packets on a timeline: an encoder of its own, from the byte table of rctp.md 1.

usage: rctp_udp.py PORT [HOST] <commands

  at MS              wait until MS milliseconds after the start
  pkt [KEY=VALUE..]  send a packet; keys s (source socket, default a), h (host), t, x y z, q=X,Y,Z,W, g, f,
                     n (bytes sent, default 45; more are zeros), of=N (repeat N times, 20 ms apart,
                     t and x moving on), dx (step of x, default 0.001)
  hex S DIGITS       send these bytes from source S
"""
import socket
import struct
import sys
import time

port, host = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1"
sources = {}
start = time.monotonic()


def wait(ms):
    left = start + ms / 1000 - time.monotonic()
    if left > 0:
        time.sleep(left)


def send(source, data, to=host):
    if source not in sources:
        sources[source] = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET, socket.SOCK_DGRAM)
    sources[source].sendto(data, (to, port))


def packet(keys, i):
    q = [float(v) for v in keys.get("q", "0,0,0,1").split(",")]
    numbers = [
        float(keys.get("t", "0")) + 0.02 * i,
        float(keys.get("x", "0")) + float(keys.get("dx", "0.001")) * i,
        float(keys.get("y", "1")),
        float(keys.get("z", "-0.5")),
        *q,
        float(keys.get("g", "0.75")),
    ]
    data = struct.pack("<4sd8fB", b"RCTP", *numbers, int(keys.get("f", "1"), 0))
    n = int(keys.get("n", "45"))
    return (data + bytes(64))[:n]


for line in sys.stdin:
    word = line.split()
    if not word:
        continue
    if word[0] == "at":
        wait(float(word[1]))
    elif word[0] == "hex":
        send(word[1], bytes.fromhex("".join(word[2:])))
    elif word[0] == "pkt":
        keys = dict(w.split("=", 1) for w in word[1:])
        first = (time.monotonic() - start) * 1000
        for i in range(int(keys.get("of", "1"))):
            wait(first + 20 * i)
            send(keys.get("s", "a"), packet(keys, i), keys.get("h", host))
    else:
        sys.exit("rctp_udp.py: not understood: " + line)
