# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The comparator: every transport over one path, with rocescope as the referee on the wire."""
