# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What software the ends have, and the sysctls that matter to a comparison: read once, when a path is up."""
import os
import re
import subprocess

from compare import PATIENCE_S
from lab.lab import ROOT

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "versions.sh")
# What the report names, its Debian package, and the program that says its version where there is no package.
SOFTWARE = {"libbpf": ("libbpf1", None), "libxdp": ("libxdp1", None), "DPDK": ("dpdk", None),
            "rdma-core": ("libibverbs1", None), "iperf3": ("iperf3", "iperf3"), "qperf": ("qperf", "qperf"),
            "perftest": ("perftest", "ib_write_bw")}
SYSCTLS = ("net.core.rmem_default", "net.core.rmem_max", "net.core.wmem_default", "net.core.wmem_max",
           "net.core.netdev_max_backlog", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_congestion_control")


def of_ends(lab):
    """{"versions", "sysctls"}: {"A": {name: value}, "B": ...}. None: not known. Of several ends the first one's."""
    with open(SCRIPT, encoding="utf-8") as file:
        script = file.read()
    packages, programs = (" ".join(filter(None, names)) for names in zip(*SOFTWARE.values()))
    command = ["sh", "-c", script, "versions.sh", packages, programs, " ".join(SYSCTLS)]
    found = {end: parse(lab.pairs[0].exec(end, command, timeout=PATIENCE_S).stdout) for end in ("A", "B")}
    return {kind: {end: found[end][kind] for end in found} for kind in ("versions", "sysctls")}


def parse(text):
    """What versions.sh prints, as {"versions", "sysctls"} of an end. Pure."""
    def said(pattern):
        match = re.search(f"^{pattern}", text, re.M)
        return match and match[1]

    versions = {"kernel": said(r"kernel (\S+)")}
    for name, (package, program) in SOFTWARE.items():
        versions[name] = said(rf"package {package} (\S+)") or (said(rf"program {program} \D*([\d.]+)") if program else None)
    sysctls = {name: said(rf"{re.escape(name.replace('.', '/'))}:(.+)") for name in SYSCTLS}
    return {"versions": versions, "sysctls": {name: value and _value(value) for name, value in sysctls.items()}}


def _value(text):
    return int(text) if text.isdigit() else " ".join(text.split())


def ours():
    """What `git describe` said when rocescope was built. None: it was not."""
    try:
        with open(os.path.join(ROOT, "build", "version.h"), encoding="utf-8") as file:
            return re.search(r'"(.+)"', file.read())[1]
    except (OSError, TypeError):
        return None


def commit_of(path):
    """The last commit that changed a file, with -dirty if it differs from that now. None: there is none, or no git."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words, "--", os.path.abspath(path)], capture_output=True, text=True, check=True).stdout.strip()

    try:
        commit = git("log", "-1", "--format=%h")
        return commit and commit + "-dirty" * bool(git("status", "--porcelain")) or None
    except (OSError, subprocess.CalledProcessError):
        return None
