# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""TAP 13 in the kselftest's manner: numbered results, '# SKIP', exit 0 passed, 1 failed, 4 skipped."""
import sys
import traceback


class Tap:
    def __init__(self):
        self.count = self.failed = 0
        print("TAP version 13", flush=True)

    def ok(self, condition, words, diag=None):
        """One result. Prints diag (any object) if it failed. Returns the condition."""
        self.count += 1
        self.failed += not condition
        print(f"{'ok' if condition else 'not ok'} {self.count} - {words}", flush=True)
        if not condition and diag is not None:
            self.note(diag)
        return bool(condition)

    def equal(self, got, want, words):
        return self.ok(got == want, words, f"got {got!r}, want {want!r}")

    def skip(self, words, why):
        self.count += 1
        print(f"ok {self.count} - {words} # SKIP {why}", flush=True)

    def note(self, text):
        for line in str(text).splitlines():
            print(f"# {line}", flush=True)

    def skip_all(self, why):
        print(f"1..0 # SKIP {why}", flush=True)
        sys.exit(4)

    def done(self):
        print(f"1..{self.count}", flush=True)
        sys.exit(1 if self.failed or not self.count else 0)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        """`with Tap() as t:` ends the test. An exception is a failed result with its trace as a diagnostic."""
        if kind is SystemExit:
            return False
        if kind is not None:
            self.ok(False, f"no exception ({kind.__name__})", "".join(traceback.format_exception(kind, value, trace)))
        self.done()
