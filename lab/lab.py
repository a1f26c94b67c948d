# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The lab as programs use it:

    with Lab() as lab:
        server = lab.start("B", ["iperf3", "-s", "-1"])
        server.expect("listening")
        print(lab.exec("A", ["iperf3", "-c", lab.address("B")], timeout=30).stdout)
        print(lab.wire(["ip", "-s", "link", "show", lab.port("A")]).stdout)

"A" and "B" are the guests, with ends="ABC" or "ABCD" also "C" and "D"; "wire" is this machine inside the lab's namespaces. With
ends=["A1", "A2", "B"] there are several senders, with ["A", "B1", "B2"] several receivers: `lab.pairs` has each sender with each
receiver. The guests see the machine's root file system, but what they write is lost with them, except in `lab.share`. However the program ends,
its lab ends too.

With acceleration="native" the ends are network namespaces of this machine's own kernel, each with a veth as its NIC: the speed is
that of the machine. Files are the machine's.
"""
import fcntl
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys

from lab import HOSTS, NATIVE, LabError, accel, frames, kernel, nic
from lab.process import Process, connect

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "build", "lab")
RUN = os.path.join(FOLDER, "run")
VNG = os.path.join(ROOT, "build", "venv", "bin", "vng")
# Programs that the lab, and virtme-ng in it, run on this machine, and their packages.
TOOLS = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "ip": "iproute2", "modprobe": "kmod",
         "file": "file", "unshare": "util-linux", "setpriv": "util-linux"}
ACCELERATIONS = {"kvm": "KVM", "tcg": "no KVM: emulated CPUs, ten times slower and more"}
# What a guest has of its own, and what would be taken for another option of QEMU.
OWN_FOLDERS = ("/", "/dev", "/proc", "/run", "/sys", "/tmp", "/usr")
UNSHAREABLE = " \t\n,"
_numbers = itertools.count(1)


def progress_to_stderr(words):
    print(f"lab: {words}", file=sys.stderr, flush=True)


class Lab:
    """
    name: default: one that no other lab has. memory, cpus: of each guest. acceleration: auto, kvm, tcg or native. kernel:
    default: this machine's suite; or a version of kernel.SUITES ("6.12"). ends: "A" alone has no peer and boots in
    little more than half the time; "ABC" and "ABCD" are more guests on the same wire, and named_ends() has several senders or
    receivers. control: the guests have a second NIC, on a network of its own with the wire's namespace. share: a folder of this
    machine that the guests see and write, and that outlives the lab; by default one of the lab's own.
    """

    def __init__(self, name=None, mtu=4500, memory="1G", cpus=2, acceleration="auto", progress=progress_to_stderr,
                 kernel=None, ends="AB", control=False, share=None):
        self.name = name or f"{os.getpid()}-{next(_numbers)}"
        if not self.name.replace("-", "").replace("_", "").isalnum():
            raise LabError(f"a lab's name has letters, digits, - and _, not '{self.name}'")
        self.folder = os.path.join(RUN, self.name)
        self.share = os.path.abspath(share) if share else os.path.join(self.folder, "share")
        if share and (why := _unshareable(self.share)):
            raise LabError(f"{self.share} cannot be shared with guests: {why}")
        self.nic = nic.NAME     # of every end of a lab
        self.mtu = mtu
        self.kernel = self.accel = self.boot_seconds = None
        numbers = sorted(nic.NUMBERS.get(end, 0) for end in ends)
        if acceleration != HOSTS and (not ends or numbers != list(range(1, len(ends) + 1))):
            raise LabError(f"a lab's ends are {nic.ENDS[0]} to {nic.ENDS[-1]} at most, not '{' '.join(ends)}'")
        self._settings = {"mtu": mtu, "memory": memory, "cpus": cpus, "ends": list(ends), "control": control}
        self._pairs = pairs_of(self, ends) if any(len(end) > 1 for end in ends) else [self]
        self._acceleration = acceleration
        self._version = kernel
        self._progress = progress
        self._process = self._lifeline = None

    @classmethod
    def attach(cls, name):
        """Uses a running lab, whoever started it. Only down() ends it."""
        lab = cls(name)
        connect(lab.folder).close()
        lab._know()
        return lab

    # --- up and down

    def __enter__(self):
        self.up()
        return self

    def __exit__(self, *_):
        self.down()

    def up(self):
        """Boots, or raises LabError with the reason. The lab lives as long as this program, until leave() or down()."""
        own = self._acceleration in (NATIVE, HOSTS)
        _require(own)
        os.makedirs(RUN, exist_ok=True)
        with _locked(os.path.join(FOLDER, "lock")):
            settings = {**self._settings, "root": ROOT, "vng": VNG, "share": self.share}
            if not own:
                settings["image"] = kernel.fetch(FOLDER, self._progress, self._version)
            settings["accel"] = (self._acceleration if self._acceleration != "auto" else
                                 accel.choose(FOLDER, settings["image"], self._progress))
            _remove_dead()
            lock = self._make_folder()
        if not own:
            guests = ("a guest", "two guests", "three guests", "four guests")[len(settings["ends"]) - 1]
            self._progress(f"booting {guests} ({ACCELERATIONS[settings['accel']]})")
        try:
            self._spawn(settings, lock)
            self._await_ready()
        except BaseException:
            self._end(keep_logs=True)
            raise
        self._know()
        self._progress(f"up after {self.boot_seconds} s, kernel {self.kernel}")

    def leave(self, keeper=None):
        """Lets the lab outlive this program, until down(). keeper: or until the process with this pid ends."""
        process = [os.pidfd_open(keeper)] if keeper else []
        socket.send_fds(self._lifeline, [b"+"], process)
        for fd in process:
            os.close(fd)
        self._lifeline.close()
        self._process = self._lifeline = None

    def down(self):
        """Ends everything in the lab and waits until nothing is left."""
        if self._process:
            self._end()
            return
        with connect(self.folder) as connection:
            frames.Writer(connection.send).send(frames.DOWN, 0)
            connection.recv(1)
        with _locked(os.path.join(self.folder, "lock")):
            shutil.rmtree(self.folder, ignore_errors=True)

    def _make_folder(self):
        os.makedirs(self.folder, exist_ok=True)
        lock = open(os.path.join(self.folder, "lock"), "w", encoding="ascii")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabError(f"the lab '{self.name}' is up already: lab down --name {self.name} ends it") from None
        os.makedirs(self.share, exist_ok=True)
        return lock

    def _spawn(self, settings, lock):
        """The processes started here inherit the lock: it is held as long as any of them is left."""
        self._lifeline, theirs = socket.socketpair()
        settings["lifeline"] = theirs.fileno()
        with theirs, lock, open(os.path.join(self.folder, "supervisor.log"), "wb") as log:
            apart = ["unshare", "--pid", "--net", "--mount", "--fork", "--kill-child", "--mount-proc"]
            self._process = subprocess.Popen(
                [*([] if self._acceleration == HOSTS else apart),
                 "/usr/bin/python3", os.path.join(ROOT, "lab", "supervisor.py"), json.dumps(settings)],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=(theirs.fileno(), lock.fileno()), start_new_session=True)
        with open(os.path.join(self.folder, "pid"), "w", encoding="ascii") as file:
            file.write(f"{self._process.pid}\n")

    def _await_ready(self):
        with self._lifeline.makefile("r", encoding="utf-8") as lines:
            line = lines.readline()
        outcome = json.loads(line) if line else {"failed": f"it ended while booting, see {self.folder}/supervisor.log"}
        if "failed" in outcome:
            raise LabError(outcome["failed"])

    def _know(self):
        with open(os.path.join(self.folder, "info.json"), encoding="ascii") as file:
            info = json.load(file)
        self.kernel, self.accel, self.mtu = info["kernel"], info["accel"], info["mtu"]
        self.boot_seconds, self.share = info["boot_seconds"], info["share"]
        self._settings["ends"] = info["ends"]

    def _end(self, keep_logs=False):
        if self._lifeline:
            self._lifeline.close()
        if self._process:
            self._process.wait()
        self._process = self._lifeline = None
        if not keep_logs:
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- commands

    def start(self, where, argv, **options):
        """Starts a Process. options: timeout (seconds, then it is killed), cwd, env (added), on_output."""
        return Process(self.folder, where, argv, **options)

    def exec(self, where, argv, timeout=None, **options):
        """Runs a command to its end and returns a Result. A guest needs seconds where this machine needs tenths."""
        return self.start(where, argv, timeout=timeout, **options).wait()

    def wire(self, argv, timeout=None, **options):
        return self.exec("wire", argv, timeout, **options)

    def check(self, where, argv, timeout=None):
        """Like exec, but a failure is a LabError. Returns standard output."""
        result = self.exec(where, argv, timeout)
        if result.rc:
            why = (result.stderr or result.stdout).strip().splitlines()
            name = argv[3] if argv[0] == "sh" and len(argv) > 3 else argv[0]     # of sh -c SCRIPT: its $0
            raise LabError(f"{where}: {name} failed ({result.rc}): {why[-1] if why else 'it said nothing'}")
        return result.stdout

    # --- the ends of the wire

    def address(self, end, family=4):
        return nic.address(end, family)

    def mac(self, end):
        return nic.mac(end)

    def port(self, end):
        """The device in "wire" that carries this guest's frames."""
        return nic.port(end)

    def netif(self, end):
        """The measured NIC of this end."""
        return self.nic

    def stack(self, end):
        """Equal for ends, or "wire", that share a network stack and its counters."""
        return end

    def sight(self, end):
        """Where a referee sees what this end sends and receives: (where, its device there)."""
        return "wire", self.port(end)

    has_wire = True     # between the ends, in this machine's hands
    end = {"A": "A", "B": "B"}  # the names of a pair's sender and receiver: of several pairs they differ
    left = ()           # what could not be put back on machines that outlive it

    @property
    def ends(self):
        return list(self._settings["ends"])

    @property
    def pairs(self):
        """Paths for the two programs of a row, each from a sender "A" to a receiver "B"."""
        return self._pairs

    def machine(self, end):
        """Equal for ends of one machine."""
        return "" if self.native else end

    def hop(self, end, other):
        """The MAC address to which an end sends what is for another."""
        return self.mac(other)

    def named(self, end):
        """For people."""
        return end

    @property
    def dpdk_copies(self):
        """Whether DPDK reads copies of the frames (net_af_packet), while the NIC stays with the kernel."""
        return self.native

    @property
    def native(self):
        """Whether the ends have no kernels of their own: figures are of real CPUs, and DPDK uses net_af_packet."""
        return self.accel in (NATIVE, HOSTS)

    def eal(self, end, lcores, af_xdp=False):
        """
        DPDK's arguments for this end's NIC and so many lcores. On this machine each end has a CPU, and takes no hugepages.
        af_xdp: by net_af_xdp, which leaves the NIC to the kernel; xdp_off() follows.
        """
        if self.native:
            return ["--lcores", f"(0-{lcores - 1})@{(nic.NUMBERS[end] - 1) % os.cpu_count()}", *self._by_socket(end, af_xdp)]
        return ["-l", "0" if lcores == 1 else f"0-{lcores - 1}", "--in-memory", "-m", "128", "-a", nic.PCI]

    def eal_of(self, pair, end, lcores, af_xdp=False):
        """The same for a program of one of several pairs."""
        return self.eal(end, lcores, af_xdp)

    def _by_socket(self, end, af_xdp):
        """
        By net_af_packet frames go through the NIC's queue, which counts what it drops, and past a referee on the NIC (tcx). By
        default (PACKET_QDISC_BYPASS) a busy NIC would drop them; on a veth that is not faster.
        """
        packet = "net_af_packet0,iface={},framesz=8192,blocksz=65536,framecnt=512,qdisc_bypass=0"
        xdp = f"net_af_xdp0,iface={{}},xdp_prog={nic.REDIRECT}"
        vdev = (xdp if af_xdp else packet).format(self.netif(end))
        return ["--no-pci", "--no-huge", "--no-shconf", "-m", "256", "--vdev", vdev]

    def xdp_off(self, end):
        """Takes away the XDP program of a DPDK that was killed."""
        self._script(end, nic.redirect_off(self.netif(end)))

    def rdma(self, end):
        """The RDMA device that SoftRoCE puts on this end's NIC."""
        return nic.RXE

    def gid_index(self, end, family=4):
        """Of the RoCEv2 GID of this end's address."""
        return nic.GID_INDEX[family]

    @property
    def rxe_refusal(self):
        """Why there is no SoftRoCE. None: there is."""
        if not self.native:
            return None
        known = subprocess.run(["modprobe", "-nq", "rdma_rxe"], check=False).returncode == 0
        return "SoftRoCE between namespaces was never tried" if known else "this machine's kernel has no rdma_rxe"

    def rxe_up(self, end):
        """Puts SoftRoCE on the NIC and returns the device's name."""
        self._script(end, nic.rxe_up())
        return nic.RXE

    def rxe_down(self, end):
        self._script(end, nic.rxe_down())

    def dpdk_bind(self, end, port=None):
        """
        Takes the NIC from the guest's kernel for DPDK and returns its PCI address. Reserves hugepages; run DPDK with --in-memory.
        In a namespace the NIC stays the kernel's, without an address. port: UDP port of the packets to come, where the kernel
        gets a copy.
        """
        self._script(end, nic.native_to_dpdk() if self.native else nic.rxe_down() + "\n" + nic.to_dpdk())
        return nic.PCI

    def dpdk_unbind(self, end):
        """Gives the NIC back to the kernel, with its addresses and neighbours, and frees the hugepages."""
        self._script(end, nic.configure(end, self.mtu) if self.native else nic.to_kernel(end, self.mtu))

    def _script(self, end, script):
        self.check(end, ["sh", "-ec", script], timeout=120)


class Pair:
    """A sender "A" and a receiver "B" of several: the path of a row's two programs."""
    OF_A_PLACE = {"start", "exec", "address", "netif", "xdp_off", "rnic", "rdma", "gid_index", "machine"}

    def __init__(self, lab, sender, receiver):
        self._lab = lab
        self.end = {"A": sender, "B": receiver}

    def __getattr__(self, name):
        """What is the same for all pairs, and what the lab tells of the place at an end."""
        found = getattr(self._lab, name)
        return (lambda end, *rest, **options: found(self.end[end], *rest, **options)) if name in self.OF_A_PLACE else found

    def mac(self, end):
        """Where frames for this end go: to its NIC, or to a router before it."""
        return self._lab.hop(self.end[nic.peer(end)], self.end[end])

    def eal(self, end, lcores, af_xdp=False):
        return self._lab.eal_of(self, self.end[end], lcores, af_xdp)


def named_ends(side, places):
    """{"A": place}, or {"A1": place, "A2": place}"""
    return {side: places[0]} if len(places) == 1 else {f"{side}{number}": place for number, place in enumerate(places, 1)}


def pairs_of(lab, ends):
    """Each sender with each receiver."""
    sides = [[end for end in ends if end.startswith(side)] for side in "AB"]
    return [Pair(lab, *pair) for pair in itertools.product(*sides)]


def _require(own_kernel):
    if os.geteuid() != 0:
        raise LabError("needs root (it makes taps and namespaces): run with sudo")
    if own_kernel:
        return
    if os.uname().machine != "x86_64":
        raise LabError(f"runs x86_64 guests on x86_64 only, not on {os.uname().machine}")
    if len(ROOT.split()) > 1:
        raise LabError(f"virtme-ng takes no blanks in paths, and there is one in {ROOT}")
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            raise LabError(f"{tool} is missing: run make deps (or install {package})")
    if not os.access(VNG, os.X_OK):
        raise LabError("virtme-ng is missing in build/venv: run make deps")


def _unshareable(folder):
    """Why guests cannot have this folder. None: they can."""
    if not os.path.isdir(folder):
        return "no such folder"
    if os.path.realpath(folder) in OWN_FOLDERS:
        return f"a guest has {folder} of its own, so choose a folder in it"
    if set(folder) & set(UNSHAREABLE):
        return "its path has a blank or a comma"
    return None


def _remove_dead():
    """Removes the folders of killed labs: nobody holds their lock. The caller holds the lock for creating folders."""
    for name in os.listdir(RUN):
        folder = os.path.join(RUN, name)
        try:
            with open(os.path.join(folder, "lock"), encoding="ascii") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
        except BlockingIOError:
            pass
        except FileNotFoundError:
            shutil.rmtree(folder, ignore_errors=True)


class _locked:
    """Holds an exclusive lock on a file for a `with` block."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        self._file = open(self._path, "w", encoding="ascii")
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self._file.close()
