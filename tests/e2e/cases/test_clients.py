"""client-go's informers and a manager of controller-runtime on the proxy URL of a karmada-search, over a sandbox."""

import json
import unittest

from rig import clients, paths, suite
from rig.informer_session import SELECTOR, InformerSession, Objects, change_everything, live_through, started
from rig.manager_session import reconcile
from rig.sandbox_search import SEARCH, SandboxSearch

LOGS = paths.BUILD / "e2e" / "logs"
KINDS = [("v1", "Pod"), ("v1", "ConfigMap"), ("v1", "Secret")]


class ClientsTest(unittest.TestCase):
    needs_plane = False
    versions = [clients.NEWEST]

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.SANDBOX)
        suite.require_binary(SEARCH)
        cls.folder = clients.build(every_version=len(cls.versions) > 1)
        cls.site = cls.enterClassContext(SandboxSearch(LOGS))
        cls.site.register("clients", *KINDS)

    def setUp(self):
        self.objects = Objects(self.site)
        self.addCleanup(self.objects.remove_all)

    def session(self, *flags):
        """Informers that have synced with three objects of each kind in each member."""
        for member in self.site.members:
            self.objects.create(member, 1, 2, 3)
        running = self.enterContext(started(self.folder, LOGS, self.site, self.versions, flags))
        session = InformerSession(self, self.site, running)
        self.addCleanup(self.keep, session)
        return session

    def keep(self, session):
        (LOGS / f"{self.id().split('.')[-1]}.json").write_text(json.dumps(session.steps, indent=1))

    def test_informers_stay_whatever_happens(self):
        live_through(self.session(), self.site, self.objects)

    def test_watches_that_end_in_time_go_on_without_a_list(self):
        session = self.session("-watch-seconds", "2")
        session.sync()
        change_everything(self.objects, *self.site.members)
        session.check("changes")
        for number in range(60, 64):
            self.objects.create(self.site.members[number % 2], number)
            session.check(f"change {number} of many watches")
            session.wait_watches(number - 58)

    def test_a_manager_reconciles_through_the_proxy(self):
        manager = clients.manager(self.folder, LOGS, self.site.kubeconfig("proxy"), SELECTOR)
        self.addCleanup(manager.stop)
        reconcile(self, self.site, manager)
