# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the libFuzzer targets of tests/fuzz/. The results stay in build/fuzz/NAME: corpus/, log, crash-*."""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from . import fuzz_seeds
from .project import ROOT

PROGRAMS = "build/tests/fuzz"  # relative: the printed commands are for the project's folder
KEPT = "build/fuzz"
INPUT_BYTES = {"parse": 512, "decap": 600, "stream": 600, "mask": 512, "reader": 4096, "table": 256, "capture": 4096,
               "doctor": 8192, "control": 2048, "responder": 600, "server": 4096, "text": 1024, "options": 512}  # the largest input, if not the default
TELLING = re.compile(r"must hold|runtime error|^==\d+==\s*ERROR|^SUMMARY|libFuzzer: timeout|Failure description")


class Fuzzer:
    """One run of one target."""

    def __init__(self, name, corpus, seed=0, seconds=0, inputs=-1):
        """corpus: a folder that grows; seed 0: a different one each time; ends after that many seconds (0: never) or inputs."""
        self.name = name
        self.folder = f"{KEPT}/{name}"
        self.program = f"{PROGRAMS}/fuzz_{name}"
        self.log = f"{self.folder}/log"
        os.makedirs(os.path.join(ROOT, self.folder), exist_ok=True)
        os.makedirs(os.path.join(ROOT, corpus), exist_ok=True)
        self.command = [self.program, f"-max_total_time={seconds}", f"-runs={inputs}", f"-max_len={INPUT_BYTES[name]}", f"-seed={seed}",
                        "-timeout=300", "-rss_limit_mb=1500", "-print_final_stats=1",
                        f"-artifact_prefix={self.folder}/", corpus, f"{KEPT}/seeds/{name}"]
        self.process = None

    def start(self):
        with open(os.path.join(ROOT, self.log), "wb") as log:
            self.process = subprocess.Popen(self.command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1"})

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def running(self):
        return self.process and self.process.poll() is None

    def lines(self):
        with open(os.path.join(ROOT, self.log), encoding="utf-8", errors="replace") as f:
            return f.read().splitlines()

    def progress(self):
        """Inputs tried, parts of the code covered, inputs kept, from libFuzzer's latest line."""
        for line in reversed(self.lines()):
            m = re.match(r"#(\d+)\s.*cov: (\d+) .*corp: (\d+)", line)
            if m:
                return tuple(int(n) for n in m.groups())
        return 0, 0, 0

    def failed(self):
        return self.process.returncode != 0

    def report(self):
        """A failure's error, and how to reproduce it."""
        lines = self.lines()
        told = [line for line in lines if TELLING.search(line)]
        found = re.findall(r"Test unit written to (\S+)", "\n".join(lines))
        again = f"again: {self.program} {found[-1]}" if found else f"all it said: {self.log}"
        return [f"{self.name}: exit status {self.process.returncode}", *told[:6], again]


def run(fuzzers, jobs, show=lambda fuzzers: None):
    """Runs all targets, that many at a time. Calls show twice a second. Ends all of them when it returns."""
    waiting = list(fuzzers)
    active = []
    try:
        while waiting or active:
            active = [f for f in active if f.running()]
            while waiting and len(active) < jobs:
                active.append(waiting.pop(0))
                active[-1].start()
            show(active)
            time.sleep(0.1)    # until a target has ended
    finally:
        for f in fuzzers:
            f.stop()


def missing(names):
    """The programs that are not built."""
    return [name for name in names if not os.access(os.path.join(ROOT, PROGRAMS, f"fuzz_{name}"), os.X_OK)]


def prepare():
    seeds = os.path.join(ROOT, KEPT, "seeds")
    shutil.rmtree(seeds, ignore_errors=True)
    fuzz_seeds.write(seeds)


class Progress:
    """A line on standard error: replaced on a terminal, every ten seconds elsewhere."""

    def __init__(self, seconds, count, jobs):
        self.total = seconds * -(-count // jobs)
        self.began = self.shown = time.monotonic()
        self.terminal = sys.stderr.isatty()

    def __call__(self, active):
        now = time.monotonic()
        if not self.terminal and now - self.shown < 10:
            return
        self.shown = now
        words = [f"{f.name}: {n / 1e6:.2f} M inputs, {covered} covered, {kept} kept"
                 for f in active for n, covered, kept in [f.progress()]]
        line = f"fuzz {now - self.began:.0f} of about {self.total} s  " + "   ".join(words)
        print(f"\r\033[K{line}" if self.terminal else line, end="" if self.terminal else "\n", file=sys.stderr, flush=True)

    def clear(self):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description="Runs fuzz targets; their corpora grow in build/fuzz.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(INPUT_BYTES)}; all of them by default")
    parser.add_argument("--seconds", type=int, default=120, help="for each (120)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time (as many as CPUs)")
    o = parser.parse_args()
    names = o.names or list(INPUT_BYTES)
    if set(names) - set(INPUT_BYTES):
        parser.error(f"no such target: {', '.join(set(names) - set(INPUT_BYTES))}")
    if o.seconds < 1 or o.jobs < 1:
        parser.error("--seconds and --jobs: at least 1")
    if missing(names):
        sys.exit(f"fuzz: not built: {', '.join(missing(names))}: make fuzzers")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    prepare()
    fuzzers = [Fuzzer(name, f"{KEPT}/{name}/corpus", seconds=o.seconds) for name in names]
    progress = Progress(o.seconds, len(names), o.jobs)
    try:
        run(fuzzers, o.jobs, progress)
    except KeyboardInterrupt:
        progress.clear()
        sys.exit("fuzz: stopped; the corpora are kept in build/fuzz")
    progress.clear()
    for f in fuzzers:
        tried, covered, kept = f.progress()
        print(f"{f.name:8} {tried:>12} inputs {covered:>6} covered {kept:>6} kept   {'FAILED' if f.failed() else 'ok'}")
    for f in fuzzers:
        if f.failed():
            print("\n" + "\n".join(f.report()))
    sys.exit(any(f.failed() for f in fuzzers))


if __name__ == "__main__":
    main()
