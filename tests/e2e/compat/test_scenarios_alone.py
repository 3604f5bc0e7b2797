"""Replays the scenarios that change clusters, or want flags of their own, one after the other."""

import os

from rig import paths, scenario
from rig.replay import ReplayCase


class AloneTest(ReplayCase):
    def test_every_state_is_as_upstream_left_it(self):
        chosen = scenario.load(paths.SCENARIOS, os.environ.get("SCENARIOS", "").split())
        for flags, batches in scenario.by_flags([[one] for one in chosen if one.alone]):
            self.use_daemon(flags)
            for batch in batches:
                self.replay(batch)
