# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The archives of Debian's and Ubuntu's packages, as this machine's apt has them: behind a mirror of one's own nothing else may be
reached. DEBIAN_MIRROR and UBUNTU_MIRROR say another URL.
"""
import os
import re
import subprocess

from lab import child

KEYS = {name: f"/usr/share/keyrings/{name}-archive-keyring.gpg" for name in ("debian", "ubuntu")}


def variable(distribution):
    return f"{distribution.upper()}_MIRROR"


def mirror(distribution):
    """(URL, file with its keys); the URL is None if neither the variable nor apt knows one. distribution: of KEYS."""
    if url := os.environ.get(variable(distribution)):
        return url, KEYS[distribution]
    # a label that differs is that of its security archive, or of backports
    for origin, label, url, entry in _targets():
        if origin.lower() == label.lower() == distribution:
            return url, _signed_by(*entry.rsplit(":", 1)) or KEYS[distribution]
    return None, KEYS[distribution]


def proxies():
    """apt's settings of proxies, a line each, for a program with another configuration."""
    return [line for line in _output("apt-config", "dump", "Acquire") if re.match(r'Acquire::\S*Proxy\S* "', line)]


def _targets():
    lines = _output("apt-get", "indextargets", "--format", "$(ORIGIN)\t$(LABEL)\t$(REPO_URI)\t$(SOURCESENTRY)", "Identifier: Packages")
    return [words for words in (line.split("\t") for line in lines) if len(words) == 4]


def _signed_by(path, number):
    """The file of keys that this entry of apt's sources names (sources.list(5)): its n-th line, or n-th paragraph."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return None
    entries = text.split("\n")
    if path.endswith(".sources"):
        lines = [line for line in entries if not line.startswith("#")]
        entries = re.split(r"\n\s*\n", "\n".join(lines).strip())
    entry = entries[int(number) - 1] if int(number) <= len(entries) else ""
    found = re.search(r"^Signed-By:\s*(/\S+)|signed-by=(/[^\]\s]+)", entry, re.M | re.I)
    return found and (found[1] or found[2])


def _output(*command):
    done = subprocess.run(child(list(command)), capture_output=True, text=True, check=False)
    return done.stdout.splitlines()
