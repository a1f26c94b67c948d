# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Boots one guest with virtme-ng and passes frames to and from its agent. Runs in the lab's namespaces."""
import json
import os
import shlex
import signal
import socket
import subprocess
import threading
import time

from lab import LabError, frames, nic

# An emulated boot takes 10 s, and 80 s on a machine with ten times too much to do. One that never ended was seen (QEMU 7.2, a
# busy machine: the guest kept its CPU busy for ten minutes and said nothing), so a boot is begun again.
BOOT_S = 200
BOOTS = 3

# These would take half of an emulated boot. The guest has three devices: the lab loads their drivers, and devtmpfs makes the
# nodes. They are masked in a mount namespace of this guest's QEMU, whose root the guest sees.
MASKED = ("/usr/lib/systemd/systemd-udevd", "/usr/bin/udevadm", "/usr/bin/systemd-tmpfiles")

# The emulated CPUs' time stamp counters agree. A kernel that doubts this leaves the emulation at every reading of the clock.
# Mitigations protect nothing in our own guest and cost an emulated CPU much. On a busy machine too few timer interrupts arrive
# while the kernel tests the timer, and it gives up ('8254 timer not connected to IO-APIC').
KERNEL_OPTIONS = {"kvm": "", "tcg": "tsc=reliable mitigations=off no_timer_check"}

# An emulated CPU copies by `rep movsb` one byte at a time. So the kernel must not believe that this is fast (ERMS, FSRM). Page
# tables of five levels (LA57), and the ban on the kernel's access to user memory (SMAP), cost time as well.
EMULATED_CPU = "max,erms=off,fsrm=off,smap=off,la57=off"

# Frames are as on a real wire: checksums filled in, no segment above the MTU, in both directions.
NO_OFFLOADS = ",".join(f"{name}=off" for name in (
    "csum", "gso", "guest_csum", "guest_tso4", "guest_tso6", "guest_ecn", "guest_ufo",
    "host_tso4", "host_tso6", "host_ecn", "host_ufo"))


class Guest:
    """Calls on_frame(kind, channel, payload) with what the agent sends, and once with None when the guest has ended."""

    def __init__(self, end, config, on_frame):
        self.end = end
        self.kernel = None
        self._config = config
        self._on_frame = on_frame
        self._log = os.path.abspath(f"{end}.log")
        self._writer = None

    def boot(self):
        """Boots. Returns when the agent waits for commands."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(f"{self.end}.port")
            listener.listen(1)
            for _ in range(BOOTS):
                process = self._spawn()
                connection, stream, hello = self._meet(listener, process)
                if hello or process.poll() is not None:
                    break
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if not hello:
            raise LabError(self._why())
        connection.settimeout(None)
        self._listen(connection, stream, hello)

    def prepare(self):
        """The script that sets up the NIC."""
        return nic.prepare(self.end, self._config["mtu"]) + (nic.prepare_control(self.end) if self._config["control"] else "")

    def close(self):
        """It ends with the namespaces of the lab."""

    def _listen(self, connection, stream, hello):
        self.kernel = json.loads(hello[2])["kernel"]
        self._writer = frames.Writer(connection.send)
        threading.Thread(target=self._relay, args=(stream,), daemon=True).start()

    def handle(self, kind, channel, payload):
        try:
            self._writer.send(kind, channel, payload)
        except OSError:
            pass    # it has ended: _relay reports that

    def _relay(self, stream):
        try:
            while frame := frames.read(stream):
                self._on_frame(*frame)
        except OSError:
            pass
        self._on_frame(None, None, None)

    @staticmethod
    def _meet(listener, process):
        """(connection, its stream, the agent's first frame); the frame is None if the guest does not boot in time."""
        deadline = time.monotonic() + BOOT_S
        listener.settimeout(0.2)
        while process.poll() is None and time.monotonic() < deadline:
            try:
                connection = listener.accept()[0]
            except TimeoutError:
                continue
            connection.settimeout(max(1, deadline - time.monotonic()))
            stream = connection.makefile("rb", buffering=frames.CHUNK)
            try:
                return connection, stream, frames.read(stream)
            except (TimeoutError, OSError):
                break
        return None, None, None

    def _why(self):
        with open(self._log, encoding="utf-8", errors="replace") as log:
            lines = [line.strip() for line in log if line.strip()]
        return f"guest {self.end} did not boot, see {self._log}: {lines[-1] if lines else 'it said nothing'}"

    def _spawn(self):
        masks = "".join(f"[ ! -e {path} ] || mount --bind /bin/true {path}; " for path in MASKED)
        # HOME and TMPDIR: the user's virtme-ng settings are not used, and temporary files vanish with the lab.
        environment = {**os.environ, "HOME": os.getcwd(), "TMPDIR": os.getcwd(),
                       "PATH": f"{os.path.dirname(self._config['vng'])}:{os.environ.get('PATH', os.defpath)}"}
        with open(self._log, "wb") as log:
            return subprocess.Popen(["unshare", "--mount", "sh", "-ec", f"{masks} exec {shlex.join(self._vng())}"],
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, process_group=0)

    def _vng(self):
        config = self._config
        agent = os.path.join(config["root"], "lab", "agent.py")
        command = [config["vng"], "--run", config["image"], "--name", f"lab{self.end}", "--user", "root",
                   "--memory", config["memory"], "--cpus", str(config["cpus"]), "--cwd", "/",
                   "--force-9p", "--disable-microvm", "--verbose",
                   "--append", f"loglevel=4 {KERNEL_OPTIONS[config['accel']]}",
                   f"--qemu-opts={shlex.join(self._cpu() + self._devices())}"]
        if config["accel"] == "tcg":
            command.append("--disable-kvm")     # its choice of a CPU comes before ours, and QEMU takes the last one
        start = f"{self._mounts()}; exec /usr/bin/python3 -S -s -E {shlex.quote(agent)}"
        return [*command, "--", start]

    def _mounts(self):
        """
        Folders to mount again: virtme-ng covers some (such as /var/tmp) with empty ones. 9p without a cache asks the host at
        every look at a path, and fetches programs page by page. So /usr, which does not change meanwhile, has a cache, and the
        others read ahead. The guest's kernel modules, which virtme-ng put below /usr, stay there.
        """
        root, share = (shlex.quote(self._config[name]) for name in ("root", "share"))
        mount = "mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288"
        return (f"[ -e {root}/lab/agent.py ] || {{ mkdir -p {root}; {mount},ro root {root}; }}; "
                "mkdir -p /run/usr/read /run/usr/written/lib/modules /run/usr/work /run/modules; "
                f"mount --rbind /usr/lib/modules /run/modules; {mount},ro,cache=loose usr /run/usr/read; "
                "mount -t overlay -o lowerdir=/run/usr/read,upperdir=/run/usr/written,workdir=/run/usr/work usr /usr; "
                f"mount --move /run/modules /usr/lib/modules; mkdir -p {share}; {mount},access=any share {share}; cd {root}; "
                "for f in /sys/class/bdi/9p*/read_ahead_kb; do echo 1024 >$f; done")

    def _cpu(self):
        return ["-cpu", EMULATED_CPU] if self._config["accel"] == "tcg" else []

    def _devices(self):
        port, mtu = nic.port(self.end), self._config["mtu"]
        slot, control_slot = (pci.split(":")[2].split(".")[0] for pci in (nic.PCI, nic.CONTROL_PCI))
        paths = {"root": f"{self._config['root']},readonly=on", "share": self._config["share"], "usr": "/usr,readonly=on"}
        folders = [argument for name, path in paths.items() for argument in
                   ("-fsdev", f"local,id={name},path={path},security_model=none,multidevs=remap",
                    "-device", f"virtio-9p-pci,fsdev={name},mount_tag={name}")]
        control = ["-netdev", f"tap,id=apart,ifname={nic.control_port(self.end)},script=no,downscript=no",
                   "-device", f"virtio-net-pci,netdev=apart,addr=0x{control_slot},mac={nic.control_mac(self.end)}"
                   ] if self._config["control"] else []
        return [*folders, *control, "-device", "virtio-serial-pci,id=lab", "-chardev", f"socket,id=control,path={self.end}.port",
                "-device", "virtserialport,bus=lab.0,chardev=control,name=lab.control",
                "-netdev", f"tap,id=wire,ifname={port},script=no,downscript=no",
                "-device", f"virtio-net-pci,netdev=wire,addr=0x{slot},mac={nic.mac(self.end)},host_mtu={mtu},"
                           f"rx_queue_size=1024,{NO_OFFLOADS}"]
