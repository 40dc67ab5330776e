#!/usr/bin/env python3
# In place of: pose-xform --offset=-0.12,0.1,-0.901 --rot-offset 0,150,0
import json, math, sys
s, c = math.sin(math.radians(75)), math.cos(math.radians(75))
for line in sys.stdin:
    r = json.loads(line)
    if r["type"] == "pose":
        p, (x, y, z, w) = r["p"], (-r["q"][2], -r["q"][0], r["q"][1], r["q"][3])
        q = x * c - z * s, y * c + w * s, z * c + x * s, w * c - y * s
        p = -p[2] - 0.12, 0.1 - p[0], p[1] - 0.901
        r.update(frame="base", p=[round(v, 9) for v in p], q=[round(v, 9) for v in q])
    print(json.dumps(r), flush=True)
