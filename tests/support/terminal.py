# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A terminal (tmux) of a given size, and what it shows."""
import os
import subprocess

from .patience import PATIENCE, until
from .project import ROCESCOPE


class Terminal:
    """A command of rocescope in a terminal. The screen at its end stays until the terminal is closed."""

    count = 0

    def __init__(self, folder, *arguments, command="monitor", size=(80, 24), env="LANG=C.UTF-8", program=ROCESCOPE):
        Terminal.count += 1
        self.tmux = ["tmux", "-S", os.path.join(folder, f"tmux{Terminal.count}"), "-f", "/dev/null"]
        self.folder = folder
        words = " ".join(map(str, [program, command, *arguments]))
        script = (f"stty -g >{folder}/before; env {env} {words}; status=$?; stty -g >{folder}/after; "
                  "echo status $status; exec sleep 1000")
        environment = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR")}
        subprocess.run([*self.tmux, "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), script], check=True,
                       env=environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([*self.tmux, "kill-server"], check=False, capture_output=True)

    def ask(self, *command):
        return subprocess.run([*self.tmux, *command], check=True, capture_output=True, text=True).stdout

    def lines(self, *how):
        return self.ask("capture-pane", "-p", *how).rstrip("\n").split("\n")

    def text(self, *how):
        return "\n".join(self.lines(*how))

    def keys(self, *keys):
        self.ask("send-keys", *keys)

    def type(self, text):
        self.ask("send-keys", "-l", text)

    def wait(self, wanted, seconds=PATIENCE):
        """Waits until the text has `wanted` (a string, or a function of the text). Returns the text, or '' if it never came."""
        def shown():
            text = self.text()
            return text if (wanted in text if isinstance(wanted, str) else wanted(text)) else ""
        return until(shown, seconds)

    def state(self):
        """(whether stty's settings are restored, the cursor is visible, the alternate screen is on)"""
        said = []
        for name in ("before", "after"):
            with open(os.path.join(self.folder, name)) as f:
                said.append(f.read())
        flags = self.ask("display-message", "-p", "#{cursor_flag} #{alternate_on}").split()
        return said[0] == said[1], flags[0] == "1", flags[1] == "1"

    def pid(self):
        panes = self.ask("list-panes", "-F", "#{pane_pid}").split()
        with open(f"/proc/{panes[0]}/task/{panes[0]}/children") as f:
            return int(f.read().split()[0])
