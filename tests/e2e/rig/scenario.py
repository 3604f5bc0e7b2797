"""Replays scenarios on a plane; what they leave behind is compared with recordings of upstream (recording.py).

A scenario is a YAML list of steps, or a mapping with that list as `steps` and
    alone: true    it changes clusters, so nothing else runs at the same time
    also:  [...]   keys of further objects that are recorded ("member1/ClusterRole//name"; of a Cluster, its taints and
                   remedy actions)
    events: [...]  reasons of the control plane's events that are recorded, too, with their messages
    ties: false    replicas are divided without a rest, so that the uids of templates do not matter
    flags: [...]   further flags of the controller manager; only with `alone`
    metrics: true  there are metrics of pods (metrics_site.py); only with `alone`
    define: ...    anything, for YAML anchors
A step has a `name`, and one or more of
    apply:  [object, ...]                          kubectl apply
    delete: [KIND/NAMESPACE/NAME, ...]             kubectl delete
    patch:  {target: KIND/NAMESPACE/NAME, merge: {...}, subresource: ...}, or a list of them; a JSON patch with `json:`
    unjoin: CLUSTER, join: CLUSTER                 karmadactl
    use: {NAMESPACE/APP: {CLUSTER: "15m", ...}}    the CPU that each pod with that label `app` uses from then on
`'on':` (quoted, or YAML reads a boolean) names the cluster or clusters (default: the host), `as:` the user who applies
(default: the administrator), `sleep:` waits before looking, `wait:` bounds the seconds to settle. A scenario that has not
settled by then can be neither recorded nor compared.

Scenarios run side by side: the first steps of all, then, once everything has stood still for four seconds, the second
ones. Objects belong to the scenario whose steps apply their namespace, or, without one, an object of their name or of
the part of it before a dash; all of these names begin with "s-".
"""

import contextlib
import dataclasses
import json
import time

import yaml

from . import recording
from .kube import ApiError
from .metrics_site import MetricsSite
from .plane import HOST

RELEASES = ("v1.18", "v1.19")
RECORDED_RELEASE = RELEASES[0]  # Of which there is a recording of each scenario.
SETTLED_SECONDS = 4.0
_WAIT_SECONDS = 120.0
_POLL_SECONDS = 0.7
_RESTLESS = {"Cluster", "Event"}  # Kinds whose objects change while everything stands still.
# Scenarios use features that are off by default.
FLAGS = [
    "--feature-gates=Failover=true,PropagationPolicyPreemption=true,PriorityBasedScheduling=true,"
    "WorkloadAffinity=true,StatefulFailoverInjection=true,MultiClusterService=true,FederatedQuotaEnforcement=true",
    "--enable-no-execute-taint-eviction=true", "--resource-eviction-rate=10",
    "--controllers=*,hpaScaleTargetMarker,deploymentReplicasSyncer"]

# So that upstream settles as fast as two cores let it; it changes nothing that it leaves behind.
UPSTREAM_FLAGS = ["--kube-api-qps=400", "--kube-api-burst=800", "--cluster-api-qps=400", "--cluster-api-burst=800",
                  "--rate-limiter-qps=200", "--rate-limiter-bucket-size=400", "--rate-limiter-max-delay=2s"]


@dataclasses.dataclass
class Outcome:
    """What became of a scenario: {step: state}, and {step: keys} of what still moved when the time to settle was over."""

    states: dict = dataclasses.field(default_factory=dict)
    moving: dict = dataclasses.field(default_factory=dict)

    def check_settled(self):
        """Raises AssertionError if something still moved: then the states say nothing."""
        if self.moving:
            raise AssertionError("still moving when the time to settle was over:\n" + "\n".join(
                f"{step}: {', '.join(keys)}" for step, keys in self.moving.items()))


class Scenario:
    """The steps of one file."""

    def __init__(self, file):
        text = file.read_text()
        content = yaml.safe_load(text)
        if isinstance(content, list):
            content = {"steps": content}
        self.name = file.stem
        self.file = file
        self.alone = content.get("alone", False)
        self.also = frozenset(content.get("also", ()))
        self.events = frozenset(content.get("events", ()))
        self.flags = FLAGS + content.get("flags", [])
        self.metrics = content.get("metrics", False)
        if (self.flags != FLAGS or self.metrics) and not self.alone:
            raise ValueError(f"{file}: flags or metrics without alone")
        self.steps = content["steps"]
        self.divides = "replicaScheduling" in text and content.get("ties", True)
        names = {metadata.get("namespace") or metadata["name"]
                 for step in self.steps for metadata in (o["metadata"] for o in step.get("apply", []))}
        self.names = {name for name in names if name.startswith(recording.PREFIX)}

    @property
    def recording_file(self):
        return self.file.with_name(f"{self.name}.upstream.json")

    def changes_file(self, release):
        """What another release than the recording's has left behind otherwise."""
        return self.file.with_name(f"{self.name}.{release}.json")

    def recorded(self, release=RECORDED_RELEASE):
        """{step: state} as upstream of that release left it; of a release of which there is no recording, as the other did."""
        states = recording.unpacked(json.loads(self.recording_file.read_text()))
        if not self.is_recorded(release) or release == RECORDED_RELEASE:
            return states
        return recording.overlaid(states, json.loads(self.changes_file(release).read_text()))

    def is_recorded(self, release):
        return release == RECORDED_RELEASE or self.changes_file(release).exists()

    def record(self, outcome, release=RECORDED_RELEASE):
        """Stores the states of upstream. Raises AssertionError, and stores nothing, if they are not whole and settled."""
        outcome.check_settled()
        missing = set(self.titles()) - set(outcome.states)
        if missing:
            raise AssertionError(f"not carried out: {sorted(missing)}")
        if release == RECORDED_RELEASE:
            file, content = self.recording_file, recording.packed(outcome.states)
        else:
            file, content = self.changes_file(release), recording.changed(self.recorded(), outcome.states)
        file.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")

    def titles(self, first=0, last=None):
        """The keys of the steps from `first` to `last` in recordings."""
        return [self.title(n) for n in range(len(self.steps)) if first <= n <= (n if last is None else last)]

    def title(self, number):
        """The key of a step in recordings."""
        return f"{number:02d} {self.steps[number].get('name', '')}"

    def owns(self, key, item):
        """True if an object of a state is this scenario's."""
        if item.get("kind") == "Event" and key.split()[-1] not in self.events:
            return False
        return key in self.also or any(map(self.owns_name, recording.names_of(item)))

    def owns_name(self, name):
        """True if an object with this namespace or name is this scenario's."""
        return any(name == own or name.startswith(own + "-") for own in self.names)


def release_of(version):
    """The release "v1.19" of Karmada's version "v1.19.0-rc.0"; the one that is recorded in whole where there is no recording."""
    release = ".".join(version.split(".")[:2])
    return release if release in RELEASES else RECORDED_RELEASE


def load(folder, names=()):
    """The scenarios of a folder, all or those named, in the order of their names."""
    files = [file for file in sorted(folder.glob("*.yaml")) if not file.stem.endswith("differences")]
    missing = set(names) - {file.stem for file in files}
    if missing:
        raise SystemExit(f"scenario: {folder} has no {', '.join(sorted(missing))}")
    scenarios = [Scenario(file) for file in files]
    for one in scenarios:
        shared = {name: other.name for other in scenarios if other is not one
                  for name in other.names if one.owns_name(name)}
        if shared:
            raise ValueError(f"{one.name} would take objects of others for its own: {shared}")
    return [scenario for scenario in scenarios if not names or scenario.name in names]


def by_flags(batches):
    """[(flags, batches)] of lists of scenarios that run side by side: those that the same controller manager can do."""
    groups = {}
    for batch in batches:
        groups.setdefault(tuple(batch[0].flags), []).append(batch)
    return [(list(flags), group) for flags, group in groups.items()]


def run(plane, scenarios, log=lambda line: None, after_step=lambda number: None):
    """Carries the scenarios out side by side; returns {scenario: Outcome}.

    Calls after_step with the number of each step once it has settled; if that returns "stop", the rest is left out.
    """
    with contextlib.ExitStack() as ending:
        site = None
        if any(scenario.metrics for scenario in scenarios):
            site = ending.enter_context(contextlib.closing(MetricsSite(plane)))
            site.start_adapter()
        return _run(plane, scenarios, site, log, after_step)


def _run(plane, scenarios, metrics, log, after_step):
    outcomes = {scenario.name: Outcome() for scenario in scenarios}
    also, events = (frozenset().union(*sets) for sets in zip(*((one.also, one.events) for one in scenarios)))
    for number in range(max(len(scenario.steps) for scenario in scenarios)):
        active = [scenario for scenario in scenarios if number < len(scenario.steps)]
        began = time.monotonic()
        steps = [(scenario, scenario.steps[number]) for scenario in active]
        _carry_out(plane, steps, metrics)
        objects, moving = settle(plane, max(step.get("wait", _WAIT_SECONDS) for _, step in steps), also, events)
        for scenario in active:
            own = {key: item for key, item in objects.items() if scenario.owns(key, item)}
            outcomes[scenario.name].states[scenario.title(number)] = recording.normalise(own)
        _note_moving(outcomes, scenarios, number, moving)
        log(f"  step {number} of {len(active)} scenarios: {len(objects)} objects, "
            f"{time.monotonic() - began:.0f} s{', STILL MOVING: ' + ', '.join(moving) if moving else ''}")
        if after_step(number) == "stop":
            break
    return outcomes


def _note_moving(outcomes, scenarios, number, moving):
    """Files what moves under the scenarios that own it, or under all if none does: they could not settle either."""
    for key, item in sorted(moving.items()):
        owners = [scenario for scenario in scenarios if scenario.owns(key, item)] or scenarios
        for scenario in owners:
            step = scenario.title(min(number, len(scenario.steps) - 1))
            outcomes[scenario.name].moving.setdefault(step, []).append(key)


def settle(plane, limit, also=frozenset(), events=frozenset()):
    """The objects once they have stood still, and {}; when the limit is over, as they are, and those that still move."""
    end = time.monotonic() + limit
    versions, since, objects, moved = {}, time.monotonic(), {}, {}
    while time.monotonic() < end:
        last, objects, now = objects, recording.read(plane, also, events), time.monotonic()
        seen = {key: item["metadata"]["resourceVersion"] for key, item in objects.items()
                if key.split("/")[1] not in _RESTLESS}
        if seen != versions:
            moved.update({key: (now, objects.get(key) or last[key]) for key, _ in seen.items() ^ versions.items()})
            versions, since = seen, now
        elif now - since > SETTLED_SECONDS and not any(map(_is_terminating_namespace, objects.values())):
            return objects, {}
        time.sleep(_POLL_SECONDS)
    moving = {key: item for key, (when, item) in moved.items() if when >= min(since, end - SETTLED_SECONDS)}
    moving.update({key: item for key, item in objects.items() if _is_terminating_namespace(item)})
    return objects, moving


def _is_terminating_namespace(item):
    """It goes when its cluster's own controller finds the time."""
    return item.get("kind") == "Namespace" and "deletionTimestamp" in item["metadata"]


# ---- Steps ----------------------------------------------------------------------------------------


def _carry_out(plane, steps, metrics):
    """The same step of several scenarios."""
    _apply(plane, steps)
    for _, step in steps:
        for app, usage in step.get("use", {}).items():
            for cluster, cpu in usage.items():
                metrics.servers[cluster].set_usage(*app.split("/"), cpu=cpu, memory="8Mi")
        for cluster in _clusters_of(step):
            _delete_and_patch(plane.kube(cluster), step)
        if "unjoin" in step:
            plane.unjoin(step["unjoin"])
        if "join" in step:
            plane.join(step["join"])
    time.sleep(max(step.get("sleep", 0) for _, step in steps))


def _clusters_of(step):
    on = step.get("on", HOST)
    return [on] if isinstance(on, str) else on


def _apply(plane, steps):
    items = {}
    for scenario, step in steps:
        for cluster in _clusters_of(step):
            place = cluster, ("--as", step["as"]) if "as" in step else ()
            items.setdefault(place, []).extend((scenario, item) for item in step.get("apply", []))
    for (cluster, user), pairs in items.items():
        kube = plane.kube(cluster)
        namespaces = [item for _, item in pairs if item["kind"] == "Namespace"]
        if namespaces:
            kube.apply(namespaces, *user)
        rest = [item for scenario, item in pairs if item["kind"] != "Namespace"
                and not (scenario.divides and _create_with_even_uid(kube, item))]
        if rest:
            kube.apply(rest, *user)


def _delete_and_patch(kube, step):
    for target in step.get("delete", []):
        kube.kubectl("delete", "--ignore-not-found", "--wait=false", *_target(target))
    patches = step.get("patch", [])
    for patch in [patches] if isinstance(patches, dict) else patches:
        subresource = ["--subresource", patch["subresource"]] if "subresource" in patch else []
        kind = "json" if "json" in patch else "merge"
        kube.kubectl("patch", *_target(patch["target"]), f"--type={kind}", "-p", json.dumps(patch[kind]),
                     *subresource)


def _create_with_even_uid(kube, template):
    """Creates a template whose uid makes the scheduler break ties as in the recordings; False if it is none or exists.

    Karmada's scheduler gives the odd replica to the first or the last cluster by a hash of the template's
    uid. No controller manager decides that, so it must not differ from run to run.
    """
    if not {"replicas", "parallelism"} & template.get("spec", {}).keys() or template["kind"] not in recording.KINDS:
        return False
    head, plural = recording.KINDS[template["kind"]].rsplit("/", 1)
    path, name = f"{head}/namespaces/{template['metadata']['namespace']}/{plural}", template["metadata"]["name"]
    if kube.find(f"{path}/{name}"):
        return False
    applied = {recording.LAST_APPLIED: json.dumps(template) + "\n"}  # So that a later kubectl apply can take it over.
    annotations = {**template["metadata"].get("annotations", {}), **applied}
    body = {**template, "metadata": {**template["metadata"], "annotations": annotations}}
    for _ in range(32):
        if _fnv1a(kube.create(path, body)["metadata"]["uid"]) % 2 == 0:
            return True
        kube.delete(f"{path}/{name}?propagationPolicy=Background")
    raise AssertionError(f"no even uid for {path}/{name} in 32 tries")


def _fnv1a(text):
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def _target(text):
    kind, namespace, name = text.split("/")
    return [kind, name] + (["-n", namespace] if namespace else [])


# ---- Afterwards -----------------------------------------------------------------------------------

_OF_CLUSTERS = ["Namespace", "ClusterRole", "ClusterRoleBinding", "PriorityClass"]
_POLICIES_OF_CLUSTERS = ["clusterpropagationpolicies", "clusteroverridepolicies", "clustertaintpolicies"]
_KINDS_WITHOUT_NAMESPACE = ["/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations",
                            *(recording.KINDS_OF_HOST[kind] for kind in (
                                "Remedy", "WorkloadRebalancer", "CertificateSigningRequest"))]
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_FINALIZERS_OF_STEPS = "example.io/"
_RULES_OF_MEMBERS = [f"{_ADMISSION}/validatingadmissionpolicybindings", f"{_ADMISSION}/validatingadmissionpolicies"]


def clean_up(plane, timeout=180):
    """Removes every scenario object from the control plane, and what is left of them in the members, and brings members
    back that a scenario has taken out. Returns what is left nevertheless."""
    try:
        plane.rejoin()
    finally:
        left = _remove_objects(plane, timeout)
    return left


def _remove_objects(plane, timeout):
    for member in plane.members:
        for path in _RULES_OF_MEMBERS:
            _delete_ours(plane.kube(member), path)
    for plural in _POLICIES_OF_CLUSTERS:
        _delete_ours(plane.host, f"/apis/policy.karmada.io/v1alpha1/{plural}")
    for cluster in [HOST, *plane.members]:
        for kind in reversed(_OF_CLUSTERS):
            _delete_ours(plane.kube(cluster), recording.KINDS[kind])
        for crd in recording.own_crds(plane.kube(cluster)):
            plane.kube(cluster).delete(f"{recording.CRDS}/{crd['metadata']['name']}")
    for path in _KINDS_WITHOUT_NAMESPACE:
        _delete_ours(plane.host, path)
    for path in _applied_in_foreign_namespaces(plane):
        plane.host.delete(path)
    _let_go(plane)
    for cluster in plane.host.items(recording.CLUSTERS):
        if cluster["spec"].get("taints"):
            plane.host.merge(f"{recording.CLUSTERS}/{cluster['metadata']['name']}", {"spec": {"taints": None}})
    end = time.monotonic() + timeout
    while (left := recording.read(plane)) and time.monotonic() < end:
        time.sleep(_POLL_SECONDS)
    return left


def _delete_ours(kube, path):
    for item in kube.items(path):
        if item["metadata"]["name"].startswith(recording.PREFIX):
            kube.delete(f"{path}/{item['metadata']['name']}")


def _applied_in_foreign_namespaces(plane):
    """The paths of what steps have applied in the control plane, but not in namespaces of their own."""
    for key, item in recording.read(plane).items():
        cluster, kind, namespace, name = key.split("/")
        applied = recording.LAST_APPLIED in item["metadata"].get("annotations", {})
        if cluster == HOST and applied and namespace and not namespace.startswith(recording.PREFIX):
            yield _path_of(kind, namespace, name)


def _let_go(plane):
    """Removes the finalizers by which steps hold objects back."""
    for key, item in recording.read(plane).items():
        finalizers = item["metadata"].get("finalizers", [])
        others = [name for name in finalizers if not name.startswith(_FINALIZERS_OF_STEPS)]
        if others != finalizers:
            cluster, *place = key.split("/")
            try:
                plane.kube(cluster).merge(_path_of(*place), {"metadata": {"finalizers": others or None}})
            except ApiError as error:
                if error.code != 404:  # It has gone meanwhile.
                    raise


def _path_of(kind, namespace, name):
    head, plural = {**recording.KINDS, **recording.KINDS_OF_HOST}[kind].rsplit("/", 1)
    return f"{head}/namespaces/{namespace}/{plural}/{name}" if namespace else f"{head}/{plural}/{name}"
