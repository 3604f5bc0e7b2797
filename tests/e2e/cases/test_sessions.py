"""The sessions that pages of the documentation show on a sandbox, typed again (no servers of Kubernetes).

With RECORD=1 the pages get what the commands print now.
"""

import contextlib
import pathlib
import unittest
import urllib.request

from rig import paths, suite, waiters
from rig.process import Process, wait_until
from rig.sandbox import Sandbox
from rig.session import Session, free_addresses, replaced, sandbox_flags

DOCS = paths.ROOT / "docs"


class SessionsTest(unittest.TestCase):
    needs_plane = False
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        for binary in (paths.SANDBOX, paths.DAEMON, paths.LENS):
            suite.require_binary(binary)

    def check(self, name, patience=60, tools=()):
        """`tools`: folders whose programs are typed rather than the testbed's of the same name (its helm is Helm 3)."""
        folders, page = [paths.BIN, *tools, pathlib.Path(suite.kubectl()).parent], DOCS / f"{name}.md"
        addresses = free_addresses(page.read_text())
        own, managers = sandbox_flags(replaced(page.read_text(), addresses))
        with Sandbox(paths.BUILD / "e2e" / "logs", f"{name}-session", flags=own, daemon_flags=managers) as site:
            with self.beside(name, site, addresses):
                Session(self, page, site, folders, patience, addresses).check()

    def beside(self, name, site, addresses):
        """What runs in another terminal while the page's commands are typed."""
        return self.serving(site, addresses["127.0.0.1:8090"]) if name == "serve" else contextlib.nullcontext()

    @contextlib.contextmanager
    def serving(self, site, address):
        command = [paths.LENS, "serve", "--kubeconfig", site.kubeconfig(), "--listen", address]
        server = Process("serve", command, paths.BUILD / "e2e" / "logs" / "serve-page.log")

        def answers():
            server.check_alive()
            with urllib.request.urlopen(f"http://{address}/api/about", timeout=5) as answer:
                return answer.status == 200
        try:
            wait_until("karmada-lens serve", answers, 30)
            yield
        finally:
            server.stop()

    def test_a_member_is_lost(self):
        self.check("failover", patience=120)

    def test_tools_of_gitops(self):
        self.check("gitops", tools=[waiters.folder()])

    def test_on_call(self):
        self.check("on-call", patience=120)

    def test_the_fleet_in_a_browser(self):
        self.check("serve")

    def test_what_if(self):
        self.check("what-if")
