# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
RoCE whose receiver has no RDMA device: `rocescope receive` takes RDMA WRITE into memory by XDP. UC comes from `rocescope send`, at
the speed of this machine; RC from rdma_stream over an RDMA device, because `send` answers no NAK.
"""
import dataclasses
import json
import signal
import time

from compare import PATIENCE_S, join
from compare.join import Place
from compare.programs import TheirProgram, ended_well, host_and_port, last_line, metered, said, start_metered
from compare.transport import CannotRun, Outcome, RunFailed, Transport, bits_per_second

COMMAND, RDMA_STREAM = "build/rocescope", "build/rdma_stream"
DRAIN_S = 0.3       # packets in the receiver's ring still arrive
HEADERS, RETH = 14 + 12 + 4, 16    # bytes: Ethernet, BTH, ICRC beside IP and UDP; and the RETH of a message's first packet
SLOTS = 64          # messages that each QP has room for, as rdma_stream's WRITEs have
QPN, RKEY, ADDRESS = 0x100, 0x52434545, 0x100000000000     # what send is told
# Packets that reached a QP but not its memory, for a reason that is a loss of its own; all other refusals follow from losses
# before.
PLACES = {"icrc": "bad_icrc", "busy": "qp_busy", "no_receive": "no_receive_request"}


def refill(path):
    """Where B's NIC is of virtio: it takes new receive buffers (refill.py)."""
    driver = path.exec("B", ["readlink", f"/sys/class/net/{path.netif('B')}/device/driver"], timeout=PATIENCE_S)
    if driver.stdout.strip().endswith("/virtio_net"):
        path.exec("A", ["/usr/bin/python3", "-E", "compare/refill.py", path.netif("A"), path.mac("B")], timeout=PATIENCE_S)


class Receive(TheirProgram):
    """rocescope receive, and a sender of a subclass's."""
    name, program = "rocescope", "rocescope"
    answers = False
    drops = {}
    places = {"send_refused": Place("before_wire", "sender's device"),
              "bad_icrc": Place("at_receiver", "wrong ICRC"),
              "qp_busy": Place("at_receiver", "QP on two CPUs"),
              "no_receive_request": Place("at_receiver", "no receive request")}

    ready = "watching"      # what the receiver says when packets may come
    seconds = staticmethod(float)   # its senders take fractions

    def measure(self, row, path, seconds):
        limit = seconds + PATIENCE_S
        receiver = start_metered(path, "B", self.receiver(row, path), limit)
        try:
            if not receiver.expect(self.ready, PATIENCE_S):
                # on a machine as it is another program may have the hook, or its kernel is too old
                raise (RunFailed if path.has_wire else CannotRun)(f"receive: {said(receiver)}")
            refill(path)
            sender = start_metered(path, "A", self.sender(row, path, seconds, receiver.stdout), limit)
            ended_well("the sender", sender.wait(), said(sender))
            self.end(receiver)
            ended_well("the receiver", receiver.wait(), said(receiver))
        finally:
            receiver.kill()
        return self.outcome(sender.stdout, receiver.stdout, metered(sender.stderr, receiver.stderr))

    def end(self, receiver):
        """Ends the receiver when all has come."""
        time.sleep(DRAIN_S)
        receiver.kill(signal.SIGTERM)

    def receiver(self, row, path):
        """The receiver's command line."""
        share = -(-SLOTS * row.size // 4096) * 4096
        return [COMMAND, "receive", path.netif("B"), "--address", path.address("B", row.ip), "--qps", row.flows,
                "--memory", f"{-(-row.flows * share // 2**20)}M", "--path-mtu", row.path_mtu, "-j", "--interval", "3600",
                *self.receiver_options(row, path)]

    def receiver_options(self, row, path):
        """Who may send, and how it learns of the QPs."""
        raise NotImplementedError

    def sender(self, row, path, seconds, told):
        """The sender's command line. told: what the receiver has written."""
        raise NotImplementedError

    def outcome(self, sender, receiver, cores):
        """The Outcome of what both wrote. Pure."""
        try:
            sent, got = json.loads(sender), json.loads(receiver.splitlines()[-1])["receive"]
        except (ValueError, KeyError, IndexError):
            raise RunFailed(f"send and receive: {last_line(receiver, sender)}") from None
        refused = {reason: each["packets"] for reason, each in got["refused"].items()}
        places = {place: refused.get(reason, 0) for reason, place in PLACES.items()}
        arrived = got["packets"] + sum(n for reason, n in refused.items() if reason not in (*PLACES, "qpn"))
        dropped = got["packets"] + sum(refused.values()) - sum(got["answers"].values())
        return dataclasses.replace(self.joined(sent, got, arrived, places, cores), xdp_dropped=dropped)

    def joined(self, sent, got, arrived, places, cores):
        """sent: the sender's report; arrived: packets that reached a QP. Pure."""
        raise NotImplementedError


class SendToReceive(Receive):
    through_qdisc, searches = False, True
    operation = "send to receive"

    def receiver_options(self, row, path):
        return ["--service", "uc", "--peer", path.address("A", row.ip), "--qpn", QPN, "--rkey", RKEY, "--va", ADDRESS, "--receives", 0]

    def sender(self, row, path, seconds, told):
        return [COMMAND, "send", path.netif("A"), "--dst", path.address("B", row.ip), "--dst-mac", path.mac("B"),
                "--op", "uc-write-imm", "--message", row.size, "--mtu", row.path_mtu, "--duration", seconds,
                *self.qps(row, told), *(["--rate", frame_rate(row)] if row.pace else []), "-j"]

    def qps(self, row, told):
        """The receiver's QPs and memory, as options of send."""
        return ["--qps", row.flows, "--first-qpn", QPN, "--rkey", RKEY, "--va", ADDRESS, "--regions", SLOTS]

    def joined(self, sent, got, arrived, places, cores):
        places["send_refused"] = sent["refused"] + sent["device_drops"]
        return Outcome(goodput_gbps=got["payload_bytes"] * 8 / sent["seconds"] / 1e9, goodput_at="receiver",
                       sent=sent["packets"], sent_s=sent["seconds"], received=arrived,
                       messages={"sent": None, "received": got["messages"], "lost": None}, places=places, **cores)


class StreamToReceive(Receive):
    """RC by an RDMA device at the sender."""
    searches = True
    operation = "rdma_stream to receive"

    def receiver_options(self, row, path):
        return ["--service", "rc", "--peer", path.address("A", row.ip), "--control", self._control(row, path)]

    def sender(self, row, path, seconds, told):
        return [RDMA_STREAM, "send", "--json", "--transport", "rc", "--size", row.size, "--duration", seconds, "--flows", row.flows,
                "--path-mtu", row.path_mtu, "--device", path.rdma("A"), "--gid-index", path.gid_index("A", row.ip),
                "--control", self._control(row, path), *(["--rate", row.pace] if row.pace else [])]

    @staticmethod
    def _control(row, path):
        return host_and_port(path.address("B", row.ip), row.port)

    def joined(self, sent, got, arrived, places, cores):
        run = got["runs"][-1]
        return Outcome(goodput_gbps=run["payload_bytes"] * 8 / run["seconds"] / 1e9 if run["seconds"] else None,
                       goodput_at="receiver", received=arrived, sent_s=sent["seconds"],
                       messages={"sent": sent["messages"], "received": run["messages"],
                                 "lost": join.difference(sent["messages"], run["messages"])},
                       places=places, **cores)


def frame_rate(row):
    """send counts the bits of frames, the other programs those of the payload."""
    frames = row.size + RETH + (HEADERS + row.udp_headers) * -(-row.size // row.path_mtu)
    return f"{bits_per_second(row.pace) * frames / row.size / 1e3:.0f}Kbit"


class XdpRoce(Transport):
    name, words, order = "xdp-roce", "XDP RoCE UC", 25
    about = "no RDMA device receives: an XDP program takes the payload into memory."
    seen_on_nic = False
    tools = (SendToReceive(),)

    def count(self, row, outcome, did, seen):
        return {"on_wire": seen["A"].roce_packets("A", "request"), "left_wire": seen["B"].roce_packets("A", "request")}


class XdpRoceRc(XdpRoce):
    """rxe sends. Its packets include those sent again."""
    name, words, order = "xdp-roce-rc", "XDP RoCE RC", 26
    rxe = throttles = True
    tools = (StreamToReceive(),)

    def refusal(self, lab):
        return lab.rxe_refusal

    def count(self, row, outcome, did, seen):
        run = super().count(row, outcome, did, seen)
        sent = join.difference(did.rxe("A", "sent_pkts"), seen["A"].roce_packets("A", "response"))
        return {**run, "sent": sent, "retransmitted": join.retransmitted(sent, run["on_wire"], seen["A"].duplicates())}
