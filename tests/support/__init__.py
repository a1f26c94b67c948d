# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Shared by the tests. A test says `from support.tap import Tap`, and so on, and needs no path: this folder, or a link to it, is
beside it. It also makes lab and compare importable.
"""
import sys

from .project import ROOT

sys.path.insert(1, ROOT)
