"""What the cases put on a stage: apps and policies that send each to a group of members."""

import time

from rig.process import wait_until
from rig.suite import BINDINGS, deployment

NAMESPACE = "scale"
CONFIG_MAPS = "/api/v1/namespaces/{}/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{}/deployments"
POLICIES = "/apis/policy.karmada.io/v1alpha1/namespaces/{}/propagationpolicies"
EVENTS = "/api/v1/namespaces/{}/events"
CUSTOMIZATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations"
SCHEDULER = "default-scheduler"


def add_namespace(host, name=NAMESPACE):
    host.create("/api/v1/namespaces", {"metadata": {"name": name}})


def add_policies(host, members, each, api_version="apps/v1", kind="Deployment"):
    """One policy for each group of `each` members; it takes the templates labelled with the group's number."""
    groups = [members[i:i + each] for i in range(0, len(members) - each + 1, each)]
    for number, group in enumerate(groups):
        host.create(POLICIES.format(NAMESPACE), policy(f"group-{number}", group, api_version, kind, number))
    return len(groups)


def policy(name, clusters, api_version, kind, group):
    weights = [{"targetCluster": {"clusterNames": [c]}, "weight": 1} for c in clusters]
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"namespace": NAMESPACE, "name": name},
            "spec": {"resourceSelectors": [{"apiVersion": api_version, "kind": kind,
                                            "labelSelector": {"matchLabels": {"group": str(group)}}}],
                     "placement": {"clusterAffinity": {"clusterNames": clusters},
                                   "replicaScheduling": {"replicaSchedulingType": "Divided",
                                                         "replicaDivisionPreference": "Weighted",
                                                         "weightPreference": {"staticWeightList": weights}}}}}


def add_deployments(host, numbers, groups, each):
    """One Deployment for each number, with one replica for each member of its group."""
    for i in numbers:
        host.create(DEPLOYMENTS.format(NAMESPACE),
                    deployment(NAMESPACE, f"app-{i:05d}", each, {"group": str(i % groups)}))


def config_map(name, group, size=200):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"group": str(group)}},
            "data": {"text": "x" * size}}


def add_config_maps(host, count, groups):
    for i in range(count):
        host.create(CONFIG_MAPS.format(NAMESPACE), config_map(f"map-{i:05d}", i % groups))


def put_customization(host, comment):
    """A customization of ConfigMaps whose scripts answer as the built-in handlers do; the comment changes their text."""
    def script(function):
        return {"luaScript": f"-- {comment}\n{function}"}
    wanted = {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterCustomization",
              "metadata": {"name": "maps"},
              "spec": {"target": {"apiVersion": "v1", "kind": "ConfigMap"}, "customizations": {
                  "retention": script("function Retain(desiredObj, observedObj)\n  return desiredObj\nend"),
                  "healthInterpretation": script("function InterpretHealth(observedObj)\n  return true\nend"),
                  "statusReflection": script("function ReflectStatus(observedObj)\n  return {}\nend"),
                  "dependencyInterpretation": script("function GetDependencies(desiredObj)\n  return {}\nend")}}}
    if host.find(f"{CUSTOMIZATIONS}/maps") is None:
        host.create(CUSTOMIZATIONS, wanted)
    else:
        host.merge(f"{CUSTOMIZATIONS}/maps", wanted)


def applied_bindings(host, each, healthy):
    """How many bindings are applied (and healthy, where the kind has a health) in all of `each` clusters."""
    def is_applied(binding):
        status = binding.get("status", {})
        clusters = status.get("aggregatedStatus", [])
        return (len(clusters) == each
                and any(c["type"] == "FullyApplied" and c["status"] == "True" for c in status.get("conditions", []))
                and all(c.get("applied") and (not healthy or c.get("health") == "Healthy") for c in clusters))
    return sum(map(is_applied, host.items(BINDINGS.format(NAMESPACE))))


def wait_applied(stage, daemon, count, each, healthy=True, timeout=1800):
    """Waits until `count` apps are applied and the daemon has nothing to do any more."""
    def done():
        daemon.wait_quiet()
        applied = applied_bindings(stage.host, each, healthy)
        assert applied == count, f"{applied} of {count} apps applied"
        return True
    wait_until(f"{count} apps applied", done, timeout, every=0.1)


def events_per(host, count):
    """The daemon's events for each of `count` apps, repetitions counted; the scheduler has its own."""
    return sum(event.get("count", 1) for event in host.items(EVENTS.format(NAMESPACE))
               if event.get("source", {}).get("component") != SCHEDULER) / count


def timed(action):
    began = time.monotonic()
    action()
    return time.monotonic() - began
