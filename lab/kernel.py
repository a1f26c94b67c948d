# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The guests' kernel: a package of this distribution or of another suite, unpacked under build/lab and never installed."""
import glob
import lzma
import os
import re
import shutil
import subprocess
import tempfile
from concurrent import futures

from lab import LabError, archive, child

# Debian's, and Ubuntu's, where the extra modules have rdma_rxe and sch_netem.
METAPACKAGES = ("linux-image-amd64", "linux-image-generic")
_KERNEL_PACKAGE = re.compile(r"linux-(image|modules|modules-extra)-\d\S*")

# Kernels by version, the oldest first, and the suites that have them. The first suite that can be reached is used. Old suites vanish
# from the mirrors.
SUITES = {"5.15": ("jammy",), "6.1": ("bookworm",), "6.12": ("bookworm-backports", "trixie")}
UBUNTU = ("jammy",)
UBUNTU_KEYS_IN = "trixie"   # Debian 12 has no package of them
# Where the package debootstrap names the archive that a distribution has for everybody.
DEFAULT_MIRROR = {"debian": ("usr/sbin/debootstrap", re.compile(r'^DEF_MIRROR="(\S+)"', re.M)),
                  "ubuntu": ("usr/share/debootstrap/scripts/gutsy", re.compile(r"\*\)\s+default_mirror (\S+)"))}

# A third of the modules: for devices that no guest has.
UNUSED = ("sound", "drivers/gpu", "drivers/media", "drivers/usb", "drivers/net/wireless")


class Unreachable(LabError):
    """No suite has it any more, or the network is down."""


def fetch(folder, progress, version=None):
    """
    The path of vmlinuz, with its modules beside it as virtme-ng expects. Fetched once; the caller holds a lock.
    version: of SUITES; None: the kernel of the machine's own suite.
    """
    tree = os.path.join(folder, f"kernel-{version}" if version else "kernel")
    if not os.path.isdir(tree):
        for left in glob.glob(os.path.join(folder, "unpack-*")):
            shutil.rmtree(left)
        work = tempfile.mkdtemp(prefix="unpack-", dir=folder)
        try:
            if version:
                _fetch_version(version, work, progress)
            else:
                _fetch_own(work, progress)
            _arrange(os.path.join(work, "tree"), progress)
            os.rename(os.path.join(work, "tree"), tree)
        finally:
            shutil.rmtree(work)
    images = glob.glob(os.path.join(tree, "boot", "vmlinuz-*"))
    if len(images) != 1:
        raise LabError(f"no kernel in {tree}: remove that folder and try again")
    return images[0]


def _fetch_own(work, progress):
    apt = Apt(progress)
    try:
        apt.unpack(work)
    except LabError:    # the package lists are old or missing
        progress("refreshing the package lists")
        apt.update()
        apt.unpack(work)


def _fetch_version(version, work, progress):
    why = []
    for suite in SUITES[version]:
        progress(f"looking for a kernel {version} in {suite}")
        try:
            apt = Apt(progress, suite, work, *_source("ubuntu" if suite in UBUNTU else "debian", work, progress))
            apt.update()
            apt.unpack(work, version)
            return
        except LabError as error:
            why.append(f"{suite}: {error}")
    raise Unreachable(f"no kernel {version}: {'; '.join(why)}")


def _source(distribution, work, progress):
    """(URL, file with its keys): this machine's, or what packages of Debian say."""
    mirror, keys = archive.mirror(distribution)
    if not mirror:
        path, pattern = DEFAULT_MIRROR[distribution]
        tree = os.path.join(work, "debootstrap")
        try:
            Apt(progress).fetch(["debootstrap"], work, tree)
            with open(os.path.join(tree, path), encoding="utf-8") as file:
                mirror = pattern.search(file.read())[1]
        except (LabError, OSError, TypeError) as error:
            raise LabError(f"no archive of {distribution} is known: tell {archive.variable(distribution)}=URL") from error
    if distribution == "ubuntu" and not os.path.exists(keys):
        apt = Apt(progress, UBUNTU_KEYS_IN, work, *_source("debian", work, progress))
        apt.update()
        tree = os.path.join(work, "keys")
        apt.fetch(["ubuntu-keyring"], work, tree)
        keys = os.path.join(tree, keys.lstrip("/"))
    return mirror, keys


class Apt:
    """
    apt of this machine, or with its own lists in the work folder for another suite, which this machine does not know.
    """

    def __init__(self, progress, suite=None, work=None, mirror=None, keys=None):
        self._progress = progress
        self._options = ["-o", "APT::Sandbox::User=root"]
        if suite:
            self._options += self._apart(suite, os.path.join(work, suite), mirror, keys)

    @staticmethod
    def _apart(suite, folder, mirror, keys):
        if not os.path.exists(keys):
            raise LabError(f"no {keys}: install debian-archive-keyring")
        for name in ("state/lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(folder, name))
        with open(os.path.join(folder, "sources.list"), "w", encoding="ascii") as file:
            file.write(f"deb [arch=amd64 lang=none target=Packages signed-by={keys}] {mirror} {suite} main\n")
        settings = {"Dir::State": f"{folder}/state", "Dir::State::status": "/dev/null", "Dir::Cache": f"{folder}/cache",
                    "Dir::Etc::sourcelist": f"{folder}/sources.list", "Dir::Etc::sourceparts": "/dev/null",
                    "Dir::Etc::preferences": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null",
                    # a failed download is an error, not a warning
                    "APT::Update::Error-Mode": "any"}
        return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]

    def update(self):
        _run(["apt-get", *self._options, "update"], "apt-get update failed")

    def unpack(self, work, version=""):
        """Unpacks the kernel into work/tree."""
        self.fetch(self._packages(version), work, os.path.join(work, "tree"))

    def fetch(self, packages, work, tree):
        """Downloads them into work, and unpacks them into `tree`."""
        for package in packages:
            size = re.search(r"^Size: (\d+)", self._cache("show", "--no-all-versions", package), re.M)
            self._progress(f"downloading {package} ({round(int(size[1]) / 1e6)} MB)" if size else f"downloading {package}")
            _run(["apt-get", *self._options, "download", package], f"downloading {package} failed", cwd=work)
        for package in glob.glob(os.path.join(work, "*.deb")):
            self._progress(f"unpacking {os.path.basename(package)}")
            _run(["dpkg", "-x", package, tree], "unpacking failed")
            os.unlink(package)

    def _packages(self, version):
        for meta in METAPACKAGES:
            found, queue = [], [meta]
            while queue:
                for name in self._depends(queue.pop()):
                    if name not in found and _KERNEL_PACKAGE.fullmatch(name):
                        found.append(name)
                        queue.append(name)
            if found and any(f"-{version}" in name for name in found):
                return found
        raise LabError(f"apt knows no {' or '.join(METAPACKAGES)} for the guests' kernel {version}".rstrip())

    def _depends(self, package):
        return re.findall(r"Depends: (\S+)", self._cache("depends", "--important", package))

    def _cache(self, *words):
        return _run(["apt-cache", *self._options, *words], "apt-cache", check=False)


def _arrange(tree, progress):
    """
    Puts the modules where virtme-ng looks for them, decompressed. virtme-ng puts some into an initramfs, where nothing
    can decompress .ko.xz; an emulated CPU would need long for it anyway.
    """
    modules = os.path.join(tree, "lib", "modules")
    if not os.path.isdir(modules):
        os.makedirs(os.path.dirname(modules), exist_ok=True)
        os.symlink("../usr/lib/modules", modules)
    for release in os.listdir(modules):
        for name in UNUSED:
            shutil.rmtree(os.path.join(modules, release, "kernel", name), ignore_errors=True)
        compressed = glob.glob(os.path.join(modules, release, "**", "*.ko.xz"), recursive=True)
        if compressed:
            progress(f"decompressing {len(compressed)} modules")
            with futures.ThreadPoolExecutor() as pool:
                list(pool.map(_decompress, compressed))
        _run(["depmod", "-b", tree, release], "depmod failed")


def _decompress(path):
    with lzma.open(path) as compressed, open(path.removesuffix(".xz"), "wb") as file:
        shutil.copyfileobj(compressed, file)
    os.unlink(path)


def _run(command, failure, check=True, cwd=None):
    done = subprocess.run(child(command), capture_output=True, text=True, cwd=cwd)
    if check and done.returncode:
        raise LabError(f"{failure}: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")
    return done.stdout
