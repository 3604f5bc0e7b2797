"""Every object of control plane and members, to see what a process changes that should change nothing."""

from concurrent.futures import ThreadPoolExecutor

from .plane import HOST

# What changes all the time by itself: heartbeats and reports.
_LEFT_OUT = {"leases", "events", "nodes", "componentstatuses"}


def take(plane):
    """{"cluster/resource/namespace/name": object} of everything that can be listed, leases and events apart.

    REQUIRES: something is propagated. A snapshot without Works is an error, because it would show no change of them.
    """
    clusters = [HOST, *plane.members]
    with ThreadPoolExecutor(max_workers=len(clusters)) as pool:
        found = {}
        for objects in pool.map(lambda cluster: _take_cluster(plane.kube(cluster), cluster), clusters):
            found.update(objects)
    if not any(key.startswith(f"{HOST}/works/") for key in found):
        raise AssertionError("the snapshot of the control plane has no Works")
    return found


def _take_cluster(kube, cluster):
    found = {}
    for path, resource in _resources(kube):
        for item in kube.get(f"{path}/{resource}")["items"] or []:
            metadata = item["metadata"]
            found[f"{cluster}/{resource}/{metadata.get('namespace', '')}/{metadata['name']}"] = item
    return found


def _resources(kube):
    """(path, name) of every resource that can be listed, in the first version of its group that serves it."""
    groups = [("/api/v1",)]
    for group in kube.get("/apis")["groups"]:
        # A version need not serve what another one does: Works are in v1alpha1 only, their bindings in v1alpha2.
        versions = [group["preferredVersion"], *group["versions"]]
        groups.append(tuple(dict.fromkeys(f"/apis/{version['groupVersion']}" for version in versions)))
    for paths in groups:
        served = {}
        for path in paths:
            for resource in kube.get(path)["resources"]:
                name = resource["name"]
                if "list" in resource["verbs"] and "/" not in name and name not in _LEFT_OUT:
                    served.setdefault(name, path)
        for name, path in served.items():
            yield path, name


def changes(before, after):
    """What has been written between two snapshots: [(key, field or "made" or "gone", old value, new value)].

    An object whose version moved without a change of a field is a change of "metadata.resourceVersion".
    """
    found = []
    for key in sorted(before.keys() | after.keys()):
        if _OF_THE_RIG in str(key):
            continue
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            found.append((key, "made" if old is None else "gone", None, None))
        elif old["metadata"]["resourceVersion"] != new["metadata"]["resourceVersion"]:
            fields = [field for field in _walk(old, new, "") if field[0] not in _OF_EACH_WRITE]
            version = ("metadata.resourceVersion", None, None)
            found += [(key, *field) for field in fields or [version]]
    return found


# The rig itself changes these bindings, which karmadactl makes, with each daemon that it starts (rights.py).
_OF_THE_RIG = "karmada-controller-manager:karmada-member"
_OF_EACH_WRITE = {"metadata.resourceVersion", "metadata.managedFields"}


def _walk(old, new, path):
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _walk(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    else:
        yield path, old, new
