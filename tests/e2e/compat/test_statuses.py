"""Statuses of built-in kinds on API servers of Kubernetes 1.34 to 1.37: the table of those that the sandbox accepts and
refuses, and three random walks over what members report."""

import unittest

from rig import paths, statuses, versions
from rig.suite import require_binary

_SEEDS = (1, 2, 3)
_STEPS = 150  # For each object.


class StatusesTest(unittest.TestCase):
    needs_plane = False

    @classmethod
    def setUpClass(cls):
        require_binary(paths.STATUSES_TEST)
        testbed = paths.Testbed.build()
        cls.servers = cls.enterClassContext(versions.ApiServers(
            paths.BUILD / "e2e" / "statuses", testbed,
            {**paths.Testbed.build_minors("v1.34", "v1.36", "v1.37"), "v1.35": testbed}))

    def each(self):
        """The name and kubeconfig of each server, whose version is the one in its name."""
        self.assertEqual(sorted(self.servers.kubeconfigs), ["v1.34", "v1.35", "v1.36", "v1.37"])
        for name, kubeconfig in sorted(self.servers.kubeconfigs.items()):
            self.assertTrue(self.servers.kube(name).get("/version")["gitVersion"].startswith(f"{name}."), name)
            yield name, kubeconfig

    def test_each_accepts_and_refuses_what_the_sandbox_does(self):
        for name, kubeconfig in self.each():
            with self.subTest(name):
                statuses.write_to(self, kubeconfig, self.servers.logs / f"{name}-table.log", "statuses are")

    def test_what_members_report_adds_up_to_what_each_accepts(self):
        for name, kubeconfig in self.each():
            for seed in _SEEDS:
                with self.subTest(name, seed=seed):
                    statuses.write_to(self, kubeconfig, self.servers.logs / f"{name}-walk-{seed}.log", "what members",
                                      {"STATUS_SEED": str(seed), "STATUS_STEPS": str(_STEPS)})
