# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What rocescope can do on a kernel, found out by doing it there: Facts(lab, corpus).report(t); and the table of docs/install.md, which
is made of that. lab: of lab.lab, or the guest of support.arm64.
"""
import os
import re

from . import verifier_budget
from .corpus_replay import Corpus
from .project import ROCESCOPE, ROOT

PAGE = os.path.join(ROOT, "docs", "install.md")
TABLE = re.compile(r"(<!-- tests/kernels.test --write: -->\n).*(?=<!-- end -->)", re.S)
TIMEOUT = 3600
NOT_TRIED, NOT_TRIED_STATUS = "not tried", 77
KERNEL, CORPUS = "kernel", "corpus"
BASIC = os.path.join(ROOT, "tests", "monitor_basic.test")
# the way through the corpus by each program that monitor uses; "old" where none of the others loads
WAYS = {"watch_frags": "frags", "watch_egress": "egress", "watch_decap": "decap"}
# $1: an interface of this end. A script prints its cell last. If the command refuses, it ends with its status and its one line.
BEGIN = f"""
r={ROCESCOPE}
few='--icrc off --max-streams 64'
modprobe -aq veth sch_ingress cls_bpf
work=$(mktemp -d)
pids=
ends() {{ kill $pids; wait; ip link del wireA; rm -rf $work; }}
trap 'ends 2>/dev/null' EXIT
ip link add wireA mtu 4500 type veth peer name wireB mtu 4500 || exit 2
ip link set wireA up mtu 1500
ip link set wireB up mtu 1500
to="--src 10.9.0.1 --dst 10.9.0.2 --dst-mac 02:00:00:00:00:02 --messages 20"
run() {{ "$@" >$work/out || exit; }}
start() {{
	: >$work/said
	"$@" >$work/said 2>&1 &
	pid=$!
	until grep -q 'watching\\|receive: ' $work/said; do
		kill -0 $pid 2>$work/gone || {{ cat $work/said >&2; wait $pid; exit; }}
		sleep 0.1	# between two looks
	done
	pids="$pids $pid"
}}
has() {{ grep -q "$1" $work/out || exit 3; echo yes; }}
"""
FACTS = {
    "XDP in the driver (veth)": "run $r monitor wireA --mode native $few --duration 0.2 -j; has '\"mode\":\"native'",
    "... frames of several buffers (MTU 4500)": """
ip link set wireA mtu 4500
ip link set wireB mtu 4500
run $r monitor wireA --mode native $few --duration 0.2 -j
has '"mode":"native-frags"'""",
    "... the same with virtio": f"""
case $(readlink /sys/class/net/$1/device/driver) in */virtio_net) ;; *) exit {NOT_TRIED_STATUS};; esac
ip link set $1 up mtu 4500
run $r monitor $1 --mode native $few --duration 0.2 -j
has '"mode":"native-frags"'""",
    "generic XDP": "run $r monitor wireA --mode generic $few --duration 0.2 -j; has '\"mode\":\"generic\"'",
    "`--direction both`: outward by": """
start $r monitor wireA --direction both $few
tc qdisc show dev wireA | grep -q clsact && echo clsact || echo tcx""",
    "`--share`": """
mount -t bpf bpf /sys/fs/bpf
start $r monitor wireA --share $few
run $r monitor wireA --share $few --duration 0.2 -j
has '"name":"wireA"'""",
    "the table's history of faults": """
start script -qec "TERM=xterm $r monitor wireA $few" /dev/null
ip -d link show dev wireA | grep -q 'name capture_' && echo yes || echo no""",
    "`--events`": "run $r monitor wireA --events $few --duration 0.2 -j; has '\"name\":\"wireA\"'",
    "`--decap`": "run $r monitor wireA --decap $few --duration 0.2 -j; has '\"name\":\"wireA\"'",
    "`capture`": "run $r capture wireA -w $work/captured.pcapng --duration 0.2 -j; has rocescope.capture",
    "live `doctor`": "run $r doctor wireA --duration 0.2 -j; has rocescope.findings",
    "`receive`": """
start $r receive wireA --address 10.9.0.2 --peer 10.9.0.1 --memory 1M --qpn 0x800 --rkey 1 --va 0 --dump $work/dump -j
run $r send wireB $to --qp qpn=0x800,psn=0,rkey=1,va=0 --out packet -j
kill $pid; wait $pid; pids=
head -c 4096 $work/dump | tail -c 8 | od -An -t x1 >$work/out
has '00 00 00 00 00 00 27 ff'""",   # the last eight bytes of the 20th message of 4096: payload counts up (docs/send.md)
    "`send --out live`": """
ethtool -K wireA gro on
run $r send wireB $to --out live -j
has '"packets": 80'""",
    "`send --out xdp`": """
run $r send wireB $to --out xdp -j
has '"packets": 80'""",
}


class Facts:
    """Runs it all on guest A, which takes minutes."""

    def __init__(self, lab, corpus, basic=True):
        """basic: with tests/monitor_basic.test, at an MTU for which native XDP needs multi-buffer."""
        self.release = lab.kernel
        self._cost = lab.exec("A", verifier_budget.COMMAND, timeout=TIMEOUT)
        loaded = [program for program, instructions in verifier_budget.costs(self._cost).items() if instructions]
        ways = [way for program, way in WAYS.items() if program in loaded] or ["old"]
        self._replay = corpus.replay(lab, *(word for way in ways for word in ("--way", way)))
        self._facts = {fact: lab.exec("A", ["sh", "-c", BEGIN + script, "sh", lab.nic], timeout=TIMEOUT)
                       for fact, script in FACTS.items()}
        self._basic = None
        if basic:
            parts = ("native", "decap") if "watch_decap" in loaded else ("generic",)
            self._basic = lab.exec("A", [BASIC, *parts], timeout=TIMEOUT)

    def cells(self):
        """Of the table."""
        facts = {fact: _cell(result) or "?" for fact, result in self._facts.items()}
        return {KERNEL: self.release, **facts, CORPUS: ", ".join(Corpus.ways(self._replay)) or "?"}

    def report(self, t):
        kernel = f"kernel {self.release}"
        verifier_budget.check(t, self.release, self._cost)
        Corpus.check(t, self.release, self._replay)
        if self._basic:
            t.ok(self._basic.rc == 0, f"{kernel}: monitor counts what is there", self._basic)
        page = _published().get(".".join(self.release.split(".")[:2]))
        for fact, result in self._facts.items():
            got, said = _cell(result), page and page.get(fact)
            if got == NOT_TRIED:
                t.note(f"{kernel}: {fact}: {got}")
            elif page or not got:
                t.ok(got and got == said, f"{kernel}: {fact}: {got}", (f"docs/install.md: {said}", result))


def _cell(result):
    """What the table says of it; None: neither done nor refused in one line."""
    if result.rc == NOT_TRIED_STATUS:
        return NOT_TRIED
    if result.rc == 1 and result.stderr.count("\n") == 1:
        return "no"
    return result.stdout.split()[-1] if result.rc == 0 and result.stdout else None


def table(kernels):
    """Markdown of {kernel's version: {row: cell}}."""
    rows = [["", *kernels], ["---"] * (1 + len(kernels))]
    rows += [[row, *(cells[row] for cells in kernels.values())] for row in (KERNEL, *FACTS, CORPUS)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _read():
    with open(PAGE, encoding="utf-8") as f:
        return f.read()


def write(text):
    """Puts it between the page's comments."""
    new = TABLE.sub(lambda found: found[1] + text, _read())
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(new)


def _published():
    """What the page says: {kernel's version: {row: cell}}"""
    lines = [line for line in TABLE.search(_read())[0].splitlines() if line.startswith("|")]
    rows = [[word.strip() for word in line.split("|")[1:-1]] for line in lines]
    return {version: {row[0]: row[n] for row in rows[2:]} for n, version in enumerate(rows[0]) if n}
