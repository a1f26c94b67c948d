# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which transports exist, which rows they have in a comparison, and in which order the rows run. No lab."""
import fnmatch
import functools
import importlib
import pkgutil

from compare import transports as folder
from compare.transport import Transport

# Rows run in this order of their transports' drivers, so that the NICs change drivers once.
DRIVERS = ("kernel", "dpdk", None)


@functools.cache
def transports():
    """All transports of compare/transports/, in the table's order."""
    found = {}
    for module in pkgutil.iter_modules(folder.__path__, folder.__name__ + "."):
        here = [kind() for kind in vars(importlib.import_module(module.name)).values() if _is_transport(kind, module.name)]
        if not here:
            raise TypeError(f"{module.name}: no subclass of Transport with a name")
        for transport in here:
            _check(transport)
            if found.setdefault(transport.name, transport) is not transport:
                raise TypeError(f"{module.name}: there is another transport '{transport.name}'")
    return sorted(found.values(), key=lambda transport: transport.order)


def _is_transport(kind, module):
    """Whether this is a transport class of that module. Shared base classes have no name."""
    return isinstance(kind, type) and issubclass(kind, Transport) and kind.__module__ == module and "name" in vars(kind)


def _check(transport):
    """Fails before a lab boots if something is missing."""
    if not all((transport.words, transport.tools, *(word for tool in transport.tools for word in (tool.name, tool.operation)))):
        raise TypeError(f"transport '{transport.name}' needs words and tools, and each tool a name and an operation")


def transport(name):
    return next(each for each in transports() if each.name == name)


def programs():
    """Names of our stream programs that the transports run."""
    return list(dict.fromkeys(tool.program for each in transports() for tool in each.tools if tool.own))


def all_rows(sizes, rate):
    """All rows, in the order they run."""
    return [row for each in sorted(transports(), key=lambda each: DRIVERS.index(each.driver))
            for row in each.rows(sizes, rate)]


def matching(rows, patterns):
    """Rows that match shell patterns, comma-separated: 'udp', 'rc/perftest', '*/*/4096/full'."""
    wanted = patterns.split(",")
    return [row for row in rows
            if any(fnmatch.fnmatchcase(row.name, p) or fnmatch.fnmatchcase(row.name, p + "/*") for p in wanted)]
