# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Paths of the project, and how much of a test to run."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
ROCESCOPE = os.path.join(ROOT, "build", "rocescope")
LONG = os.environ.get("TEST_LONG") == "1"   # make test-long: whole grids
