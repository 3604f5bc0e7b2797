"""Replays the scenarios that change clusters, one after the other."""

from rig import paths, scenario
from rig.replay import ReplayCase


class AloneTest(ReplayCase):
    def test_every_state_is_as_upstream_left_it(self):
        for one in scenario.load(paths.SCENARIOS):
            if one.alone:
                self.replay([one])
