# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a pair of programs and reads their output: our stream programs, and programs of others under a CPU meter.

A tool of a transport is a subclass of StreamProgram (ours), of ServerAndClient, or of TheirProgram.
"""
import dataclasses
import json
import os
import re
import signal
import time

from compare import PATIENCE_S, join
from compare.transport import UDP_PORT, Outcome, RunFailed, RunSpoilt, Tool, together


def last_line(*texts):
    """The last line of these texts that is not empty: the program's own reason of a failure."""
    for text in texts:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            return lines[-1]
    return "it said nothing"


def ended_well(who, result, words=None):
    """words: the last line to report, if it is not simply the last one written."""
    if result.timed_out:
        raise RunFailed(f"{who} did not end")
    if result.rc:
        raise RunFailed(f"{who}: {words or last_line(result.stderr, result.stdout)} (status {result.rc})")


def host_and_port(host, port):
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


# --- ours

class StreamProgram(Tool):
    """build/PROGRAM send and recv. Their reports are rocescope.stream/1."""
    name = "rocescope"
    drops = {}                  # {name of a drop in the report: PLACE}
    counts_packets = True       # False: the transport makes the packets, not the program

    answers = several_pairs = searches = True
    IDLE_S = 10                 # seconds without a packet: a guest may not be scheduled for seconds
    END_MARKER = 48             # bytes: only a stream header (roce/datagram/stream_header.h)

    def receiver_options(self, row, path, injection):
        """Options of this program after those that all programs have."""
        raise NotImplementedError

    def sender_options(self, row, path):
        raise NotImplementedError

    def commands(self, row, path, seconds, injection):
        """(receiver's, sender's) command lines."""
        pause = ["--pause", injection.slow_receiver] if injection.slow_receiver else []
        receiver = ["recv", "--json", "--port", row.port, "--wait", PATIENCE_S, "--idle", self.IDLE_S, *pause,
                    *self.receiver_options(row, path, injection)]
        pace = ["--ping-pong"] if row.ping_pong else ["--rate", row.pace] if row.pace else []
        sender = ["send", "--json", "--port", row.port, "--size", row.size, "--duration", seconds, "--flows", row.flows, *pace,
                  *self.sender_options(row, path)]
        program = os.path.join("build", self.program)
        return [program, *map(str, receiver)], [program, *map(str, sender)]

    def run(self, row, path, seconds, injection):
        return self.run_pairs(row, [path], seconds, injection)

    def run_pairs(self, row, paths, seconds, injection):
        """Pairs that share an end have a program and a port each there."""
        rows = [dataclasses.replace(row, port=row.port + number) for number in range(len(paths))]
        receive, send = zip(*(self.commands(each, path, seconds, injection) for each, path in zip(rows, paths)))
        sent, received = self.reports(seconds, list(zip(paths, receive)), list(zip(paths, send)))
        outcomes = [self.outcome(a, b) for a, b in zip(sent, received)]
        return outcomes[0] if len(paths) == 1 else together(outcomes, machines_of(paths))

    @staticmethod
    def reports(seconds, receivers, senders):
        """
        Runs programs on ends of paths, each (path, command), and returns the senders' and the receivers' reports. All receivers
        are ready before the first sender starts.
        """
        limit, running = seconds + PATIENCE_S, []
        try:
            for path, command in receivers:
                running.append(path.start("B", command, timeout=limit + PATIENCE_S))
            for receiver in running:
                if not receiver.expect("ready", PATIENCE_S):
                    raise RunFailed(f"the receiver did not start: {last_line(receiver.stderr)}")
            for path, command in senders:
                running.append(path.start("A", command, timeout=limit))
            sent = [_report("sender", sender) for sender in running[len(receivers):]]
            return sent, [_report("receiver", receiver) for receiver in running[:len(receivers)]]
        finally:
            for process in running:
                process.kill()

    def outcome(self, sent, received):
        """
        The Outcome of the sender's and the receiver's report. Pure. Where no end marker came, the receiver has waited until
        nothing more did: what was lost at the end is in the sender's figure. A counter may then have up to three drops too many,
        its markers.
        """
        messages = {"sent": sent["messages"], "received": received["messages"],
                    "lost": join.difference(sent["messages"], received["messages"])}
        if sent.get("ping_pong"):
            messages["lost"] = sent["unanswered"]       # the message or its answer
        # of UC's WRITEs without immediate the receiver sees nothing
        at, timed = ("sender", sent) if received["goodput_gbps"] is None else ("receiver", received)
        packets = (sent["packets"], received["packets"]) if self.counts_packets else (None, None)
        # a run too short for windows has only its whole length
        windows = received["windows"] or {"mean_gbps": timed["goodput_gbps"], "min_gbps": None}
        if sent.get("ping_pong"):
            windows = {"mean_gbps": None, "min_gbps": None}     # one message at a time: its time is what counts
        unanswered = "no message was answered after the first 100 ms" if sent.get("ping_pong") else None
        return Outcome(
            missing=unanswered, goodput_gbps=windows["mean_gbps"], goodput_min_gbps=windows["min_gbps"], goodput_at=at, messages=messages,
            places=self._lost(sent, received), receive_buffer=_buffer(received), sent=packets[0], received=packets[1],
            sender_cores=cores(sent), receiver_cores=cores(received), **_latency(sent if sent.get("ping_pong") else received),
            flows_gbps=_flows(received, windows["mean_gbps"]), other_datagram=self.END_MARKER, loss_details={"A": sent.get("xstats", {}), "B": received.get("xstats", {})},
            sent_s=sent["seconds"], busy_s={"sender": busy(sent), "receiver": busy(received)})

    def _lost(self, sent, received):
        # after the first end marker only more of them come: a packet without a listener is then no packet of the row
        lost = {"no_listener": 0}
        for name, n in (*sent["drops"].items(), *received["drops"].items()):
            if name in self.drops:
                lost[self.drops[name]] = lost.get(self.drops[name], 0) + n
        if received.get("late"):
            lost["late"] = received["late"]
        return lost


def machines_of(paths):
    """Those of the senders and of the receivers, for together()."""
    return [[path.machine(end) for path in paths] for end in ("A", "B")]


def _report(who, process):
    result = process.wait()
    ended_well(who, result)
    try:
        return json.loads(result.stdout)
    except ValueError:
        raise RunFailed(f"{who}: no report: {last_line(result.stderr, result.stdout)}") from None


def _buffer(report):
    """{"bytes", "unread_us"} of a receiving socket's buffer. None: the program has none that can lose packets."""
    if "receive_buffer_bytes" not in report:
        return None
    return {"bytes": report["receive_buffer_bytes"], "unread_us": report["longest_unread_us"]}


def _latency(report):
    return {"latency_us": report["latency_us"], "latency_histogram": report.get("latency_histogram")}


def _flows(report, goodput_gbps):
    """What each flow has of the goodput, by the messages of it that arrived. None: there is one, or nobody knows."""
    messages = report.get("flow_messages") or []
    total = sum(messages)
    return [goodput_gbps * n / total for n in messages] if goodput_gbps and total else None


def cores(report):
    return {"process": report["cpu"]["process_cores"], "system": report["cpu"]["system_cores"]}


def busy(report):
    system = cores(report)["system"]
    return None if system is None or report["seconds"] is None else system * report["seconds"]


# --- those of others

def latency_us(**known):
    """The latency_us of an Outcome. What the tool does not tell is None."""
    return {name: known.get(name) for name in ("min", "p50", "p90", "p99", "p999", "max", "mean")}


class TheirProgram(Tool):
    """A program that does not measure its own CPU: it runs under meter.sh."""

    def seconds(self, wanted):
        """These tools take whole seconds only."""
        return max(1, round(wanted))

    def run(self, row, path, seconds, injection):
        return self.measure(row, path, self.seconds(seconds))

    def measure(self, row, path, seconds):
        """Runs the pair and returns an Outcome."""
        raise NotImplementedError


def run_beside(path, server, client, limit, daemon, ready=lambda server: None):
    """
    Runs a client beside a server, each (end, command). daemon: the server works in another process, or the kernel does its work; it
    is killed when the client has ended. ready: waits until the server is. Returns what both wrote, and the fields of an Outcome that
    metered() returns.
    """
    serving = start_metered(path, *server, limit)
    try:
        ready(serving)
        asking = start_metered(path, *client, limit)
        ended_well(client[1][0], asking.wait(), said(asking))
        if daemon:
            serving.kill(signal.SIGTERM)
        serving.wait()
    finally:
        serving.kill()
    ends = {server[0]: serving.stderr, client[0]: asking.stderr}
    cores = metered(ends["A"], ends["B"])
    if daemon:
        cores["sender_cores" if server[0] == "A" else "receiver_cores"]["process"] = None
    return asking.stdout, serving.stdout, cores


class ServerAndClient(TheirProgram):
    """A server that listens on a TCP port when it is ready, and a client that then runs and ends. Data goes from A to B."""
    port = None
    server_end, client_end = "B", "A"
    daemon = False      # the server works in a child process until it is killed

    def server(self, row, path, seconds):
        """The server's command line. client() returns the client's."""
        raise NotImplementedError

    def client(self, row, path, seconds):
        raise NotImplementedError

    def outcome(self, client, server, cores):
        """The Outcome of what both wrote. Pure. cores: the fields of an Outcome that metered() returns."""
        raise NotImplementedError

    def measure(self, row, path, seconds):
        command = self.client(row, path, seconds)
        return self.outcome(*run_beside(path, (self.server_end, self.server(row, path, seconds)), (self.client_end, command),
                                        seconds + PATIENCE_S, self.daemon, lambda server: self._await_ready(row, path, server)))

    def port_of(self, row):
        """Where its server listens."""
        return self.port + row.port - UDP_PORT

    def _await_ready(self, row, path, server):
        """Waits for the listening port: not every server says when it is ready."""
        wanted, deadline = f":{self.port_of(row):04X} ", time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if server.poll() is not None:
                raise RunFailed(f"the server did not start: {said(server)}")
            sockets = path.exec(self.server_end, ["cat", "/proc/net/tcp", "/proc/net/tcp6"], timeout=10).stdout
            if any(wanted in line and " 0A " in line for line in sockets.splitlines()):
                return
            time.sleep(0.1)
        raise RunFailed(f"the server does not listen on TCP port {self.port_of(row)}")


class Qperf(ServerAndClient):
    """operation: qperf's test. options: for the client. Tests other than udp_bw report a bandwidth only."""
    name, port, daemon = "qperf", 19765, True
    differs = "its goodput is that of the whole run, with the start; ours leaves out the first 200 ms."
    rate_control = several_flows = False

    def __init__(self, operation, options=(), never=None, ipv6=True):
        self.operation, self.options, self.never, self.ipv6 = operation, options, never, ipv6

    def server(self, row, path, seconds):
        return ["qperf", "-lp", self.port_of(row)]

    def client(self, row, path, seconds):
        options = [row.port if word == UDP_PORT else word for word in self.options]
        return ["qperf", path.address("B", row.ip), "-lp", self.port_of(row), *options, "-t", seconds, "-m", row.size, "-e", "12",
                "-uu", "-vvs", "-vvu", self.operation]

    def outcome(self, client, server, cores):
        figures = dict(re.findall(r"^\s+(\w+)\s+=\s+([\d.,]+)", client, re.M))
        try:
            return self.read(figures, cores)
        except (KeyError, ValueError) as error:
            raise RunSpoilt(f"qperf: {last_line(client)} ({error!r})") from None

    def read(self, figures, cores):
        """figures: {name: text}. Raises KeyError or ValueError if one is missing or no number."""
        return Outcome(goodput_gbps=float(figures["bw"]) * 8 / 1e9, goodput_at="receiver", **cores)


class QperfLatency(Qperf):
    """A test that answers each message. It knows the mean only, and does not count the message that is under way at its end."""
    streams, answers = False, True
    differs = "it tells the mean latency only, half of the round trip, as ours."

    def read(self, figures, cores):
        mean = float(figures["latency"]) / 1e3      # of ns, because the client says -uu
        return Outcome(goodput_gbps=None, goodput_at="receiver", latency_us=latency_us(mean=mean), **cores)


# --- the CPU meter

METER = "compare/meter.sh"
TICKS_PER_S = 100
# Fewer packets between two samples are the programs' set-up, not traffic.
TRAFFIC_PACKETS = 50


def start_metered(path, end, command, limit):
    """limit: seconds, after which the program is killed."""
    return path.start(end, ["sh", METER, path.netif(end), *map(str, command)], timeout=limit)


def said(process):
    """The last line that the program wrote, without the meter's lines."""
    return last_line(split_metered(process.stderr)[1], process.stdout)


def split_metered(stderr):
    """(meter's samples, the program's own lines). Pure."""
    samples, rest = [], []
    for line in stderr.splitlines():
        if line.startswith("meter "):
            samples.append([float(word) for word in line.split()[1:]])
        else:
            rest.append(line)
    return samples, "\n".join(rest)


def metered(sender, receiver):
    """The fields of an Outcome that are known from what the meters of both ends wrote. Pure."""
    return {"sender_cores": metered_cores(sender), "receiver_cores": metered_cores(receiver),
            "busy_s": {"sender": metered_busy(sender), "receiver": metered_busy(receiver)}}


def metered_cores(stderr):
    """{"process", "system"} while traffic flowed; None without samples. Pure."""
    seconds, system, process = _metered_time(stderr)
    if not seconds:
        return {"process": None, "system": None}
    return {"process": process / seconds, "system": system / seconds}


def metered_busy(stderr):
    """
    CPU seconds of the whole machine while traffic flowed. None without packets in the samples (DPDK holds the NIC): then the
    time has the set-up of the programs in it. Pure.
    """
    seconds, system, _ = _metered_time(stderr)
    counted = all(len(sample) == 4 for sample in split_metered(stderr)[0])
    return system if seconds and counted else None


def _metered_time(stderr):
    """(seconds of traffic, CPU seconds of the machine, of the program)"""
    samples, _ = split_metered(stderr)
    seconds = system = process = 0
    for before, after in zip(samples, samples[1:]):
        if len(after) == len(before) == 4 and after[3] - before[3] < TRAFFIC_PACKETS:
            continue
        seconds += after[0] - before[0]
        system += after[1] - before[1]
        process += after[2] - before[2]
    return seconds, system / TICKS_PER_S, process / TICKS_PER_S
