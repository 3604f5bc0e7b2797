"""Two versions of the controller manager take turns under load: an upgrade, and the way back, again and again.

BEFORE names the other version's program; without it the version at hand takes turns with itself.
"""

import os
import pathlib
import stat
import tempfile
import unittest

from rig import paths
from rig.process import run
from rig.suite import require_binary

# Each start is of the other program. The daemon is killed at any moment, so the number is written before it starts.
_TURNS = """#!/bin/sh
turn=$(cat {folder}/turn 2>/dev/null || echo 0)
echo $((turn + 1)) > {folder}/turn
if [ $((turn % 2)) = 0 ]; then exec {before} "$@"; fi
exec {after} "$@"
"""


class UpgradeTest(unittest.TestCase):
    needs_plane = False

    def test_versions_take_turns_while_300_apps_change_and_servers_fail(self):
        require_binary(paths.BEHAVIOUR_TEST)
        require_binary(paths.DAEMON)
        before = pathlib.Path(os.environ.get("BEFORE", paths.DAEMON)).resolve()
        version = run([before, "--version"], timeout=10)
        self.assertEqual(version.returncode, 0, f"{before} does not start: {version.stderr}")
        print(f"  before: {version.stdout.strip()}")
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        program = folder / "either"
        program.write_text(_TURNS.format(folder=folder, before=before, after=paths.DAEMON))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        done = run([paths.BEHAVIOUR_TEST, "[chaos]"], timeout=900, env={
            "CHAOS_APPS": "300", "CHAOS_SECONDS": "90", "KARMADA_CONTROLLER_MANAGER": str(program),
            "BEHAVIOUR_LOG": str(folder / "daemon.log")})
        turns = int((folder / "turn").read_text())
        print(f"  {turns} starts")
        self.assertEqual(done.returncode, 0, done.stdout[-8000:])
        self.assertGreater(turns, 4)
