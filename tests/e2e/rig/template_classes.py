"""Which classes of templates are propagated on a plane: a take-over that lacks one proves nothing about it."""

import json

from .plane import HOST

OVERRIDERS = {"imageOverrider", "commandOverrider", "argsOverrider", "labelsOverrider", "annotationsOverrider", "plaintext",
              "fieldOverrider for json", "fieldOverrider for yaml"}
_OVERRIDES = ("policy.karmada.io/applied-overrides", "policy.karmada.io/applied-cluster-overrides")
_SCENARIO_GROUP = "scenario.test"


def present(objects):
    """{class: keys of bindings and Works}, of objects as recording.read returns them."""
    found = {}
    for key, item in objects.items():
        cluster, kind = key.split("/")[:2]
        classes = ()
        if cluster == HOST and kind in ("ResourceBinding", "ClusterResourceBinding"):
            classes = _of_binding(item)
        elif cluster == HOST and kind == "Work":
            classes = _of_work(item)
        for name in classes:
            found.setdefault(name, set()).add(key)
    return found


def _of_binding(binding):
    spec = binding["spec"]
    if not spec.get("clusters") and not spec.get("requiredBy"):
        return
    yield "propagated"
    yield spec["resource"]["kind"]
    if binding["kind"] == "ClusterResourceBinding":
        yield "cluster-scoped"
    if spec["resource"]["apiVersion"].split("/")[0].endswith(_SCENARIO_GROUP):
        yield "custom resource"
    if spec.get("requiredBy"):
        yield "dependency"
    if spec.get("gracefulEvictionTasks"):
        yield "evicted"
    if spec.get("placement", {}).get("replicaScheduling", {}).get("replicaSchedulingType") == "Divided":
        yield "divided"


def _of_work(work):
    if work["spec"].get("suspendDispatching"):
        yield "suspended"
    for annotation in _OVERRIDES:
        for policy in json.loads(work["metadata"].get("annotations", {}).get(annotation, "[]")):
            yield from _overriders_of(policy["overriders"])


def _overriders_of(overriders):
    for name, rules in overriders.items():
        if rules and name != "fieldOverrider":
            yield name
        for rule in rules if name == "fieldOverrider" else ():
            yield from (f"fieldOverrider for {form}" for form in ("json", "yaml") if rule.get(form))
