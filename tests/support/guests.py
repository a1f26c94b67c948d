# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Two guests for a test, and the wire between them:

    with Tap() as t, guests(t) as lab:

A test that is run alone gets its own lab. Under tests/run the tests take turns with one lab, because booting takes longer than
many tests. It ends with tests/run, however that ends.
"""
import contextlib
import fcntl
import json
import os
import re
import threading

from lab import LabError
from lab.lab import FOLDER, Lab

from .patience import PATIENCE, until

NICE = -5   # three times the weight of another session: tests without guests go on

# The state that a test must restore. A network device that DPDK has used returns with another index, and an empty clsact has no
# effect.
STATE = """
{ ip -o link; ip -o address; } | sed 's/^[0-9]*: //; s/ valid_lft.*//'
tc qdisc show | grep -v clsact
ls /sys/class/infiniband
cat /proc/mounts /proc/sys/vm/nr_hugepages
head -vc 40 /proc/[0-9]*/cmdline 2>/dev/null; true
"""


@contextlib.contextmanager
def guests(t):
    """The lab. If a test failed or left something behind, the next test gets a new lab."""
    runner = os.environ.get("TEST_RUNNER")
    if not runner:
        with Lab(progress=t.note) as lab:
            yield lab
        return
    with _turn() as file:
        lab, state = _take(t, f"tests-{runner}", int(runner), file)
        try:
            yield lab
            tidy = not t.failed and _is_tidy(t, lab, state)
        except BaseException:
            lab.down()
            raise
        if not tidy:
            lab.down()
            return
        json.dump({"name": lab.name, "state": state}, file)


@contextlib.contextmanager
def _turn():
    """The file in which the last test described the lab that it gave back. One test at a time has it."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "turn"), "a+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _take(t, name, runner, file):
    """A lab that was given back, or a new one: (the lab, its state after boot)."""
    file.seek(0)
    said = file.read()
    file.truncate(0)
    given = json.loads(said) if said else {}
    with contextlib.suppress(LabError):
        lab = Lab.attach(name)
        if given.get("name") == name:
            return lab, given["state"]
        lab.down()  # of a test that was killed
    lab = Lab(name, progress=t.note)
    threading.Thread(target=_come_first, args=[lab], daemon=True).start()
    lab.up()
    lab.leave(runner)
    return lab, state(lab)


def _come_first(lab):
    """
    Guests get more of the CPUs than other tests, which end before those with guests do, from the beginning of their boot. The nice value
    of a process counts only within its session where the kernel groups sessions (sched(7), autogroup), and the guests have one of their
    own.
    """
    path = os.path.join(lab.folder, "pid")
    until(lambda: os.path.exists(path) and os.path.getsize(path))
    with contextlib.suppress(OSError), open(path, encoding="ascii") as pid, \
            open(f"/proc/{pid.read().strip()}/autogroup", "w", encoding="ascii") as file:
        file.write(str(NICE))


def _is_tidy(t, lab, before):
    """Killed processes need a moment to end."""
    for end in "AB":
        lab.rxe_down(end)
    now = {}

    def same():
        now.update(state(lab))
        return now == before

    if not until(same, 60):
        t.note("not left as it was found: " + "; ".join(f"{where}: {sorted(set(now[where]) ^ set(before[where]))}" for where in before))
    return now == before


def state(lab):
    """What a test must restore: {where: lines}"""
    return {where: _lines(lab.check(where, ["sh", "-c", STATE], timeout=PATIENCE)) for where in ("A", "B", "wire")}


def _lines(text):
    """Sorted lines without process numbers, kernel threads and the observing processes."""
    text = re.sub(r"==> /proc/\d+/cmdline <==\n", "process ", text)
    return sorted(line for line in text.splitlines() if line not in ("", "process ") and "cmdline" not in line)
