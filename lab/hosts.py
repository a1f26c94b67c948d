# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Machines as they are, each with a NIC of its own and a path between them, used like a lab:

    with Hosts([Place("", "eth0")], [Place("ssh:root@b", "eth0")]) as lab:

One sender and one receiver are the ends "A" and "B". Several senders are "A1", "A2", ..., several receivers "B1", "B2", ...;
`pairs` has each sender with each receiver. Interfaces, addresses, next hops, RDMA devices and GIDs are found. Whatever is changed
is put back at the end, also after a kill.
"""
import collections
import ipaddress
import itertools
import json
import os
import shlex
import shutil
from typing import NamedTuple

from lab import HOSTS, LabError, nic
from lab.inventory import ROCE
from lab.lab import Lab, named_ends, pairs_of, progress_to_stderr

# Bytes of a RoCEv2 packet that rxe allows for beside the payload (drivers/infiniband/sw/rxe/rxe_param.h, RXE_MAX_HDR_LENGTH).
HEADERS = 80
RXE = "rocescope"
PYTHON = ("/usr/bin/python3", "-E")
GUARD = "guard: "   # begins a line of lab/guard.sh
HUGEPAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"


class Place(NamedTuple):
    """Where an end is, as lab.machine.check() has it, and its interface there."""
    at: str
    netif: str


class Hosts(Lab):
    """
    senders, receivers: Places, several of one of them at most. If all are on this machine, their NICs are put into network
    namespaces for the time. path_mtu: bytes of payload that packets are to carry. dpdk_driver: the one that DPDK rows bind the
    NICs to; without one DPDK reads copies of the frames. switch_roce: that roce_off() will be asked for. left: what could not be put back at the end, a line each.
    """
    has_wire = False

    def __init__(self, senders, receivers, path_mtu=4096, dpdk_driver=None, progress=progress_to_stderr, switch_roce=False):
        super().__init__(acceleration=HOSTS, progress=progress, mtu=path_mtu + HEADERS)
        places = {**named_ends("A", senders), **named_ends("B", receivers)}
        self._at = {end: place.at for end, place in places.items()}
        self._netif = {end: place.netif for end, place in places.items()}
        self._apart = {} if any(self._at.values()) else self._netif
        self._settings.update(ends=list(places), machines=self._at, apart=self._apart)
        self._pairs = pairs_of(self, places)
        self._path_mtu, self.dpdk_driver = path_mtu, dpdk_driver
        self._changes = {end: [] for end in places}
        self._sinks, self._bound = {}, set()
        self._switch_roce, self._lasting = switch_roce, collections.Counter()    # _lasting: changes that _undo() leaves, of each end
        self._after_dpdk = set()    # ends where what DPDK leaves will be taken away
        self.facts, self.left = {}, []     # facts: of each end, as inventory.py prints them

    def up(self):
        self._progress(f"reaching {' and '.join(dict.fromkeys(at for at in self._at.values() if at)) or 'this machine'}")
        super().up()
        try:
            self._find()
        except BaseException:
            self.down()
            raise

    def _end(self, keep_logs=False):
        """A guard tells its log what it could not put back."""
        super()._end(keep_logs=True)
        for end in self.ends:
            try:
                with open(os.path.join(self.folder, f"{end}.log"), encoding="utf-8", errors="replace") as log:
                    said = [line.strip() for line in log if line.startswith(GUARD)]
                    self.left += [f"{self.named(end)}: {line.removeprefix(GUARD)}" for line in said]
            except FileNotFoundError:
                pass
        if not keep_logs:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _find(self):
        for end in self.ends:
            self.facts[end] = self._look(end)
        self._check()
        self.mtu = self._common_mtu()
        ways = [way for pair in self.pairs for way in itertools.permutations(pair.end.values())]
        self._hop = {way: self._next_hop(*way) for way in ways}
        self._cpus = self._place_programs()
        if self.dpdk_driver:
            self._check_driver()
        if self._switch_roce:
            self._check_roce()

    def _look(self, end, *words):
        return json.loads(self.check(end, [*PYTHON, "lab/inventory.py", self._netif[end], *words], timeout=60))

    def named(self, end):
        return f"{self._netif[end]} of {self._at[end] or 'this machine'}"

    def _word(self, end):
        """Its interface in a command."""
        return shlex.quote(self._netif[end])

    def _check(self):
        for end in self.ends:
            found = self.facts[end]["netif"]
            if not found:
                raise LabError(f"{self.named(end)}: no such interface; there are {', '.join(self.facts[end]['interfaces'])}")
            if not found["up"]:
                raise LabError(f"{self.named(end)}: it is down or has no link: ip link set dev {self._word(end)} up")
            if not found["addresses"]["4"]:
                raise LabError(f"{self.named(end)}: no IPv4 address: ip address add ... dev {self._word(end)}")

    def _next_hop(self, end, other):
        found = self._look(end, self.address(other))
        if found["dev"] != self._netif[end]:
            raise LabError(f"{self.named(end)}: packets to {self.address(other)} leave by {found['dev'] or 'no interface'}: "
                           "give both interfaces addresses of one subnet (on one machine: in two network namespaces)")
        if not found["mac"]:
            raise LabError(f"{self.named(end)}: {self.address(other)} does not answer: see cable, switch and addresses")
        return found["mac"]

    def _common_mtu(self):
        for end in self.ends:
            mtu, least = self.facts[end]["netif"]["mtu"], self._path_mtu + HEADERS
            if mtu < least:
                raise LabError(f"{self.named(end)}: its MTU of {mtu} is too small for packets with {self._path_mtu} bytes of "
                               f"payload: ip link set dev {self._word(end)} mtu {least} (and the switch), or a smaller --path-mtu")
        return min(self.facts[end]["netif"]["mtu"] for end in self.ends)

    def _place_programs(self):
        """
        {(pair, its end): CPUs near the NIC}, the last one first, for DPDK, which keeps a CPU busy. Programs of one machine
        begin at different CPUs.
        """
        found, before = {}, collections.Counter()
        for pair in self.pairs:
            for end in pair.end.values():
                cpus = cpu_list(self.facts[end]["netif"]["cpus"])[::-1]
                first = before[self.machine(end)] % len(cpus)
                found[pair, end] = cpus[first:] + cpus[:first]
                before[self.machine(end)] += 1
        return found

    def _check_driver(self):
        """Refuses to take a NIC that is needed, or that the driver cannot have."""
        if len(self.pairs) > 1:
            raise LabError(f"DPDK_DRIVER={self.dpdk_driver}: one pair only, because a NIC serves one program of DPDK then")
        if self._apart or any(at.startswith("netns:") for at in self._at.values()):
            raise LabError(f"DPDK_DRIVER={self.dpdk_driver}: not for NICs in network namespaces: they would not return there")
        far = self._logged_in
        for end in self.ends:
            why = driver_refusal(self.facts[end]["pci"], self.dpdk_driver)
            if not why and self._soft(end):
                why = f"SoftRoCE is on it: rdma link delete {self._soft(end)['name']}"
            if why := why or self._needed(end, far):
                raise LabError(f"{self.named(end)}: {self.dpdk_driver} cannot have it: {why}")

    def _needed(self, end, far):
        """Why its interface must not go away for a while. None: it may. far: addresses to which ssh of this machine is connected."""
        here = not self._at[end] or self._at[end].startswith("netns:")
        kept = self.exec(end, [*PYTHON, "lab/netif_settings.py", "save", self._netif[end], *(far if here else [])], timeout=60)
        return kept.stderr.strip().splitlines()[-1].removeprefix(f"{self._netif[end]}: ") if kept.rc else None

    def _check_roce(self):
        """Refuses NICs whose RoCE cannot be switched off, or that are needed."""
        for end in self.ends:
            why = roce_refusal(self.facts[end]) or self._needed(end, self._logged_in)
            if not why and (self._apart or self._at[end].startswith("netns:")):
                why = "not in a network namespace: it would come back outside of it"
            if why:
                raise LabError(f"{self.named(end)}: its RoCE cannot be switched off: {why}")

    @property
    def _logged_in(self):
        """From here to the ends that ssh reaches: the addresses of the servers there."""
        return [self.facts[end]["login"][2] for end in self.ends if self.facts[end]["login"]]

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
        """Takes back all changes of an end but those that last."""
        while len(self._changes[end]) > self._lasting[end]:
            name = self._changes[end][-1]
            self.check(end, ["sh", "-ec", f'''
cd "$SCRATCH/undo"
[ ! -e {name} ] || {{ sh -e ./{name}; rm {name}; }}'''], timeout=60)
            self._changes[end].pop()
        self._after_dpdk.discard(end)

    # --- the ends

    def address(self, end, family=4):
        """The first one, even if another shares a subnet with the other end."""
        found = self.facts[end]["netif"]["addresses"][str(family)]
        if not found:
            raise LabError(f"{self.named(end)}: no IPv{family} address: ip address add ... dev {self._word(end)}")
        return found[0]

    def machine(self, end):
        return self.facts[end]["boot"]

    def stack(self, end):
        return self.facts[end]["boot"], self.facts[end]["netns"]

    @property
    def machines(self):
        """One end of each machine."""
        return list({self.machine(end): end for end in reversed(self.ends)}.values())

    def netif(self, end):
        return self._netif[end]

    def hop(self, end, other):
        return self._hop[end, other]

    def sight(self, end):
        return end, self._netif[end]

    def eal_of(self, pair, end, lcores, af_xdp=False):
        """DPDK's arguments for a program of this pair. Of several lcores the first, the main one, only waits."""
        cpus = self._cpus[pair, end]
        places = ",".join(f"{lcore}@{cpus[(lcores - 1 - lcore) % len(cpus)]}" for lcore in range(lcores))
        if self.dpdk_driver and not af_xdp:
            return ["--lcores", places, "--in-memory", "-m", "128", "-a", self.facts[end]["pci"]["address"]]
        if end not in self._after_dpdk:
            # testpmd makes the NIC promiscuous, and does not put that back; a DPDK that is killed leaves its XDP program
            promiscuous = "" if self.facts[end]["netif"]["promiscuous"] else f"ip link set dev {self._word(end)} promisc off"
            self._change(end, f"{nic.redirect_off(self._netif[end])}\n{promiscuous}", ":")
            self._after_dpdk.add(end)
        return ["--lcores", places, *self._by_socket(end, af_xdp)]

    @property
    def dpdk_copies(self):
        return not self.dpdk_driver

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
        for end in self.ends:
            rnic, facts = self.rnic(end), self.facts[end]
            if self._apart or self._at[end].startswith("netns:"):
                return "SoftRoCE in a network namespace was never tried"
            if rnic:
                more = ": --switch-roce" if facts["pci"] and facts["pci"]["roce"] else ""
                return f"{rnic['name']} takes the RoCE packets of {self.named(end)} before SoftRoCE sees them{more}"
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
            name = f"{RXE}{end}"
            self._change(end, f"[ ! -e /sys/class/infiniband/{name} ] || rdma link delete {name}\n{unload}",
                         f"modprobe -a rdma_rxe ib_uverbs rdma_ucm\nrdma link add {name} type rxe netdev {self._word(end)}")
            self.facts[end] = self._look(end)
        return self.rdma(end)

    def rxe_down(self, end):
        if self._changes[end]:
            self._undo(end)
            self.facts[end] = self._look(end)

    def roce_off(self):
        """
        Switches RoCE off at all NICs: from then on their UDP port 4791 is the kernel's. The driver
        makes the interface anew, which loses its settings; they are restored here and when RoCE is on again.
        """
        for end in self.ends:
            device, python = f"pci/{self.facts[end]['pci']['address']}", " ".join(PYTHON)
            self._undo(end)
            self.check(end, ["sh", "-ec", f'{python} lab/netif_settings.py save {self._word(end)} >"$SCRATCH/with-roce"'], timeout=60)

            def switched(value, device=device, python=python):
                return (f"devlink dev param set {device} name {ROCE} value {value} cmode driverinit\ndevlink dev reload {device}\n"
                        f'{python} "$ROOT/lab/netif_settings.py" restore "$SCRATCH/with-roce"')

            self._change(end, switched("true"), switched("false"))
            self._lasting[end] = len(self._changes[end])
            self.facts[end] = self._look(end)
            if self.rnic(end) or self.facts[end]["pci"]["roce"] is not False:
                raise LabError(f"{self.named(end)}: RoCE is still on after devlink dev reload {device}")

    def roce_on(self):
        """As it was before roce_off()."""
        for end in self.ends:
            self._lasting[end] = 0
            self.rxe_down(end)

    # --- CPUs

    def start(self, where, argv, **options):
        """Programs run on the CPUs of their NIC's NUMA node, where there are others, and so have their memory there."""
        near = self.pinned_to(where)
        return super().start(where, ["taskset", "--cpu-list", near, *argv] if near else argv, **options)

    def pinned_to(self, end):
        """The CPUs that programs of an end are bound to, '0-15'. None: to none, because all are near the NIC."""
        found = self.facts.get(end)
        if not found or not found["netif"]:
            return None
        near = found["netif"]["cpus"]
        return near if len(cpu_list(near)) < found["cpus"] else None

    # --- DPDK

    def dpdk_bind(self, end, port=None):
        """port: the first UDP port of the packets to come; pairs have one each."""
        if self.dpdk_driver and end not in self._bound:
            self.rxe_down(end)  # it would vanish with the interface
            self._bound.add(end)
            self._give_to_driver(end)
        elif not self.dpdk_driver and end not in self._sinks:
            ports = range(port, port + len(self.pairs))
            sink = self.start(end, [*PYTHON, "lab/sink.py", self.address(end), *ports])
            if not sink.expect("ready"):
                raise LabError(f"{self.named(end)}: UDP port {port}: {(sink.stderr.strip().splitlines() or ['no answer'])[-1]}")
            self._sinks[end] = sink

    def _give_to_driver(self, end):
        """With hugepages. The settings of the interface, which vanishes meanwhile, are kept."""
        pci, python = self.facts[end]["pci"], " ".join(PYTHON)
        unload = "" if pci["drivers"][self.dpdk_driver]["loaded"] else f"modprobe -r {self.dpdk_driver} || :"
        self._change(end, f"""
{unload}
now=$(cat {HUGEPAGES})
ours=$((now - $(cat "$SCRATCH/pages" || echo "$now")))
[ $ours -le {nic.HUGEPAGES} ] || ours={nic.HUGEPAGES}
[ $ours -le 0 ] || echo $((now - ours)) >{HUGEPAGES}""", f"""
before=$(cat {HUGEPAGES})
echo "$before" >"$SCRATCH/pages"
echo $((before + {nic.HUGEPAGES})) >{HUGEPAGES}
modprobe {self.dpdk_driver}
[ $(($(cat {HUGEPAGES}) - before)) -lt {nic.HUGEPAGES} ] || exit 0
echo "no room for {nic.HUGEPAGES} hugepages of 2 MiB" >&2
exit 1""")
        # only then is there something to restore
        self.check(end, ["sh", "-ec", f'{python} lab/netif_settings.py save {self._word(end)} >"$SCRATCH/kept"'], timeout=60)
        self._change(end, f"""
{nic.give(pci['driver'], pci['address'])}
echo >$device/driver_override
{python} "$ROOT/lab/netif_settings.py" restore "$SCRATCH"/kept""", nic.give(self.dpdk_driver, pci["address"]))

    def dpdk_unbind(self, end):
        if end in self._bound:
            self._undo(end)
            self._bound.remove(end)
        sink = self._sinks.pop(end, None)
        if sink:
            sink.kill()
            sink.wait()


def driver_refusal(pci, driver):
    """Why this driver cannot have the PCI device of an interface, as inventory.py describes it. None: it can. Pure."""
    if not pci:
        return "it has no PCI device"
    if pci["driver"].startswith("mlx"):
        return f"DPDK drives {pci['driver']} beside the kernel, without another driver"
    if not pci["drivers"][driver]["module"]:
        return f"the kernel there has no module {driver}"
    if driver == "vfio-pci" and not pci["group"] and not pci["noiommu"]:
        return "the machine has no IOMMU in use (intel_iommu=on, or vfio's enable_unsafe_noiommu_mode)"
    if driver == "vfio-pci" and pci["group"] and pci["group"]["devices"] != [pci["address"]]:
        return f"it shares its IOMMU group with {', '.join(each for each in pci['group']['devices'] if each != pci['address'])}"
    if driver != "vfio-pci" and pci["group"] and pci["group"]["type"] != "identity":
        return "an IOMMU is in use, which only vfio-pci knows"
    return None


def roce_refusal(facts):
    """Why RoCE of the NIC that inventory.py describes cannot be switched off. None: it can. Pure."""
    if not any(not device["virtual"] for device in facts["netif"]["rdma"]):
        return "it is no RNIC with a RoCE v2 GID"
    if not facts["pci"] or facts["pci"]["roce"] is None:
        return f"devlink tells no {ROCE} of its driver{' ' + facts['pci']['driver'] if facts['pci'] else ''}"
    return None if facts["pci"]["roce"] else "devlink says that it is off, and there is an RDMA device all the same"


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
