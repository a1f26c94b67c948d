# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The highest rate without loss, in the words of RFC 9971 (MLRsearch): what a search aims at, what its trials say of a load, and which
load is tried next. Pure, no lab.

A trial offers a load for a time. It is high-loss if more than the goal's loss ratio was lost. A load is a lower bound if at most the
exceed ratio of its time was high-loss, an upper bound if more was; in between it takes more trials. Loads here are bits of
payload a second. Where trials are long, a search by short ones comes first, and tells the other one where to begin.
"""
import dataclasses
import math
import re

from compare.transport import bits_per_second

CONFIDENCE, QUANTILE = 0.95, 1.6448536      # and the normal distribution's quantile there
FEW = 100           # lost, up to which the bound is computed by its sum
OFFERED = 0.99      # of what was intended; a trial that offered less is invalid
SHORT = 5           # trials of a short search that decide
INVALID = 4         # trials without a valid one, and the load is beyond the sender
FINEST = 1e-3       # width, below which loads of whole bits could not be told apart
LEAST = 1e-3        # of the first load: where nothing below it was told
WALK = (.9, 1.2)    # of the rate that was found: where a walk over the cliff begins and ends


def _share(text):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", text)
    number = float(match[1]) / 100 if match else 1
    if number >= 1:
        raise ValueError("not a share below 100%")
    return number


def _seconds(text):
    number = float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else 0
    if not number:
        raise ValueError("not a number of seconds")
    return number


def _rate(text):
    bits_per_second(text)
    return text


def _steps(text):
    if not re.fullmatch(r"\d{1,3}", text):
        raise ValueError("not a number of 0 to 999 steps")
    return int(text)


WORDS = {"loss": _share, "exceed": _share, "first": _seconds, "trial": _seconds, "sum": _seconds, "width": _share,
         "from": _rate, "to": _rate, "walk": _steps}
FORMS = "loss=P%, exceed=P%, first=S, trial=S, sum=S, width=P%, from=RATE, to=RATE, walk=STEPS, rfc2544"


@dataclasses.dataclass(frozen=True)
class Goal:
    """The RFC's goal attributes, each by its name there without 'goal'."""
    loss: float = 0.0       # loss ratio
    exceed: float = 0.0     # exceed ratio: people ask for a rate at which nothing is lost
    first: float = None     # initial trial duration, s; None: that of all
    trial: float = 1.0      # final trial duration, s
    sum: float = 5.0        # duration sum, s
    width: float = 0.05     # relative width: of the upper bound
    least: str = None       # min load, a rate
    most: str = None        # max load; None: what the sender offers as fast as it goes
    walk: int = 0           # trials over the cliff afterwards

    @classmethod
    def parse(cls, text):
        """'loss=0.5%,trial=2' or 'rfc2544' (60 s, after trials of 1 s), which may come first."""
        words = text.split(",")
        fields = {"first": 1.0, "trial": 60.0, "sum": 60.0} if words[0] == "rfc2544" else {}
        for word in words[words[0] == "rfc2544":]:
            name, _, value = word.partition("=")
            try:
                fields[{"from": "least", "to": "most"}.get(name, name)] = WORDS[name](value)
            except KeyError:
                raise ValueError(f"{word}: none of {FORMS}") from None
            except ValueError as error:
                raise ValueError(f"{word}: {error}") from None
        goal = cls(**fields)
        if goal.sum < goal.trial:
            raise ValueError(f"{text}: the sum of the durations is below that of one trial ({goal.trial:g} s)")
        if goal.first and goal.first >= goal.trial:
            raise ValueError(f"{text}: the first trials are to be shorter than the others ({goal.trial:g} s)")
        if goal.width < FINEST:
            raise ValueError(f"{text}: a width below {100 * FINEST:g}%")
        if goal.least and goal.most and bits_per_second(goal.least) >= bits_per_second(goal.most):
            raise ValueError(f"{text}: it begins where it ends")
        return goal

    @property
    def text(self):
        """What parse() reads."""
        rates = [f"{word}={rate}" for word, rate in (("from", self.least), ("to", self.most)) if rate]
        shares = (f"{name}={f'{getattr(self, name) * 100:.9f}'.rstrip('0').rstrip('.')}%" for name in ("loss", "exceed", "width"))
        short = [f"first={self.first:g}"] if self.first else []
        walk = [f"walk={self.walk}"] * bool(self.walk)
        return ",".join([*shares, *short, f"trial={self.trial:g}", f"sum={self.sum:g}", *rates, *walk])


    @property
    def short(self):
        """The goal of the search by short trials: as many of them as the usual goal has. None: there is none."""
        return dataclasses.replace(self, first=None, trial=self.first, sum=SHORT * self.first) if self.first else None


def judged(goal, losses):
    """
    What a load is by its trials so far: 'lower' or 'upper' bound; None: it takes more trials. losses: the loss ratio of each.
    """
    bad = sum(loss > goal.loss for loss in losses) * goal.trial
    good = len(losses) * goal.trial - bad
    whole = max(good + bad, goal.sum)
    allowed = whole * goal.exceed + 1e-9    # of a sum of decimal fractions
    if whole - good <= allowed:
        return "lower"
    return "upper" if bad > allowed else None


def conditional_throughput(goal, load, losses):
    """
    What a lower bound forwards at least, but for the exceed ratio of its time: the load less its loss ratio at that quantile. What
    is missing of the goal's sum counts as lost.
    """
    remaining = max(len(losses) * goal.trial, goal.sum) * (1 - goal.exceed)
    for loss in sorted(losses):
        remaining -= goal.trial
        if remaining <= 1e-9:
            return load * (1 - loss)
    return 0.0


def bound(lost, packets):
    """
    The loss ratio that is not exceeded, with 95 %, after so many packets of which so many were lost: without a loss 3/N. By the
    Poisson distribution (the chi-squared bound), which is on the safe side. None without packets.
    """
    if not packets:
        return None
    if lost > FEW:      # Wilson and Hilferty's approximation: right to 1e-4
        return min(1.0, (lost + 1) * (1 - 1 / (9 * (lost + 1)) + QUANTILE / (3 * math.sqrt(lost + 1))) ** 3 / packets)
    low, high = float(lost), lost + 10 * math.sqrt(lost + 1) + 10
    for _ in range(60):
        mean = (low + high) / 2
        fewer = math.fsum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(lost + 1))
        low, high = (mean, high) if fewer > 1 - CONFIDENCE else (low, mean)
    return min(1.0, high / packets)


@dataclasses.dataclass(frozen=True)
class Trial:
    """What came of one. load: as intended; loss: ratio; offered, goodput: bits of payload a second."""
    load: float
    loss: float
    offered: float
    goodput: float
    paced: bool = True      # False: as fast as it goes; the load is what was offered

    @property
    def valid(self):
        """What was lost although less was offered is lost all the same."""
        return self.loss > 0 or not self.paced or self.offered >= OFFERED * self.load


class Search:
    """
    Ask next_load() for what to try, tell add() what came of it. The first trial is at the most: it says what the sender can
    offer, and what arrives of that, which is where the search begins.
    """

    def __init__(self, goal, before=None):
        """before: a search by shorter trials. This one begins with what that found."""
        self.goal = goal
        self.most = bits_per_second(goal.most) if goal.most else None
        self.least = bits_per_second(goal.least) if goal.least else None
        self.first = self._start = None
        self._trials = {}       # {load: [Trial]}
        if before:
            self.first, self.most, self.least = before.first, before.most, before.least
            self._start = before.lower or before.least

    def add(self, trial):
        if not self.first:
            self.first = trial
            self.most = self.most or trial.load
            self.least = min(self.least or LEAST * self.most, self.most)
        self._trials.setdefault(trial.load, []).append(trial)

    def losses(self, load):
        """Of its valid trials."""
        return [trial.loss for trial in self._trials.get(load, ()) if trial.valid]

    def kind(self, load):
        """'lower' or 'upper' bound, 'sender' (it did not offer so much), or None: it takes more trials."""
        losses = self.losses(load)
        invalid = len(self._trials.get(load, ())) - len(losses)
        return judged(self.goal, losses) or ("sender" if invalid >= INVALID and invalid > len(losses) else None)

    @property
    def upper(self):
        """The relevant upper bound: the smallest load that is one, or that is beyond the sender. None: there is none."""
        return min((load for load in self._trials if self.kind(load) in ("upper", "sender")), default=None)

    @property
    def lower(self):
        """The relevant lower bound: the largest load below the upper bound that is one. None: there is none."""
        below = self.upper or math.inf
        return max((load for load in self._trials if load < below and self.kind(load) == "lower"), default=None)

    @property
    def limit(self):
        """What ends it above: 'loss', 'sender' (it offers no more), 'most' (the search was told to end there)."""
        if self.upper:
            return "sender" if self.kind(self.upper) == "sender" else "loss"
        return "most" if self.goal.most else "sender"

    def next_load(self):
        """Whole bits a second; None: the search has ended. First of all the goal's most, or 0: as fast as it goes."""
        if not self.first:
            return self.most or 0
        lower, upper = self.lower, self.upper
        undecided = [load for load in self._trials if (lower or 0) < load < (upper or math.inf) and not self.kind(load)]
        if self.first.loss:
            undecided = [load for load in undecided if load != self.most]   # it was tried for what arrives
        if undecided:
            return min(undecided)
        if upper is None:
            return self._above(lower)
        if lower is None:
            return None if upper <= self.least else self._below(upper)
        middle = float(round(math.sqrt(lower * upper)))
        return None if upper - lower <= self.goal.width * upper or not lower < middle < upper else middle

    def _above(self, lower):
        if lower is None:
            return min(max(float(round(self._start or self.first.goodput)), self.least), self.most)
        if lower >= self.most:
            return None
        load = float(round(lower * (1 + self._step())))
        return self.most if load * (1 + self.goal.width) >= self.most else load

    def _below(self, upper):
        load = upper / (1 + self._step())
        if self.kind(upper) == "sender":
            load = min(load, max(trial.offered for trial in self._trials[upper]))
        elif upper == self.most and self.first.loss and not self._start:
            load = min(load, self.first.goodput)
        return max(float(round(load)), self.least)

    def _step(self):
        """Each is twice as large as the one before."""
        decided = sum(bool(self.kind(load)) for load in self._trials if load != self.most)
        return self.goal.width * 2 ** max(0, decided - 1)

    def walk(self):
        """The loads of a walk over the cliff, on both sides of what was found."""
        begin, end = WALK
        steps = self.goal.walk if self.lower else 0
        loads = [round(self.lower * (begin + (end - begin) * n / max(1, steps - 1))) for n in range(steps)]
        return [float(load) for load in loads if load <= self.most]
