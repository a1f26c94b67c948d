# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The comparator: runs every transport over one path, with rocescope as the referee on the wire."""

# Limit for commands that take a second or two on a quiet machine. A busy machine that also emulates the guests' CPUs may need a
# minute.
PATIENCE_S = 180
