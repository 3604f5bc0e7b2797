"""Replays scenarios recorded from upstream side by side: ours has to leave the same states behind, step by step."""

from rig import paths, scenario
from rig.replay import ReplayCase


class ScenarioTest(ReplayCase):
    def test_every_state_is_as_upstream_left_it(self):
        self.replay([s for s in scenario.load(paths.SCENARIOS) if not s.alone])
