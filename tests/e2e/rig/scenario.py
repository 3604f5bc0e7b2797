"""Replays a scenario on a plane and compares what it leaves behind with a recording of upstream.

A scenario is a YAML list of steps. A step has a `name`, and one or more of
    apply:  [object, ...]                          kubectl apply
    delete: [KIND/NAMESPACE/NAME, ...]             kubectl delete
    patch:  {target: KIND/NAMESPACE/NAME, merge: {...}, subresource: ...}
`on:` names the cluster (default: the host), `sleep:` waits before looking, `wait:` bounds the time to settle.
A state is settled when it has not changed for four seconds. Objects belong to the scenario by the prefix
"s-" of their namespace or name.

A recording maps "00 name of the step" to {"cluster/Kind/namespace/name": normalised object}.
"""

import fnmatch
import json
import pathlib
import re
import time
from dataclasses import dataclass

import yaml

from .plane import HOST

PREFIX = "s-"
SETTLED_SECONDS = 4.0
_POLL_SECONDS = 0.7

_EVERYWHERE = [
    "/apis/apps/v1/deployments", "/apis/apps/v1/statefulsets", "/apis/apps/v1/daemonsets",
    "/apis/batch/v1/jobs", "/apis/batch/v1/cronjobs", "/api/v1/services", "/api/v1/configmaps",
    "/api/v1/secrets", "/api/v1/serviceaccounts", "/apis/networking.k8s.io/v1/ingresses",
    "/apis/policy/v1/poddisruptionbudgets", "/apis/autoscaling/v2/horizontalpodautoscalers",
    "/api/v1/persistentvolumeclaims", "/apis/rbac.authorization.k8s.io/v1/roles",
    "/apis/rbac.authorization.k8s.io/v1/rolebindings", "/api/v1/namespaces",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
]
_POLICY, _WORK = "/apis/policy.karmada.io/v1alpha1", "/apis/work.karmada.io"
_ON_HOST = [
    f"{_POLICY}/propagationpolicies", f"{_POLICY}/clusterpropagationpolicies", f"{_POLICY}/overridepolicies",
    f"{_POLICY}/clusteroverridepolicies", f"{_WORK}/v1alpha2/resourcebindings",
    f"{_WORK}/v1alpha2/clusterresourcebindings", f"{_WORK}/v1alpha1/works",
]
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_OWN_CRD_GROUP_SUFFIX = "scenario.test"


def run(plane, file, log=lambda line: None):
    """Replays a scenario's steps; returns {step: state}."""
    states = {}
    for number, step in enumerate(yaml.safe_load(pathlib.Path(file).read_text())):
        name = f"{number:02d} {step.get('name', '')}"
        _carry_out(plane, step)
        states[name] = settle(plane, step.get("wait", 40))
        log(f"  {name}: {len(states[name])} objects")
    return states


def _carry_out(plane, step):
    kube = plane.kube(step.get("on", HOST))
    namespaces = [o for o in step.get("apply", []) if o["kind"] == "Namespace"]
    for item in step.get("apply", []):
        if {"replicas", "parallelism"} & item.get("spec", {}).keys():
            _create_with_even_uid(kube, namespaces, item)
    if "apply" in step:
        kube.apply(step["apply"])
    for target in step.get("delete", []):
        kube.kubectl("delete", "--ignore-not-found", "--wait=false", *_target(target))
    if "patch" in step:
        patch = step["patch"]
        subresource = ["--subresource", patch["subresource"]] if "subresource" in patch else []
        kube.kubectl("patch", *_target(patch["target"]), "--type=merge", "-p", json.dumps(patch["merge"]),
                     *subresource)
    time.sleep(step.get("sleep", 0))


def _create_with_even_uid(kube, namespaces, template):
    """Creates a template whose uid makes the scheduler break ties as in the recordings.

    Karmada's scheduler gives the odd replica to the first or the last cluster by a hash of the template's
    uid. No controller manager decides that, so it must not differ from run to run.
    """
    if namespaces:
        kube.apply(namespaces)
    where = [template["kind"], template["metadata"]["name"], "-n", template["metadata"]["namespace"]]
    if kube.kubectl("get", "--ignore-not-found", "-o", "name", *where):
        return
    for _ in range(32):
        kube.apply([template])
        if _fnv1a(kube.kubectl("get", "-o", "jsonpath={.metadata.uid}", *where)) % 2 == 0:
            return
        kube.kubectl("delete", "--wait=true", *where)
    raise AssertionError(f"no even uid for {where} in 32 tries")


def _fnv1a(text):
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def _target(text):
    kind, namespace, name = text.split("/")
    return [kind, name] + (["-n", namespace] if namespace else [])


def settle(plane, limit):
    """The state once it has stood still, or when the limit is over."""
    end = time.monotonic() + limit
    last, since = None, time.monotonic()
    while time.monotonic() < end:
        now = state(plane)
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > SETTLED_SECONDS:
            break
        time.sleep(_POLL_SECONDS)
    return last


def clean_up(plane, timeout=60):
    """Removes every scenario object from the control plane, and what is left of them in the members."""
    host = plane.host
    for path in _POLICY + "/clusterpropagationpolicies", _POLICY + "/clusteroverridepolicies":
        _delete_ours(host, path)
    for cluster in [HOST, *plane.members]:
        for path in reversed(_EVERYWHERE[-4:]):
            _delete_ours(plane.kube(cluster), path)
        for crd in _own_crds(plane.kube(cluster)):
            plane.kube(cluster).delete(f"{_CRDS}/{crd['metadata']['name']}")
    end = time.monotonic() + timeout
    while state(plane) and time.monotonic() < end:
        time.sleep(_POLL_SECONDS)
    return state(plane)


def _delete_ours(kube, path):
    for item in kube.items(path):
        if item["metadata"]["name"].startswith(PREFIX):
            kube.delete(f"{path}/{item['metadata']['name']}")


# ---- The state ------------------------------------------------------------------------------------


def state(plane):
    """Every object of the scenario in every cluster, normalised."""
    names, objects = {}, {}
    for cluster in [HOST, *plane.members]:
        kube = plane.kube(cluster)
        paths = _EVERYWHERE + (_ON_HOST if cluster == HOST else []) + [_path_of_crd(c) for c in _own_crds(kube)]
        for item in (item for path in paths for item in kube.items(path)):
            metadata = item["metadata"]
            if not _is_ours(item) or metadata["name"] == "kube-root-ca.crt":
                continue
            key = f"{cluster}/{item['kind']}/{metadata.get('namespace', '')}/{metadata['name']}"
            objects[key] = item
            names[metadata["uid"]] = f"<uid {key}>"
            for label, value in metadata.get("labels", {}).items():
                if label.endswith("permanent-id") and item["kind"].endswith(("Policy", "Binding", "Work")):
                    names.setdefault(value, f"<id {label.split('/')[0]}>")
    return {key: _normalise(item, names) for key, item in sorted(objects.items())}


def _own_crds(kube):
    return [c for c in kube.items(_CRDS) if c["metadata"]["name"].endswith(_OWN_CRD_GROUP_SUFFIX)]


def _path_of_crd(crd):
    spec = crd["spec"]
    version = next(v["name"] for v in spec["versions"] if v["storage"])
    return f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"


def _is_ours(item):
    if _has_prefix(item["metadata"]):
        return True
    if item["kind"] != "Work":
        return False
    manifests = item["spec"].get("workload", {}).get("manifests", [])
    return any(_has_prefix(manifest.get("metadata", {})) for manifest in manifests)


def _has_prefix(metadata):
    return metadata.get("namespace", "").startswith(PREFIX) or metadata.get("name", "").startswith(PREFIX)


_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
_DROPPED_METADATA = {"managedFields", "resourceVersion", "creationTimestamp", "generation", "selfLink"}
_COUNTED = {"resourceVersion", "observedGeneration", "schedulerObservedGeneration", "collisionCount",
            "controller-uid", "batch.kubernetes.io/controller-uid"}
_ALLOCATED = {"clusterIP", "clusterIPs", "nodePort"}
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_UNORDERED = {"conditions", "manifestStatuses", "finalizers", "aggregatedStatus", "secrets"}


def _normalise(value, names, path=()):
    """Replaces what differs from run to run: versions, times, uids, ids, addresses, the order of sets."""
    if isinstance(value, dict):
        return _normalise_members(value, names, path)
    if isinstance(value, list):
        items = [_normalise(item, names, path) for item in value]
        return sorted(items, key=lambda i: json.dumps(i, sort_keys=True)) if path[-1] in _UNORDERED else items
    return _normalise_text(value, names) if isinstance(value, str) else value


def _normalise_members(members, names, path):
    out = {}
    for key, value in members.items():
        if key == _LAST_APPLIED or (path[-1:] == ("metadata",) and key in _DROPPED_METADATA):
            continue
        volatile = (key in _COUNTED or (key == "generation" and "status" in path)
                    or (key in _ALLOCATED and value))
        out[key] = "#" if volatile else _normalise(value, names, path + (key,))
    return out


def _normalise_text(text, names):
    if _TIME.match(text):
        return "T"
    for found, name in names.items():
        text = text.replace(found, name)
    text = re.sub(r'"resourceVersion":"\d+"', '"resourceVersion":"#"', text)
    return re.sub(r"\b(rv|gen):\d+\b", r"\1:#", text)


# ---- The comparison -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """One value that is not as recorded."""

    step: str
    object: str
    path: str
    want: object
    got: object

    def __str__(self):
        return f"{self.step}: {self.object}{self.path}: want {_short(self.want)} got {_short(self.got)}"


def _short(value):
    text = json.dumps(value, sort_keys=True)
    return text if len(text) < 400 else text[:400] + "..."


def compare(want, got):
    """The differences between two recordings, in their order."""
    out = []
    for step in want:
        objects = got.get(step, {})
        for key in sorted(set(want[step]) | set(objects)):
            left, right = (_comparable(side.get(key), key) for side in (want[step], objects))
            out += [Difference(step, key, *found) for found in _walk(left, right, "")]
    return out


_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def _comparable(value, key):
    """Without what no controller manager decides: foreign uids, conditions by the members' controllers."""
    if isinstance(value, dict):
        return {name: _comparable(member, key) for name, member in value.items()
                if name != "collisionCount" and not (name == "conditions" and key.startswith("member"))}
    if isinstance(value, list):
        return [_comparable(item, key) for item in value]
    return _UUID.sub("<uuid>", value) if isinstance(value, str) else value


def _walk(want, got, path):
    if want == got:
        return
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(set(want) | set(got)):
            yield from _walk(want.get(key), got.get(key), f"{path}.{key}")
    else:
        yield path, want, got


class Allowed:
    """The deliberate differences: a YAML list of {scenario, step, object, path, reason}, patterns as a shell's."""

    def __init__(self, file):
        self._rules = yaml.safe_load(pathlib.Path(file).read_text()) or []
        for rule in self._rules:
            if not rule.get("reason"):
                raise ValueError(f"{file}: {rule} gives no reason")

    def covers(self, scenario, difference):
        return any(
            fnmatch.fnmatchcase(scenario, rule.get("scenario", "*"))
            and fnmatch.fnmatchcase(difference.step, rule.get("step", "*"))
            and fnmatch.fnmatchcase(difference.object, rule.get("object", "*"))
            and fnmatch.fnmatchcase(difference.path, rule.get("path", "*"))
            for rule in self._rules)
