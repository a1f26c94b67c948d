#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
An interface loses its settings when it changes its network namespace or its driver. This keeps them and gives them back.

    netif_settings.py save INTERFACE [ADDRESS...]  prints them, or says why the interface must not be taken away. These addresses, and
                                                   those who are logged in by ssh, must be reached by another one
    netif_settings.py restore FILE                 gives them back, to the interface that its PCI device has by then
"""
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import time

FOREVER = 0xffffffff    # lifetime of an address, in seconds (include/net/addrconf.h)
SET_BY_USER = "3"       # of addr_assign_type (include/uapi/linux/netdevice.h, NET_ADDR_SET)
RETURN_S = 20           # most time that a driver needs to make the interface
LINK_S = 10             # and the link to come up
LOGINS = ("SSH_CONNECTION", "SLURM_LAUNCH_NODE_IPADDR")     # variables that say where somebody is logged in from
PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def ip(*words):
    return json.loads(output("ip", "-j", *words) or "[]")


def pci(netif):
    """The address of the PCI device that has this interface, or None. A virtio device is below it."""
    path = os.path.realpath(f"/sys/class/net/{netif}/device")
    return next((part for part in reversed(path.split("/")) if PCI.fullmatch(part)), None)


# --- whether it may be taken

def refusal(netif, addresses):
    """Why nobody may take the interface, or None."""
    folder = f"/sys/class/net/{netif}"
    if not os.path.exists(folder):
        return f"no such interface; there are {', '.join(sorted(os.listdir('/sys/class/net')))}"
    above = [os.path.basename(path).partition("_")[2] for path in glob.glob(f"{folder}/upper_*")]
    if above:
        return f"it is a part of {above[0]}"
    if any(name != "0" for name in map(read, glob.glob(f"{folder}/device/sriov_numvfs"))):
        return "it has virtual functions: echo 0 >/sys/class/net/.../device/sriov_numvfs"
    way = next((address for address in [*login(), *addresses] if device_to(address) == netif), None)
    if way:
        return f"the connection to {way} runs over it"
    if any(ip(f"-{family}", "route", "show", "default", "dev", netif) for family in "46"):
        return "it has the default route"
    if any(hop.get("dev") == netif for family in "46" for route in ip(f"-{family}", "route", "show", "table", "all")
           for hop in route.get("nexthops", ())):
        return "it is one of several next hops of a route"
    if ip("link", "show", "dev", netif)[0].get("xdp"):
        return "an XDP program is on it"
    if any(output("tc", "filter", "show", "dev", netif, hook).strip() for hook in ("ingress", "egress")):
        return "a tc filter is on it"
    qdiscs = json.loads(output("tc", "-j", "qdisc", "show", "dev", netif) or "[]")
    if any(each.get("root") and each["handle"] != "0:" for each in qdiscs):
        return f"it has a qdisc that somebody chose: tc qdisc del dev {shlex.quote(netif)} root"
    return None


def login():
    """Where those are who are logged in by ssh, or Slurm's srun: as lab/machine.py passes it on."""
    said = [os.environ.get(name) for name in LOGINS]
    return [words.split()[0] for words in said if words]


def device_to(address):
    routes = ip("route", "get", address)
    return routes[0].get("dev") if routes else None


# --- what is kept

def save(netif):
    folder = f"/sys/class/net/{netif}"
    [about] = ip("address", "show", "dev", netif)
    link = ["mtu", about["mtu"], "txqueuelen", about.get("txqlen", 1000)]
    if read(f"{folder}/addr_assign_type") == SET_BY_USER:
        link += ["address", about["address"]]
    return {"netif": netif, "pci": pci(netif), "link": link,
            "up": "UP" in about["flags"], "carrier": "LOWER_UP" in about["flags"],
            "addresses": [words for each in about["addr_info"] if (words := address_words(each))],
            "routes": [words for family in (4, 6) for words in route_words(netif, family)],
            "neighbours": [[each["dst"], "lladdr", each["lladdr"], "nud", "permanent"]
                           for each in ip("neighbour", "show", "dev", netif, "nud", "permanent") if "lladdr" in each],
            "sysctls": sysctls(netif), "ethtool": {letter: ethtool(netif, letter) for letter in "kgl"}}


def address_words(each):
    """For ip(8). None: the kernel makes it by itself, or a router's advertisement does."""
    if each.get("mngtmpaddr") or each.get("temporary") or each.get("protocol") in ("kernel_ll", "kernel_ra"):
        return None
    words = [f"{each.get('address') or each['local']}/{each['prefixlen']}"]
    if each.get("address"):
        words = [each["local"], "peer", *words]
    for key, name in (("broadcast", "broadcast"), ("scope", "scope"), ("label", "label")):
        words += [name, each[key]] if key in each else []
    for key, name in (("valid_life_time", "valid_lft"), ("preferred_life_time", "preferred_lft")):
        words += [name, each[key]] if each.get(key, FOREVER) != FOREVER else []
    return words + ["noprefixroute"] * bool(each.get("noprefixroute")) + ["nodad"] * (each["family"] == "inet6")


def route_words(netif, family):
    """Not those that the kernel makes for addresses, nor those of a router's advertisement."""
    lines = output("ip", f"-{family}", "route", "show", "table", "all", "dev", netif).splitlines()
    return [[f"-{family}", "route", "replace", *(word for word in line.split() if word not in ("linkdown", "dead"))]
            for line in lines if not re.search(r"\bproto (kernel|ra)\b", line)]


def sysctls(netif):
    found = {path: read(path) for family in ("ipv4", "ipv6") for path in glob.glob(f"/proc/sys/net/{family}/conf/{netif}/*")}
    return {path: value for path, value in found.items() if value is not None}


def ethtool(netif, letter):
    """{name: value} of its features (k), rings (g) or channels (l), those that can be set."""
    text = output("ethtool", f"-{letter}", netif)
    text = text.partition("Current hardware settings:")[2] if letter != "k" else text
    found = re.findall(r"^\s*([\w -]+):\s+(\w+)$", re.sub(r" \[requested.*", "", text), re.M)
    return {name.lower().replace(" ", "-"): value for name, value in found if value != "n"}


# --- giving back

class Giving:
    """Tries everything, even if something fails."""

    def __init__(self, kept):
        self.netif, self._kept, self.errors = kept["netif"], kept, []

    def _run(self, *words):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
        if done.returncode:
            self.errors.append(f"{' '.join(map(str, words))}: {(done.stderr.strip().splitlines() or ['?'])[0]}")

    def all(self):
        self._find()
        for letter, before in self._kept["ethtool"].items():
            now = ethtool(self.netif, letter)
            for name, value in before.items():
                if now.get(name, value) != value:
                    self._run("ethtool", f"-{letter.upper()}", self.netif, name, value)
        self._run("ip", "link", "set", "dev", self.netif, *self._kept["link"])
        for path, value in self._kept["sysctls"].items():
            self._write(path, value)
        self._run("ip", "link", "set", "dev", self.netif, "up" if self._kept["up"] else "down")
        self._await_link()
        for words in self._kept["addresses"]:
            self._run("ip", "address", "replace", *words, "dev", self.netif)
        for words in self._kept["neighbours"]:
            self._run("ip", "neighbour", "replace", *words, "dev", self.netif)
        # those with a gateway need the route to it
        for words in sorted(self._kept["routes"], key=lambda words: "via" in words):
            self._run("ip", *words, "dev", self.netif)

    def _find(self):
        """A driver makes the interface anew, perhaps by another name."""
        deadline = time.monotonic() + RETURN_S
        while time.monotonic() < deadline:
            folder = f"/sys/bus/pci/devices/{self._kept['pci']}"
            names = [os.path.basename(path) for path in (*glob.glob(f"{folder}/net/*"), *glob.glob(f"{folder}/virtio*/net/*"))]
            if os.path.exists(f"/sys/class/net/{self.netif}"):
                return
            if names:
                output("udevadm", "settle", "--timeout=5") if os.path.exists("/run/udev") else None
                self._run("ip", "link", "set", "dev", names[0], "down")
                self._run("ip", "link", "set", "dev", names[0], "name", self.netif)
            time.sleep(0.1)
        self.errors.append(f"{self.netif} did not come back")

    def _write(self, path, value):
        if read(path) in (value, None):
            return
        try:
            with open(path, "w", encoding="ascii") as file:
                file.write(value)
        except OSError as error:
            self.errors.append(f"{path}: {error.strerror}")

    def _await_link(self):
        deadline = time.monotonic() + LINK_S
        while self._kept["carrier"] and read(f"/sys/class/net/{self.netif}/carrier") != "1" and time.monotonic() < deadline:
            time.sleep(0.1)


def main():
    action, what, *addresses = sys.argv[1:]
    if action == "restore":
        with open(what, encoding="utf-8") as file:
            giving = Giving(json.load(file))
        giving.all()
        sys.exit("\n".join(giving.errors) or 0)
    if why := refusal(what, addresses):
        sys.exit(f"{what}: {why}")
    print(json.dumps(save(what)))


if __name__ == "__main__":
    main()
