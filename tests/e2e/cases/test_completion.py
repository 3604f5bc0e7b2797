"""The completion scripts of all programs, in the shells that not every Debian has."""

import sys
import unittest

from rig import paths
from rig.process import run

PROGRAMS = ["karmada-controller-manager", "karmada-sandbox", "karmada-interpret", "karmada-lens", "karmada-search"]


class CompletionTest(unittest.TestCase):
    needs_plane = False

    def test_zsh_and_fish_complete_what_the_programs_parse(self):
        done = run([sys.executable, paths.ROOT / "tests" / "cmd" / "completion_test.py", "--shells", "zsh,fish",
                    *[paths.BIN / name for name in PROGRAMS]], timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        print(done.stdout.strip())
