# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
NVMe over fabrics by the kernel's target and host, over SoftRoCE and over TCP on a guest's one NIC. fio reads or writes a disk in the
target's memory, block by block; a block is a message. compare/nvme.sh sets up both ends.

Data goes from A to B, as in each row: a write has its host at A, a read has it at B.
"""
import contextlib
import json

from compare import PATIENCE_S
from compare.programs import TheirProgram, ended_well, last_line, latency_us, run_beside
from compare.transport import Outcome, RunSpoilt
from compare.transports.softroce import SoftRoce
from compare.transports.tcp import Tcp

DISK = "/dev/rocescope-disk"        # a link that nvme.sh makes
DEPTH = 32                          # of fio; nvme.sh makes a queue of as many entries
SECTOR, MOST = 512, 128 << 10       # bytes of a block. Above the kernel may cut it into several commands
VERIFIED = 8 << 20                  # bytes that are written and read back, of 64 MiB


def nvme(path, end, *words):
    """Runs nvme.sh. RunFailed."""
    ended_well(f"nvme.sh {words[0]}", path.exec(end, ["sh", "compare/nvme.sh", *words], timeout=PATIENCE_S))


class Fio(TheirProgram):
    """fabric: rdma or tcp. kind: read or write, which both go through the disk from its beginning."""
    rate_control = several_flows = ipv6 = False

    def __init__(self, fabric, kind):
        self.name, self.operation = f"fio-{kind}", f"NVMe {kind}, data verified"
        self.fabric, self.kind = fabric, kind
        self.host, self.target = ("A", "B") if kind == "write" else ("B", "A")

    def cannot(self, load):
        odd = load.size % SECTOR or load.size > MOST
        return f"blocks have {SECTOR} bytes to {MOST >> 10} KiB" if odd else super().cannot(load)

    @contextlib.contextmanager
    def around(self, row, path):
        """The disk and, from the run on, the connection. Both end whatever happens, and the data are verified before."""
        with contextlib.ExitStack() as taken_down:
            taken_down.callback(nvme, path, self.target, "remove")
            nvme(path, self.target, "serve", self.fabric, path.address(self.target))
            taken_down.callback(nvme, path, self.host, "disconnect")
            yield
            self.fill(row, path)
            self.check(row, path)

    def measure(self, row, path, seconds):
        """The referee sees how the connection begins, and learns from that which QPs are a pair."""
        nvme(path, self.host, "connect", self.fabric, path.address(self.target))
        limit = seconds + PATIENCE_S
        command = self.command(row, f"--rw={self.kind}", "--time_based", f"--runtime={seconds}")
        said, _, cores = run_beside(path, (self.target, ["sleep", limit]), (self.host, command), limit, daemon=True)    # the kernel serves
        return self.outcome(said, cores)

    def fill(self, row, path):
        """Writes blocks that have a CRC of their own."""
        self._verify(row, path, "--rw=write", "--do_verify=0")

    def check(self, row, path):
        """Reads them. RunFailed: a byte is wrong."""
        self._verify(row, path, "--rw=read", "--verify_fatal=1")

    def _verify(self, row, path, *options):
        command = self.command(row, "--verify=crc32c", f"--size={VERIFIED}", *options)
        ended_well("fio verifies the data", path.exec(self.host, command, timeout=PATIENCE_S))

    @staticmethod
    def command(row, *options):
        return ["fio", "--name=row", f"--filename={DISK}", "--direct=1", "--ioengine=libaio", f"--iodepth={DEPTH}",
                f"--bs={row.size}", "--lat_percentiles=1", "--percentile_list=50:90:99:99.9", "--output-format=json", *options]

    def outcome(self, report, cores):
        """The Outcome of fio's report. Pure. Latency is from the call that submits a block to its completion."""
        try:
            got = json.loads(report[report.index("{"):])["jobs"][0][self.kind]
            whole = got["lat_ns"]
            latency = {name: whole[name] / 1e3 for name in ("min", "max", "mean")}
            for name, percent in (("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9)):
                latency[name] = whole["percentile"][f"{percent:.6f}"] / 1e3
            blocks = got["total_ios"]
            return Outcome(goodput_gbps=got["bw_bytes"] * 8 / 1e9, goodput_at="receiver", sent_s=got["runtime"] / 1e3,
                           messages={"sent": blocks, "received": blocks, "lost": 0}, latency_us=latency_us(**latency), **cores)
        except (ValueError, KeyError, IndexError) as error:
            raise RunSpoilt(f"fio: its report cannot be read: {last_line(report)} ({error!r})") from None


class NvmeRdma(SoftRoce):
    """
    A write's data are in the SEND of its command if they are small enough, else in the responses to the target's READ; a read's
    are in WRITEs. So all packets from A are counted.
    """
    name, words, order = "nvme-rdma", "NVMe/RDMA", 38
    only, throttles, all_payload = ("lab",), True, False
    tools = (Fio("rdma", "read"), Fio("rdma", "write"))

    def count(self, row, outcome, did, seen):
        return {**super().count(row, outcome, did, seen), "retransmitted": None,
                "sent": did.rxe("A", "sent_pkts"), "received": did.rxe("B", "rcvd_pkts"),
                "on_wire": seen["A"].roce_packets("A"), "left_wire": seen["B"].roce_packets("A")}


class NvmeTcp(Tcp):
    name, words, order = "nvme-tcp", "NVMe/TCP", 39
    only = ("lab",)
    tools = (Fio("tcp", "read"), Fio("tcp", "write"))

    def count(self, row, outcome, did, seen):
        """fio does not know its sockets; nothing else of A uses TCP meanwhile."""
        return {"retransmitted": did.get("A", "Tcp.RetransSegs")}
