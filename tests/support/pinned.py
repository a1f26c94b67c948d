# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A bpffs for the test, and the user of packaging/rocescope@.service, set up by hand as systemd would."""
import os
import shutil

from .monitored import run
from .project import ROCESCOPE

BPFFS = "/sys/fs/bpf"
PINNED = f"{BPFFS}/rocescope"
USER = 65534
CAPABILITIES = ("bpf", "perfmon", "net_admin")
CAPABILITY_BITS = 1 << 39 | 1 << 38 | 1 << 12      # linux/capability.h

_words = ",".join(["-all", *(f"+{c}" for c in CAPABILITIES)])
AS_USER = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs", f"--bounding-set={_words}",
           f"--inh-caps={_words}", f"--ambient-caps={_words}")


def own_bpffs(path=BPFFS):
    """The mount namespace is the test's own, so the pins end with it."""
    run("mount", "-t", "bpf", "-o", "mode=0700", "bpf", path)


def as_the_unit_has_it(folder):
    """
    As packaging/rocescope.tmpfiles, TemporaryFileSystem= and BindPaths= set it up: only the user's own directory of bpffs.
    """
    hidden = os.path.join(folder, "bpffs")
    os.mkdir(hidden)
    run("mount", "-t", "bpf", "-o", "mode=0700", "bpf", hidden)
    run("install", "-d", "-m", "0700", "-o", str(USER), "-g", str(USER), f"{hidden}/rocescope")
    run("mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", BPFFS)
    os.mkdir(PINNED)
    run("mount", "--bind", f"{hidden}/rocescope", PINNED)
    run("mount", "-o", "remount,ro", BPFFS)


def readable_command(folder):
    """A copy of the command that every user can read."""
    os.chmod(folder, 0o755)
    return shutil.copy(ROCESCOPE, os.path.join(folder, "rocescope"))
