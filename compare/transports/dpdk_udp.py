# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""UDP by DPDK's poll-mode driver, which bypasses the kernel."""
import json
import re
import signal
import time

from compare import PATIENCE_S
from compare.join import Place
from compare.programs import StreamProgram, TheirProgram, ended_well, last_line, metered, said, start_metered
from compare.transport import Outcome, RunFailed, RunSpoilt, Transport

FRAME_HEADERS = 14 + 20 + 8     # Ethernet, IPv4, UDP

RECEIVER = {"packet_ring": Place("at_receiver", "packet socket's ring"),
            "imissed": Place("at_receiver", "DPDK imissed"),
            "rx_nombuf": Place("at_receiver", "DPDK buffers"),
            "ierrors": Place("at_receiver", "DPDK receive errors")}


SLOW_S = 20     # seconds, for which testpmd may not get a CPU


def rates_of(text):
    """Bits of frames a second that testpmd's receiver told, one for each second in which frames came. Pure."""
    return [int(bits) for bits in re.findall(r"Rx-bps:\s+(\d+)", text) if int(bits)]


class DpdkStream(StreamProgram):
    through_qdisc = False
    program = operation = "dpdk_stream"
    ipv6 = False
    drops = {"oerrors": "tx_errors", "tx_abandoned": "tx_errors", "imissed": "imissed", "rx_nombuf": "rx_nombuf",
             "ierrors": "ierrors", "packet_ring": "packet_ring"}
    places = {"tx_errors": Place("before_wire", "DPDK transmit"), **RECEIVER}

    def receiver_options(self, row, path, injection):
        return ["--mtu", path.mtu, "--", *self.eal(path, "B", 1)]

    def sender_options(self, row, path):
        return ["--src-ip", path.address("A"), "--dst-ip", path.address("B"), "--dst-mac", path.mac("B"),
                "--mtu", row.path_mtu + row.udp_headers, "--", *self.eal(path, "A", 1)]

    def eal(self, path, end, lcores):
        return path.eal(end, lcores)


class Testpmd(TheirProgram):
    name, operation = "testpmd", "txonly to rxonly"
    differs = "it leaves out a second at each end of the run, ours the first 200 ms; it takes every frame of the NIC, ours those of its port."
    rate_control = several_flows = ipv6 = through_qdisc = False
    one_packet = "sends packets, knows no larger message"

    # Limit of the virtio driver: testpmd takes the difference to its MTU as overhead. net_af_packet knows no such limit.
    MAX_FRAME = 9728
    MBUF = 8448
    places = RECEIVER
    MARGIN_S = 1    # seconds at both ends of the run whose rates are not complete
    COUNTED = {"RX-missed": "imissed", "RX-errors": "ierrors", "RX-nombuf": "rx_nombuf"}

    def eal(self, path, end, lcores):
        return path.eal(end, lcores)

    def measure(self, row, path, seconds):
        running = {}
        try:
            for end, command in (("B", self._receiver(path)), ("A", self._sender(row, path))):
                running[end] = start_metered(path, end, command, seconds + 2 * PATIENCE_S)
                if not running[end].expect("Port statistics", PATIENCE_S):
                    raise RunFailed(f"testpmd on {end}: {said(running[end])}")
            self._await_rates(running["B"], seconds + 2 * self.MARGIN_S)
            for end in ("A", "B"):      # the sender first, so that packets on their way still arrive
                if end == "B":
                    dropped = self._ring_drops(path)
                running[end].kill(signal.SIGTERM)
                ended_well(f"testpmd on {end}", running[end].wait(), said(running[end]))
        finally:
            for process in running.values():
                process.kill()
        return self.outcome(row.packet_payload, running["A"].stdout, running["B"].stdout,
                            metered(running["A"].stderr, running["B"].stderr), dropped)

    def _await_rates(self, receiver, wanted):
        """
        Until it has told so many rates. It tells one a second, later where it does not get a CPU: two of them poll all the time.
        """
        deadline = time.monotonic() + wanted + SLOW_S
        while len(rates_of(receiver.stdout)) < wanted and time.monotonic() < deadline and receiver.poll() is None:
            time.sleep(.1)

    def _ring_drops(self, path):
        """
        {PLACE: n} of the sockets below the port. Where they cannot be asked (Linux before 5.6), nothing is known. On hosts,
        packet sockets have other packets of the NIC, too.
        """
        asked = path.exec("B", ["/usr/bin/python3", "-E", "compare/ring_drops.py", "dpdk-testpmd"], timeout=PATIENCE_S)
        return {f"{kind}_ring": n for kind, n in json.loads(asked.stdout).items()} if not asked.rc else {}

    def _receiver(self, path):
        return [*self._both(path, "B"), "--forward-mode=rxonly"]

    def _sender(self, row, path):
        return [*self._both(path, "A"), "--forward-mode=txonly", f"--eth-peer=0,{path.mac('B')}",
                f"--tx-ip={path.address('A')},{path.address('B')}", f"--tx-udp={row.port},{row.port}",
                f"--txpkts={row.size + FRAME_HEADERS}"]

    def _both(self, path, end):
        return ["dpdk-testpmd", *self.eal(path, end, 2), "--", "--stats-period=1",
                f"--mbuf-size={self.MBUF}", "--total-num-mbufs=4096", "--nb-cores=1",
                *([] if path.dpdk_copies else [f"--max-pkt-len={self.MAX_FRAME}"])]

    def outcome(self, payload, sender, receiver, cores, dropped):
        """The Outcome of what both wrote. payload: bytes of a packet. dropped: {PLACE: n} of the sockets below. Pure."""
        try:
            sent = int(re.findall(r"TX-packets: (\d+)", sender)[-1])
            received = int(re.findall(r"RX-packets: (\d+)", receiver)[-1])
        except IndexError:
            raise RunSpoilt(f"testpmd told no statistics: {last_line(sender)}") from None
        counted = {place: int((re.findall(rf"{name}: +(\d+)", receiver) or [0])[-1]) for name, place in self.COUNTED.items()}
        if "xdp_ring" in dropped:
            del counted["imissed"]      # a part of it
        told, whole = rates_of(receiver), self.MARGIN_S
        rates = told[whole:-whole] or told
        share = payload / (payload + FRAME_HEADERS)
        return Outcome(goodput_gbps=sum(rates) / len(rates) * share / 1e9 if rates else None, goodput_at="receiver",
                       missing=None if rates else f"testpmd at the receiver told no rate, and {received} packets",
                       sent=sent, received=received,
                       messages={"sent": sent, "received": received, "lost": sent - received},
                       places={**counted, **dropped}, **cores)


class DpdkUdp(Transport):
    name, words, order = "dpdk-udp", "DPDK UDP", 20
    about = "the programs make and read whole frames, and poll: a core each, also without packets."
    driver = "dpdk"
    tools = (DpdkStream(), Testpmd())
