"""What `karmada-lens plan` says of changes of the fleet, and what then happens on real servers: random fleets from seeds."""

import os

from rig import behaviour, paths
from rig.suite import PlaneCase, require_binary


class WhatIfTest(PlaneCase):
    fills_the_plane = True
    takes_turns = True

    def test_what_a_plan_says_of_random_fleets_happens(self):
        require_binary(paths.BEHAVIOUR_TEST)
        # Each seed is a fleet with evictions and one without, which take about forty seconds together.
        seeds = {name: os.environ.get(name, "1") for name in ("WHAT_IF_FIRST_SEED", "WHAT_IF_SEEDS")}
        timeout = 300 + 150 * int(seeds["WHAT_IF_SEEDS"])
        behaviour.run_those(self, ["What a plan says of*"], timeout, **seeds)
