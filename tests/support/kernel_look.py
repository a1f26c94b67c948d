# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What the kernel of a guest makes of our programs: Look(lab, corpus).report(t). lab: of lab.lab, or the guest of support.arm64.
"""
import os

from . import verifier_budget
from .corpus_replay import Corpus
from .project import ROCESCOPE, ROOT
from .verifier_budget import VERIFIER_COST

TIMEOUT = 1800
BASIC = os.path.join(ROOT, "tests", "monitor_basic.test")
WITH_FRAGS = (5, 18)
WATCH = f"""
modprobe -a veth sch_ingress cls_bpf
ip link add wireA type veth peer name wireB
ip link set wireA up
ip link set wireB up
{ROCESCOPE} monitor wireA --mode native --direction $1 -j --duration 0.2
status=$?
ip link del wireA
exit $status
"""
CAPTURE = [ROCESCOPE, "capture", "lo", "-w", "/tmp/captured.pcapng", "--mode", "generic", "--duration", "0.2", "-j"]
# on a terminal: the table, which has no details of faults before 5.18
TABLE = ["script", "-qec", f"TERM=xterm {ROCESCOPE} monitor lo --mode generic --duration 0.5", "/dev/null"]


class Look:
    """Runs it all on guest A, which takes minutes."""

    def __init__(self, lab, corpus):
        self.release = lab.kernel
        self.has_frags = tuple(int(n) for n in lab.kernel.split(".")[:2]) >= WITH_FRAGS
        self.cost = lab.exec("A", [VERIFIER_COST], timeout=TIMEOUT)
        self.replay = corpus.replay(lab, *(("--way", "frags", "--way", "egress") if self.has_frags else ("--plain",)))
        self.monitor = lab.exec("A", ["sh", "-c", WATCH, "sh", "both" if self.has_frags else "in"], timeout=TIMEOUT)
        self.capture = lab.exec("A", CAPTURE, timeout=TIMEOUT)
        self.table = lab.exec("A", TABLE, timeout=TIMEOUT)
        # at an MTU for which native XDP needs multi-buffer
        self.basic = lab.exec("A", [BASIC, *(("native", "decap") if self.has_frags else ("generic",))], timeout=TIMEOUT)

    def report(self, t):
        verifier_budget.check(t, self.release, self.cost)
        Corpus.check(t, self.release, self.replay)
        mode = "native-frags" if self.has_frags else "native"
        direction = "in+out" if self.has_frags else "in"
        t.ok(self.monitor.rc == 0 and f"watching wireA ({mode}, {direction})" in self.monitor.stderr,
             f"kernel {self.release}: rocescope monitor ({mode}, {direction})", self.monitor)
        t.ok(self.basic.rc == 0, f"kernel {self.release}: and it counts what is there", self.basic)
        t.ok(self.capture.rc == 0 if self.has_frags else self.capture.rc == 1 and self.capture.stderr.count("\n") == 1 and
             "kernel 5.18 or newer is needed" in self.capture.stderr, f"kernel {self.release}: rocescope capture "
             f"{'runs' if self.has_frags else 'says which kernel it needs'}", self.capture)
        t.ok(self.table.rc == 0 and "watching lo" in self.table.stdout, f"kernel {self.release}: the table runs", self.table)
