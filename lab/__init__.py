# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The lab: two guests, each with its own kernel, and one wire between them. Programs use lab.lab.Lab."""


class LabError(Exception):
    """What cannot be done, in one line that says what to do."""


def child(command):
    """The command so that it does not outlive the thread that starts it, however that ends."""
    return ["setpriv", "--pdeathsig", "KILL", "--", *command]
