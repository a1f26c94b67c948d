# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Every run of a comparison as soon as it is made, in runs.jsonl of its folder: a line says what is compared, each other line is a
run, or before it the mark of one, whether others disturbed it. Whatever ends a comparison, it can go on from there.
"""
import itertools
import json
import os

# Not of the JSON that others build on: runs are as the comparison has them inside.
SCHEMA, NAME = "compare-runs/1", "runs.jsonl"


class JournalError(Exception):
    """One line."""


class Journal:
    """
    seed: of the order of the runs. what: a dict that a comparison has in common with the one that it continues. say: takes a line
    for people.
    """

    def __init__(self, folder, seed, what, say=print):
        self._path, self._say = os.path.join(folder, NAME), say
        self.seed, self._done, self._key = seed, {}, None
        self._write("w", {"schema": SCHEMA, "seed": seed, **what})

    @classmethod
    def resume(cls, folder, what, say=print):
        """JournalError: there is none, or it is of another comparison."""
        journal = cls.__new__(cls)
        journal._path, journal._say, journal._key = os.path.join(folder, NAME), say, None
        head, runs = journal._read()
        for key, value in json.loads(json.dumps(what)).items():
            if head.get(key) != value:
                raise JournalError(f"{journal._path}: {_difference(key, head.get(key), value)}")
        journal.seed, journal._done = head["seed"], {json.dumps(each["key"]): each["run"] for each in runs if "run" in each}
        # what a kill has cut is made again; the others are not lost, whatever happens now
        whole = f"{journal._path}.new"
        if journal._write("w", head, *runs, path=whole):
            os.replace(whole, journal._path)
        return journal

    @property
    def numbers(self):
        """Of the runs that are not made yet."""
        return itertools.count(1 + max((run.get("number") or 0 for run in self._done.values()), default=0))

    @staticmethod
    def discard_empty(folder):
        """Removes a folder that has no run, and nothing else."""
        try:
            with open(os.path.join(folder, NAME), encoding="utf-8") as file:
                runs = sum('"run": ' in line for line in file)
            if not runs and os.listdir(folder) == [NAME]:
                os.unlink(os.path.join(folder, NAME))
                os.rmdir(folder)
        except OSError:
            pass    # it stays

    def run(self, key, make):
        """The run with this key (JSON), made before or now."""
        name = json.dumps(key)
        if name not in self._done:
            self._key = key
            self._done[name] = make()
            self._write("a", {"key": key, "run": self._done[name]})
        return self._done[name]

    def mark(self, found):
        """Writes down the mark (disturbed.py) of the run that is being made, before anybody reads what it has lost."""
        self._write("a", {"key": self._key, "mark": found})

    def _read(self):
        try:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                lines = [line for line in file.read().split("\n") if line]
        except OSError as error:
            raise JournalError(f"{self._path}: {error.strerror}: --resume takes the folder of a run that was interrupted") from None
        try:
            head = json.loads(lines[0])
            runs = [json.loads(line) for line in lines[1:-1]]
        except (ValueError, IndexError):
            raise JournalError(f"{self._path}: no list of runs") from None
        if not isinstance(head, dict) or head.get("schema") != SCHEMA or "seed" not in head:
            raise JournalError(f"{self._path}: no list of runs ({SCHEMA})")
        return head, runs + _whole(lines[1:][-1:])

    def _write(self, mode, *lines, path=None):
        """Whether it could. A full disk must not end what is measured."""
        if not self._path:
            return False
        try:
            with open(path or self._path, mode, encoding="utf-8") as file:
                file.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        except OSError as error:
            self._say(f"compare: {path or self._path}: {error.strerror}: the comparison goes on, but could not be resumed")
            self._path = None
        return self._path is not None


def _whole(lines):
    """The last line may be cut."""
    try:
        return [json.loads(line) for line in lines]
    except ValueError:
        return []


def _difference(key, before, now):
    if key == "parts" and isinstance(before, list) and len(before) == len(now):
        for number, (old, new) in enumerate(zip(before, now), 1):
            for name in (name for name in new if old.get(name) != new[name]):
                return f"another plan: {name} of part {number} was {old.get(name)} there, and is {new[name]} now"
    if key == "parts":
        return "another plan: give the one that was interrupted, and its options"
    return f"{key} was {before} there, and is {now} now: measure anew"
