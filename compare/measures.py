# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What an experiment measures of a row's runs, and the laws that stand beside a measure. Pure."""
from typing import Callable, NamedTuple

from compare import join, plan, window

NVME = ("nvme-rdma", "nvme-tcp")
MESSAGES = {"rocescope": 64, "perftest": 128}   # that a tool keeps outstanding on a QP: rdma_stream's --window, perftest's -t


class Measure(NamedTuple):
    """of(run, row): its figure in a run of a report's row, or None."""
    words: str
    unit: str
    of: Callable


def _cost(end, whose):
    """CPU time of an end's whole machine (system), or of its program (process), for what arrives."""
    def of(run, _):
        cores, goodput = run[f"{end}_cores"][whose], run["goodput_gbps"]
        return 1e3 * cores / goodput if cores is not None and goodput else None
    return of


def _lost(run, _):
    return 100 * run["lost"] / run["sent"] if run["sent"] and run["lost"] is not None else None


def _messages_lost(run, _):
    messages = run.get("messages") or {}
    return 100 * messages["lost"] / messages["sent"] if messages.get("sent") and messages["lost"] is not None else None


def _sender_goodput(run, row):
    sent = (run.get("messages") or {}).get("sent")
    return sent * row["size"] * 8 / run["sent_s"] / 1e9 if sent and run["sent_s"] else None


def _joules(run, row):
    if run["joules"] is None or "messages" not in run:
        return None
    gbit = join.gbits(run, row["packet_payload"] if plan.transport(row["transport"]).all_payload else None, row["size"])
    return run["joules"] / gbit if gbit else None


def _least_share(run, _):
    pairs = run["pairs_gbps"]
    return 100 * min(pairs) * len(pairs) / sum(pairs) if pairs and None not in pairs and sum(pairs) else None


def _flow_share(quantile):
    def of(run, row):
        gbps, flows = run.get("flow_gbps"), row["flows"] * len(run["pairs_gbps"] or (1,))
        return 100 * gbps[quantile] * flows / run["goodput_gbps"] if gbps and run["goodput_gbps"] else None
    return of


def _taken(run, row):
    """Reports before 0.2.0 have the messages of all runs together."""
    messages = run.get("messages") or row["messages"]
    sent, received = messages["sent"], messages["received"]
    return 100 * received / sent if sent and received is not None else None


def _waits(kind):
    """ms that the longer of both ends waits for answers, as the monitor has it."""
    def of(run, _):
        told = [requests[kind]["mean"] for requests in run["requests"].values() if requests]
        return max((mean / 1e3 for mean in told if mean is not None), default=None)
    return of


def _requests(end):
    """Messages that the monitor saw an end begin, by the messages of the row's tool."""
    def of(run, row):
        carried = row["messages"]["sent"] and row["messages"]["sent"] / (row.get("counted") or row["runs"])
        return run["requests"][end]["messages"] / carried if run["requests"][end] and carried else None
    return of


def _free(of):
    """The same of a ring, of runs without back-pressure."""
    return lambda run, row: of(run, row) if run.get("pressure") == 0 else None


def _of_sender(run, row):
    sent = _sender_goodput(run, row)
    return 100 * run["goodput_gbps"] / sent if sent and run["goodput_gbps"] else None


def _stalled(run, row):
    """What is lost of RC is missing among the packets that arrived, or sent again."""
    lost = run["lost"] if run.get("pressure") is not None else None
    return None if lost is None else 100 if run["pressure"] and lost <= 0 else 0


MEASURES = {
    "goodput": Measure("goodput", "Gbit/s", lambda run, row: run["goodput_gbps"]),
    "messages": Measure("messages that arrive", "thousand/s",
                        lambda run, row: run["goodput_gbps"] and run["goodput_gbps"] * 1e6 / 8 / row["size"]),
    "latency": Measure("mean latency", "ms", lambda run, row: run["latency_us"] and run["latency_us"]["mean"] / 1e3),
    "latency_p99": Measure("latency that 99 % do not exceed", "ms",
                           lambda run, row: run["latency_us"] and run["latency_us"]["p99"] and run["latency_us"]["p99"] / 1e3),
    "latency_p50": Measure("median latency", "ms",
                           lambda run, row: run["latency_us"] and run["latency_us"]["p50"] and run["latency_us"]["p50"] / 1e3),
    "ack_wait": Measure("mean time on the wire from a request to its acknowledgement", "ms", _waits("ack_us")),
    "read_wait": Measure("mean time on the wire from a READ to its response", "ms", _waits("read_us")),
    "sender_requests": Measure("SENDs, WRITEs and READs of the sender on the wire", "for each message", _requests("A")),
    "receiver_requests": Measure("SENDs, WRITEs and READs of the receiver on the wire", "for each message", _requests("B")),
    "reads_most": Measure("READs and atomics outstanding on a QP, by the monitor", "at most",
                          lambda run, row: run["dialogue"] and run["dialogue"]["reads_most"]),
    "lost": Measure("packets lost", "%", _lost),
    "messages_lost": Measure("messages lost", "%", _messages_lost),
    "sender_goodput": Measure("payload that the sender's program hands over", "Gbit/s", _sender_goodput),
    "joules": Measure("energy of the CPUs of both machines for a Gbit that arrives", "J", _joules),
    "least_share": Measure("goodput of the pair of sender and receiver that has the least", "% of an equal share", _least_share),
    **{f"flow_{name}": Measure(f"goodput of a QP, {words}", "% of an equal share", _flow_share(name))
       for name, words in {"least": "the least", "p10": "10 % quantile", "q1": "lower quartile", "median": "median",
                           "q3": "upper quartile", "p90": "90 % quantile", "most": "the most"}.items()},
    "taken": Measure("messages that the receiver took", "% of those sent", _taken),
    "sender_program": Measure("CPU of the sender's program", "cores", lambda run, row: run["sender_cores"]["process"]),
    "receiver_program": Measure("CPU of the receiver's program", "cores", lambda run, row: run["receiver_cores"]["process"]),
    "sender_cores": Measure("CPU of the sender's machine", "cores", lambda run, row: run["sender_cores"]["system"]),
    "receiver_cores": Measure("CPU of the receiver's machine", "cores", lambda run, row: run["receiver_cores"]["system"]),
    "sender_cost": Measure("CPU time of the sender's machine for a Gbit that arrives", "ms", _cost("sender", "system")),
    "receiver_cost": Measure("CPU time of the receiver's machine for a Gbit that arrives", "ms", _cost("receiver", "system")),
    "sender_program_cost": Measure("CPU time of the sender's program for a Gbit that arrives", "ms", _cost("sender", "process")),
    "receiver_program_cost": Measure("CPU time of the receiver's program for a Gbit that arrives", "ms", _cost("receiver", "process")),
    "goodput_free": Measure("goodput without back-pressure", "Gbit/s", _free(lambda run, row: run["goodput_gbps"])),
    "sender_goodput_free": Measure("payload that the sender's program hands over, without back-pressure", "Gbit/s", _free(_sender_goodput)),
    "receiver_share": Measure("goodput without back-pressure", "% of what the sender hands over", _free(_of_sender)),
    "pressure": Measure("episodes of back-pressure", "a run", lambda run, row: run.get("pressure")),
    "stalled": Measure("runs with back-pressure in which no packet was lost", "%", _stalled),
}


def law_latency(facts):
    """ms. Of READ the whole way forth and back, as ib_read_lat has it. Of NVMe with a full queue: as long as it takes to carry that."""
    if facts["transport"] in NVME:
        gbps = law_goodput(facts)
        return gbps and window.NVME_COMMANDS * facts["size"] * 8 / (gbps * 1e6)
    us = window.latency_us(facts["transport"], facts["size"], facts["path_mtu"], facts["distance"] * plan.US_PER_KM)
    return us / 1e3 if us else None


def law_goodput(facts):
    """Gbit/s of all QPs."""
    told = dict(word.partition("=")[::2] for word in facts["verbs"].split(","))
    messages = int(told.get("window") or MESSAGES.get(facts["tool"], 1))
    if facts["transport"] == "rc-read":
        messages = min(messages, int(told.get("reads") or messages))
    delay_us = facts["distance"] * plan.US_PER_KM
    if facts["transport"] in NVME:
        return window.nvme_gbps(facts["transport"], facts["tool"], facts["size"], facts["path_mtu"], delay_us)
    one = window.goodput_gbps(facts["transport"], facts["size"], facts["path_mtu"], delay_us, messages)
    return one and one * facts["flows"]


LAWS = {"latency": law_latency, "goodput": law_goodput}     # by the measure that they are beside
