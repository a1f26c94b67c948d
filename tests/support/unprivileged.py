# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a command as the user nobody. It may read and search everything, because the tree may be in a folder of root's."""
UNPRIVILEGED = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all,+dac_read_search",
                "--ambient-caps=+dac_read_search")
