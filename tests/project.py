# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where things are."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROCESCOPE = os.path.join(ROOT, "build", "rocescope")
