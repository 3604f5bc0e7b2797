"""Commands of a page of the documentation, typed one after the other into one shell."""

import os
import re
import subprocess
import time

from .process import Timeout, die_with_parent

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`((?:kubectl|curl|karmadactl|karmada-[a-z-]+|go|helm|make|skopeo) [^`]*)`")


def blocks(page, wanted="sh"):
    """[commands] of each fenced block of the language, in the page's order. A command may have several lines."""
    found = []
    for indent, language, text in _FENCE.findall(page):
        if language == wanted:
            found.append(list(_commands(line.removeprefix(indent) for line in text.splitlines())))
    return found


def inline(page):
    """The commands between the lines, such as those in tables."""
    return sorted(set(_INLINE.findall(_FENCE.sub("", page))))


def _commands(lines):
    """Lines that belong together make one command: a function, a loop, a line that goes on after a backslash."""
    held = []
    for line in lines:
        held.append(line)
        text = "\n".join(held)
        if not line.endswith("\\") and subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True).returncode == 0:
            if text.strip() and not text.startswith("#"):
                yield text
            held = []
    assert not held, f"no whole command: {held}"


class Shell:
    """One bash. What is typed and what is answered goes to a log that reads like a terminal; close() ends it and all that it
    started."""

    def __init__(self, log, folder, env):
        self._log, self._count = log, 0
        log.write_text("")
        with open(log, "ab") as out:
            self._bash = subprocess.Popen(
                ["bash", "-m"], stdin=subprocess.PIPE, stdout=out, stderr=out, text=True, cwd=folder,
                env={**os.environ, **env}, preexec_fn=die_with_parent)

    def type(self, command, timeout=120):
        """(exit code, what was printed since) once the command has ended or went to the background."""
        self._count += 1
        mark = f"__end_of_command_{self._count}__"
        with open(self._log, "a", encoding="utf-8") as log:
            log.write("$ " + command.replace("\n", "\n  ") + "\n")
        begin = self._log.stat().st_size
        self._bash.stdin.write(f"{command}\nprintf '\\n{mark} %s\\n' $?\n")
        self._bash.stdin.flush()
        end = time.monotonic() + timeout
        while True:
            printed = self._log.read_bytes()[begin:].decode(errors="replace")
            if found := re.search(rf"^{mark} (\d+)$", printed, re.MULTILINE):
                return int(found.group(1)), printed[:found.start()].strip()
            if time.monotonic() > end or self._bash.poll() is not None:
                raise Timeout(f"{command[:300]}: not done within {timeout:g} s:\n{printed[-2000:]}")
            time.sleep(0.1)

    def close(self):
        self._bash.stdin.write("kill $(jobs -p) 2> /dev/null; wait; exit\n")
        self._bash.stdin.close()
        try:
            self._bash.wait(40)
        except subprocess.TimeoutExpired:
            self._bash.kill()
            self._bash.wait(10)
