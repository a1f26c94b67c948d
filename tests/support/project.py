# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Paths of the project, and how much of a test to run."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
ROCESCOPE = os.path.join(ROOT, "build", "rocescope")
CAPTURES = os.path.join(ROOT, "pcap", "captures")
# options for captures whose files lack this information
CAPTURE_OPTIONS = {"bth.pcap": ["--link", "bth"], "tunnels.pcap": ["--decap"], "erspan-cut.pcap": ["--decap"]}
LONG = os.environ.get("TEST_LONG") == "1"   # make test-long: whole grids


def captures(folder=CAPTURES):
    """The captures there, of whatever format: files with an ending that is not that of a text about them."""
    names = sorted(name for name in os.listdir(folder) if os.path.splitext(name)[1] not in ("", ".json", ".md"))
    return [path for path in (os.path.join(folder, name) for name in names) if os.path.isfile(path)]
