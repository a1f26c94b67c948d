# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""This program must not outlive what started it: after a SIGKILL of make nothing of the comparison may stay."""
import ctypes
import os
import signal

PR_SET_PDEATHSIG = 1


def die_with_parent():
    """The lab ends by itself when we do."""
    parent = os.getppid()
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent or _orphaned_by_make(parent):
        os.kill(os.getpid(), signal.SIGKILL)


def _orphaned_by_make(parent):
    """Did make die even before we looked? Then our parent is a process of another session that took us in."""
    try:
        return bool(os.environ.get("MAKELEVEL")) and os.getsid(parent) != os.getsid(0)
    except ProcessLookupError:
        return True
