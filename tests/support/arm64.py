# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
arm64 on a machine of another kind: a root file system of Debian's arm64 packages, which are unpacked and not installed; programs
built with its libraries into build/arm64; qemu-user, which runs them; and a guest with Debian's arm64 kernel.
"""
import os
import re
import selectors
import shlex
import shutil
import subprocess
import tempfile
import time

from lab import child
from lab.process import Result

from . import root_fs
from .project import ROOT

TOOLS = {"mmdebstrap": "mmdebstrap", "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu", "clang": "clang", "busybox": "busybox-static",
         "depmod": "kmod", "qemu-aarch64-static": "qemu-user-static", "qemu-system-aarch64": "qemu-system-arm"}
SUITE = "bookworm"
FOLDER = os.path.join(os.path.dirname(root_fs.FOLDER), "arm64")
SYSROOT = os.path.join(FOLDER, "root")
BUILD = "build/arm64"
CROSS = [f"BUILD={BUILD}", "CROSS_COMPILE=aarch64-linux-gnu-", f"SYSROOT={SYSROOT}", "SANITIZE="]
# beside the libraries: the kernel, and what tests/monitor_basic.test and support/kernel_facts.py run in the guest
GUEST_PACKAGES = ("linux-image-arm64", "busybox-static", "bash", "coreutils", "grep", "mount", "util-linux", "bsdutils", "iproute2", "ethtool",
                  "kmod", "python3")

# The programs of build/arm64 in the place of those of build/. $1: the tree
OURS = "for built in $1/build/arm64/*; do place=$1/build/${built##*/}; [ ! -e $place ] || mount --bind $built $place; done"

# A user namespace has its own binfmt_misc since Linux 6.7. The magic is that of qemu-user's package.
MAGIC = (rb":arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:"
         rb"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:").decode()
EMULATE = """
set -e
kinds=/proc/sys/fs/binfmt_misc
if [ ! -e $kinds/qemu-aarch64 ]; then
	mount -t binfmt_misc binfmt_misc $kinds
	printf %s "$MAGIC$(command -v qemu-aarch64-static):F" >$kinds/register
fi
"""

# The guest: its root is SYSROOT under a file system that takes what is written. $TREE, $MODULES are set before it.
IN_GUEST = "/run/share"
INIT = f"""
/bin/busybox --install -s /bin
mkdir /proc /sys /read /written /new
mount -t proc proc /proc
for module in $MODULES; do insmod $module; done
nine() {{ tag=$1; shift; mkdir -p $1; mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288$2 $tag $1; }}
nine root /read ,ro,cache=loose
mount -t tmpfs tmpfs /written
mkdir /written/upper /written/work
mount -t overlay -o lowerdir=/read,upperdir=/written/upper,workdir=/written/work overlay /new
for folder in dev proc sys tmp run; do mkdir -p /new/$folder; done
mount -t devtmpfs devtmpfs /new/dev
mkdir -p /new/dev/pts /new/dev/shm
mount -t devpts devpts /new/dev/pts
mount -t proc proc /new/proc
mount -t sysfs sysfs /new/sys
mount -t bpf bpf /new/sys/fs/bpf
mount -t tmpfs tmpfs /new/tmp
mount -t tmpfs tmpfs /new/run
nine tree /new$TREE ,ro,cache=loose
nine share /new{IN_GUEST}
set -- /new$TREE
{OURS}
[ -e /new/bin/sh ] || ln -s bash /new/bin/sh
ip link set lo up
cd /
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
exec chroot /new /bin/bash -c '
	echo "<up:0>"
	while read -r n; do sh $0/$n </dev/null >$0/$n.out 2>$0/$n.err; echo "<$n:$?>"; done
' {IN_GUEST}
"""
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
# With LSE atomics, without pointer authentication, which is slow to emulate.
QEMU = ["qemu-system-aarch64", "-machine", "virt", "-accel", "tcg,thread=multi", "-cpu", "neoverse-n1", "-smp", "2", "-m", "2G",
        "-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio"]
BOOT_S = 600


class Missing(Exception):
    """Why this machine cannot do it."""


def _run(command, failure, **how):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, **how)
    if done.returncode:
        raise Missing(f"{failure}: {(done.stderr.strip().splitlines() or ['it said nothing'])[-1]}")
    return done.stdout


def require():
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            raise Missing(f"no {tool}: apt-get install {package}")


def make_root():
    """SYSROOT, made once for the libraries that packaging/apt.txt has."""
    with open(os.path.join(ROOT, "packaging", "apt.txt"), encoding="utf-8") as file:
        wanted = ",".join((*re.findall(r"^lib\S+-dev$", file.read(), re.M), *GUEST_PACKAGES))
    made = os.path.join(SYSROOT, "packages")
    if os.path.exists(made) and open(made, encoding="utf-8").read() == wanted:
        return
    os.makedirs(FOLDER, exist_ok=True)
    shutil.rmtree(SYSROOT, ignore_errors=True)
    keyring, sources = root_fs.DISTROS[SUITE]
    with tempfile.TemporaryDirectory(dir=FOLDER) as work:
        new = os.path.join(work, "root")
        _run(["mmdebstrap", "--quiet", "--mode=root", "--variant=extract", "--architectures=arm64",
              f"--keyring={root_fs.KEYRINGS}/{keyring}", f"--include={wanted}", SUITE, new, *(f"deb {line}" for line in sources)],
             "mmdebstrap failed")
        for folder, folders, names in os.walk(os.path.join(new, "usr", "lib")):
            for link in (os.path.join(folder, name) for name in folders + names):
                if os.path.islink(link) and (target := os.readlink(link)).startswith("/"):   # the linker would look on this machine
                    os.unlink(link)
                    os.symlink(os.path.relpath(new + target, folder), link)
        _run(["depmod", "-b", new, *os.listdir(os.path.join(new, "lib", "modules"))], "depmod failed")
        with open(os.path.join(new, "packages"), "w", encoding="utf-8") as file:
            file.write(wanted)
        os.rename(new, SYSROOT)


def emulated(*command, ours=True, seconds=600):
    """
    Runs a command, in whose processes programs for arm64 run, in the tree. ours: with the programs of build/arm64 in build/.
    Missing: the kernel has no binfmt_misc for us.
    """
    script = f"{EMULATE}{OURS if ours else ''}\nshift; echo emulated >&2; exec \"$@\""
    apart = child(["unshare", "--user", "--map-root-user", "--mount-proc", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh",
                   ROOT])
    ran = subprocess.run([*apart, *command], cwd=ROOT, capture_output=True, text=True, errors="replace", timeout=seconds, check=False,
                         stdin=subprocess.DEVNULL, env={**os.environ, "QEMU_LD_PREFIX": SYSROOT, "MAGIC": MAGIC})
    before, begun, ran.stderr = ran.stderr.partition("emulated\n")
    if not begun:
        raise Missing(f"binfmt_misc of a user namespace, which Linux 6.7 has: {before.strip()}")
    return ran


class Guest:
    """
    with Guest() as guest: a guest with two emulated CPUs, which sees this tree. It can be used as a Lab of one end. Missing: it did not
    boot.
    """

    nic = "lo"  # it has no other

    def __enter__(self):
        self._work = tempfile.mkdtemp(prefix="guest-", dir=FOLDER)
        self._share = os.path.join(self._work, "share")
        os.mkdir(self._share)
        self._commands, self._said = 0, ""
        release, = os.listdir(os.path.join(SYSROOT, "lib", "modules"))
        folders = {"root": f"{SYSROOT},readonly=on", "tree": f"{ROOT},readonly=on", "share": self._share}
        self._qemu = subprocess.Popen(
            child([*QEMU, "-kernel", os.path.join(SYSROOT, "boot", f"vmlinuz-{release}"), "-initrd", self._initramfs(release),
             "-append", "console=ttyAMA0 loglevel=4 mitigations=off panic=-1",
             *(word for tag, path in folders.items() for word in
               ("-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap",
                "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"))]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if not self._until("<(up):0>", BOOT_S):
            said = self._said.strip().splitlines() or ["it said nothing"]
            self.__exit__()
            raise Missing("the guest did not boot:\n" + "\n".join(said[-20:]))
        self.kernel = release
        return self

    def __exit__(self, *_):
        self._qemu.kill()
        self._qemu.wait()
        shutil.rmtree(self._work, ignore_errors=True)

    def _initramfs(self, release):
        """busybox, the modules that reach SYSROOT, and INIT."""
        shown = _run(["modprobe", "-d", SYSROOT, "-S", release, "--show-depends", "-a", *MODULES], "modprobe")
        modules = list(dict.fromkeys(os.path.relpath(path, SYSROOT) for path in re.findall(r"^insmod (\S+)", shown, re.M)))
        folder = os.path.join(self._work, "initramfs")
        for path in ("bin/busybox", *modules):
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            shutil.copy(os.path.join(SYSROOT, path), os.path.join(folder, path))
        with open(os.path.join(folder, "init"), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/busybox sh\nTREE={shlex.quote(ROOT)}\nMODULES={shlex.quote(' '.join(modules))}\n{INIT}")
        os.chmod(file.name, 0o755)
        archive = f"{folder}.cpio"
        _run(["sh", "-c", f"find . | busybox cpio -o -H newc >{shlex.quote(archive)}"], "cpio", cwd=folder)
        return archive

    def exec(self, _, argv, timeout=None):
        """As of a Lab."""
        self._commands += 1
        name = str(self._commands)
        with open(os.path.join(self._share, name), "w", encoding="utf-8") as file:
            file.write(f"cd {shlex.quote(ROOT)}\nexec {shlex.join(argv)}\n")
        try:
            self._qemu.stdin.write(f"{name}\n".encode())
            self._qemu.stdin.flush()
        except BrokenPipeError:
            pass    # it has ended: _until() sees that
        status = self._until(rf"<{name}:(\d+)>", timeout)
        return Result(-9 if status is None else int(status), self._output(f"{name}.out"), self._output(f"{name}.err"), status is None)

    def _output(self, name):
        try:
            with open(os.path.join(self._share, name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return self._said[-4096:]

    def _until(self, pattern, timeout):
        """What the console's output matches; None: not in time, or the guest has ended."""
        deadline = time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self._qemu.stdout, selectors.EVENT_READ)
            while not (found := re.search(pattern, self._said)):
                if not selector.select(max(0, deadline - time.monotonic())) or not (data := os.read(self._qemu.stdout.fileno(), 65536)):
                    return None
                self._said += data.decode(errors="replace")
        return found[1]
