#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
receive_reader.py NAME [COUNT GO]: in the receiver's guest: a line of JSON for each completion of `rocescope receive --pin NAME`.
With COUNT it begins when the file GO is there, waits for so many, and posts their receives again; without, it tells those that
there are.
"""
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ["ROCESCOPE_RECEIVE"] = os.path.join(ROOT, "build", "librocescope_receive.so.0")
sys.path[:0] = [os.path.join(ROOT, "userspace", "traffic", "receive"), os.path.join(ROOT, "rxe_tests")]
from rocescope_receive import NO_POST, OLDEST, Receiver    # noqa: E402
from support.patience import until                          # noqa: E402

PATIENCE_MS = 120000


def main():
    name, count, go = sys.argv[1], *(sys.argv[2:] or ("0", ""))
    count = int(count)
    with Receiver(name, OLDEST | (0 if count else NO_POST)) as r:
        if count:
            print("ready", flush=True)
            until(lambda: os.path.exists(go))
        for told, c in enumerate(r.completions(PATIENCE_MS if count else 0), 1):
            print(json.dumps((c.qpn, c.flags, c.offset if c.address else -1, c.receive if c.flags & 3 else 0, c.length, c.placed,
                              c.first_psn, c.last_psn, c.immediate)), flush=True)
            if told == count:
                break
        if r.lost:
            sys.exit(f"{r.lost} completions are lost")


if __name__ == "__main__":
    main()
