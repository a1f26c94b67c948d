# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""RoCE by the kernel's rxe (SoftRoCE): RC, UC and UD."""
import re

from compare import join
from compare.programs import Qperf, ServerAndClient, StreamProgram, last_line
from compare.transport import UDP_PORT, Outcome, RunFailed, RunSpoilt, Transport, bits_per_second
from compare.transports.udp import ONE_DATAGRAM

WRITE = "RDMA WRITE with immediate"
# It could not measure the frequency of the CPU, which was taken away meanwhile (perftest, get_clock.c).
NO_REPORT = "Can't produce a report"
NO_GID = "it takes no GID index, which RoCEv2 needs (its RC goes by rdma_cm)"


class RdmaStream(StreamProgram):
    """service: rc, uc or ud."""
    program = "rdma_stream"

    def __init__(self, service, operation):
        self.service, self.operation = service, operation
        self.counts_packets = service == "ud"

    def receiver_options(self, row, path, injection):
        return [*self._both(row, path, "B"), "--control", f":{UDP_PORT}"]

    def sender_options(self, row, path):
        return [*self._both(row, path, "A"), "--control", f"{path.address('B')}:{UDP_PORT}"]

    def _both(self, row, path, end):
        return ["--transport", self.service, "--path-mtu", row.path_mtu,
                "--device", path.rdma(end), "--gid-index", path.gid_index(end)]


class Perftest(ServerAndClient):
    name, port = "perftest", 18515
    MARGIN_S = 1            # seconds at both ends of the run that are not measured
    BURST_BYTES = 65536

    def __init__(self, service, operation, one_packet=None):
        self.service, self.operation, self.one_packet = service, operation, one_packet

    def seconds(self, wanted):
        seconds = super().seconds(wanted)
        return seconds if seconds > 2 * self.MARGIN_S else seconds + 2 * self.MARGIN_S

    def server(self, row, path, seconds):
        return self._both(row, path, "B", seconds)

    def _both(self, row, path, end, seconds):
        return [self.operation, "-c", self.service.upper(), "-d", path.rdma(end), "-x", path.gid_index(end), "-m", row.path_mtu, "-F",
                "-s", row.size, "-D", seconds, "-f", self.MARGIN_S, "--report_gbits"]

    def client(self, row, path, seconds):
        rate = ["--rate_limit", bits_per_second(row.rate) / 1e9, "--rate_limit_type", "SW", "--burst_size",
                max(1, self.BURST_BYTES // row.size)] if row.rate else []
        return [*self._both(row, path, "A", seconds), *rate, path.address("B")]

    def measure(self, row, path, seconds):
        try:
            return super().measure(row, path, seconds)
        except RunFailed as error:
            if NO_REPORT in str(error):
                raise RunSpoilt(str(error)) from None
            raise

    def outcome(self, client, server, cores):
        """RC: acknowledged packets arrived. UD: the server counts them. UC WRITE: the receiver counts nothing."""
        figure = self._figure(server if self.service == "ud" else client)
        return Outcome(goodput_gbps=figure, goodput_at="sender" if self.service == "uc" else "receiver", **cores)

    def _figure(self, text):
        rows = re.findall(r"^\s*\d+\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", text, re.M)
        if not rows:
            raise RunFailed(f"perftest: {last_line(text)}")
        return float(rows[-1])


class SoftRoce(Transport):
    """Common to RC, UC and UD."""
    rxe = True

    def refusal(self, lab):
        return lab.rxe_refusal

    def count(self, row, outcome, did, seen):
        """
        What the programs do not count comes from rxe. rxe's packets include those of the other stream of a pair:
        responses that A sent are not requests, and neither are those that B received.
        """
        sent = join.difference(did.rxe("A", "sent_pkts"), seen["A"].roce_packets("A", "response"))
        rcvd = join.difference(did.rxe("B", "rcvd_pkts"), seen["B"].roce_packets("A", "response"))
        agrees = join.agreement({"sender": did.rxe("A", "sent_pkts"), "receiver": did.rxe("B", "sent_pkts")},
                                {"sender": seen["A"].roce_packets("A"), "receiver": seen["B"].roce_packets("B")})
        return {"sent": sent if outcome.sent is None else outcome.sent,
                "received": rcvd if outcome.received is None else outcome.received,
                "on_wire": seen["A"].roce_packets("A", "request"), "left_wire": seen["B"].roce_packets("A", "request"),
                "rxe_agrees": agrees}


class Rc(SoftRoce):
    name, words, order = "rc", "SoftRoCE RC", 30
    tools = (RdmaStream("rc", WRITE), Perftest("rc", "ib_write_bw"), Qperf("rc_rdma_write_bw", ("-cm1",)))

    def count(self, row, outcome, did, seen):
        """no other service sends packets again"""
        run = super().count(row, outcome, did, seen)
        return {**run, "retransmitted": join.retransmitted(run["sent"], run["on_wire"], seen["A"].duplicates())}


class Uc(SoftRoce):
    name, words, order = "uc", "SoftRoCE UC", 31
    tools = (RdmaStream("uc", WRITE), Perftest("uc", "ib_write_bw"), Qperf("uc_rdma_write_bw", never=NO_GID))


class Ud(SoftRoce):
    name, words, order = "ud", "SoftRoCE UD", 32
    tools = (RdmaStream("ud", "SEND"), Perftest("ud", "ib_send_bw", f"{ONE_DATAGRAM}; it clamps to that"),
             Qperf("ud_bw", never=NO_GID))
