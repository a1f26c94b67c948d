# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A report without names of hosts, users, interfaces, addresses or folders: each becomes a word such as host-1, the same one wherever
it stands. The document is made anonymous, and page, plots and CSV are made of that. Pure, but for this machine's own names.
"""
import ipaddress
import os
import platform
import pwd
import re
import shlex

from compare import plan
from compare.paths import LOCAL, NETIF, PATHS, REMOTE, REMOTE_NETIF

OUR_PLANS = ("compare/plans", "rxe_tests/plans")
FOLDERS = ("--output", "--resume")      # options whose value is one

# Values by which programs choose, and figures in words: nobody is named there.
OURS = {"schema", "time", "where", "path", "transport", "tool", "status", "goal", "rate", "rates", "unit", "limit", "accelerator",
        "goodput_at", "id", "severity", "icrc", "inject", "verbs", "rocescope", "by", "from", "generation", "generation_by", "verdict"}
SENTENCES = "verdict"       # as a list; of a comparison it is one of our words
# Where 1.2.3.4 is no address and x@y no user, but a kernel may be named after somebody.
VERSIONS = {"versions", "kernel", "host_kernel", "cpu", "softroce", "driver"}
KNOWN_USERS = {"root", "nobody"}
KNOWN_HOSTS = {"localhost", "this machine"}
SHORT = 3           # letters of a name below which it is not looked for in sentences of ours: there `a` is a word

MAC = r"(?<![0-9A-Fa-f:-])[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![0-9A-Fa-f:-])"
GUID = r"(?<![0-9A-Fa-f:])(?:[0-9A-Fa-f]{4}:){3}[0-9A-Fa-f]{4}(?![0-9A-Fa-f:])"
MAC_NAME = r"\b(?:en|wl|ib|sl|ww)x[0-9a-f]{12}\b"      # an interface that is named by its address
ADDRESS = r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)|(?<![0-9A-Fa-f:.])[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*"
SCOPE = r"(?<=[0-9A-Fa-f:])%([A-Za-z][\w.-]*)"      # the interface of a link-local address
DOMAIN = (r"\b[A-Za-z0-9](?:[A-Za-z0-9-]*\.)+(?:com|org|net|edu|gov|mil|int|io|eu|local|localdomain|lan|home|arpa|corp|internal|intern|intra|private)\b"
          r"|\b[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)+\.[a-z]{2}\b")
# Folders that each machine has, and that nobody is named in, are left.
SYSTEM = r"(?:sys|proc|dev|bin|sbin|lib|lib64|etc|usr/(?:bin|sbin|lib|lib64|libexec|include|share))(?=[/\s'\",;:)]|$)"
FOLDER = rf"(?:(?<=[\s'\"=(,;:<>])|^)(?:~[\w.-]*|\.{{1,2}})?/(?!{SYSTEM})[\w.@+%~-]+(?:/[\w.@+%~-]+)*"
LOGIN = r"\b[A-Za-z_][\w.-]*@[A-Za-z0-9][\w.-]*"
SHELL = r"\b(?:ssh|srun|netns):([\w.@-]+)"
DEVICE = r"(?<=\s)-d ([\w.-]+)"       # of perftest and cma_roce_mode


OWN = r"(?:host|user|nic|mac|guid|rdma|address|path)-\d+"    # of a report that is anonymous already


class Names:
    """Which name became which word."""

    def __init__(self):
        self._words, self._counts = {}, {}

    def add(self, name, kind):
        """The word of a name. A host is the same one with its domain and without."""
        if re.fullmatch(OWN, name):
            return name
        same = name.partition(".")[0] if kind == "host" else name
        if same not in self._words:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._words[same] = f"{kind}-{self._counts[kind]}"
        return self._words.setdefault(name, self._words[same])

    def add_place(self, name):
        """HOST, or USER@HOST. An address is found by its form."""
        user, _, host = name.rpartition("@")
        if user and user not in KNOWN_USERS:
            self.add(user, "user")
        if host and host not in KNOWN_HOSTS and not _is_address(host):
            self.add(host, "host")

    def replace(self, text, is_sentence):
        """Whole words, the longest first. is_sentence: of ours, where the shortest names are left."""
        known = sorted((name for name in self._words if len(name) >= SHORT or not is_sentence), key=len, reverse=True)
        if not known:
            return text
        words = rf"(?<![A-Za-z0-9_])(?:{'|'.join(map(re.escape, known))})(?![A-Za-z0-9_])"
        return re.sub(words, lambda match: self._words[match[0]], text)


def document(report):
    """An anonymous copy of a document."""
    names = Names()
    _collect(names, report)
    _copied(names, report, None)    # a name that one text tells may stand in those before it
    return _copied(names, report, None)


def _is_address(text):
    try:
        return bool(ipaddress.ip_address(text)) and text != "::"
    except ValueError:
        return False


# ---- which names there are ----

def _collect(names, report):
    """From where a report has them, and those of this machine, which may have made it."""
    _collect_command(names, report.get("command") or "")
    file = (report.get("plan") or {}).get("file")
    if file and os.path.dirname(file) not in OUR_PLANS:
        names.add(file, "path")
    for name, path in (report.get("paths") or {}).items():
        if name.startswith("hosts"):
            _collect_path(names, path)
    words = {word for each in plan.transports() for word in (each.name, *(tool.name for tool in each.tools))} | {*PATHS, "rocescope"}
    host = platform.node()
    if host and host.partition(".")[0] not in words:
        names.add_place(host)
    for user in (os.environ.get("SUDO_USER"), _login()):
        if user and user not in KNOWN_USERS | words:
            names.add(user, "user")


def _login():
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return None


def _listed(text):
    """'a and b, c' of paths.host_facts()"""
    return list(filter(None, re.split(r" and |, ", text or "")))


def _collect_path(names, path):
    """Of hosts: their names, and interfaces."""
    for host in _listed(path.get("ends")):
        names.add_place(host)
    for netif in _listed(path.get("nic")):
        names.add(netif, "nic")
    for end in (end for pair in path.get("pairs") or () for end in pair.split(" to ")):
        netif, _, place = end.partition(" of ")
        names.add(netif, "nic")
        names.add_place(place.rpartition(":")[2])


def _collect_command(names, command):
    """NETIF=eth0 REMOTE=ssh:root@host ... compare/compare PLAN --output FOLDER"""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    for before, word in zip(["", *words], words):
        key, _, value = word.partition("=")
        if key in (NETIF, REMOTE_NETIF):
            for netif in filter(None, value.split(",")):
                names.add(netif, "nic")
        elif key in (LOCAL, REMOTE):
            for place in filter(None, value.split(",")):
                names.add_place(place.rpartition(":")[2])
        elif key in FOLDERS and value:
            names.add(value, "path")
        elif before in FOLDERS or word.endswith(".toml"):
            names.add(word, "path")


# ---- the copy ----

def _copied(names, value, key, is_sentence=False):
    """key: of the value; below VERSIONS that one. is_sentence: of ours."""
    if isinstance(value, dict):
        return {name: _copied(names, each, key if key in VERSIONS else name) for name, each in value.items()}
    if isinstance(value, list):
        return [_copied(names, each, None if key == SENTENCES else key, key == SENTENCES) for each in value]
    if not isinstance(value, str) or key in OURS:
        return value
    return names.replace(value, True) if key in VERSIONS else _cleaned(names, value, is_sentence)


def _cleaned(names, text, is_sentence):
    """First what has a form of its own, then the names."""
    for pattern, kind in ((MAC_NAME, "nic"), (MAC, "mac"), (GUID, "guid")):
        text = re.sub(pattern, lambda match, kind=kind: names.add(match[0], kind), text)
    for match in re.finditer(SHELL, text):
        names.add_place(match[1])
    for match in re.finditer(LOGIN, text):
        names.add_place(match[0])
    for match in re.finditer(DOMAIN, text):
        names.add_place(match[0])
    for match in re.finditer(DEVICE, text):
        names.add(match[1], "rdma")
    for match in re.finditer(SCOPE, text):
        names.add(match[1], "nic")
    text = names.replace(text, is_sentence)
    return re.sub(FOLDER, lambda match: names.add(match[0], "path"), re.sub(ADDRESS, lambda match: _address(names, match[0]), text))


def _address(names, text):
    """What looks like an address may have a colon or a full stop beside it, or be none."""
    for left in (text, text[1:]):
        for address in (left, left[:-1]):
            if _is_address(address):
                return text.replace(address, names.add(address, "address"))
    return text
