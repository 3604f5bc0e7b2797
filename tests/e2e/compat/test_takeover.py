"""Ours takes upstream's place in the middle of all scenarios and gives it back: nothing is written but what upstream writes at
any restart of its own, and everything goes on."""

from rig import paths, scenario
from rig.takeover import TakeOverCase
from rig.template_classes import OVERRIDERS

NEEDS = {"propagated": 60, "cluster-scoped": 3, "custom resource": 1, "CustomResourceDefinition": 1, "dependency": 3,
         "suspended": 1, "evicted": 2, "divided": 3, "Deployment": 10, "StatefulSet": 1, "DaemonSet": 1, "Job": 2,
         "CronJob": 1, "Service": 2, "Secret": 3, **{overrider: 1 for overrider in OVERRIDERS}}


# What a member refuses, and objects there that lack Karmada's label, are tried again and again by either program.
RESTLESS = {"apply-denied", "work-by-hand"}


class WholeTakeOverTest(TakeOverCase):
    def test_all_scenarios_change_hands_twice(self):
        scenarios = [s for s in scenario.load(paths.SCENARIOS) if not s.alone and s.name not in RESTLESS]
        self.take_over(scenarios, ours_after=1, upstream_after=3, needs=NEEDS)


class ComponentsTakeOverTest(TakeOverCase):
    """A workload of several components, and what follows it, with a gate that the others do without. Upstream's scheduler of
    v1.19 writes the components into bindings, which neither program may take out."""

    components = scenario.load(paths.SCENARIOS, ["components"])
    flags = components[0].flags

    def test_it_changes_hands_twice(self):
        self.take_over(self.components, ours_after=2, upstream_after=3, needs={"propagated": 1, "dependency": 1})
