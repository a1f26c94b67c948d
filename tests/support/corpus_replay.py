# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Runs the corpus through the programs of a guest's kernel and through the engine in user space:

    with Corpus() as corpus:
        corpus.check(t, lab.kernel, corpus.replay(lab, "--way", "frags"))
"""
import os
import random
import re
import tempfile

from . import corpus
from .project import ROOT

XDP_REPLAY = os.path.join(ROOT, "build", "tests", "xdp_replay")
SEED = 3
BLOCK = 100  # frames in sequence
TIMEOUT = 3600


class Corpus:
    """By default one block of frames out of eight: on an emulated CPU a test run takes a millisecond or two. count: of frames."""

    def __init__(self, one_of=8):
        self._one_of = one_of
        self.count = None

    def __enter__(self):
        """In the project's folder, which guests can read."""
        self._folder = tempfile.TemporaryDirectory(prefix="corpus-", dir=os.path.join(ROOT, "build"))
        self._pcap, self._truth = (os.path.join(self._folder.name, f"corpus.{kind}") for kind in ("pcap", "truth"))
        frames = enumerate(corpus.everything(random.Random(SEED)))
        chosen = (frame for i, frame in frames if i // BLOCK % self._one_of == 0)
        self.count = sum(corpus.write(chosen, self._pcap, self._truth).values())
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def replay(self, lab, *ways):
        """Runs it on guest A."""
        command = [XDP_REPLAY, "-q", *ways, "--udp", str(corpus.UDP_PORT), "--truth", self._truth, self._pcap]
        return lab.exec("A", command, timeout=TIMEOUT)

    @staticmethod
    def ways(result):
        """The ways through the kernel by which all agreed."""
        return [] if result.rc else re.findall(r"^(\w+): \d+ frames, ", result.stdout, re.M)

    @staticmethod
    def check(t, release, result):
        lines = result.stdout.splitlines()
        t.ok(result.rc == 0, f"kernel {release}: its programs, user space and zlib agree on the corpus",
             result if result.timed_out else "\n".join(lines[-40:]) + result.stderr)
        t.note("\n".join(line for line in lines if " frames, " in line))
