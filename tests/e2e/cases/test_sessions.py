"""The sessions that pages of the documentation show on a sandbox, typed again (no servers of Kubernetes).

With RECORD=1 the pages get what the commands print now.
"""

import pathlib
import unittest

from rig import paths, suite, waiters
from rig.sandbox import Sandbox
from rig.session import Session, manager_flags

DOCS = paths.ROOT / "docs"


class SessionsTest(unittest.TestCase):
    needs_plane = False
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        for binary in (paths.SANDBOX, paths.DAEMON, paths.LENS):
            suite.require_binary(binary)

    def check(self, name, flags=(), patience=60, tools=()):
        """`tools`: folders whose programs are typed rather than the testbed's of the same name (its helm is Helm 3)."""
        folders = [paths.BIN, *tools, pathlib.Path(suite.kubectl()).parent]
        with Sandbox(paths.BUILD / "e2e" / "logs", f"{name}-session", daemon_flags=flags) as site:
            Session(self, DOCS / f"{name}.md", site, folders, patience).check()

    def test_a_member_is_lost(self):
        self.check("failover", manager_flags((DOCS / "failover.md").read_text()), patience=120)

    def test_tools_of_gitops(self):
        self.check("gitops", tools=[waiters.folder()])

    def test_on_call(self):
        self.check("on-call", patience=120)
