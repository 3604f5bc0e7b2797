"""Ours takes upstream's place in the middle of all scenarios and gives it back: nothing is written but what upstream writes at
any restart of its own, and everything goes on."""

from rig import paths, scenario
from rig.takeover import TakeOverCase


class WholeTakeOverTest(TakeOverCase):
    def test_all_scenarios_change_hands_twice(self):
        self.take_over([s for s in scenario.load(paths.SCENARIOS) if not s.alone], ours_after=1, upstream_after=3)
