# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The wire: a port for each end and a bridge between them, in the network namespace of the calling process."""
import os
import subprocess

from lab import nic

BRIDGE = "wire0"
CONTROL = "control0"
# Most frames that wait in a tap for its guest. The tap drops and counts further ones (tx_dropped).
QUEUE = 1000


def up(mtu, taps):
    """
    Sets up the bridge, which sends no frame of its own: no STP, no multicast snooping, no IPv6. taps: the guests whose ports it
    gets.
    """
    _sysctl("net/ipv6/conf/default/disable_ipv6", 1)
    ports = [nic.port(end) for end in taps]
    lines = ["link set dev lo up",
             f"link add {BRIDGE} type bridge stp_state 0 forward_delay 0 mcast_snooping 0"]
    for port in ports:
        lines += [f"tuntap add dev {port} mode tap",
                  f"link set dev {port} mtu {mtu} txqueuelen {QUEUE} master {BRIDGE} up"]
    lines.append(f"link set dev {BRIDGE} mtu {mtu} up")
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)
    # If br_netfilter is loaded, the host's firewall must not see the wire.
    for family in ("ip", "ip6", "arp"):
        _sysctl(f"net/bridge/bridge-nf-call-{family}tables", 0)


def up_control(taps):
    """A network for commands to the guests, apart from the measured wire."""
    lines = [f"link add {CONTROL} type bridge stp_state 0 forward_delay 0",
             f"address add {nic.control_address('wire')}/24 dev {CONTROL}", f"link set dev {CONTROL} up"]
    for end in taps:
        lines += [f"tuntap add dev {nic.control_port(end)} mode tap",
                  f"link set dev {nic.control_port(end)} master {CONTROL} up"]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)


def add_veth(end, mtu, pid):
    """The port of an end that is the network namespace of this process, and its NIC there."""
    port = nic.port(end)
    lines = [f"link add {port} type veth peer name {nic.NAME} address {nic.mac(end)} netns {pid}",
             f"link set dev {port} mtu {mtu} master {BRIDGE} up"]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)
    subprocess.run(["ethtool", "-K", port, "tx", "off", "gso", "off", "tso", "off", "gro", "on"], check=True,
                   stdout=subprocess.DEVNULL)


def _sysctl(name, value):
    path = f"/proc/sys/{name}"
    if os.path.exists(path):
        with open(path, "w", encoding="ascii") as file:
            file.write(str(value))
