# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The transports, found by plan.transports(). A new transport needs only a file here with a subclass of Transport."""
