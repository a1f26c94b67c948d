# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The guests' kernel: a package of the distribution, downloaded and unpacked under build/lab, never installed."""
import glob
import os
import re
import shutil
import subprocess
import tempfile

from lab import LabError, child

# Debian's, and Ubuntu's (untested): rdma_rxe and sch_netem are among the extra modules there.
METAPACKAGES = ("linux-image-amd64", "linux-image-generic")
_KERNEL_PACKAGE = re.compile(r"linux-(image|modules|modules-extra)-\d\S*")


def fetch(folder, progress):
    """The path of vmlinuz, its modules beside it as virtme-ng expects; done once (the caller holds a lock)."""
    tree = os.path.join(folder, "kernel")
    if not os.path.isdir(tree):
        for left in glob.glob(os.path.join(folder, "kernel-*")):
            shutil.rmtree(left)
        work = tempfile.mkdtemp(prefix="kernel-", dir=folder)
        try:
            _unpack(_packages(), work, progress)
        except LabError:    # the package lists are old, or there are none
            progress("refreshing the package lists")
            _run(["apt-get", "update"], "apt-get update failed")
            _unpack(_packages(), work, progress)
        os.rename(os.path.join(work, "tree"), tree)
        shutil.rmtree(work)
    images = glob.glob(os.path.join(tree, "boot", "vmlinuz-*"))
    if len(images) != 1:
        raise LabError(f"no kernel in {tree}: remove that folder and try again")
    return images[0]


def _packages():
    for meta in METAPACKAGES:
        found, queue = [], [meta]
        while queue:
            for name in _depends(queue.pop()):
                if name not in found and _KERNEL_PACKAGE.fullmatch(name):
                    found.append(name)
                    queue.append(name)
        if found:
            return found
    raise LabError(f"apt knows no {' or '.join(METAPACKAGES)} for the guests' kernel")


def _depends(package):
    out = _run(["apt-cache", "depends", "--important", package], "apt-cache", check=False)
    return re.findall(r"Depends: (\S+)", out)


def _unpack(packages, work, progress):
    tree = os.path.join(work, "tree")
    for package in packages:
        size = re.search(r"^Size: (\d+)", _run(["apt-cache", "show", "--no-all-versions", package], "apt-cache"), re.M)
        progress(f"downloading {package} ({round(int(size[1]) / 1e6)} MB)" if size else f"downloading {package}")
        _run(["apt-get", "download", "-o", "APT::Sandbox::User=root", package],
             f"downloading {package} failed", cwd=work)
    for archive in glob.glob(os.path.join(work, "*.deb")):
        progress(f"unpacking {os.path.basename(archive)}")
        _run(["dpkg", "-x", archive, tree], "unpacking failed")
        os.unlink(archive)
    modules = os.path.join(tree, "lib", "modules")
    if not os.path.isdir(modules):
        os.makedirs(os.path.dirname(modules), exist_ok=True)
        os.symlink("../usr/lib/modules", modules)
    for release in os.listdir(modules):
        _run(["depmod", "-b", tree, release], "depmod failed")


def _run(command, failure, check=True, cwd=None):
    done = subprocess.run(child(command), capture_output=True, text=True, cwd=cwd)
    if check and done.returncode:
        raise LabError(f"{failure}: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")
    return done.stdout
