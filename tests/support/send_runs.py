# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs rocescope send -w repeatedly and compares its truth files with tests/support/oracle.py and rocescope analyze."""
import json
import os
import random
import re
import subprocess
import tempfile

from . import oracle, schema
from .project import LONG, ROCESCOPE
from .send_judge import Plan
from .tap import Tap

START = 946684800 * 10**9  # 2000-01-01T00:00:00Z: time of every file's first packet

BASE = Plan(op="uc-write-imm", qps=3, message=3001, messages=8, interleave="packet", first_qpn=0x20, first_psn=0xfffffa,
            rkey=0x77, va=0x7f0000000000, regions=3, region_bytes=0x4000, immediate=0xfffffffe)
V6 = {"src": "fd00:9::1", "dst": "fd00:9::2"}


class Run:
    def __init__(self, path, truth, stdout, stderr, validate):
        self.path, self.stdout, self.stderr = path, stdout, stderr
        packets = list(oracle.read_pcap(path))
        self.frames, self.times = [f for _, _, f in packets], [ns - START for ns, _, _ in packets]
        with open(truth) as f:
            self.truth = json.load(f)
        if validate:
            schema.validate("truth", self.truth)


def listed_faults():
    """The name of every fault, as --help lists them."""
    out = subprocess.run([ROCESCOPE, "send", "--help", "faults"], capture_output=True, text=True).stdout
    return re.findall(r"^  ([a-z][a-z0-9-]+)(?=[ \n])", out, re.MULTILINE)


def listed_icrc_mistakes():
    """The ICRC mistakes that apply to these packets, without icrc-."""
    return [name[len("icrc-"):] for name in listed_faults() if name.startswith("icrc-") and name != "icrc-absent"]


class Sender:
    """Runs into one directory. Remembers the runs, so that their truth files can be judged."""

    def __init__(self, tmp):
        self.tmp, self.runs, self.count = tmp, [], 0

    def __call__(self, plan, *faults, more=(), remember=True):
        self.count += 1
        name = f"{self.tmp}/{self.count}"
        words = plan.options() if isinstance(plan, Plan) else list(plan)
        for fault in faults:
            words += ["--fault", fault]
        command = [ROCESCOPE, "send", "-w", name + ".pcap", "--truth", name + ".truth", *words, *more]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if ran.returncode:
            raise RuntimeError(f"{' '.join(command[1:])}: status {ran.returncode}: {ran.stderr}")
        run = Run(name + ".pcap", name + ".truth", ran.stdout, ran.stderr, LONG or self.count % 8 == 1)   # it takes longer than the run
        if remember:
            self.runs.append((words, run))
        return run


def first_difference(got, want):
    """The difference in words; None: no difference."""
    for i, (g, w) in enumerate(zip(got, want)):
        if g != w:
            at = next((k for k, (a, b) in enumerate(zip(g, w)) if a != b), min(len(g), len(w)))
            return (f"frame {i}: {len(g)} bytes, want {len(w)}; from byte {at} on {g[at:at + 24].hex()}, "
                    f"want {w[at:at + 24].hex()}")
    return None if len(got) == len(want) else f"{len(got)} frames, want {len(want)}"


PER_STREAM = ("packets", "messages", "messages_broken", "psn_gaps", "psn_skipped", "psn_recovered", "psn_lost",
              "psn_duplicates", "psn_resyncs", "icrc_bad")
ORACLES = {"packets": "roce_packets", "messages": "messages", "icrc_bad": "icrc_bad",
           **{n: n for n in PER_STREAM if n.startswith("psn_")}}


def analyzed(path):
    ran = subprocess.run([ROCESCOPE, "analyze", "-j", path], capture_output=True, text=True, timeout=60)
    return json.loads(ran.stdout)


def stream_key(s):
    """The key in the form of oracle.key()."""
    return (s["src"], s["sqpn"]) if s["sqpn"] is not None else (s["src"], s["dst"], s["dqpn"], s["side"])


def truth_differs(words, run):
    """A few of the differences, in words."""
    found = []
    snapshot, streams, totals = analyzed(run.path), oracle.streams(run.path), oracle.totals(run.path)
    told = {stream_key(s): s for s in run.truth["streams"]}
    seen = {stream_key(s): s for s in snapshot["streams"]}
    if len(told) != len(run.truth["streams"]) or run.truth["schema"] != "rocescope.truth/1" or run.truth["exact"] is not True:
        found.append("streams twice, the wrong schema, or not exact")
    if set(told) != set(seen) or set(told) != set(streams):
        found.append(f"other streams: {(set(told) ^ set(seen)) | (set(told) ^ set(streams))}")
    mixed = any("service-mixed" in word for word in words)  # the oracle assumes that a stream has one service
    for k, s in told.items():
        for name in PER_STREAM + ("icrc_trusted",):
            if not mixed and name in ORACLES and k in streams and streams[k][ORACLES[name]] != s[name]:
                found.append(f"{k}: {name} is {s[name]}, oracle.py's {streams[k][ORACLES[name]]}")
            engines = {"packets": "roce_packets"}.get(name, name)
            if k in seen and seen[k].get(engines, s[name]) != s[name]:
                found.append(f"{k}: {name} is {s[name]}, analyze's {seen[k][engines]}")
    for name, n in run.truth["totals"].items():
        if name in totals and totals[name] != n:
            found.append(f"totals: {name} is {n}, oracle.py's {totals[name]}")
        if snapshot["totals"].get(name, n) != n:
            found.append(f"totals: {name} is {n}, analyze's {snapshot['totals'][name]}")
    return [f"{' '.join(words)}: {line}" for line in found[:4]]


def truths(t, send):
    runs = send.runs if LONG else random.Random(len(send.runs)).sample(send.runs, -(-len(send.runs) // 2))
    wrong = [line for words, run in runs for line in truth_differs(words, run)]
    t.ok(runs and not wrong, f"the truth of each of {len(runs)} files is oracle.py's and analyze's",
         "\n".join(wrong[:100]))


def judge_files(*parts):
    """A whole test program. All parts share the Sender; at the end the truth files of all runs are judged."""
    with Tap() as t:
        if not os.path.exists(ROCESCOPE):
            t.skip_all("no build/rocescope: run make")
        with tempfile.TemporaryDirectory() as tmp:
            send = Sender(tmp)
            for part in (*parts, truths):
                part(t, send)
