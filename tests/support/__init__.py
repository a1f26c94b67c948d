# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What tests share. A test says `from support.tap import Tap`, and so on, and needs no path: this folder is beside it, or a link
to it is. From here on, lab and compare can be imported too.
"""
import sys

from .project import ROOT

sys.path.insert(1, ROOT)
