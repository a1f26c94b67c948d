# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Our stream programs: how they are called, and what their reports (rocescope.stream/1) say."""
import json
import os

from compare.outcome import UDP_PORT, Outcome, RunFailed, ended_well, last_line
from compare.plan import PACKET_PAYLOAD
from lab.lab import ROOT

# A packet carries PACKET_PAYLOAD whatever the transport: the UDP transports split by an MTU that makes it so.
UDP_MTU = PACKET_PAYLOAD + 20 + 8
END_MARKER = 48     # roce/stream_header.h
READY_S = 30
IDLE_S = 10         # without a packet: a guest may not be scheduled for seconds
SETUP_S = 60        # beyond the run's own time: an emulated CPU starts DPDK slowly

# The reports' names of drops, and the places they are.
PLACES = {"send_errors": "send_errors", "oerrors": "tx_errors", "tx_abandoned": "tx_errors",
          "socket_receive_buffer": "receive_buffer", "imissed": "imissed", "rx_nombuf": "rx_nombuf",
          "ierrors": "ierrors"}


def commands(row, lab, duration, receive_buffer=None):
    """(receiver's, sender's) command lines."""
    sender = ["send", "--json", "--size", row.size, "--duration", duration]
    sender += ["--rate", row.rate] if row.rate else []
    receiver = ["recv", "--json", "--wait", SETUP_S, "--idle", IDLE_S]
    if row.transport == "udp":
        receiver += ["--rcvbuf", receive_buffer] if receive_buffer else []
        sender += ["--dst", lab.address("B"), "--mtu", UDP_MTU]
        return _program("udp_stream", receiver), _program("udp_stream", sender)
    if row.transport == "dpdk-udp":
        receiver += ["--mtu", lab.mtu]
        eal = ["--", "-l", "0", "--in-memory", "-m", "128", "-a", lab.pci("A")]
        sender += ["--src-ip", lab.address("A"), "--dst-ip", lab.address("B"), "--dst-mac", lab.mac("B"), "--mtu",
                   UDP_MTU]
        return _program("dpdk_stream", receiver + eal), _program("dpdk_stream", sender + eal)
    rdma = ["--transport", row.transport.removeprefix("hardware-"), "--path-mtu", PACKET_PAYLOAD]
    rdma += ["--device", row.device] if row.device else []
    sender += rdma + ["--control", f"{lab.address('B')}:{UDP_PORT}"]
    return _program("rdma_stream", receiver + rdma + ["--control", f":{UDP_PORT}"]), _program("rdma_stream", sender)


def _program(name, arguments):
    return [os.path.join(ROOT, "build", name), *map(str, arguments)]


def run(row, lab, duration, inject):
    receive, send = commands(row, lab, duration, inject.receive_buffer)
    limit = duration + SETUP_S
    receiver = lab.start("B", receive, timeout=limit + SETUP_S)
    try:
        if not receiver.expect("ready", READY_S):
            raise RunFailed(f"the receiver did not start: {last_line(receiver.stderr)}")
        sent = lab.exec("A", send, timeout=limit)
        ended_well("sender", sent)
        received = receiver.wait()
        ended_well("receiver", received)
    finally:
        receiver.kill()
    return outcome(row, _report("sender", sent), _report("receiver", received))


def _report(who, result):
    try:
        return json.loads(result.stdout)
    except ValueError:
        raise RunFailed(f"{who}: no report: {last_line(result.stderr, result.stdout)}") from None


def outcome(row, sent, received):
    """Pure: of the sender's and the receiver's report."""
    if received.get("end_seen") is False:
        raise RunFailed("the sender's end markers never came: what was lost at the end is not known")
    # After the end markers only more of them come: what finds no listener any more is no packet of the row.
    places = {"no_listener": 0}
    for name, n in (*sent["drops"].items(), *received["drops"].items()):
        if name in PLACES:
            places[PLACES[name]] = places.get(PLACES[name], 0) + n
    if received.get("late"):
        places["late"] = received["late"]
    counted = row.transport not in ("rc", "uc", "hardware-rc")    # those packets are rxe's, not the program's
    messages = {"sent": sent["messages"], "received": received["messages"],
                "lost": sent["messages"] - received["messages"]}
    return Outcome(
        goodput_gbps=received["goodput_gbps"], goodput_at="receiver", messages=messages, places=places,
        sent=sent["packets"] if counted else None, received=received["packets"] if counted else None,
        sender_cores=_cores(sent), receiver_cores=_cores(received), latency_us=received["latency_us"],
        other_datagram=END_MARKER)


def _cores(report):
    return {"process": report["cpu"]["process_cores"], "system": report["cpu"]["system_cores"]}
