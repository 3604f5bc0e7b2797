"""Replays scenarios recorded from upstream side by side: ours has to leave the same states behind, step by step.

The environment variable SCENARIOS="NAME..." restricts that to those named.
"""

import os

from rig import paths, scenario
from rig.replay import ReplayCase


class ScenarioTest(ReplayCase):
    def test_every_state_is_as_upstream_left_it(self):
        chosen = scenario.load(paths.SCENARIOS, os.environ.get("SCENARIOS", "").split())
        self.use_daemon(scenario.FLAGS)
        self.replay([s for s in chosen if not s.alone])
