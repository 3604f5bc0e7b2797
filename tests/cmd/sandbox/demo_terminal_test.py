#!/usr/bin/env python3
"""Runs the demo in a pseudo-terminal, as `make run` does in a terminal: it prints the address of the fleet as a page, the
page is there for as long as the demo stays up, and Ctrl-C ends both.

Usage: demo_terminal_test.py PROGRAM
"""
import json
import os
import pty
import re
import select
import sys
import tempfile
import time
import urllib.error
import urllib.request

DEADLINE = 300  # Seconds; whatever takes longer is stuck.
CTRL_C = b"\x03"


def check(what, holds, *shown):
    if not holds:
        sys.exit(f"FAIL: {what}: {' '.join(map(str, shown))}")


class Terminal:
    """A program in a terminal of its own; `text` is what it has printed, without colours."""

    def __init__(self, *words):
        self.pid, self._screen = pty.fork()
        if self.pid == 0:
            os.execv(words[0], words)
        self._end = time.monotonic() + DEADLINE
        self._printed = b""

    @property
    def text(self):
        return re.sub(r"\x1b\[[0-9;]*m", "", self._printed.decode(errors="replace"))

    def _read(self):
        """Returns False at the end of what it prints."""
        ready, _, _ = select.select([self._screen], [], [], max(0, self._end - time.monotonic()))
        check("the program goes on", ready, "it has printed:\n" + self.text)
        try:
            data = os.read(self._screen, 65536)
        except OSError:  # So a terminal says that nobody has it open any more.
            return False
        self._printed += data
        return bool(data)

    def wait_for(self, pattern):
        """Returns what it matches, as soon as that has been printed."""
        while True:
            found = re.search(pattern, self.text)
            if found:
                return found
            check(f"it prints {pattern}", self._read(), "it has printed:\n" + self.text)

    def type(self, keys):
        os.write(self._screen, keys)

    def wait(self):
        """Returns its exit code."""
        while self._read():
            pass
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


def read(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.status, answer.read().decode()


def main():
    with tempfile.TemporaryDirectory() as root:
        demo = Terminal(os.path.abspath(sys.argv[1]), "demo", "--deadline", "5m", "--dir", os.path.join(root, "demo"))
        demo.wait_for(r"Ctrl-C ends it\.")
        line = re.search(r"\nThe fleet as a page: (http://127\.0\.0\.1:\d+/)\r?\n", demo.text)
        check("the address of the page is printed", line, demo.text)
        url = line.group(1)
        code, html = read(url)
        check("the page", code == 200 and 'src="main.js"' in html, code, html)
        code, fleet = read(url + "api/fleet")
        check("the fleet of the demo", code == 200 and json.loads(fleet)["templates"] >= 2, code, fleet)
        check("the demo stays up", os.waitpid(demo.pid, os.WNOHANG) == (0, 0))
        demo.type(CTRL_C)
        check("Ctrl-C ends it", demo.wait() == 0, demo.text)
        try:
            check("the page has ended, too", False, read(url))
        except urllib.error.URLError:
            pass
    print("all fine")


if __name__ == "__main__":
    main()
