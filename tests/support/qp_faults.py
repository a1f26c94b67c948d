# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Faults of QPs as they were recorded (tests/qp_faults/KERNEL/FAULT.json), and what `rocescope verbs why` says of them."""
import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field

from .project import ROCESCOPE, ROOT

FOLDER = os.path.join(ROOT, "tests", "qp_faults")
WAYS = ("requester", "responder", "both", "wire")


@dataclass
class Fault:
    """
    words: for the table. cause: what `why` must say of the requester; responder: of the responder, if that is another. blind: the ways
    from which it cannot be told, as we know. wire: what is done to the wire, in this order. extra: not one of the ten.
    """
    words: str
    cause: str
    responder: str = None
    blind: tuple = ()
    wire: tuple = ()
    extra: bool = False

    @property
    def silent(self):
        """No answer comes: then the path matters."""
        return self.cause in ("no-such-qp", "peer-gone", "path-gone", "mtu-mismatch", "psn-mismatch", "gid-mismatch")


FAULTS = {
    "wrong_rkey": Fault("wrong rkey", "wrong-rkey", blind=("responder",)),
    "no_access": Fault("no access: the QP allows no WRITE", "no-access"),
    "out_of_bounds": Fault("out of bounds", "out-of-bounds", blind=("responder",)),
    "no_receive_0": Fault("no receive, RNR retry 0", "no-receive"),
    "no_receive_7": Fault("no receive, RNR retry 7", "no-receive"),
    "no_such_qp": Fault("no such QP", "no-such-qp"),
    "peer_killed": Fault("peer killed", "peer-gone", "killed"),
    "wire_cut": Fault("wire cut", "path-gone", wire=("cut",)),
    "mtu_too_large": Fault("path MTU too large for the path", "mtu-mismatch", wire=("narrow",)),
    "wrong_psn": Fault("wrong PSN", "psn-mismatch"),
    "wrong_gid": Fault("wrong GID", "gid-mismatch", blind=("responder",)),
    "no_access_memory": Fault("no access: the memory allows no WRITE", "no-access", blind=("requester", "responder", "wire"), extra=True),
    "mtu_differs": Fault("path MTUs differ", "mtu-mismatch", blind=("responder",), extra=True),
    "stale_psn": Fault("stale PSN", "psn-mismatch", extra=True),
    "bad_lkey": Fault("wrong lkey of its own", "local-protection", blind=("responder",), extra=True),
    "own_end": Fault("its own program ends it", "own-end", blind=("responder",), extra=True),
}


def _slim(reading, qpns):
    """A reading without what tells nothing of these QPs."""
    reading["qps"] = [each for each in reading["qps"] if each["qpn"] in qpns]
    for name in ("cqs", "srqs"):
        reading[name] = []
    return reading


@dataclass
class Record:
    kernel: str
    fault: str
    said: dict
    readings: dict = field(repr=False)  # requester, responder: rocescope.verbs/1
    paths: dict = field(repr=False)     # the same: rocescope.path/1, or None
    wire: bytes = field(repr=False)

    @classmethod
    def make(cls, kernel, fault, stdout, readings, paths, wire):
        said = json.loads(stdout.splitlines()[-1])
        qpns = {said["qpn"], said["peer_qpn"]}
        return cls(kernel, fault, said, {name: _slim(json.loads(text), qpns) for name, text in zip(WAYS, readings)},
                   {name: json.loads(text) if text else None for name, text in zip(WAYS, paths)}, wire)

    @property
    def version(self):
        """6.1, 6.12"""
        return re.match(r"\d+\.\d+", self.kernel).group()

    @property
    def _file(self):
        return os.path.join(FOLDER, self.version, f"{self.fault}.json")

    def write(self):
        os.makedirs(os.path.dirname(self._file), exist_ok=True)
        with open(self._file, "w", encoding="ascii") as file:
            json.dump({"kernel": self.kernel, "fault": self.fault, "said": self.said, "readings": self.readings, "paths": self.paths,
                       "wire": self.wire.hex()}, file, separators=(",", ":"))
            file.write("\n")

    @classmethod
    def read(cls, path):
        with open(path, encoding="ascii") as file:
            o = json.load(file)
        return cls(o["kernel"], o["fault"], o["said"], o["readings"], o["paths"], bytes.fromhex(o["wire"]))

    def judge(self, way):
        """rocescope.qpwhy/1, as `verbs why` says it by what is known in this way."""
        own = "responder" if way == "responder" else "requester"
        with tempfile.TemporaryDirectory() as folder:
            def put(name, what):
                path = os.path.join(folder, name)
                with open(path, "wb") as file:
                    file.write(what if isinstance(what, bytes) else json.dumps(what).encode() + b"\n")
                return path

            words = [ROCESCOPE, "verbs", "why", str(self.said["qpn" if own == "requester" else "peer_qpn"]), "-j",
                     "--from", put("own.json", self.readings[own])]
            if self.paths[own]:
                words += ["--path", put("path.json", self.paths[own])]
            if way == "both":
                words += ["--peer", put("peer.json", self.readings["responder"])]
            if way == "wire":
                words += ["--wire", put("wire.pcap", self.wire)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode or done.stderr:
            raise RuntimeError(f"{' '.join(words)}: {done.returncode} {done.stderr}")
        return json.loads(done.stdout)

    def wanted(self, way):
        fault = FAULTS[self.fault]
        return fault.responder or fault.cause if way == "responder" else fault.cause


def right(t, record, ways=WAYS):
    """One result for each way."""
    fault = FAULTS[record.fault]
    for way in ways:
        said = record.judge(way)
        name = f"{record.version}, {fault.words}, {way}"
        if way in fault.blind:
            t.ok(said["cause"] == record.wanted(way) or said["confidence"] != "certain" or said["cause"] == "none",
                 f"{name}: what cannot be known is not said to be certain", said)
            continue
        t.ok(said["cause"] == record.wanted(way), f"{name}: {record.wanted(way)}, {said['confidence']}", json.dumps(said, indent=1))


def table(records):
    """Markdown: what was said of each fault, in each way. What is not the fault is bold. Then how many were right, of those that count."""
    lines = ["| fault | kernel | requester alone | responder alone | both | requester and wire |", "|---|---|---|---|---|---|"]
    right_ones = {}
    for each in records:
        said = {way: each.judge(way) for way in WAYS}
        good = {way: said[way]["cause"] == each.wanted(way) for way in WAYS}
        lines.append(_row(FAULTS[each.fault].words, each.version, (_cell(said[way], good[way]) for way in WAYS)))
        if not FAULTS[each.fault].extra:
            right_ones.setdefault(each.version, []).append(good)
    lines += [_row(f"right, of {len(found)}", version, (str(sum(good[way] for good in found)) for way in WAYS))
              for version, found in sorted(right_ones.items(), key=lambda item: int(item[0].split(".")[1]))]
    return "\n".join(lines)


def _row(first, version, cells):
    return f"| {first} | {version} | {' | '.join(cells)} |"


def _cell(said, good):
    cause = said["cause"] if good else f"**{said['cause']}**"
    return f"{cause}, {said['confidence']}" if said["confidence"] else cause
