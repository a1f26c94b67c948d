# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Finds what a command has started, and what that has started: they inherit an environment variable."""
import os

MARK = "ROCESCOPE_TEST_RUN"


def marked(mark):
    """The living processes of the run whose environment has MARK=mark."""
    wanted, found = f"{MARK}={mark}".encode(), set()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    found.add(int(name))
        except OSError:
            pass
    return found
