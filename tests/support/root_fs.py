# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Root file systems of distributions, made by mmdebstrap. A command in one has its own mounts and processes, which go with it, and this
machine's kernel.
"""
import os
import shutil
import subprocess
import tempfile

from support.project import ROOT

from lab import archive

FOLDER = os.path.join(ROOT, "build", "debian", "distros")   # the Makefile looks for no .d files in build/debian/
# suite: (distribution, components)
DISTROS = {"bookworm": ("debian", "main"), "trixie": ("debian", "main"), "noble": ("ubuntu", "main universe")}
# Documentation/admin-guide/devices.txt. Those of this machine may have lost their mode.
NODES = {"null": "1 3", "zero": "1 5", "full": "1 7", "random": "1 8", "urandom": "1 9", "tty": "5 0", "net/tun": "10 200"}
# $1: the root file system; the rest is the command
ENTER = f"""
set -e
root=$1
shift
ip link set lo up
mount --bind "$root" "$root"    # unshare --mount wants that / is a mount
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t bpf bpf "$root/sys/fs/bpf"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm" "$root/dev/net"
{"; ".join(f'mknod -m 666 "$root/dev/{name}" c {numbers}' for name, numbers in NODES.items())}
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"
exec chroot $user "$root" "$@"
"""
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}


def why_not(distro):
    """Why this machine cannot make the root file system; None: it can try."""
    if not shutil.which("mmdebstrap"):
        return "no mmdebstrap: apt-get install mmdebstrap"
    distribution = DISTROS[distro][0]
    _, keys = archive.mirror(distribution)
    package = {"debian": "debian-archive-keyring", "ubuntu": "ubuntu-keyring"}[distribution]
    return None if os.path.exists(keys) else f"no {keys}: it comes with the package {package}"


def _sources(distro):
    """Arguments of mmdebstrap. Without a mirror of this machine's own it takes the one that everybody has."""
    distribution, components = DISTROS[distro]
    mirror, keys = archive.mirror(distribution)
    more = [f"deb {mirror} {suite} {components}" for suite in (distro, f"{distro}-updates")] if mirror else []
    return [f"--keyring={keys}", f"--components={components}", *(f"--aptopt={line}" for line in archive.proxies())], more


def base(distro):
    """The archive of a minimal root file system, made once. RuntimeError: the distribution cannot be had; it says why."""
    path = os.path.join(FOLDER, f"{distro}.tar")
    if not os.path.exists(path):
        os.makedirs(FOLDER, exist_ok=True)
        # apt has to be asked for: Ubuntu's is not among the required packages
        how, sources = _sources(distro)
        made = subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--include=apt", *how, distro,
                               f"{path}.new.tar", *sources], capture_output=True, text=True, check=False)
        if made.returncode:
            raise RuntimeError((made.stderr.strip().splitlines() or ["mmdebstrap failed"])[-1])
        os.rename(f"{path}.new.tar", path)
    return path


class RootFs:
    """A root file system in build/debian/distros/NAME. keep: it was made before, and is used as it is."""

    def __init__(self, distro, name, keep=False):
        self.path = os.path.join(FOLDER, name)
        if not (keep and os.path.exists(self.path)):
            archive = base(distro)
            self.remove()
            new = tempfile.mkdtemp(dir=FOLDER)
            subprocess.run(["tar", "-x", "--numeric-owner", "-f", archive, "-C", new], check=True)
            os.chmod(new, 0o755)
            os.rename(new, self.path)
            self.write("usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755)     # no daemon starts
            self.write("etc/dpkg/dpkg.cfg.d/fast", "force-unsafe-io\n")
        for file in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{file}", self.at(f"etc/{file}"))

    def at(self, path):
        return os.path.join(self.path, path)

    def write(self, path, text, mode=0o644):
        with open(self.at(path), "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(self.at(path), mode)

    def run(self, *command, network=False, user="", seconds=600, **environment):
        """user: a name; else root. network: that of this machine; else a lo of its own."""
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *([] if network else ["--net"])]
        return subprocess.run([*apart, "sh", "-c", ENTER, "sh", self.path, *command], capture_output=True, text=True, errors="replace",
                              timeout=seconds, check=False, stdin=subprocess.DEVNULL,
                              env={**ENVIRONMENT, **environment, "user": f"--userspec={user}:{user}" if user else ""})

    def apt(self, *words, seconds=1800):
        return self.run("apt-get", "-q", "-y", "--no-install-recommends", *words, network=True, seconds=seconds)

    def files(self):
        """Every path, but for those of logs, caches and lists of packages."""
        left_out = {self.at(p) for p in ("proc", "sys", "dev", "run", "tmp", "root", "var/log", "var/cache", "var/lib/apt", "var/lib/dpkg")}
        found = set()
        for folder, folders, names in os.walk(self.path):
            folders[:] = [f for f in folders if os.path.join(folder, f) not in left_out]
            found |= {os.path.relpath(os.path.join(folder, name), self.path) for name in folders + names}
        return found

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)
