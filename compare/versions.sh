#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Prints what software this end has, and how its kernel is set, for compare/versions.py. It starts few processes, since that is
# slow on an emulated CPU. What is not there prints nothing.
#   versions.sh PACKAGES PROGRAMS SYSCTLS      each a list of words
echo "kernel $(uname -r)"
# shellcheck disable=SC2086 # words
dpkg-query -W -f 'package ${Package} ${Version}\n' $1 2>/dev/null
for program in $2; do
	command -v "$program" >/dev/null && echo "program $program $("$program" --version 2>&1)"
done
cd /proc/sys || exit
# shellcheck disable=SC2046 # words
grep -s . $(echo "$3" | tr . /)
exit 0
