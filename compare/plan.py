# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a comparison runs: plan files, the transports that exist, and the rows they have. No lab."""
import dataclasses
import fnmatch
import functools
import importlib
import itertools
import os
import pkgutil
import re
import tomllib
from typing import Optional

from compare import transports as folder
from compare.inject import Injection
from compare.paths import PATHS
from compare.search import Goal
from compare.transport import ANY_PATH_MTU, PATH_MTU, PING_PONG, SEARCH, Load, Transport, bits_per_second
from compare.transports.softroce import verbs
from lab.kernel import SUITES
from lab.lab import ROOT
from lab.nic import ENDS

PLANS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plans")
EXPERIMENTS = os.path.join(ROOT, "rxe_tests", "plans")
LEAST_SIZE = 64     # bytes of a message: its header, and some payload
MOST_FLOWS = 4096
MOST_ENDS = len(ENDS) - 1           # of one side
US_PER_KM = 5       # light in a fibre


class PlanError(Exception):
    """One line that names the plan, the table and the key."""


# ---- the values of a plan's keys, and of the command's options; a ValueError says what is wrong ----

def _value(right, words, kind=lambda value: value):
    """A check of a value that is right(), returned as that kind. words: what another one is not."""
    def check(value):
        if not right(value):
            raise ValueError(f"{value}: {words}")
        return kind(value)
    return check


def _list(kind, right=lambda value: True, words=""):
    """The same of a list of such values, none empty."""
    one = _value(right, words)

    def check(values):
        if not isinstance(values, list) or not values or not all(type(value) is kind for value in values):
            raise ValueError(f"{values}: not a list of {'numbers' if kind is int else 'words'}")
        return list(map(one, values))
    return check


def rates(words):
    """'full' becomes None."""
    for word in patterns(words):
        if word not in ("full", PING_PONG, SEARCH):
            bits_per_second(word)
    return [None if word == "full" else word for word in words]


where = _value(lambda word: word in PATHS, f"neither {' nor '.join(PATHS)}")
patterns = _list(str)
sizes = _list(int, lambda size: size >= LEAST_SIZE, f"at least {LEAST_SIZE} bytes")
path_mtu = _value(lambda number: number in ANY_PATH_MTU, f"not a number of {ANY_PATH_MTU[0]} to {ANY_PATH_MTU[-1]} bytes")
flows = _list(int, lambda number: 1 <= number <= MOST_FLOWS, f"not a number of 1 to {MOST_FLOWS} flows")
ip = _list(int, lambda number: number in (4, 6), "neither 4 nor 6")
kernel = _value(lambda version: version in SUITES, f"neither {' nor '.join(SUITES)}")
distance = _value(lambda number: isinstance(number, (int, float)) and 0 <= number <= 50000, "not a number of 0 to 50000 km", float)
repeats = _value(lambda number: isinstance(number, int) and number >= 1, "not a number of at least 1")
ends = _value(lambda number: type(number) is int and 1 <= number <= MOST_ENDS, f"not a number of 1 to {MOST_ENDS}")
seconds = _value(lambda number: isinstance(number, (int, float)) and 1 <= number <= 86400, "not a number of seconds of at least 1", float)
icrc = _value(lambda word: re.fullmatch(r"all|off|1/[1-9]\d*", str(word)), "neither all nor off nor 1/N")
flag = _value(lambda value: isinstance(value, bool), "neither true nor false")


# ---- plan files ----

KEYS = {"where": where, "rows": patterns, "left_out": patterns, "sizes": sizes, "rates": rates, "flows": flows, "ip": ip, "path_mtu": path_mtu,
        "senders": ends, "receivers": ends, "repeats": repeats, "duration": seconds, "foreign_duration": seconds, "icrc": icrc, "inject": Injection.parse,
        "kernel": kernel, "distance": distance, "verbs": verbs, "watch": flag, "calls": flag, "switch_roce": flag, "goal": Goal.parse}
LEFT_OUT = "left out, so that the plan takes ten minutes; --rows or --sizes runs it"
# What a path is made of: of a list each value is a part, and so a path, of its own.
SWEPT = ("path_mtu", "kernel", "distance", "verbs", "inject")


@dataclasses.dataclass
class Part:
    """Rows of one path. Each field is a key of a plan's [[part]]."""
    where: str
    rows: Optional[list] = None     # shell patterns; None: all
    left_out: Optional[list] = None     # the same of rows that would take too long: they are named, and do not run
    sizes: list = dataclasses.field(default_factory=lambda: [PATH_MTU])
    rates: list = dataclasses.field(default_factory=lambda: [None])
    flows: list = dataclasses.field(default_factory=lambda: [1])
    ip: list = dataclasses.field(default_factory=lambda: [4])
    path_mtu: int = PATH_MTU        # bytes of payload in a packet
    senders: int = 1                # ends of local and lab; those of hosts the environment names
    receivers: int = 1
    repeats: int = 1
    duration: float = 3.0           # seconds of a run of our programs
    foreign_duration: float = 3.0   # of the others, which measure whole seconds
    icrc: str = "off"               # as in rocescope monitor: which packets the referee verifies
    inject: Injection = Injection()
    kernel: Optional[str] = None    # of the guests; None: that of this machine's suite
    distance: float = 0.0           # km of fibre between the ends
    verbs: str = ""                 # options of our RDMA stream program
    watch: bool = False             # whether the monitor runs on the end of RC's requesters
    calls: bool = False             # whether `rocescope verbs` counts what SoftRoCE's programs post and complete
    switch_roce: bool = False       # whether RoCE of the RNICs is switched off behind their rows (hosts)
    goal: Goal = Goal()             # of searches

    def __post_init__(self):
        """ValueError: values that do not fit each other."""
        if min(self.senders, self.receivers) > 1:
            raise ValueError("senders, receivers: several of one of them, not both")
        if self.pairs > 1 and self.where == "hosts":
            raise ValueError("senders, receivers: between hosts LOCAL and REMOTE name them")
        if self.pairs > 1 and self.inject.changes_machines:
            raise ValueError("inject: with several senders or receivers there are receive-buffer, slow-receiver and receive-requests")
        if self.where == "hosts" and self.inject.changes_machines:
            raise ValueError("inject: between hosts there are receive-buffer, slow-receiver and receive-requests; the others would "
                             "change the machines")
        if self.kernel and self.where != "lab":
            raise ValueError("kernel: only the lab has a choice")
        if self.switch_roce and self.where != "hosts":
            raise ValueError("switch_roce: only RNICs have RoCE that can be switched off: NETIF=... REMOTE=... REMOTE_NETIF=...")
        if self.distance and self.where == "hosts":
            raise ValueError("distance: between hosts it is what it is")
        if self.distance and self.inject.takes_queue:
            raise ValueError("distance and inject sender-qdisc or sender-link need the same queue")
        for size in self.sizes:
            if size > self.path_mtu and size % self.path_mtu:
                raise ValueError(f"size {size}: at most the path MTU of {self.path_mtu}, or a multiple of it, so that all "
                                 "packets are equal")

    @property
    def path(self):
        """What tells its path from others of the plan, in words. Rows are compared within a path."""
        words = [f"{n} {name}" for n, name in ((self.senders, "senders"), (self.receivers, "receivers")) if n > 1]
        words += [f"path MTU {self.path_mtu}"] * (self.path_mtu != PATH_MTU) + [f"kernel {self.kernel}"] * bool(self.kernel)
        words += [f"{self.distance:g} km"] * bool(self.distance) + [f"verbs {self.verbs}"] * bool(self.verbs)
        words += [f"with {self.inject}"] * (self.inject != Injection())
        return ", ".join([self.where, *words])

    @property
    def ends(self):
        """What it has in common with parts that can run on the same ends."""
        return self.where, self.path_mtu, self.kernel, self.senders, self.receivers, self.switch_roce

    @property
    def pairs(self):
        """Of senders and receivers. Those of hosts the environment names."""
        return self.senders * self.receivers

    @property
    def delay_us(self):
        """One way."""
        return self.distance * US_PER_KM

    @property
    def table(self):
        """The [[part]] of a plan file that says the same, with every key. None: without that key."""
        return {**{key: getattr(self, key) for key in KEYS}, "rates": [rate or "full" for rate in self.rates],
                "inject": self.inject.text or None, "verbs": self.verbs or None, "calls": self.calls or None,
                "switch_roce": self.switch_roce or None, "left_out": self.left_out or None, "goal": self.goal.text}

    def chosen(self):
        carried = all_rows(loads(self.sizes, self.rates, self.flows, self.ip, self.path_mtu, delay_us=self.delay_us,
                                 verbs=self.verbs))
        rows = [row for row in carried if self.where in (row.transport.only or PATHS)]
        rows = [row for row in rows if not row.tool.on_request] if self.rows is None else matching(rows, self.rows)
        taken_out = matching(rows, self.left_out or ())
        return [dataclasses.replace(row, why=row.why or LEFT_OUT) if row in taken_out else row for row in rows]

    def turns(self, rows):
        """[(whether RoCE of the RNICs is off, rows)] of its rows, in the order in which they are measured."""
        by_rnic = [row for row in rows if self.switch_roce and row.transport.by_rnic]
        others = [row for row in rows if row not in by_rnic]
        return [(roce_off, here) for roce_off, here in ((False, by_rnic), (self.switch_roce, others)) if here]


def names():
    return sorted(each.removesuffix(".toml") for each in os.listdir(PLANS))


def find(name):
    """The file of a plan: a path, or the name of one in compare/plans/, or of an experiment in rxe_tests/plans/."""
    known = [os.path.join(folder, f"{name}.toml") for folder in (PLANS, EXPERIMENTS) if "/" not in name]
    path = next(filter(os.path.exists, (*known, name)), None)
    if not path:
        raise PlanError(f"plan {name}: no such file, and none of {', '.join(names())}; make experiment NAME=list")
    return path


def document(path):
    """A plan file as it is."""
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(f"plan {path}: {getattr(error, 'strerror', None) or error}") from None
    unknown = sorted(set(found) - {"part", "whole", "experiment"})
    if unknown:
        raise PlanError(f"plan {path}: unknown key '{unknown[0]}'; there are [[part]], [[whole]] and [experiment]")
    return found


def read(path, whole=False):
    """The Parts of a plan file. whole: those of its [[whole]], the larger grid, where it has one."""
    found = document(path)
    parts = found.get("whole" if whole and "whole" in found else "part")
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        raise PlanError(f"plan {path}: no [[part]]")
    return [part for number, table in enumerate(parts, 1) for part in read_parts(path, number, table)]


def each(table):
    """[{key: value}] of a table whose SWEPT keys may have lists: each with each."""
    lists = [[(key, value) for value in (table[key] if isinstance(table[key], list) else [table[key]])]
             for key in SWEPT if key in table]
    return [{**table, **dict(values)} for values in itertools.product(*lists)]


def read_parts(path, number, table):
    """The Parts of a [[part]]. PlanError."""
    for key in SWEPT:
        if table.get(key) == []:
            raise PlanError(f"plan {path}: part {number}, key '{key}': an empty list")
    return [read_part(path, number, one) for one in each(table)]


def read_part(path, number, table):
    """The Part of a table without lists of paths. PlanError."""
    place = f"plan {path}: part {number}"
    for key in table:
        if key not in KEYS:
            raise PlanError(f"{place}: unknown key '{key}'; there are {', '.join(KEYS)}")
    if "where" not in table:
        raise PlanError(f"{place}: no key 'where' ({' or '.join(PATHS)})")
    fields = {}
    for key, value in table.items():
        try:
            fields[key] = KEYS[key](value)
        except (ValueError, AttributeError) as error:
            raise PlanError(f"{place}, key '{key}': {error}") from None
    try:
        part = Part(**fields)
    except ValueError as error:
        raise PlanError(f"{place}: {error}") from None
    if not part.chosen():
        raise PlanError(f"{place}, key 'rows': no row matches")
    return part


# ---- transports ----

# Rows run in this order of their transports' drivers, so that the NICs change drivers once.
DRIVERS = ("kernel", "dpdk", None)


@functools.cache
def transports():
    """All transports of compare/transports/, in the table's order."""
    found = {}
    for module in pkgutil.iter_modules(folder.__path__, folder.__name__ + "."):
        here = [kind() for kind in vars(importlib.import_module(module.name)).values() if _is_transport(kind, module.name)]
        if not here:
            raise TypeError(f"{module.name}: no subclass of Transport with a name")
        for transport in here:
            _check(transport)
            if found.setdefault(transport.name, transport) is not transport:
                raise TypeError(f"{module.name}: there is another transport '{transport.name}'")
    return sorted(found.values(), key=lambda transport: transport.order)


def _is_transport(kind, module):
    """Whether this is a transport class of that module. Shared base classes have no name."""
    return isinstance(kind, type) and issubclass(kind, Transport) and kind.__module__ == module and "name" in vars(kind)


def _check(transport):
    """Fails before a lab boots if something is missing."""
    if not all((transport.words, transport.tools, *(word for tool in transport.tools for word in (tool.name, tool.operation)))):
        raise TypeError(f"transport '{transport.name}' needs words and tools, and each tool a name and an operation")


def transport(name):
    return next(each for each in transports() if each.name == name)


def programs():
    """Names of our stream programs that the transports run."""
    return list(dict.fromkeys(tool.program for each in transports() for tool in each.tools if tool.own))


def loads(sizes, rates, flows=(1,), ip=(4,), path_mtu=PATH_MTU, **path):
    """Each with each. path: fields of a Load that all have."""
    return [Load(size=size, rate=rate, flows=n, ip=version, path_mtu=path_mtu, **path)
            for version in ip for n in flows for size in sizes for rate in rates]


def all_rows(wanted):
    """All rows that carry these Loads, by the drivers that they need."""
    return [row for each in sorted(transports(), key=lambda each: DRIVERS.index(each.driver)) for row in each.rows(wanted)]


def matching(rows, wanted):
    """Rows that match shell patterns: 'udp', 'rc/perftest', '*/*/4096/full'."""
    return [row for row in rows
            if any(fnmatch.fnmatchcase(row.name, p) or fnmatch.fnmatchcase(row.name, p + "/*") for p in wanted)]
