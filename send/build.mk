# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The software FPGA behind `rocescope send`, which userspace/build.mk links; here are its unit tests.
