"""What upstream's karmadactl does on a sandbox: the session of docs/karmadactl.md, typed again (no servers of Kubernetes).

With RECORD=1 the page gets what the commands print now.
"""

import pathlib
import unittest

from rig import paths, suite
from rig.sandbox import Sandbox
from rig.session import Session

PAGE = paths.ROOT / "docs" / "karmadactl.md"


class KarmadactlTest(unittest.TestCase):
    needs_plane = False
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.SANDBOX)
        suite.require_binary(paths.DAEMON)
        cls.site = cls.enterClassContext(Sandbox(paths.BUILD / "e2e" / "logs", "karmadactl-sandbox"))

    def test_the_session_on_the_page_is_true(self):
        Session(self, PAGE, self.site, [pathlib.Path(suite.testbed_exe("karmadactl")).parent]).check()
