# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The lab: up to four guests, each with its own kernel, and one wire between them; or namespaces of this machine; or two machines
as they are. Programs use lab.lab.Lab, and lab.hosts.Hosts for machines.
"""

NATIVE = "native"   # the acceleration of a lab without guests
HOSTS = "hosts"     # that of machines as they are


class LabError(Exception):
    """An error, in one line that says what to do."""


def child(command):
    """Makes the command end together with the thread that starts it."""
    return ["setpriv", "--pdeathsig", "KILL", "--", *command]


def bpftool(*words):
    """The command. Ubuntu's in /usr/sbin refuses to run on another kernel than that of its package; what it runs does not."""
    script = 'for b in /usr/lib/linux-tools-*/bpftool; do [ ! -x "$b" ] || exec "$b" "$@"; done; exec bpftool "$@"'
    return ["sh", "-c", script, "bpftool", *words]
