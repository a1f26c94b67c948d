# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""rocescope send at the other end of a guest's wire, in the place of the other guest, with its addresses."""
from support.patience import PATIENCE
from lab.wire import BRIDGE

GUEST, SENDER = "A", "B"  # the sender has the addresses of the guest that it replaces
DEVICE, PLUG = "fpga0", "fpga1"


def plug_in(lab):
    """
    Replaces the other guest by a device whose frames reach the guest's port through the bridge. The referee there sees all of
    them.
    """
    for words in (f"ip link set {lab.port(SENDER)} down",
                  f"ip link add {DEVICE} mtu {lab.mtu} type veth peer name {PLUG} mtu {lab.mtu}",
                  f"ip link set {PLUG} master {BRIDGE} up", f"ip link set {DEVICE} up",
                  f"ethtool -K {PLUG} gro on"):  # veth accepts live frames only with GRO
        lab.check("wire", words.split(), timeout=PATIENCE)


def unplug(lab):
    for words in (f"ip link del {DEVICE}", f"ip link set {lab.port(SENDER)} up"):
        lab.check("wire", words.split(), timeout=PATIENCE)
