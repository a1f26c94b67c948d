# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Waiting for what is to happen. A slow or busy machine takes longer for it, and that is no failure."""
import glob
import time

PATIENCE = 120  # s; what works does not take longer anywhere
SETTLED = 5     # s; a CPU may have work in softirq for other reasons


def until(condition, seconds=PATIENCE):
    """Until condition() is true, for so long at most. Returns what it was last."""
    limit = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < limit:
        time.sleep(0.02)
    return found


def settle():
    """Until packets that were sent have come through: a veth hands them over in softirq, and a busy CPU leaves that to a thread."""
    time.sleep(0.05)
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
