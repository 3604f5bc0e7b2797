"""What upstream's karmadactl does on a sandbox: the session of docs/karmadactl.md, typed again (no servers of Kubernetes).

With RECORD=1 the page gets what the commands print now.
"""

import os
import pathlib
import re
import unittest

from rig import paths, suite
from rig.process import run, wait_until
from rig.sandbox import Sandbox

PAGE = paths.ROOT / "docs" / "karmadactl.md"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# What differs from run to run, and what stands for it in a comparison.
_VARIES = ((r"\b(web|old)-[a-z0-9]{6,10}-[a-z0-9]{5}\b", r"\1-POD"), (r"\b(\d+(\.\d+)?(ms|s|m|h|d))+(?=\s|$)", "TIME"),
           (r"\b\d+m\b", "CPU"), (r"\b\d+Mi\b", "MEMORY"), (r"\b\d+%", "SHARE"), (r"https?://127\.0\.0\.1:\d+", "URL"),
           (r"\b\d+\.\d+\.\d+\.\d+\b", "ADDRESS"), (r"\b3\d{4}/", "PORT/"),
           (r"at \d{4}-\d\d-\d\dT[\d:]+Z", "at TIME"), (r"[0-9a-f]{8}-[0-9a-f-]{27}", "UID"), (r"^\S*\d\d:\d\d:\d\d\S*.*?\] ", ""))
# How long a command may take to print what it printed then: what it looks at comes about by and by.
_PATIENCE = 60


def _comparable(text):
    for pattern, word in _VARIES:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    lines = [re.sub(r" {2,}|-{4,}", " ", line).strip() for line in text.strip().splitlines()]
    return "\n".join(lines[:1] + sorted(lines[1:]))


def _commands(block):
    """(command, what it printed) of a block."""
    return [(command, "".join(printed)) for command, *printed in
            ([part[0], *part[1:]] for part in (piece.splitlines(keepends=True) for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]))]


class KarmadactlTest(unittest.TestCase):
    needs_plane = False
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.SANDBOX)
        suite.require_binary(paths.DAEMON)
        cls.site = cls.enterClassContext(Sandbox(paths.BUILD / "e2e" / "logs", "karmadactl-sandbox"))

    def test_the_session_on_the_page_is_true(self):
        page = PAGE.read_text()
        recorded = _BLOCK.sub(lambda block: "```console\n" + self._typed(block.group(1)) + "```", page)
        if os.environ.get("RECORD"):
            PAGE.write_text(recorded)

    def _typed(self, block):
        text = ""
        for command, wanted in _commands(block):
            command = command.strip()
            printed = self._settled(command) if os.environ.get("RECORD") else self._as_wanted(command, wanted)
            text += f"$ {command}\n{printed.rstrip()}\n" if printed.strip() else f"$ {command}\n"
        return text

    def _run(self, command):
        folder = pathlib.Path(suite.testbed_exe("karmadactl")).parent
        words = command.replace("sandbox/", f"{self.site.folder}/")
        done = run(["env", "-C", paths.ROOT, "bash", "-c", f"PATH={folder}:$PATH; {words} 2>&1"], timeout=120,
                   env={"KUBECONFIG": str(self.site.kubeconfig())})
        return re.sub(r"[ \t]+$", "", done.stdout, flags=re.MULTILINE).replace(f"{self.site.folder}/", "sandbox/")

    def _as_wanted(self, command, wanted):
        with self.subTest(command):
            if not _only_reads(command):
                printed = self._run(command)
                self.assertEqual(_comparable(printed), _comparable(wanted))
                return printed

            def as_wanted():
                printed = self._run(command)
                self.assertEqual(_comparable(printed), _comparable(wanted))
                return True
            wait_until(command, as_wanted, _PATIENCE)
        return wanted

    def _settled(self, command):
        """What a command that only reads prints once it prints the same for a while; that of another one at once."""
        if not _only_reads(command):
            return self._run(command)
        seen = []

        def settled():
            seen.append(self._run(command))
            return len(seen) >= 3 and len({_comparable(text) for text in seen[-3:]}) == 1
        wait_until(command, settled, _PATIENCE, every=1)
        return seen[-1]


def _only_reads(command):
    return command.split()[1] in ("describe", "exec", "get", "logs", "top")
