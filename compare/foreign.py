# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The tools people use today: how they are called, and what they say."""
import json
import os
import re
import signal
import time

from compare import meter
from compare.outcome import UDP_PORT, Outcome, RunFailed, bits_per_second, ended_well, last_line
from compare.plan import PACKET_PAYLOAD
from lab.lab import ROOT

METER = os.path.join(ROOT, "compare", "meter.sh")
SETUP_S = 60
READY_S = 20
FRAME_HEADERS = 14 + 20 + 8     # Ethernet, IPv4, UDP


def run(row, lab, duration):
    """duration: s; these tools know whole seconds only."""
    duration = max(1, round(duration))
    return {"iperf3": _iperf3, "qperf": _qperf, "perftest": _perftest, "testpmd": _testpmd}[row.tool](row, lab, duration)


def _start(lab, end, command, limit):
    return lab.start(end, ["sh", METER, lab.nic, *map(str, command)], timeout=limit)


def _said(process):
    """What it has said, without the meter's lines."""
    return last_line(meter.split(process.stderr)[1], process.stdout)


class _Pair:
    """A receiver on B, which listens on that TCP port when it is ready, and a sender on A, each under the meter."""

    def __init__(self, lab, receiver, port, sender, duration, serves_on=False):
        limit = duration + SETUP_S
        server = _start(lab, "B", receiver, limit)
        try:
            _await_ready(lab, server, port)
            client = _start(lab, "A", sender, limit)
            ended_well(sender[0], client.wait(), _said(client))
            if serves_on:
                server.kill(signal.SIGTERM)
            server.wait()
        finally:
            server.kill()
        self.sender, self.receiver = client.stdout, server.stdout
        self.cores = {"sender_cores": meter.cores(client.stderr), "receiver_cores": meter.cores(server.stderr)}


def _await_ready(lab, server, port):
    """Not every server says when it is ready."""
    wanted, deadline = f":{port:04X} ", time.monotonic() + READY_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RunFailed(f"the server did not start: {_said(server)}")
        sockets = lab.exec("B", ["cat", "/proc/net/tcp", "/proc/net/tcp6"], timeout=10).stdout
        if any(wanted in line and " 0A " in line for line in sockets.splitlines()):
            return
        time.sleep(0.1)
    raise RunFailed(f"the server does not listen on TCP port {port}")


# --- iperf3

def _iperf3(row, lab, duration):
    server = ["iperf3", "-s", "-1", "-J", "-p", UDP_PORT]
    rate = f"{bits_per_second(row.rate):.0f}" if row.rate else "0"
    client = ["iperf3", "-u", "-J", "-c", lab.address("B"), "-p", UDP_PORT, "-b", rate, "-l", row.size, "-t", duration]
    pair = _Pair(lab, server, UDP_PORT, client, duration)
    return iperf3_outcome(pair.sender, pair.receiver, pair.cores)


def iperf3_outcome(client, server, cores):
    """Its receiver knows of a loss by a later packet only, and so of none at the end: received is what it took."""
    try:
        sent = json.loads(client)["end"]["sum_sent"]["packets"]
        got = json.loads(server)["end"]["sum_received"]
        received = got["packets"] - got["lost_packets"]
    except (ValueError, KeyError) as error:
        raise RunFailed(f"iperf3: its report cannot be read ({error!r})") from None
    return Outcome(goodput_gbps=got["bits_per_second"] / 1e9, goodput_at="receiver", sent=sent, received=received,
                   messages={"sent": sent, "received": received, "lost": sent - received}, other_datagram=4, **cores)


# --- qperf

QPERF_PORT = 19765
QPERF_TESTS = {"udp": "udp_bw", "rc": "rc_rdma_write_bw"}


def _qperf(row, lab, duration):
    test = QPERF_TESTS[row.transport]
    options = ["-ip", UDP_PORT] if row.transport == "udp" else ["-cm1"]
    client = ["qperf", lab.address("B"), *options, "-t", duration, "-m", row.size, "-e", "12", "-uu", "-vvs", "-vvu",
              test]
    pair = _Pair(lab, ["qperf"], QPERF_PORT, client, duration, serves_on=True)
    pair.cores["receiver_cores"]["process"] = None      # it serves in a child
    return qperf_outcome(row.transport, pair.sender, pair.cores)


def qperf_outcome(transport, text, cores):
    figures = {name: value for name, value in re.findall(r"^\s+(\w+)\s+=\s+([\d.,]+)", text, re.M)}
    try:
        if transport != "udp":
            return Outcome(goodput_gbps=float(figures["bw"]) * 8 / 1e9, goodput_at="receiver", **cores)
        sent, received = int(float(figures["send_msgs"])), int(float(figures["recv_msgs"]))
        return Outcome(goodput_gbps=float(figures["recv_bw"]) * 8 / 1e9, goodput_at="receiver", sent=sent,
                       received=received, messages={"sent": sent, "received": received, "lost": sent - received}, **cores)
    except (KeyError, ValueError) as error:
        raise RunFailed(f"qperf: {last_line(text)} ({error!r})") from None


# --- perftest

PERFTEST_PORT = 18515
PERFTEST_TESTS = {"rc": "ib_write_bw", "uc": "ib_write_bw", "ud": "ib_send_bw"}
PERFTEST_MARGIN_S = 1
PERFTEST_BURST_BYTES = 65536


def _perftest(row, lab, duration):
    # Its margin at both ends of the run is not measured.
    seconds = duration + 2 * PERFTEST_MARGIN_S if duration <= 2 * PERFTEST_MARGIN_S else duration
    common = [PERFTEST_TESTS[row.transport], "-c", row.transport.upper(), "-d", "rxe0", "-x", "1", "-m", PACKET_PAYLOAD,
              "-F", "-s", row.size, "-D", seconds, "-f", PERFTEST_MARGIN_S, "--report_gbits"]
    client = [*common]
    if row.rate:
        client += ["--rate_limit", bits_per_second(row.rate) / 1e9, "--rate_limit_type", "SW", "--burst_size",
                   max(1, PERFTEST_BURST_BYTES // row.size)]
    pair = _Pair(lab, common, PERFTEST_PORT, [*client, lab.address("B")], seconds)
    return perftest_outcome(row.transport, pair.sender, pair.receiver, pair.cores)


def perftest_outcome(transport, client, server, cores):
    """RC: what was acknowledged arrived. UD: the server counts. UC WRITE: nobody at the receiver does."""
    figure = _perftest_figure(server if transport == "ud" else client)
    return Outcome(goodput_gbps=figure, goodput_at="sender" if transport == "uc" else "receiver", **cores)


def _perftest_figure(text):
    rows = re.findall(r"^\s*\d+\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", text, re.M)
    if not rows:
        raise RunFailed(f"perftest: {last_line(text)}")
    return float(rows[-1])


# --- dpdk-testpmd

# The virtio driver's: testpmd takes the difference to its MTU for overhead.
TESTPMD_MAX_FRAME = 9728


def _testpmd(row, lab, duration):
    base = ["dpdk-testpmd", "-l", "0-1", "--in-memory", "-m", "128", "-a", lab.pci("A"), "--", "--stats-period=1",
            "--mbuf-size=8192", "--total-num-mbufs=4096", "--nb-cores=1", f"--max-pkt-len={TESTPMD_MAX_FRAME}"]
    receiver = [*base, "--forward-mode=rxonly"]
    sender = [*base, "--forward-mode=txonly", f"--eth-peer=0,{lab.mac('B')}",
              f"--tx-ip={lab.address('A')},{lab.address('B')}", f"--tx-udp={UDP_PORT},{UDP_PORT}",
              f"--txpkts={row.size + FRAME_HEADERS}"]
    running = {}
    try:
        for end, command in (("B", receiver), ("A", sender)):
            running[end] = _start(lab, end, command, duration + 2 * SETUP_S)
            if not running[end].expect("Port statistics", SETUP_S):
                raise RunFailed(f"testpmd on {end}: {_said(running[end])}")
        time.sleep(duration)
        for end in ("A", "B"):      # the sender first; then what is under way arrives
            running[end].kill(signal.SIGTERM)
            ended_well(f"testpmd on {end}", running[end].wait(), _said(running[end]))
    finally:
        for process in running.values():
            process.kill()
    return testpmd_outcome(running["A"].stdout, running["B"].stdout,
                           {"sender_cores": meter.cores(running["A"].stderr),
                            "receiver_cores": meter.cores(running["B"].stderr)})


def testpmd_outcome(sender, receiver, cores):
    try:
        sent = int(re.findall(r"TX-packets: (\d+)", sender)[-1])
        received = int(re.findall(r"RX-packets: (\d+)", receiver)[-1])
    except IndexError:
        raise RunFailed(f"testpmd: {last_line(sender)}") from None
    # Rates over a second each, of frames; the first and the last second were not whole.
    rates = [int(bits) for bits in re.findall(r"Rx-bps:\s+(\d+)", receiver) if int(bits)]
    rates = rates[1:-1] or rates
    payload = PACKET_PAYLOAD / (PACKET_PAYLOAD + FRAME_HEADERS)
    return Outcome(goodput_gbps=sum(rates) / len(rates) * payload / 1e9 if rates else None, goodput_at="receiver",
                   sent=sent, received=received,
                   messages={"sent": sent, "received": received, "lost": sent - received}, **cores)
