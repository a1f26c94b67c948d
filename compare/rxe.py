# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What SoftRoCE (drivers/infiniband/sw/rxe) of an end's kernel does, and which of its bugs that kernel has: read once, when a path
is up. A distribution that takes single fixes into an old version (RHEL) has no known version here.
"""
import re
from typing import NamedTuple, Optional

from compare import PATIENCE_S

# What rdma_stream asks of rxe for RC unless told otherwise (main.c and device.c of rxe_tests/rdma_stream/)
ACK_TIMEOUT, RETRIES = 14, 7
# The module's file has the names of its functions. Where it is compressed, or no file, the running kernel knows them.
LOOK = r"""exec 2>/dev/null
cat /proc/version /proc/version_signature
functions='rxe_(do_task|alloc_wq|sender)'
grep -aowE "$functions" "$(modinfo -n rdma_rxe)" || grep -owE "$functions" /proc/kallsyms
exit 0"""

TASKLETS, WORKQUEUE, MERGED = "tasklets", "workqueue", "workqueue, requester and completer in one task"
# The newest first: its function, and the first version with it.
GENERATIONS = ((MERGED, "rxe_sender", (6, 10)),     # 67f57892f9b2 ("RDMA/rxe: Merge request and complete tasks")
               (WORKQUEUE, "rxe_alloc_wq", (6, 5)),  # 9b4b7c1f9f54 ("RDMA/rxe: Add workqueue support for rxe tasks")
               (TASKLETS, "rxe_do_task", (4, 8)))


class Bug(NamedTuple):
    """
    shows: whether figures of a comparison can show it. since: the first version with it, None: the first rxe. fixed: the first
    versions without it, one a series; the last is Linus's.
    """
    effect: str
    shows: bool
    source: str
    since: Optional[str]
    fixed: tuple

    def is_in(self, version):
        """version: (6, 1, 192)"""
        return (not self.since or version >= numbers(self.since)) and version < numbers(self.fix(version))

    def fix(self, version):
        """The version without it, of the same series where there is one."""
        return next((fix for fix in self.fixed if numbers(fix)[:2] == version[:2]), self.fixed[-1])

    def words(self, version):
        return f"{self.effect} (until {self.fix(version)}): {self.source}"


LORE, STABLE, OSV = "https://lore.kernel.org/r/", "https://git.kernel.org/stable/c/", "https://osv.dev/vulnerability/"
ACK_REQ = Bug("packets of UC and UD have AckReq set, which nobody answers", False, STABLE + "4adcaf969d77", None,
              ("5.4.282", "5.10.224", "5.15.165", "6.1.103", "6.6.44", "6.10.3", "6.11"))
# 67f57892f9b2 again: since then the completer, which sets the timer anew, runs after each packet that is sent.
TIMER = Bug("the timer of RC goes on when all is acknowledged, and what is under way when it fires is sent again",
            True, LORE + "20220514030435.91155-5-rpearsonhpe@gmail.com", None, ("6.10",))
BUGS = (
    TIMER,
    ACK_REQ,
    Bug("a packet that the sender's own queue dropped is sent again with wrong payload and a right ICRC",
        True, STABLE + "5d122db2ff80", None, ("6.1.53", "6.4.16", "6.5.3", "6.6")),
    Bug("an acknowledgement may be read after another CPU has freed it, which can crash the kernel",
        True, OSV + "CVE-2024-38544", "4.12",
        ("5.4.285", "5.10.227", "5.15.168", "6.1.93", "6.6.33", "6.8.12", "6.9.3", "6.10")),
    Bug("a datagram of UD that is larger than the receive request ends the QP",
        False, OSV + "CVE-2024-40992", "6.2", ("6.6.36", "6.9.7", "6.10")),
    Bug("work of a QP that is destroyed while it is busy may use freed memory",
        False, OSV + "CVE-2025-40061", "6.5", ("6.6.112", "6.12.53", "6.17.3", "6.18")),
    Bug("a NIC that is taken away may be used afterwards", False, OSV + "CVE-2024-57795", None, ("6.6.120", "6.12.9", "6.13")),
    Bug("memory that the kernel registers in pages of another size than the CPU's is read and written in the wrong place",
        False, OSV + "CVE-2026-46325", "6.3", ("6.18.14", "6.19.4", "7.0")),
    Bug("a program that maps a queue while it destroys it may reach freed memory", False, OSV + "CVE-2026-64582", None,
        ("5.10.265", "5.15.216", "6.1.183", "6.6.145", "6.12.97", "6.18.40", "7.1.5", "7.2")),
    Bug("a packet too short for its own pad makes the kernel read memory behind it",
        False, OSV + "CVE-2026-46043", None,
        ("5.10.258", "5.15.209", "6.1.175", "6.6.140", "6.12.86", "6.18.27", "7.0.4", "7.1")),
    Bug("a packet with an unknown opcode makes the kernel read memory behind it",
        False, OSV + "CVE-2026-46133", None,
        ("5.10.258", "5.15.209", "6.1.175", "6.6.140", "6.12.88", "6.18.30", "7.0.7", "7.1")),
)


def of_ends(lab):
    """{"A": facts, "B": facts}; of several ends those of the first one."""
    return {end: facts(lab.pairs[0].exec(end, ["sh", "-c", LOOK], timeout=PATIENCE_S).stdout) for end in ("A", "B")}


def facts(text):
    """What LOOK prints, as the report has it. Pure."""
    version = upstream(text)
    symbols = set(re.findall(r"^rxe_\w+$", text, re.M))
    by_symbol = next((name for name, symbol, _ in GENERATIONS if symbol in symbols), None)
    by_version = next((name for name, _, since in GENERATIONS if version and version[:2] >= since), None)
    bugs = [bug for bug in BUGS if version and bug.is_in(version)]
    listed = {key: [bug.words(version) for bug in bugs if bug.shows == shows] if version else None
              for key, shows in (("bugs_that_show", True), ("other_bugs", False))}
    return {"version": version and ".".join(map(str, version)), "generation": by_symbol or by_version,
            "generation_by": "symbols" if by_symbol else "version" if by_version else None,
            "ack_timeout_ms": round(4.096e-3 * 2 ** ACK_TIMEOUT, 1), "retries": RETRIES,
            "ack_req_on_uc": ACK_REQ in bugs if version else None, **listed}


def upstream(text):
    """
    The version of the kernel's source, as (6, 1, 192), by /proc/version and Ubuntu's /proc/version_signature: Debian's release
    (6.1.0-56-amd64) does not have it. None: not known.
    """
    found = (re.search(r"^Ubuntu \S+ (\d+\.\d+\.\d+)", text, re.M) or re.search(r" Debian (\d+\.\d+\.\d+)", text)
             or re.search(r"^Linux version (\d+\.\d+\.\d+)(?!\S*\.el\d)", text, re.M))
    return numbers(found[1]) if found else None


def numbers(version):
    """"6.1.53" as (6, 1, 53), "6.6" as (6, 6, 0)"""
    given = [int(number) for number in version.split(".")]
    return tuple(given + [0] * (3 - len(given)))
