# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shared by the tests with real SoftRoCE traffic: a referee on the wire, and perftest between the guests."""
import json
import os
import re
import signal
import time

from support.patience import PATIENCE, until
from support.project import ROCESCOPE, ROOT
from support import oracle, schema

REPLAY = os.path.join(ROOT, "build", "tests", "xdp_replay")
PERFTEST_S = 300    # the longest run of perftest
# perftest says so, with status 1 and after all traffic, where it cannot measure the CPU's frequency (get_clock.c). It cannot
# where a busy neighbour takes the CPU away meanwhile.
NO_REPORT = "Can't produce a report"
QUIET_S = 0.5   # a wire without a frame for this long is quiet: a killed sender's last packets have arrived
FIGURES = ("psn_gaps", "psn_skipped", "psn_recovered", "psn_lost", "psn_unseen", "psn_duplicates", "psn_resyncs", "icrc_bad",
           "captured_twice")
RXE_COUNTERS = "/sys/class/infiniband/rxe0/ports/1/hw_counters"


class Referee:
    """
    with Referee(lab, "name") as r: traffic...; afterwards r.snapshot is the monitor's last snapshot of guest A's port, and
    r.capture a file with every frame of that port in both directions: each frame on the wire once, and so many bytes of it.
    """

    def __init__(self, lab, name, snaplen=8192):
        self.lab, self.snaplen = lab, snaplen
        self.capture = os.path.join(lab.share, f"{name}.pcap")
        self.snapshot = None

    def __enter__(self):
        port = self.lab.port("A")
        self._tcpdump = self.lab.start("wire", ["tcpdump", "-Z", "root", "-i", port, "-B", "65536", "-s", str(self.snaplen), "--immediate-mode",
                                                "-U", "-w", self.capture, "udp", "port", "4791"])
        self._monitor = self.lab.start("wire", [ROCESCOPE, "monitor", port, "--direction", "both", "-j",
                                                "--interval", "3600"])
        for process, word in ((self._tcpdump, "listening on"), (self._monitor, "watching")):
            if not process.expect(word):
                raise RuntimeError(f"the referee did not start: {process.stderr}")
        return self

    def __exit__(self, kind, *_):
        until(self._quiet)
        until(self._written)
        for process in (self._monitor, self._tcpdump):
            process.kill(signal.SIGINT)
        lines = self._monitor.wait(PATIENCE).stdout.splitlines()
        self.captured = self._tcpdump.wait(PATIENCE).stderr
        if kind is None:
            self.snapshot = json.loads(lines[-1])
            schema.validate("snapshot", self.snapshot)

    def _quiet(self):
        before = self.frames()
        time.sleep(QUIET_S)    # quiet for so long
        return self.frames() == before

    def frames(self):
        """How many have passed."""
        statistics = f"/sys/class/net/{self.lab.port('A')}/statistics"
        return self.lab.wire(["cat", f"{statistics}/rx_packets", f"{statistics}/tx_packets"]).stdout

    def _written(self):
        """tcpdump prints its counters on a signal. When it is interrupted, it drops the packets that are still in its ring."""
        def said():
            return re.findall(r"(\d+) packets? captured, (\d+) packets? received by filter, (\d+) packets? dropped", self._tcpdump.stderr)

        before = len(said())
        self._tcpdump.kill(signal.SIGUSR1)
        if not until(lambda: len(said()) > before):
            return False
        captured, received, dropped = map(int, said()[-1])
        return captured + dropped == received


def perftest(lab, tool, *options, server="B", packets=None):
    """
    Runs perftest with the client on A. Returns (whether all was sent, the output of both). packets: for a service that loses
    messages, whose server then waits for ever: both are killed when A has sent that many.
    """
    for _ in range(3):
        good, said = perftest_once(lab, tool, options, server, packets)
        # the server that was seen to listen may have been the one before, which has ended since
        if good or "RDMA_CM_EVENT_REJECTED" not in said:
            break
    return good, said


def perftest_once(lab, tool, options, server, packets):
    common = [tool, "-d", "rxe0", "-x", "1", "-F", *options]
    sent = rxe_counters(lab, "A")["sent_pkts"] if packets else 0
    serving = lab.start(server, common, timeout=PERFTEST_S)
    until(lambda: serving.poll() is not None or listens(lab, server))
    client = lab.start("A", [*common, lab.address(server)], timeout=PERFTEST_S)
    if packets:
        until(lambda: client.poll() is not None or rxe_counters(lab, "A")["sent_pkts"] >= sent + packets)
        client.kill()
    if client.wait().rc:
        serving.kill()
    served, asked = serving.wait(), client.wait()
    said = "\n".join((asked.stdout, asked.stderr, served.stdout, served.stderr))
    return asked.rc == 0 and served.rc == 0 or NO_REPORT in said, said


def listens(lab, end):
    """perftest does not report when it listens, on TCP or, with -R, by rdma_cm."""
    return not lab.exec(end, ["sh", "-c", "grep -Eq ':4853 0+:0000 0A ' /proc/net/tcp* || rdma resource show cm_id | grep -q LISTEN"],
                        timeout=PATIENCE).rc


def different_numbers(lab):
    """Creates QPs on A, so that later connections have different numbers at their two ends."""
    perftest(lab, "ib_send_bw", "-n", 5, server="A")


def rxe_counters(lab, end):
    """rxe's hw_counters of a guest, by name."""
    said = lab.check(end, ["sh", "-c", f"cd {RXE_COUNTERS} && grep . *"], timeout=PATIENCE)
    return {name: int(value) for name, value in (line.split(":") for line in said.splitlines())}


def compare_streams(t, name, referee):
    """Compares every stream that the monitor or the independent script knows. Returns the script's figures."""
    seen = {stream_key(s): {f: s[f] for f in FIGURES} for s in referee.snapshot["streams"]}
    want = {key: {f: figures[f] for f in FIGURES} for key, figures in oracle.streams(referee.capture).items()}
    differing = {key: (seen.get(key), want.get(key)) for key in {*seen, *want} if seen.get(key) != want.get(key)}
    t.equal(differing, {}, f"{name}: all {len(want)} streams as the script counts them")
    return want


def stream_key(stream):
    """The stream's key, as tests/support/oracle.py names streams."""
    if stream["service"] == "UD":
        return (stream["src"], stream["sqpn"])
    return (stream["src"], stream["dst"], stream["dqpn"], stream["side"])
