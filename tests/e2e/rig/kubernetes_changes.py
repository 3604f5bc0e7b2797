"""What servers of a newer Kubernetes than the testbed's, on which the scenarios are recorded, leave out of objects.

docs/compatibility.md tells users about each. Where a plane has such a server, a state and its recording are compared without it.
"""

import json


def _without_default_of_unavailable(item):
    item.get("spec", {}).get("updateStrategy", {}).get("rollingUpdate", {}).pop("maxUnavailable", None)


def _without_start_of_suspended(item):
    status = item.get("status", {})
    if any(c["type"] == "Suspended" and c["status"] == "True" for c in status.get("conditions") or ()):
        status.pop("startTime", None)


# {minor version since which it is so: {kind: function that takes it out of an object, or of what a Work reports of one}}
_SINCE = {36: {"StatefulSet": _without_default_of_unavailable, "Job": _without_start_of_suspended}}


def minor_of(version):
    """35 of "v1.35.3"."""
    return int(version.split(".")[1])


def without(states, minor):
    """A copy of a scenario's states ({step: {object's key: object}}) without what is left out up to this minor version."""
    states = json.loads(json.dumps(states))  # A copy in which nothing is shared.
    for since, of_kinds in _SINCE.items():
        for objects in states.values() if minor >= since else ():
            for key, item in objects.items():
                for kind, take_out in of_kinds.items():
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
