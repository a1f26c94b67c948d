# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Two machines as they are, each with a NIC of its own and a path between them, used like a lab:

    with Hosts("", "eth0", "ssh:root@b", "eth0") as lab:

Interfaces, addresses, next hops, RDMA devices and GIDs are found. Whatever is changed is put back at the end, also after a kill.
"""
import ipaddress
import json
import os
import shutil

from lab import HOSTS, LabError, machine, nic
from lab.lab import Lab, progress_to_stderr
from lab.nic import ENDS, peer

# Bytes of a RoCEv2 packet that rxe allows for beside the payload (drivers/infiniband/sw/rxe/rxe_param.h, RXE_MAX_HDR_LENGTH).
HEADERS = 80
RXE = "rocescope0"
GUARD = "guard: "   # begins a line of lab/guard.sh


class Hosts(Lab):
    """
    local, remote: where the ends A and B are, as lab.machine.check() has it. netif, remote_netif: their interfaces. path_mtu: bytes
    of payload that packets are to carry. left: what could not be put back at the end, a line each.
    """
    has_wire = False

    def __init__(self, local, netif, remote, remote_netif, path_mtu=4096, progress=progress_to_stderr):
        super().__init__(acceleration=HOSTS, progress=progress)
        self._at = {"A": local, "B": remote}
        self._netif = {"A": netif, "B": remote_netif}
        self._settings.update(machines=self._at, apart={})
        self._path_mtu = path_mtu
        self._changes = {"A": [], "B": []}
        self._sinks = {}
        self._after_dpdk = set()    # ends where what DPDK leaves will be taken away
        self.facts, self.left = {}, []     # facts: of each end, as look.py prints them

    def up(self):
        self._progress(f"reaching {' and '.join(at for at in self._at.values() if at) or 'this machine'}")
        super().up()
        try:
            self._find()
        except BaseException:
            self.down()
            raise

    def _end(self, keep_logs=False):
        """A guard tells its log what it could not put back."""
        super()._end(keep_logs=True)
        for end in ENDS:
            try:
                with open(os.path.join(self.folder, f"{end}.log"), encoding="utf-8", errors="replace") as log:
                    said = [line.strip() for line in log if line.startswith(GUARD)]
                    self.left += [f"{self.named(end)}: {line.removeprefix(GUARD)}" for line in said]
            except FileNotFoundError:
                pass
        if not keep_logs:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _find(self):
        for end in ENDS:
            self.facts[end] = self._look(end)
        self._check()
        self.mtu = self._common_mtu()
        self._hop = {end: self._next_hop(end) for end in ENDS}

    def _look(self, end, *words):
        return json.loads(self.check(end, ["/usr/bin/python3", "-E", "lab/look.py", self._netif[end], *words], timeout=60))

    def named(self, end):
        """For people."""
        return f"{self._netif[end]} of {self._at[end] or 'this machine'}"

    def _check(self):
        for end in ENDS:
            found = self.facts[end]["netif"]
            if not found:
                raise LabError(f"{self.named(end)}: no such interface; there are {', '.join(self.facts[end]['interfaces'])}")
            if not found["up"]:
                raise LabError(f"{self.named(end)}: it is down or has no link: ip link set dev {self._netif[end]} up")
            if not found["addresses"]["4"]:
                raise LabError(f"{self.named(end)}: no IPv4 address: ip address add ... dev {self._netif[end]}")

    def _next_hop(self, end):
        found = self._look(end, self.address(peer(end)))
        if found["dev"] != self._netif[end]:
            raise LabError(f"{self.named(end)}: packets to {self.address(peer(end))} leave by {found['dev'] or 'no interface'}: "
                           "give both interfaces addresses of one subnet (on one machine: in two network namespaces)")
        if not found["mac"]:
            raise LabError(f"{self.named(end)}: {self.address(peer(end))} does not answer: see cable, switch and addresses")
        return found["mac"]

    def _common_mtu(self):
        for end in ENDS:
            mtu, least = self.facts[end]["netif"]["mtu"], self._path_mtu + HEADERS
            if mtu < least:
                raise LabError(f"{self.named(end)}: its MTU of {mtu} is too small for packets with {self._path_mtu} bytes of payload: "
                               f"ip link set dev {self._netif[end]} mtu {least} (and the switch), or a smaller --path-mtu")
        return min(self.facts[end]["netif"]["mtu"] for end in ENDS)

    # --- changes

    def _change(self, end, undo, script):
        """Runs a script on an end. undo: a script that is sure to run there later, by _undo() or by the guard."""
        changes = self._changes[end]
        name = f"{len(changes):04}"
        changes.append(name)
        self.check(end, ["sh", "-ec", f"""
cat >"$SCRATCH/{name}" <<'UNDO'
{undo}
UNDO
mv "$SCRATCH/{name}" "$SCRATCH/undo/{name}"
{script}"""], timeout=60)

    def _undo(self, end):
        """Takes back all changes of an end."""
        for name in reversed(self._changes[end]):
            self.check(end, ["sh", "-ec", f'sh -e "$SCRATCH/undo/{name}"; rm "$SCRATCH/undo/{name}"'], timeout=60)
        self._changes[end].clear()
        self._after_dpdk.discard(end)

    # --- the ends

    def address(self, end, family=4):
        """The first one, even if another shares a subnet with the other end."""
        found = self.facts[end]["netif"]["addresses"][str(family)]
        if not found:
            raise LabError(f"{self.named(end)}: no IPv{family} address: ip address add ... dev {self._netif[end]}")
        return found[0]

    @property
    def one_machine(self):
        return not any(at.partition(":")[0] in machine.REACH for at in self._at.values())

    def mac(self, end):
        """Where frames for this end go: to its NIC, or to a router before it."""
        return self._hop[peer(end)]

    def netif(self, end):
        return self._netif[end]

    def sight(self, end):
        return end, self._netif[end]

    def eal(self, end, lcores, af_xdp=False):
        """The main lcore only waits: the last CPUs near the NIC are DPDK's."""
        cpus = cpu_list(self.facts[end]["netif"]["cpus"])[-lcores:]
        places = ",".join(f"{lcore}@{cpus[lcore % len(cpus)]}" for lcore in range(lcores))
        if end not in self._after_dpdk:
            # testpmd makes the NIC promiscuous, and does not put that back; a DPDK that is killed leaves its XDP program
            promiscuous = "" if self.facts[end]["netif"]["promiscuous"] else f"ip link set dev {self._netif[end]} promisc off"
            self._change(end, f"{nic.redirect_off(self._netif[end])}\n{promiscuous}", ":")
            self._after_dpdk.add(end)
        return ["--lcores", places, *self._by_socket(end, af_xdp)]

    # --- RDMA

    def rnic(self, end):
        """The RDMA device in hardware of this end's NIC, or None."""
        return next((device for device in self.facts[end]["netif"]["rdma"] if not device["virtual"]), None)

    def rdma(self, end):
        """The device of SoftRoCE on this end's NIC, or None."""
        return self._soft(end) and self._soft(end)["name"]

    def gid_index(self, end, family=4):
        return gid_index(self._soft(end), self.address(end, family))

    def _soft(self, end):
        return next((device for device in self.facts[end]["netif"]["rdma"] if device["virtual"]), None)

    @property
    def rxe_refusal(self):
        for end in ENDS:
            rnic, facts = self.rnic(end), self.facts[end]
            if self._at[end].startswith("netns:"):
                return "SoftRoCE in a network namespace was never tried"
            if rnic:
                return f"{rnic['name']} takes the RoCE packets of {self.named(end)} before SoftRoCE sees them"
            if self._soft(end):
                continue
            if not facts["rxe"]:
                return f"the kernel of {self._at[end] or 'this machine'} has no rdma_rxe"
            if not facts["rdma_tool"]:
                return f"{self._at[end] or 'this machine'} has no rdma(8): run make deps there (or install iproute2)"
        return None

    def rxe_up(self, end):
        if not self._soft(end):
            unload = "" if self.facts[end]["rxe_loaded"] else "modprobe -r rdma_rxe || :"
            self._change(end, f"[ ! -e /sys/class/infiniband/{RXE} ] || rdma link delete {RXE}\n{unload}",
                         f"modprobe -a rdma_rxe ib_uverbs rdma_ucm\nrdma link add {RXE} type rxe netdev {self._netif[end]}")
            self.facts[end] = self._look(end)
        return self.rdma(end)

    def rxe_down(self, end):
        self._undo(end)
        self.facts[end] = self._look(end)

    # --- DPDK reads a copy of each frame (net_af_packet), and the NIC stays with the kernel

    def dpdk_bind(self, end, port=None):
        if end not in self._sinks:
            sink = self.start(end, ["/usr/bin/python3", "-E", "lab/sink.py", self.address(end), port])
            if not sink.expect("ready"):
                raise LabError(f"{self.named(end)}: UDP port {port}: {(sink.stderr.strip().splitlines() or ['no answer'])[-1]}")
            self._sinks[end] = sink

    def dpdk_unbind(self, end):
        sink = self._sinks.pop(end, None)
        if sink:
            sink.kill()
            sink.wait()


def gid_index(device, address):
    """The index of the RoCEv2 GID of this IP address. Pure."""
    ip = ipaddress.ip_address(address)
    wanted = ip if ip.version == 6 else ipaddress.ip_address(f"::ffff:{address}")
    for index, gid in device["gids"].items():
        if ipaddress.ip_address(gid) == wanted:
            return int(index)
    raise LabError(f"{device['name']} has no RoCEv2 GID of {address}")


def cpu_list(text):
    """'0-2,8' -> [0, 1, 2, 8]"""
    spans = [span.partition("-") for span in text.split(",")]
    return [cpu for first, _, last in spans for cpu in range(int(first), int(last or first) + 1)]
