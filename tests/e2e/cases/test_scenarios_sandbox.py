"""Some scenarios recorded from upstream on a sandbox of either release: what the sandbox plays of Karmada leaves our daemon the
same states behind that upstream's own servers leave (no servers of Kubernetes). compat/test_scenarios_sandbox.py takes all."""

import unittest

from rig import paths, scenario, suite
from rig.sandbox import SandboxPlane
from rig.sandbox_replay import compare

SCENARIOS = ["basic-deployment", "cluster-scoped", "dependencies", "duplicated-mixed-kinds", "job-divided", "overrides",
             "policy-priority"]


class SandboxScenarioTest(unittest.TestCase):
    needs_plane = False
    names = SCENARIOS
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.SANDBOX)
        suite.require_binary(paths.DAEMON)

    def test_every_state_is_as_upstream_of_that_release_left_it(self):
        scenarios = [one for one in scenario.load(paths.SCENARIOS, self.names) if not one.alone]
        for release in scenario.RELEASES:
            logs = paths.BUILD / "e2e" / "logs"
            with SandboxPlane(logs, f"scenarios-{release}", release=release, daemon_flags=scenario.FLAGS) as self.plane:
                outcomes = scenario.run(self.plane, scenarios, log=lambda line: print(line, flush=True))
                for one in scenarios:
                    with self.subTest(f"{one.name} {release}"):
                        outcomes[one.name].check_settled()
                        found = compare(one, outcomes[one.name].states, release)
                        self.assertEqual([str(each) for each in found], [])


if __name__ == "__main__":
    unittest.main()
