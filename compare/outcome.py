# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a pair of programs says of one run, whichever they are."""
import dataclasses
import re
from typing import Optional

UDP_PORT = 7471


class RunFailed(Exception):
    """One line: what went wrong."""


def no_cores():
    return {"process": None, "system": None}


def no_messages():
    return {"sent": None, "received": None, "lost": None}


@dataclasses.dataclass
class Outcome:
    goodput_gbps: Optional[float]
    goodput_at: str                     # whose figure that is: receiver, or a sender that does not know what arrived
    sent: Optional[int] = None          # packets, by the programs; None: they do not say
    received: Optional[int] = None
    messages: dict = dataclasses.field(default_factory=no_messages)
    places: dict = dataclasses.field(default_factory=dict)      # PLACES the programs know better than the machine
    sender_cores: dict = dataclasses.field(default_factory=no_cores)
    receiver_cores: dict = dataclasses.field(default_factory=no_cores)
    latency_us: Optional[dict] = None
    other_datagram: int = 0             # UDP payload of the datagrams on the wire that are no packets of the row


def bits_per_second(rate):
    """'50Mbit' -> 50000000.0"""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)bit", rate)
    if not match or not float(match[1]):
        raise ValueError(f"{rate}: not a rate such as 100Mbit or 1Gbit")
    return float(match[1]) * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}[match[2]]


def last_line(*texts):
    """The last line that any of them has: why something failed, in the program's own words."""
    for text in texts:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            return lines[-1]
    return "it said nothing"


def ended_well(who, result, said=None):
    """said: its last line, if that is not simply the last it wrote."""
    if result.timed_out:
        raise RunFailed(f"{who} did not end")
    if result.rc:
        raise RunFailed(f"{who}: {said or last_line(result.stderr, result.stdout)} (status {result.rc})")
