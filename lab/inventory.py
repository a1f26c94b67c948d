#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What an end on a machine as it is has: prints JSON, for lab/hosts.py.

    inventory.py INTERFACE          the machine, the interface, its addresses and RDMA devices
    inventory.py INTERFACE ADDRESS  how packets leave for this address: {"dev", "mac" of the next hop}
"""
import glob
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import time

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
from bench import machine                   # noqa: E402
from lab import netif_settings              # noqa: E402
from lab.netif_settings import ip, read     # noqa: E402

DISCARD = 9             # UDP port (RFC 863)
NEIGHBOUR_S = 3         # how long the answer of a neighbour may take
ROCE = "enable_roce"    # parameter of devlink
PCIE = {"speed": "current_link_speed", "width": "current_link_width", "max_speed": "max_link_speed", "max_width": "max_link_width"}
DPDK_DRIVERS = ("vfio-pci", "uio_pci_generic")


def linked(path):
    """The name at the end of a symbolic link, or None."""
    return os.path.basename(os.path.realpath(path)) if os.path.exists(path) else None


def gids(port, netif):
    """{index: GID} of the RoCEv2 GIDs that a port of an RDMA device has by this interface, or by any (None)."""
    found = {}
    for path in glob.glob(f"{port}/gid_attrs/ndevs/*"):
        index = os.path.basename(path)
        if netif in (None, read(path)) and read(f"{port}/gid_attrs/types/{index}") == "RoCE v2":
            found[index] = read(f"{port}/gids/{index}")
    return found


def rdma(netif=None, folder="/sys/class/infiniband"):
    """RDMA devices of this interface, or of any: {"name", "gids", "virtual"}. One of rxe or siw is virtual, on no bus."""
    found = [{"name": os.path.basename(device), "gids": gids(f"{device}/ports/1", netif),
              "virtual": not os.path.exists(f"{device}/device")} for device in sorted(glob.glob(f"{folder}/*"))]
    return [device for device in found if device["gids"]]


def interface(netif):
    folder = f"/sys/class/net/{netif}"
    speed = read(f"{folder}/speed")
    [about] = ip("address", "show", "dev", netif)
    return {"mac": about["address"], "mtu": about["mtu"], "up": "LOWER_UP" in about["flags"],
            "promiscuous": "PROMISC" in about["flags"],
            "addresses": {str(family): [each["local"] for each in about["addr_info"]
                                        if each["family"] == name and each["scope"] == "global"]
                          for family, name in ((4, "inet"), (6, "inet6"))},
            "driver": linked(f"{folder}/device/driver"),
            "gbps": int(speed) / 1000 if speed and int(speed) > 0 else None,
            "cpus": read(f"{folder}/device/local_cpulist") or f"0-{os.cpu_count() - 1}", "numa_node": numa_node(folder),
            "queues": len(glob.glob(f"{folder}/queues/rx-*")), "rdma": rdma(netif)}


def numa_node(folder):
    """None: the machine has no nodes, or the interface is on no bus."""
    node = read(f"{folder}/device/numa_node")
    return int(node) if node and int(node) >= 0 else None


def pcie(folder):
    """Of a PCI device: as its link was trained, and its maximum, as sysfs has them. None: it tells none, as of virtio."""
    folder = f"{folder}/physfn" if os.path.exists(f"{folder}/physfn") else folder
    found = {name: read(f"{folder}/{file}") for name, file in PCIE.items()}
    return found if found["speed"] and "GT/s" in found["speed"] else None


def roce(address):
    """
    Whether RoCE is on at a PCI device whose driver can switch it off: devlink's enable_roce (Documentation/networking/devlink/mlx5.rst
    of the kernel). None: it cannot, or nobody tells.
    """
    if not shutil.which("devlink"):
        return None
    try:
        found = json.loads(netif_settings.output("devlink", "-j", "dev", "param", "show", f"pci/{address}", "name", ROCE) or "{}")
        [value] = {str(value["value"]).lower() for params in found.get("param", {}).values() for each in params for value in each["values"]}
    except (ValueError, KeyError):
        return None
    return {"true": True, "false": False}.get(value)


def module(name):
    """Whether the kernel has it, or it is built in, and whether it is in use already."""
    loaded = os.path.exists(f"/sys/module/{name.replace('-', '_')}")
    known = loaded or (shutil.which("modprobe") and not subprocess.run(["modprobe", "-nq", name], check=False).returncode)
    return {"module": bool(known), "loaded": loaded}


def pci(netif):
    """The PCI device of the interface, and which drivers of DPDK could have it. None: it has none."""
    address = netif_settings.pci(netif)
    if not address:
        return None
    folder = f"/sys/bus/pci/devices/{address}"
    group = {"devices": sorted(os.listdir(f"{folder}/iommu_group/devices")), "type": read(f"{folder}/iommu_group/type")} \
        if os.path.exists(f"{folder}/iommu_group") else None
    return {"address": address, "driver": linked(f"{folder}/driver"), "group": group,
            "noiommu": read("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode") == "Y",
            "drivers": {name: module(name) for name in DPDK_DRIVERS}, "pcie": pcie(folder), "roce": roce(address)}


def describe(netif):
    names = sorted(os.listdir("/sys/class/net"))
    rxe = module("rdma_rxe")
    return {"host": platform.node(), "kernel": platform.release(), "cpu": machine.cpu(), "cpus": os.cpu_count(),
            "interfaces": names, "netif": interface(netif) if netif in names else None,
            "boot": read("/proc/sys/kernel/random/boot_id"), "netns": os.stat("/proc/self/ns/net").st_ino,
            "pci": pci(netif), "login": os.environ.get("SSH_CONNECTION", "").split(),
            "rdma_tool": bool(shutil.which("rdma")), "rxe": rxe["module"], "rxe_loaded": rxe["loaded"]}


def leave(netif, address):
    """A datagram makes the kernel look for the neighbour."""
    [route] = ip("route", "get", address) or [{}]
    hop = route.get("gateway", address)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    deadline = time.monotonic() + NEIGHBOUR_S
    mac = None
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        while not mac and time.monotonic() < deadline:
            try:
                probe.sendto(b"", (address, DISCARD))
            except OSError:
                pass    # nobody there: the neighbour's entry says so, too
            time.sleep(0.1)
            mac = next((each["lladdr"] for each in ip("neighbour", "show", "to", hop, "dev", netif) if "lladdr" in each), None)
    return {"dev": route.get("dev"), "mac": mac}


if __name__ == "__main__":
    print(json.dumps(describe(sys.argv[1]) if len(sys.argv) == 2 else leave(*sys.argv[1:])))
