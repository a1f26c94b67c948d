# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An SSH server for tests, and a client that trusts it: keys in a folder, nobody's home directory is touched."""
import os
import subprocess

# The server sees homes that are empty but for the key, in /mnt: the tree may be in a home. There is a user who is not root.
VISITOR = "visitor"
SERVER = r"""
mount -t tmpfs tmpfs /mnt
mkdir -m 700 /mnt/root /mnt/visitor /mnt/root/.ssh
cp "$1/id.pub" /mnt/root/.ssh/authorized_keys
cp -r /mnt/root/.ssh /mnt/visitor
chown -R 1234:1234 /mnt/visitor
{ sed 's,^\(root:.*:\)[^:]*:,\1/mnt/root:,' /etc/passwd; echo visitor:x:1234:1234::/mnt/visitor:/bin/sh; } >/mnt/passwd
mount --bind /mnt/passwd /etc/passwd
exec dropbear -F -E -s -r "$1/hostkey" -p 22
"""
CONFIG = """
Host {names}
	User root
	IdentityFile {folder}/id
	StrictHostKeyChecking no
	UserKnownHostsFile /dev/null
	LogLevel ERROR
"""


def make_keys(folder, hosts):
    """hosts: {name: address} that the client is to know."""
    for command in (["dropbearkey", "-t", "ed25519", "-f", f"{folder}/hostkey"],
                    ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/id"]):
        subprocess.run(command, check=True, capture_output=True)
    with open(f"{folder}/config", "w", encoding="ascii") as file:
        file.write(CONFIG.format(names=" ".join(hosts), folder=folder))
        for name, address in hosts.items():
            file.write(f"Host {name}\n\tHostName {address}\n")
    os.mkdir(f"{folder}/bin")
    with open(f"{folder}/bin/ssh", "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\nexec /usr/bin/ssh -F {folder}/config "$@"\n')
    os.chmod(f"{folder}/bin/ssh", 0o755)


def path(folder):
    """PATH with that client first."""
    return f"{folder}/bin:{os.environ['PATH']}"


def server(folder):
    """The command of the server. It says "backgrounding" when it listens."""
    return ["unshare", "--mount", "sh", "-ec", SERVER, "sh", folder]
