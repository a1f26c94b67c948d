# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Chooses virtualisation or emulation by trying to boot. /dev/kvm alone says little: nested, it may hang."""
import hashlib
import os
import platform
import re
import subprocess

from lab import child

PROBE_S = 10


def choose(folder, image, progress):
    """'kvm' or 'tcg'. Tried once per host kernel, CPU and QEMU. The caller holds a lock."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    answer = os.path.join(folder, f"accel-{_key()}")
    try:
        with open(answer, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        pass
    progress(f"probing hardware virtualisation (once, at most {PROBE_S} s)")
    accel = "kvm" if _boots(image) else "tcg"
    progress("guests run under KVM" if accel == "kvm" else "KVM does not boot here: guests run emulated (TCG)")
    with open(f"{answer}.new", "w", encoding="ascii") as file:
        file.write(accel + "\n")
    os.rename(f"{answer}.new", answer)
    return accel


def _key():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name.*", file.read())
    qemu = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True).stdout
    what = f"{platform.release()} {platform.version()} {model and model[0]} {qemu}"
    return hashlib.sha256(what.encode()).hexdigest()[:12]


def _boots(image):
    """Boots without a root file system. The kernel panics there, which counts as a boot."""
    command = ["qemu-system-x86_64", "-accel", "kvm", "-cpu", "host", "-smp", "2", "-m", "512M", "-nodefaults",
               "-display", "none", "-no-reboot", "-serial", "stdio", "-kernel", image,
               "-append", "console=ttyS0 panic=-1"]
    try:
        done = subprocess.run(child(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=PROBE_S)
    except subprocess.TimeoutExpired:
        return False
    return b"Kernel panic" in done.stdout
