# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The machine that produced the figures. Without it they mean nothing."""
import datetime
import os
import platform
import subprocess

VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"
SLOW_CALLS = ("retbleed", "spec_rstack_overflow", "spectre_v2")   # their mitigations slow down every call and return


def describe(root):
    return {
        "cpu": cpu(),
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "bpf_jit": _read("/proc/sys/net/core/bpf_jit_enable"),
        "mitigations": {name: _read(os.path.join(VULNERABILITIES, name)) for name in SLOW_CALLS},
        "virtual": "hypervisor" in _read("/proc/cpuinfo"),
        "load": os.getloadavg()[0],
        "clang": _first_line("clang", "--version"),
        "version": _first_line("git", "-C", root, "describe", "--tags", "--always", "--dirty"),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


def core(m):
    """What stands over every table. The clock and the adds a cycle are those of the probe (bench/probe.h)."""
    if not m["adds"]:
        return f"{m['cpu']}, whether the core was shared is not known"
    return f"{m['cpu']}, {m['mhz']} MHz, {m['adds']:.1f} adds a cycle"


def words(m):
    """One line for people."""
    return (f"{core(m)}, {m['cpus']} CPUs{' (virtual machine)' if m['virtual'] else ''}, kernel {m['kernel']}, "
            f"{m['clang']}, rocescope {m['version']}, {m['date'][:10]}, load {m['load']:.1f} at the start")


def cpu():
    fields = dict(line.split(":", 1) for line in _read("/proc/cpuinfo").splitlines() if ":" in line)
    fields = {name.strip(): value.strip() for name, value in fields.items()}
    return (f"{fields.get('model name', platform.machine())}, family {fields.get('cpu family', '?')}, "
            f"model {fields.get('model', '?')}")


def _read(path):
    try:
        with open(path) as f:
            return f.read().strip()
    except OSError:
        return ""


def _first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.partition("\n")[0]
    except FileNotFoundError:
        return ""
