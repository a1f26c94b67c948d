# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Waits for conditions. A slow or busy machine needs more time, which is no failure."""
import glob
import time

PATIENCE = 120  # s; more than any machine needs for what works
SETTLED = 5     # s; a CPU may have other work in softirq


def until(condition, seconds=PATIENCE):
    """Waits until condition() is true, at most that long. Returns its last value."""
    limit = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < limit:
        time.sleep(0.02)    # between two looks
    return found


def settle():
    """Waits until sent packets have arrived: veth delivers them in softirq, which a busy CPU leaves to a kernel thread."""
    time.sleep(0.05)    # the softirq may not have begun
    until(lambda: not _softirq_at_work(), SETTLED)


def _softirq_at_work():
    for path in _softirq_threads:
        try:
            with open(path, encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] != "S":
                    return True
        except OSError:
            continue
    return False


def _comm(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


_softirq_threads = [path[:-len("comm")] + "stat" for path in glob.glob("/proc/[0-9]*/comm") if _comm(path).startswith("ksoftirqd/")]
