# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
fake_cocotb.py RULE: runs the test of rtl/axis_bridge.py without cocotb, which is no dependency, with a core that hands beats on and
breaks a rule (tests/rtl.test). As much of cocotb as that test uses: at a rising edge all tasks read the values from before it.
"""
import os
import sys
import types

BYTES = 8
WIDTHS = {"tdata": 8 * BYTES, "tkeep": BYTES, "tvalid": 1, "tready": 1, "tlast": 1}


class Value:
    def __init__(self, number, width):
        self.number, self.width = number, width     # None: X

    @property
    def is_resolvable(self):
        return self.number is not None

    def __int__(self):
        return int(self.number)

    def __str__(self):
        return f"{int(self):0{self.width}b}" if self.is_resolvable else "X" * self.width


class Signal:
    def __init__(self, width=1):
        self.width, self.now, self.next = width, 0, 0

    def __len__(self):
        return self.width

    @property
    def value(self):
        return Value(self.now, self.width)

    @value.setter
    def value(self, number):
        self.next = int(number)


class Core:
    """A register. Of the output it drives all but tready."""

    def __init__(self, rule):
        self.rule, self.beats, self.made = rule, 0, 0
        self.clk, self.rst, self._log = Signal(), Signal(), types.SimpleNamespace(info=lambda text, *words: print(text % words))
        for prefix in ("s_axis", "m_axis"):
            for name, width in WIDTHS.items():
                setattr(self, f"{prefix}_{name}", Signal(width))

    def offer(self, data, keep, last):
        self.m_axis_tdata.next, self.m_axis_tkeep.next, self.m_axis_tlast.next, self.m_axis_tvalid.next = data, keep, last, 1

    def edge(self):
        """The next state, of the values before the edge."""
        taken = self.m_axis_tvalid.now and self.m_axis_tready.now
        if taken or self.rule == "falls":
            self.m_axis_tvalid.next = 0
        elif self.rule == "changes" and self.m_axis_tvalid.now:
            self.m_axis_tdata.next = self.m_axis_tdata.now ^ 1
        if self.s_axis_tvalid.now and self.s_axis_tready.now:
            self.beats += 1
            last = self.s_axis_tlast.now
            keep = {"gap": 5, "null": 0 if last else 255, "short": 15}.get(self.rule, self.s_axis_tkeep.now)
            if self.rule != "silent":
                self.offer(self.s_axis_tdata.now, keep, self.rule != "endless" and (last or self.rule == "twice" and self.beats % 8 == 7))
        elif self.rule in ("babbles", "repeats", "goes-on") and (taken or not self.m_axis_tvalid.now) and self.beats % 8 == 0:
            self.made += 1
            self.offer(self.made, 255, self.rule != "babbles" and self.made % 8 == 0)

    def settle(self):
        """What the input and the output make of tready."""
        for signal in vars(self).values():
            if isinstance(signal, Signal):
                signal.now = signal.next
        ready = (not self.m_axis_tvalid.now or self.m_axis_tready.now) and self.rule not in ("never-ready", "repeats") and not (
            self.rule == "stuck" and self.beats == 3)
        self.s_axis_tready.now = self.s_axis_tready.next = None if self.rule == "unknown" else int(ready)


class RisingEdge:
    def __init__(self, clock):
        pass

    def __await__(self):
        yield


class Clock:
    def __init__(self, signal, period, unit):
        pass

    async def start(self):
        pass


def resume(task):
    """Whether it has more to do."""
    try:
        task.send(None)
    except StopIteration:
        return False
    return True


def main():
    tasks, edges = [], [0]
    modules = {"cocotb": {"test": lambda: lambda test: test, "start_soon": tasks.append}, "cocotb.clock": {"Clock": Clock},
               "cocotb.triggers": {"RisingEdge": RisingEdge}, "cocotb.utils": {"get_sim_time": lambda unit: 4 * edges[0]}}
    for name, content in modules.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(content)
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "rtl"))
    import axis_bridge  # what it imports are the modules above

    core = Core(sys.argv[1])
    test = axis_bridge.bridge(core)
    while resume(test):
        for task in list(tasks):
            if not resume(task):
                tasks.remove(task)
        core.edge()
        core.settle()
        edges[0] += 1


try:
    main()
except (AssertionError, ValueError) as e:
    sys.exit(f"{type(e).__name__}: {e}")
