"""The short form of the take-over: about a dozen templates change hands; compat/test_takeover.py takes all."""

from rig import paths, scenario
from rig.takeover import TakeOverCase
from rig.template_classes import OVERRIDERS

SCENARIOS = ["cluster-scoped-overrides", "dependencies-shared", "job-weights", "overriders-all", "policy-lifecycle",
             "status-aggregated", "suspension"]
NEEDS = {"propagated": 12, "cluster-scoped": 2, "dependency": 1, "suspended": 1, "Job": 3, "divided": 2,
         **{overrider: 1 for overrider in OVERRIDERS}}


class TakeOverTest(TakeOverCase):
    takes_turns = True

    def test_a_dozen_templates_change_hands_twice(self):
        self.take_over(scenario.load(paths.SCENARIOS, SCENARIOS), ours_after=0, upstream_after=1, needs=NEEDS)
