"""The controller manager below a memory limit: 64 MiB suffice for 300 apps, and a limit that does not is announced."""

import os
import pathlib
import re
import tempfile
import unittest

from rig import paths
from rig.memory_cgroup import MemoryLimit
from rig.process import run
from rig.suite import require_binary

MIB = 1 << 20


class MemoryLimitTest(unittest.TestCase):
    needs_plane = False  # The sandbox serves; its own memory is not limited.

    def chaos(self, limit_mib, seconds):
        """Changes 300 apps under faults with the daemon below the limit. Returns the run, its log and the limit."""
        require_binary(paths.BEHAVIOUR_TEST)
        require_binary(paths.DAEMON)
        limit = MemoryLimit(f"karmada-limit-{limit_mib}-{os.getpid()}", limit_mib * MIB)
        self.addCleanup(limit.close)
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        log = folder / "daemon.log"
        done = run([paths.BEHAVIOUR_TEST, "[chaos]"], timeout=900, env={
            "CHAOS_APPS": "300", "CHAOS_SECONDS": str(seconds), "BEHAVIOUR_LOG": str(log),
            "KARMADA_CONTROLLER_MANAGER": str(limit.wrap(folder / "daemon", paths.DAEMON)),
        })
        return done, log.read_text(), limit

    def test_300_apps_fit_into_64_mib(self):
        done, log, limit = self.chaos(limit_mib=64, seconds=60)
        print(f"  at most {limit.most_bytes() / MIB:.1f} MiB in its control group, files that were read included")
        self.assertEqual(done.returncode, 0, done.stdout[-6000:] + log[-2000:])
        self.assertEqual(limit.kills(), 0)
        self.assertNotIn("memory is nearly used up", log)

    def test_a_limit_that_is_too_small_is_announced_before_the_kernel_ends_the_daemon(self):
        _, log, limit = self.chaos(limit_mib=24, seconds=30)
        self.assertRegex(log, "the memory limit is less than this program takes without any object.*limitMiB=24")
        if limit.kills():
            self.assertTrue(re.search("memory is nearly used up.*limitMiB=24", log), log[-4000:])
