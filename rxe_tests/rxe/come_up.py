#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How SoftRoCE comes up on a NIC, follows it, and goes away with it. On an interface of its own, without another end."""
import os

import end
from rxe import HEADERS, OWN_NIC, OWN_V4, PATH_MTUS, Missing, Tap, largest, own_nic, run, until

DEVICE = end.OWN
PORT = f"/sys/class/infiniband/{DEVICE}/ports/1"
MORE_V4 = "192.0.2.2"


def state():
    return end.read(f"{PORT}/state").split(": ")[1]


def gids():
    return {end.read(f"{PORT}/gids/{number}") for number in os.listdir(f"{PORT}/gids")}


def active_mtu():
    with end.Context(name=DEVICE) as context:
        return 128 << context.query_port(1).active_mtu     # enum ibv_mtu: 1 is 256


def link_add(t, netif):
    end.rxe_add(DEVICE, netif)
    t.equal(end.device_of(netif), DEVICE, "rdma link add makes a device on the NIC")
    t.ok(until(lambda: state() == "ACTIVE"), "its port is active", state())
    t.equal(end.read(f"{PORT}/link_layer"), "Ethernet", "its link layer is Ethernet")
    try:
        end.rxe_add(f"{DEVICE}2", netif)
        t.ok(False, "a NIC takes one device")
    except Missing as refused:
        t.ok("exists" in str(refused), "a NIC takes one device", refused)


def gid_table(t, netif):
    """The kernel has a GID for each address of the NIC (drivers/infiniband/core/roce_gid_mgmt.c)."""
    index, _ = end.gid_index(DEVICE, OWN_V4)
    t.ok(end.read(f"{PORT}/gid_attrs/types/{index}") == "RoCE v2", f"GID {index} is that of the address")
    before = gids()
    run("ip", "address", "add", f"{MORE_V4}/24", "dev", netif)
    index, gid = end.gid_index(DEVICE, MORE_V4)
    t.ok(gid in gids(), f"another address gets GID {index}")
    run("ip", "address", "delete", f"{MORE_V4}/24", "dev", netif)
    t.ok(until(lambda: gids() == before), "the GID goes with its address", gids())


def path_mtu(t, netif):
    if end.e is None:
        t.skip("path MTU", "python3-pyverbs is not installed")
        return
    for each in PATH_MTUS:
        for mtu in (each + HEADERS, each + HEADERS - 1):
            run("ip", "link", "set", netif, "mtu", str(mtu))
            found = until(lambda want=largest(mtu): active_mtu() == want)
            t.ok(found, f"an MTU of {mtu} has a path MTU of {largest(mtu)}", active_mtu())


def port_state(t):
    run("ip", "link", "set", OWN_NIC[1], "down")
    t.ok(until(lambda: state() == "DOWN"), "a NIC without a link has a port that is down", state())
    run("ip", "link", "set", OWN_NIC[1], "up")
    t.ok(until(lambda: state() == "ACTIVE"), "the port is active again with the link", state())


def goes_away(t, netif):
    run("rdma", "link", "delete", DEVICE)
    t.ok(end.device_of(netif) is None and not os.path.exists(PORT), "rdma link delete takes the device away")
    end.rxe_add(DEVICE, netif)
    run("ip", "link", "delete", netif)
    t.ok(until(lambda: not os.path.exists(PORT)), "the device goes with its NIC")


with Tap() as t:
    try:
        with own_nic() as netif:
            link_add(t, netif)
            gid_table(t, netif)
            path_mtu(t, netif)
            port_state(t)
            goes_away(t, netif)
    except Missing as missing:
        t.skip_all(str(missing))
