"""Replays scenarios recorded from upstream: ours has to leave the same state behind, step by step."""

import json

from rig import paths, scenario
from rig.suite import DaemonCase

ALLOWED = scenario.Allowed(paths.SCENARIOS / "differences.yaml")


class ScenarioTest(DaemonCase):
    def check(self, name):
        self.addCleanup(scenario.clean_up, self.plane)
        want = json.loads((paths.SCENARIOS / f"{name}.upstream.json").read_text())
        got = scenario.run(self.plane, paths.SCENARIOS / f"{name}.yaml")
        (self.plane.folder / f"{name}.got.json").write_text(json.dumps(got, indent=1, sort_keys=True))
        found = [d for d in scenario.compare(want, got) if not ALLOWED.covers(name, d)]
        if found:
            self.fail(f"{len(found)} differences from upstream:\n" + "\n".join(map(str, found[:40])))

    def test_basic_deployment(self):
        self.check("basic-deployment")

    def test_cluster_scoped(self):
        self.check("cluster-scoped")

    def test_duplicated_mixed_kinds(self):
        self.check("duplicated-mixed-kinds")

    def test_job_divided(self):
        self.check("job-divided")

    def test_dependencies(self):
        self.check("dependencies")

    def test_policy_priority(self):
        self.check("policy-priority")

    def test_overrides(self):
        self.check("overrides")
