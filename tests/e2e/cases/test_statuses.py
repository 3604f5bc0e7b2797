"""Statuses of built-in kinds on a real API server: what the sandbox refuses and accepts, and what members' statuses add up to."""

from rig import paths, statuses
from rig.plane import HOST
from rig.suite import PlaneCase, require_binary


class StatusesTest(PlaneCase):

    def setUp(self):
        require_binary(paths.STATUSES_TEST)

    def test_a_real_server_accepts_and_refuses_what_the_sandbox_does(self):
        statuses.write_to(self, self.plane.kubeconfigs[HOST], self.plane.logs / "statuses-table.log", "statuses are")

    def test_what_members_report_adds_up_to_what_a_real_server_accepts(self):
        statuses.write_to(self, self.plane.kubeconfigs[HOST], self.plane.logs / "statuses-walk.log", "what members")
