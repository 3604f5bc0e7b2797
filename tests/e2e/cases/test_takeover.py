"""The short form of the take-over: about a dozen templates change hands; compat/test_takeover.py takes all."""

from rig import paths, scenario
from rig.takeover import TakeOverCase

SCENARIOS = ["cluster-scoped-overrides", "dependencies-shared", "job-weights", "overriders-all", "policy-lifecycle",
             "suspension"]


class TakeOverTest(TakeOverCase):
    def test_a_dozen_templates_change_hands_twice(self):
        self.take_over(scenario.load(paths.SCENARIOS, SCENARIOS), ours_after=0, upstream_after=1)
