# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A bpffs for the test, and the user of packaging/rocescope@.service, set up by hand as systemd would."""
import os
import re
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


# Loads a filter of system calls and becomes the command. One that is not allowed ends it (the unit's EPERM might go unnoticed).
FILTER = """
import ctypes, os, sys
seccomp = ctypes.CDLL("libseccomp.so.2")
seccomp.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(0x80000000)))  # SCMP_ACT_KILL_PROCESS
for name in sys.argv[1].split(","):
    number = seccomp.seccomp_syscall_resolve_name(name.encode())
    if number >= 0 and seccomp.seccomp_rule_add(context, ctypes.c_uint32(0x7fff0000), number, 0):  # SCMP_ACT_ALLOW
        sys.exit(f"seccomp: {name}")
if seccomp.seccomp_load(context):
    sys.exit("seccomp: not loaded")
os.execv(sys.argv[2], sys.argv[2:])
"""


def _calls(words):
    """The system calls of sets, as systemd has them."""
    calls = set()
    for word in words:
        if word[0] == "@":
            said = run("systemd-analyze", "syscall-filter", word).stdout
            lines = re.sub(r"\x1b\[[0-9;]*m", "", said).split("\n")[1:]     # that of systemd 255 has colours in a pipe, too
            calls |= _calls(line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))
        else:
            calls.add(word)
    return calls


def filtered(unit):
    """The beginning of a command that may only do the system calls of the unit (SystemCallFilter=). (): systemd is not here."""
    allowed = set()
    if not shutil.which("systemd-analyze"):
        return ()
    for without, words in re.findall(r"^SystemCallFilter=(~?)(.*)$", unit, re.M):
        allowed = allowed - _calls(words.split()) if without else allowed | _calls(words.split())
    return ("/usr/bin/python3", "-c", FILTER, ",".join(sorted(allowed)))
