"""All scenarios that a sandbox can play, in either release (no servers of Kubernetes)."""

from cases import test_scenarios_sandbox
from rig import paths, scenario

# What these are about is done by servers and controllers of Kubernetes that the sandbox does not play: defaults of built-in
# kinds, certificates, what protects and counts pods, endpoints; or by chance (the uids that break ties).
_NOT_PLAYED = {"agent-certificates", "apply-denied", "autoscaled-in-members", "cluster-scoped-overrides", "division-by-hand",
               "division-weights", "drift", "federated-hpa", "job-weights", "multi-cluster-service",
               "multi-cluster-service-policy", "revision-retained", "schedule-priority", "service-exported",
               "status-aggregated"}


class EveryPlayedScenarioTest(test_scenarios_sandbox.SandboxScenarioTest):
    names = [one.name for one in scenario.load(paths.SCENARIOS) if not one.alone and one.name not in _NOT_PLAYED]
