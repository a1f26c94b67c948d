# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The transports, found by plan.transports(): a file here with a subclass of Transport is all that one needs."""
