"""What a scenario leaves behind in control plane and members, in a form in which two runs can be compared.

The states of a scenario map "00 name of the step" to {"cluster/Kind/namespace/name": normalised object}. In the file of a
recording, SAME stands for an object that is as it was after the step before, so that it shows what each step has changed.
"""

import fnmatch
import json
import pathlib
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import yaml

from . import rights
from .kube import ApiError
from .plane import HOST

SAME = "="

KINDS = {
    "Deployment": "/apis/apps/v1/deployments",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "Job": "/apis/batch/v1/jobs",
    "CronJob": "/apis/batch/v1/cronjobs",
    "Service": "/api/v1/services",
    "ConfigMap": "/api/v1/configmaps",
    "Secret": "/api/v1/secrets",
    "ServiceAccount": "/api/v1/serviceaccounts",
    "Ingress": "/apis/networking.k8s.io/v1/ingresses",
    "PodDisruptionBudget": "/apis/policy/v1/poddisruptionbudgets",
    "HorizontalPodAutoscaler": "/apis/autoscaling/v2/horizontalpodautoscalers",
    "PersistentVolumeClaim": "/api/v1/persistentvolumeclaims",
    "Role": "/apis/rbac.authorization.k8s.io/v1/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/rolebindings",
    "Namespace": "/api/v1/namespaces",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "ResourceQuota": "/api/v1/resourcequotas",
    "EndpointSlice": "/apis/discovery.k8s.io/v1/endpointslices",
    "ServiceExport": "/apis/multicluster.x-k8s.io/v1alpha1/serviceexports",
    "ServiceImport": "/apis/multicluster.x-k8s.io/v1alpha1/serviceimports",
}
_POLICY, _WORK = "/apis/policy.karmada.io/v1alpha1", "/apis/work.karmada.io"
KINDS_OF_HOST = {
    "PropagationPolicy": f"{_POLICY}/propagationpolicies",
    "ClusterPropagationPolicy": f"{_POLICY}/clusterpropagationpolicies",
    "OverridePolicy": f"{_POLICY}/overridepolicies",
    "ClusterOverridePolicy": f"{_POLICY}/clusteroverridepolicies",
    "ResourceBinding": f"{_WORK}/v1alpha2/resourcebindings",
    "ClusterResourceBinding": f"{_WORK}/v1alpha2/clusterresourcebindings",
    "Work": f"{_WORK}/v1alpha1/works",
    "FederatedResourceQuota": f"{_POLICY}/federatedresourcequotas",
    "Remedy": "/apis/remedy.karmada.io/v1alpha1/remedies",
    "WorkloadRebalancer": "/apis/apps.karmada.io/v1alpha1/workloadrebalancers",
    "MultiClusterService": "/apis/networking.karmada.io/v1alpha1/multiclusterservices",
    "FederatedHPA": "/apis/autoscaling.karmada.io/v1alpha1/federatedhpas",
    "CronFederatedHPA": "/apis/autoscaling.karmada.io/v1alpha1/cronfederatedhpas",
    "CertificateSigningRequest": "/apis/certificates.k8s.io/v1/certificatesigningrequests",
}
# EndpointSlices of Kubernetes' own controller have random names; those of scenarios are written by a step.
_SLICE_MANAGED_BY, _KUBERNETES = "endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io"
CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
_EVENTS = "/api/v1/events"
_COMBINED = "(combined from similar events): "  # What client-go puts before the message when there are many alike.
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_OWN_CRD_GROUP_SUFFIX = "scenario.test"


# ---- Reading --------------------------------------------------------------------------------------


def packed(states):
    """The states as the file of a recording has them."""
    before, out = {}, {}
    for title in sorted(states):
        state = states[title]
        out[title] = {key: SAME if key in before and before[key] == item else item for key, item in state.items()}
        before = state
    return out


def unpacked(content):
    """The states that the file of a recording has. Raises ValueError if nothing was there that could be the same."""
    before, out = {}, {}
    for title in sorted(content):
        lost = [key for key, item in content[title].items() if item == SAME and key not in before]
        if lost:
            raise ValueError(f"{title}: {lost[0]} is said to be the same as before, but was not there")
        before = {key: before[key] if item == SAME else item for key, item in content[title].items()}
        out[title] = before
    return out


def changed(before, after):
    """What a file has of the states of another release: for each step the objects that are not as `before` has them, None
    for those that are not there."""
    found = {(difference.step, difference.object) for difference in compare(before, after)}
    return {title: {key: after[title].get(key) for step, key in sorted(found) if step == title} for title in after}


def overlaid(before, content):
    """The states of which changed(before, ...) made this content. Raises ValueError if it has other steps."""
    if set(before) != set(content):
        raise ValueError(f"recorded steps differ: {sorted(set(before) ^ set(content))}")
    return {title: {key: item for key, item in {**before[title], **content[title]}.items() if item is not None}
            for title in before}


def own_crds(kube):
    """The definitions that scenarios have made in a cluster."""
    return [c for c in kube.items(CRDS) if c["metadata"]["name"].endswith(_OWN_CRD_GROUP_SUFFIX)]


def _path_of_crd(crd):
    spec = crd["spec"]
    version = next(v["name"] for v in spec["versions"] if v["storage"])
    return f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"


def _objects_of(kube, path):
    """The objects of a defined kind; none if it is not served, because it is new or is going."""
    try:
        return kube.items(path)
    except ApiError as error:
        if error.code == 404:
            return []
        raise


def read(plane, also=(), events=()):
    """{"cluster/Kind/namespace/name": object} of everything that may belong to a scenario, of the keys in also, and of
    the control plane's events with a reason in events."""
    def read_cluster(cluster):
        kube, found = plane.kube(cluster), {}
        crds = own_crds(kube)
        paths = [*KINDS.values(), *(KINDS_OF_HOST.values() if cluster == HOST else ())]
        items = [item for path in paths for item in kube.items(path)]
        for item in crds + items + [item for crd in crds for item in _objects_of(kube, _path_of_crd(crd))]:
            key = key_of(cluster, item)
            if may_be_of_a_scenario(item) or key in also:
                found[key] = item
        return found
    with ThreadPoolExecutor(max_workers=4) as pool:
        found = {}
        for objects in pool.map(read_cluster, [HOST, *plane.members]):
            found.update(objects)
    clusters = {f"{HOST}/Cluster//{c['metadata']['name']}": c for c in plane.host.items(CLUSTERS)}
    found.update({key: _decided_of(item) for key, item in clusters.items() if key in also})
    if events:
        found.update(_events(plane.host, events))
    return dict(sorted(found.items()))


def key_of(cluster, item):
    metadata = item["metadata"]
    return f"{cluster}/{item['kind']}/{metadata.get('namespace', '')}/{metadata['name']}"


def _decided_of(cluster):
    """Taints and actions; the rest of a Cluster changes with the machine."""
    decided = {"metadata": {key: cluster["metadata"][key] for key in ("name", "uid", "resourceVersion")},
               "spec": {"taints": cluster["spec"].get("taints", [])}}
    actions = cluster.get("status", {}).get("remedyActions")
    return {**decided, "status": {"remedyActions": actions}} if actions else decided


def _events(kube, reasons):
    """What has been said about each object for each reason: its messages without how often and when."""
    found = {}
    for event in kube.items(_EVENTS):
        about = event["involvedObject"]
        if event["reason"] not in reasons or not any(
                about.get(part, "").startswith(PREFIX) for part in ("namespace", "name")):
            continue
        name = f"{about['kind']} {about['name']} {event['reason']}"
        key = f"{HOST}/Event/{about.get('namespace', '')}/{name}"
        item = found.setdefault(key, {
            "kind": "Event", "type": event["type"], "messages": [], "metadata": {
                "namespace": about.get("namespace", ""), "name": about["name"], "uid": key, "resourceVersion": ""}})
        item["messages"] = sorted({*item["messages"], event["message"].removeprefix(_COMBINED)})
    return found


def names_of(item):
    """The names by which a scenario knows an object as its own: its namespace and name, a Work's by its manifests."""
    objects = [item["metadata"]]
    if item.get("kind") == "Work":
        manifests = item["spec"].get("workload", {}).get("manifests", [])
        objects = [manifest.get("metadata", {}) for manifest in manifests]
    return [name for metadata in objects
            for name in (metadata.get("namespace", ""), metadata.get("name", "")) if name]


def may_be_of_a_scenario(item):
    metadata = item["metadata"]
    return (any(name.startswith(PREFIX) for name in names_of(item)) and metadata["name"] != "kube-root-ca.crt"
            and metadata.get("labels", {}).get(_SLICE_MANAGED_BY) != _KUBERNETES)


PREFIX = "s-"


# ---- Normalising ----------------------------------------------------------------------------------


def normalise(objects):
    """Replaces what differs from run to run: versions, times, uids, ids, addresses, the order of sets."""
    names = {}
    for key, item in objects.items():
        names[item["metadata"]["uid"]] = f"<uid {key}>"
        for label, value in item["metadata"].get("labels", {}).items():
            if label.endswith("permanent-id") and item["kind"].endswith(("Policy", "Binding", "Work")):
                names.setdefault(value, f"<id {label.split('/')[0]}>")
    return {key: _normalise(item, names) for key, item in objects.items()}


_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
_DROPPED_METADATA = {"managedFields", "resourceVersion", "creationTimestamp", "generation", "selfLink"}
_COUNTED = {"resourceVersion", "observedGeneration", "schedulerObservedGeneration", "collisionCount",
            "controller-uid", "batch.kubernetes.io/controller-uid"}
_ALLOCATED = {"clusterIP", "clusterIPs", "nodePort", "certificate", "authentication.kubernetes.io/credential-id"}
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_UNORDERED = {"conditions", "manifestStatuses", "finalizers", "aggregatedStatus", "secrets"}


def _normalise(value, names, path=()):
    if isinstance(value, dict):
        return _normalise_members(value, names, path)
    if isinstance(value, list):
        # Whoever may read everything, as our daemon may by its role, may be impersonated in members; upstream's is a
        # master, which is not named.
        own = rights.USERS if path[-1] == "resourceNames" else ()
        items = [_normalise(item, names, path) for item in value if item not in own]
        return sorted(items, key=lambda i: json.dumps(i, sort_keys=True)) if path[-1] in _UNORDERED else items
    return _normalise_text(value, names) if isinstance(value, str) else value


def _normalise_members(members, names, path):
    out = {}
    for key, value in members.items():
        if key == LAST_APPLIED or (path[-1:] == ("metadata",) and key in _DROPPED_METADATA):
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
    """Without what no controller manager decides: foreign uids, conditions by the members' controllers, the order of
    clusters; and without nulls, which say what absence says. Conditions are a mapping by their type, so that a
    difference names it."""
    if isinstance(value, dict):
        return {name: _comparable(_without_order(name, member), key) for name, member in value.items()
                if name != "collisionCount" and member is not None
                and not (name == "conditions" and key.startswith("member"))}
    if isinstance(value, list):
        return [_comparable(item, key) for item in value]
    return _UUID.sub("<uuid>", value) if isinstance(value, str) else value


def _without_order(name, items):
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return items
    if name == "conditions" and len({item.get("type") for item in items}) == len(items):
        return {item.get("type", ""): item for item in items}
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True)) if name == "clusters" else items


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
