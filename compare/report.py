# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes report.json, report.csv, report.html and its plots into a dated folder, and the link `latest`. Each file is complete
or absent."""
import csv
import datetime
import json
import os
import shutil
import tempfile

from compare import contradictions, noise, page, transport, verdict

SCHEMA = "rocescope.compare/1"


def now():
    return datetime.datetime.now(datetime.timezone.utc)


class ReportError(Exception):
    """One line."""


def document(paths, rows, searches, begun, seconds, complete, seed, how):
    """
    paths: {where: path}, in the order in which they were measured. how: { "command", "plan": { "file", "parts":
    [plan.Part.table] }, "rocescope": its version }. searches: trials.record() of each. Rows and searches whose figures contradict
    each other are refused.
    """
    rows, searches = checked(rows, searches, paths)
    comparisons = noise.comparisons(rows)
    return {"schema": SCHEMA, "time": begun.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "seconds": round(seconds, 1), "complete": complete, "verdict": verdict.sentences(rows, comparisons, searches),
            "path": next(iter(paths.values())), "paths": paths, "seed": seed, **how, "rows": rows, "comparisons": comparisons,
            "searches": searches}


def checked(rows, searches, paths):
    return ([contradictions.checked(row, paths.get(row["path"])) for row in rows], [contradictions.checked_search(each) for each in searches])


# What compare diff needs of a row, and of one that ran.
ROW, RAN = ("path", "status", "transport", "tool", "operation", "size", "flows", "ip", "rate"), ("each", "goodput_gbps")
SEARCH = ("path", "status", "transport", "tool", "size", "flows", "ip", "goal", "lossless_gbps", "upper_gbps")


def read(path):
    """The document of a report.json, or of a run's folder. Rows whose figures contradict each other are refused."""
    file = os.path.join(path, "report.json") if os.path.isdir(path) else path
    try:
        with open(file, encoding="utf-8") as f:
            found = json.load(f)
    except OSError as error:
        raise ReportError(f"{file}: {error.strerror}") from None
    except ValueError:
        raise ReportError(f"{file}: no JSON, or cut short") from None
    schema = found.get("schema") if isinstance(found, dict) else None
    if not str(schema).startswith(SCHEMA.partition("/")[0] + "/"):
        raise ReportError(f"{file}: no report of compare ({SCHEMA})")
    if schema != SCHEMA:
        raise ReportError(f"{file}: a report {schema}; this version reads {SCHEMA}")
    rows, paths, searches = found.get("rows"), found.get("paths"), found.get("searches") or []
    if not isinstance(rows, list) or not isinstance(paths, dict) or not all(map(_known, rows)) or not all(map(_known_search, searches)):
        raise ReportError(f"{file}: a report of another version, whose rows were others: measure again")
    rows, searches = checked(rows, searches, paths)
    return {**found, "rows": rows, "searches": searches}


def _known(row):
    return isinstance(row, dict) and all(key in row for key in ROW + RAN * (row.get("status") == "ok"))


def _known_search(search):
    return isinstance(search, dict) and all(key in search for key in SEARCH)


def flatten(facts, between=".", prefix=""):
    """{'a': {'b': 1}} -> {'a.b': 1}"""
    flat = {}
    for name, value in facts.items():
        flat.update(flatten(value, between, f"{prefix}{name}{between}") if isinstance(value, dict) else {prefix + name: value})
    return flat


def write_csv(file, report):
    """Rows, then searches, whose rate is `search`, without their trials. An unknown value is empty."""
    searches = [{**each, "rate": transport.SEARCH, "trials": len(each["trials"])} for each in report.get("searches") or ()]
    flat = [flatten(row) for row in [*report["rows"], *searches]]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    # a null needs no column where another row has an object
    columns = [c for c in columns if not any(other.startswith(c + ".") for other in columns)]
    writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)


def _atomically(path, write):
    folder = os.path.dirname(path)
    with tempfile.NamedTemporaryFile("w", dir=folder, prefix=NEW, delete=False, encoding="utf-8", newline="") as file:
        try:
            write(file)
            os.fchmod(file.fileno(), 0o644)
        except BaseException:
            os.unlink(file.name)
            raise
    os.replace(file.name, path)


def save(output, report, begun, say, folder=None):
    """
    Returns the run's folder, and whether it is where it should be. What was measured is not lost: if it cannot be written
    there, it goes to a temporary folder, or else to standard output (None). say: takes a line for people.
    """
    try:
        return write(output, report, begun, folder), True
    except OSError as error:
        say(f"compare: the report cannot be written to {output}: {error.strerror}")
    spare = None
    try:
        spare = tempfile.mkdtemp(prefix="rocescope-compare-")
        folder = write(spare, report, begun)
        say(f"compare: it is in {folder}")
        return folder, False
    except OSError as error:
        if spare:
            shutil.rmtree(spare, ignore_errors=True)
        say(f"compare: nor to {tempfile.gettempdir()}: {error.strerror}. Standard output has it, as report.json would")
    print(_json(report), end="")
    return None, False


def _json(report):
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def write(output, report, begun, folder=None):
    """Returns the run's folder: a new one, or that which it has already. OSError: there is no report."""
    folder = folder or new_folder(output, begun)
    try:
        _atomically(os.path.join(folder, "report.json"), lambda file: file.write(_json(report)))
        _atomically(os.path.join(folder, "report.csv"), lambda file: write_csv(file, report))
        _write_page(folder, report)
    except OSError:
        take_back(folder)
        raise
    link = os.path.join(output, f".latest-{os.getpid()}")
    os.symlink(os.path.basename(folder), link)
    os.replace(link, os.path.join(output, "latest"))
    return folder


def _write_page(folder, report):
    texts = {"report.html": page.render(report)}
    texts.update((os.path.join(PLOTS, name), picture) for name, picture in page.plot_files(report, "../report.html").items())
    os.makedirs(os.path.join(folder, PLOTS), exist_ok=True)
    write_files(folder, texts)


def write_one(path, report):
    """One file, as its name ends: .html, .json or .csv. ReportError: it ends otherwise. OSError."""
    writers = {".html": lambda file: file.write(page.render(report)), ".json": lambda file: file.write(_json(report)),
               ".csv": lambda file: write_csv(file, report)}
    ending = os.path.splitext(path)[1]
    if ending not in writers:
        raise ReportError(f"{path}: its name ends neither in {' nor in '.join(writers)}")
    _atomically(os.path.abspath(path), writers[ending])


def write_files(folder, texts):
    """{file name: text} into a folder. Returns the path of the first. OSError: a file could not be written."""
    for name, text in texts.items():
        _atomically(os.path.join(folder, name), lambda file, text=text: file.write(text))
    return os.path.join(folder, next(iter(texts)))


FILES, PLOTS, NEW = ("report.json", "report.csv", "report.html"), "plots", ".new-"


def take_back(folder):
    """Removes a report that is not whole, and the folder if nothing else is there."""
    shutil.rmtree(os.path.join(folder, PLOTS), ignore_errors=True)
    for name in os.listdir(folder):
        if name in FILES or name.startswith(NEW):
            os.unlink(os.path.join(folder, name))
    if not os.listdir(folder):
        os.rmdir(folder)


def new_folder(output, begun):
    """Two runs that begin in the same second get different folders."""
    os.makedirs(output, exist_ok=True)
    number, stamp = 1, begun.strftime("%Y%m%dT%H%M%SZ")
    while True:
        folder = os.path.join(output, stamp if number == 1 else f"{stamp}-{number}")
        try:
            os.mkdir(folder)
            return folder
        except FileExistsError:
            number += 1
