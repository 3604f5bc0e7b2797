"""What servers of another Kubernetes than the testbed's, on which the scenarios are recorded, have in objects or leave out.

docs/compatibility.md tells users about each. Where a plane has such a server, a state and its recording are compared without it.
"""

import json


def _without_default_of_unavailable(item):
    item.get("spec", {}).get("updateStrategy", {}).get("rollingUpdate", {}).pop("maxUnavailable", None)


def _without_start_of_suspended(item):
    status = item.get("status", {})
    if any(c["type"] == "Suspended" and c["status"] == "True" for c in status.get("conditions") or ()):
        status.pop("startTime", None)


def _without_generation(item):
    """The annotation that records the template's generation, which the kind has since then."""
    annotations = item.get("metadata", {}).get("annotations", {})
    annotations.pop(_GENERATION, None)
    if _MANAGED in annotations:
        annotations[_MANAGED] = ",".join(name for name in annotations[_MANAGED].split(",") if name != _GENERATION)


def _without_migrator(item):
    """A controller whose service account may do what the scenarios grant to people."""
    for rule in item.get("rules") or ():
        if "resourceNames" in rule:
            rule["resourceNames"] = [name for name in rule["resourceNames"] if name != "storage-version-migrator-controller"]


def _without_terminating(item):
    item.get("status", {}).pop("terminatingReplicas", None)


def _without_revisions(item):
    """The names of revisions, which are hashes of what the server stores."""
    for name in ("currentRevision", "updateRevision"):
        item.get("status", {}).pop(name, None)


_GENERATION = "resourcetemplate.karmada.io/generation"
_MANAGED = "resourcetemplate.karmada.io/managed-annotations"
# {minor version: {kind: function that takes it out of an object, or of what a Work reports of one}}
_SINCE = {36: {"StatefulSet": _without_default_of_unavailable, "Job": _without_start_of_suspended},
          37: {"HorizontalPodAutoscaler": _without_generation, "ClusterRole": _without_migrator}}
_BEFORE = {35: {"Deployment": _without_terminating, "ReplicaSet": _without_terminating, "StatefulSet": _without_revisions}}


def minor_of(version):
    """35 of "v1.35.3"."""
    return int(version.split(".")[1])


def without(states, minors):
    """A copy of a scenario's states ({step: {object's key: object}}) without what servers of these minor versions change."""
    states = json.loads(json.dumps(states))  # A copy in which nothing is shared.
    changes = [of_kinds for since, of_kinds in _SINCE.items() if max(minors) >= since]
    changes += [of_kinds for before, of_kinds in _BEFORE.items() if min(minors) < before]
    for objects in states.values():
        for key, item in objects.items():
            for kind, take_out in [change for of_kinds in changes for change in of_kinds.items()]:
                _each(key.split("/")[1], item or {}, kind, take_out)
    return states


def _each(key_kind, item, kind, take_out):
    """Calls it for the object, if it is of the kind, and for what Works and bindings hold of objects of the kind."""
    if key_kind == kind:
        take_out(item)
    if key_kind == "Work":
        for manifest in item.get("spec", {}).get("workload", {}).get("manifests", ()):
            if manifest.get("kind") == kind:
                take_out(manifest)
        for reported in item.get("status", {}).get("manifestStatuses") or ():
            if reported["identifier"].get("kind") == kind:
                take_out(reported)
    if key_kind.endswith("ResourceBinding") and item.get("spec", {}).get("resource", {}).get("kind") == kind:
        for reported in item.get("status", {}).get("aggregatedStatus") or ():
            take_out(reported)
