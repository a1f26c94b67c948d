# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The measured NIC of an end: its names and addresses, and the scripts that give it from one driver to the next.

The scripts run on the end under `sh -e`. An end is a guest, or a network namespace of this machine (`native`).
"""
import shlex

NAME = "roce0"
RXE = "rxe0"
GID_INDEX = {4: 1, 6: 2}    # of RoCEv2, by the family of the address; 0 derives from the MAC
PCI = "0000:00:10.0"
# a guest's second NIC, for commands
CONTROL = "control0"
CONTROL_PCI = "0000:00:11.0"
ENDS = ("A", "B", "C", "D")     # at most, of one wire
# Each end's number on the wire. Several senders are A1, A2, ..., several receivers B1, B2, ...; of the other side there is one.
NUMBERS = {**{end: number for number, end in enumerate(ENDS, 1)}, "A1": 1, "B1": 2, "A2": 3, "B2": 3, "A3": 4, "B3": 4}
# Gives a row's packets to net_af_xdp, and no others.
REDIRECT = "build/bpf/redirect.bpf.o"
ADDRESSES = {4: "10.9.0.{}", 6: "fd09::{}"}
# 2 MiB pages for DPDK: 256 MiB, of which testpmd needs 128.
HUGEPAGES = 128


def peer(end):
    """Of a pair: the other one."""
    return "B" if end == "A" else "A"


def address(end, family=4):
    """The NIC's IPv4 (a /24) or IPv6 address (a /64)."""
    return ADDRESSES[family].format(NUMBERS[end])


def mac(end):
    return f"52:54:00:09:00:0{NUMBERS[end]}"


def port(end):
    """The device at this NIC's end of the wire: a guest's tap, a namespace's veth."""
    return f"port{end}"


def control_address(end):
    """IPv4 address of the second NIC of a guest, or of "wire" beside them."""
    return f"10.8.0.{NUMBERS.get(end, 254)}"


def control_mac(end):
    return f"52:54:00:08:00:0{NUMBERS[end]}"


def control_port(end):
    """The tap of a guest's second NIC."""
    return f"control{end}"


def find(pci=PCI, name=NAME):
    """Gives a guest's NIC its name."""
    return f"""
modprobe virtio_net
for try in 1 2 3 4 5 6 7 8 9 10; do
	set -- /sys/bus/pci/devices/{pci}/virtio*/net/*
	[ ! -e "$1" ] || break
	sleep 0.2
done
[ -e "$1" ] || {{ echo "no network device at {pci}" >&2; exit 1; }}
old=${{1##*/}}
[ $old = {name} ] || ip link set dev $old name {name}
"""


def prepare_control(end):
    return f"""
{find(CONTROL_PCI, CONTROL)}
ip address add {control_address(end)}/24 dev {CONTROL}
ip link set dev {CONTROL} up
"""


def configure(end, mtu):
    """
    Neighbours are static and IPv6 is quiet: no unexpected frame is on the wire, and none waits for an answer. All ends that a wire
    can have are neighbours, whether they are there or not.
    """
    neighbours = "\n".join(f"neighbour replace {address(other, family)} lladdr {mac(other)} dev {NAME} nud permanent"
                           for other in ENDS if NUMBERS[other] != NUMBERS[end] for family in ADDRESSES)
    return f"""
echo 0 >/proc/sys/net/ipv6/conf/{NAME}/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/{NAME}/router_solicitations
ip -batch - <<END
link set dev {NAME} mtu {mtu} addrgenmode none
link set dev {NAME} up
address add {address(end)}/24 dev {NAME}
address add {address(end, 6)}/64 dev {NAME} nodad
{neighbours}
END
"""


def prepare(end, mtu):
    """Runs once after boot: allows large socket buffers, and sets up the loopback and the NIC."""
    return f"""
ip link set dev lo up
echo {64 << 20} >/proc/sys/net/core/rmem_max
echo {64 << 20} >/proc/sys/net/core/wmem_max
{find()}
{configure(end, mtu)}
"""


def prepare_native(end, mtu):
    """
    The same in a namespace. Frames are as on a real wire: checksums filled in, no segment above the MTU. GRO makes a veth
    receive by a ring of its own, whose drops it counts, and not by the queue that all devices of a CPU share (drivers/net/veth.c).
    """
    return f"""
ip link set dev lo up
ethtool -K {NAME} tx off gso off tso off gro on
{configure(end, mtu)}
"""


def prepare_apart(netif, number, mtu):
    """For a given NIC in a namespace of its own. The link needs a moment. number: of its address. mtu: at least this."""
    netif = shlex.quote(netif)
    return f"""
ip link set dev lo up
[ "$(cat /sys/class/net/{netif}/mtu)" -ge {mtu} ] || ip link set dev {netif} mtu {mtu}
ip link set dev {netif} up
ip address add {ADDRESSES[4].format(number)}/24 dev {netif}
ip address add {ADDRESSES[6].format(number)}/64 dev {netif} nodad
for try in $(seq 100); do
	[ "$(cat /sys/class/net/{netif}/carrier)" != 1 ] || break
	sleep 0.1
done
"""


def to_dpdk():
    return f"""
echo {HUGEPAGES} >/proc/sys/vm/nr_hugepages
pages=$(cat /proc/sys/vm/nr_hugepages)
[ "$pages" -ge {HUGEPAGES} ] || {{ echo "$pages of {HUGEPAGES} hugepages: guests need more memory" >&2; exit 1; }}
modprobe uio_pci_generic
{give("uio_pci_generic")}
"""


def to_kernel(end, mtu):
    return f"""
{give("")}
echo 0 >/proc/sys/vm/nr_hugepages
{find()}
{configure(end, mtu)}
"""


def native_to_dpdk():
    """
    DPDK reads a copy of each frame (net_af_packet). Without its address the kernel drops its own as martians, behind that
    copy, and answers none.
    """
    return f"ip address flush dev {NAME}"


def redirect_off(name):
    """Takes the program of REDIRECT off an interface, if it is there. Nobody else's."""
    name = shlex.quote(name)
    return f"! ip -details link show dev {name} | grep -q 'name redirect_row ' || ip link set dev {name} xdp off"


def give(driver, pci=PCI):
    """Binds the NIC to this driver, or with "" to the one that the kernel chooses."""
    return f"""
device=/sys/bus/pci/devices/{pci}
echo '{driver}' >$device/driver_override
[ ! -e $device/driver ] || echo {pci} >$device/driver/unbind
echo {pci} >/sys/bus/pci/drivers_probe
[ -e $device/driver ] || {{ echo "no driver took {pci}" >&2; exit 1; }}
"""


def rxe_up():
    return f"""
modprobe -a rdma_rxe ib_uverbs rdma_ucm
[ -e /sys/class/infiniband/{RXE} ] || rdma link add {RXE} type rxe netdev {NAME}
"""


def rxe_down():
    return f"[ ! -e /sys/class/infiniband/{RXE} ] || rdma link delete {RXE}"
