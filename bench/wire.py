# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A veth pair in a network namespace of this process, which ends with the process, and a program that receives at its end."""
import ctypes
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

from lab import child

LIVE = os.path.join(sys.path[0], "build/bench/live")
ROCESCOPE = os.path.join(sys.path[0], "build/rocescope")
CLONE_NEWNET, CLONE_NEWNS = 0x40000000, 0x00020000
SENDER_CPU, RECEIVER_CPU = 1, 0
PORT, WIRE = f"port{os.getpid()}", f"wire{os.getpid()}"     # the name identifies the port's kernel thread as ours


def run(*command):
    return subprocess.run(child(command), check=True, capture_output=True, text=True).stdout


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def own_namespaces():
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET | CLONE_NEWNS):
        sys.exit(f"bench: namespaces for the live measurement: {os.strerror(ctypes.get_errno())}")
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "sysfs", "sysfs", "/sys")    # a sysfs that shows this namespace's interfaces


def make_wire(mtu=1500):
    write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")  # no frames but the bench's
    run("ip", "link", "add", WIRE, "type", "veth", "peer", "name", PORT)
    for interface in (WIRE, PORT):
        run("ip", "link", "set", interface, "mtu", str(mtu), "up")


def until(done, seconds=10):
    """Waits until done() is true, or as long as that. Returns its last value."""
    end = time.monotonic() + seconds
    while not (found := done()) and time.monotonic() < end:
        time.sleep(0.01)    # between two looks
    return found


def statistic(interface, name):
    return sum(int(n) for n in re.findall(rf"_{name}: (\d+)", run("ethtool", "-S", interface)))


def port_packets():
    """Packets that reached the port: in its program, or dropped before it."""
    return statistic(PORT, r"queue_\d+_xdp_packets") + statistic(PORT, r"queue_\d+_drops")


def receiver_threads():
    found = []
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path) as f:
                name = f.read()
        except OSError:
            continue    # it ended meanwhile
        if name.startswith(f"napi/{PORT}"[:15]):
            found.append(int(path.split("/")[2]))
    return found


def place_receiver(apart):
    """
    The port has a NAPI only with an XDP program. By default the NAPI runs on the sender's CPU, as the kernel arranges it. With
    apart it is a thread, pinned to the other CPU.
    """
    write(f"/sys/class/net/{PORT}/threaded", str(int(apart)))
    if not apart:
        return []
    threads = until(receiver_threads)
    if not threads:
        sys.exit("bench: the port's NAPI has no thread of its own")
    for thread in threads:
        os.sched_setaffinity(thread, {RECEIVER_CPU})
        os.setpriority(os.PRIO_PROCESS, thread, -20)    # so that other work of the machine does not displace the measured threads
    return threads


def cpu_seconds(threads):
    """Their CPU time, from the scheduler's statistics."""
    total = 0
    for thread in threads:
        with open(f"/proc/{thread}/schedstat") as f:
            total += int(f.read().split()[0])
    return total / 1e9


class Receiver:
    def __init__(self, *command, ready="watching"):
        self.process = subprocess.Popen(child(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = ""
        while ready not in said:
            line = self.process.stderr.readline()
            if not line:
                sys.exit(f"bench: {command[0]}: {said.strip() or 'ended at once'}")
            said += line

    def end(self):
        """The monitor's last snapshot; None: it was the empty program."""
        self.process.send_signal(signal.SIGINT)
        out, _ = self.process.communicate(timeout=60)
        lines = out.splitlines()
        return json.loads(lines[-1]) if lines else None


def doubt(icrc, runs):
    """Why a row is not valid; None: it proved itself."""
    for each in runs:
        c = each["totals"]
        want = c["frames"] if icrc == "all" else 0
        if not each["came"]:
            return "no packet came"
        if c["roce_packets"] != c["frames"] or c["icrc_bad"] or c["icrc_checked"] != want or c["untracked_packets"]:
            return "the monitor did not find every packet right: " + json.dumps({k: v for k, v in c.items() if v})
        if c["psn_skipped"] > each["ring_full"] or c["psn_duplicates"] or c["psn_recovered"]:
            return (f"the monitor missed {c['psn_skipped']} PSNs, saw {c['psn_duplicates']} twice and "
                    f"{c['psn_recovered']} late, but the ring dropped {each['ring_full']} and nothing else happened")
    return None
