#!/usr/bin/env python3
"""What `karmada-lens why -A` costs on a large control plane: time, CPU and memory of the program.

    tests/bench/fleet.py [--templates 5000] [--clusters 100] [--copies 2] [--down 1] [--lens PROGRAM] [--by-labels] [--plan [QUESTION...]]

The exit code is 1 when the fastest round takes longer than the budget, or one more memory; larger fleets have no budget. `--plan` measures
`karmada-lens plan --without member1` instead, or with other questions (`--plan="--without member1 --cordon member2"`), which has none. With
`--by-labels` placements select clusters by their labels, so that a plan has to simulate all templates.

The control plane is a stub that answers from memory with objects of usual sizes, so that nearly all of the time is the program's. Each
template is a Deployment with a policy of its own, in `copies` clusters. `down` clusters are not ready, one template in a hundred finds no
place, one in a hundred is refused by a member, and one in two hundred has no policy. page.py has the same control plane.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOW = "2026-01-01T10:00:00Z"
NAMESPACES = 50
BUDGET_SECONDS, BUDGET_MB = 2.0, 150
BUDGET_TEMPLATES, BUDGET_CLUSTERS = 5000, 100  # For that many, and for fewer.

# Group/version: the kinds that are served with plural and scope; those of the lists below have objects.
KINDS = {
    "v1": [("namespaces", "Namespace", False), ("events", "Event", True), ("secrets", "Secret", True),
           ("configmaps", "ConfigMap", True), ("services", "Service", True)],
    "apps/v1": [("deployments", "Deployment", True), ("statefulsets", "StatefulSet", True), ("daemonsets", "DaemonSet", True)],
    "batch/v1": [("jobs", "Job", True), ("cronjobs", "CronJob", True)],
    "coordination.k8s.io/v1": [("leases", "Lease", True)],
    "policy.karmada.io/v1alpha1": [("propagationpolicies", "PropagationPolicy", True),
                                   ("clusterpropagationpolicies", "ClusterPropagationPolicy", False),
                                   ("overridepolicies", "OverridePolicy", True),
                                   ("clusteroverridepolicies", "ClusterOverridePolicy", False),
                                   ("clustertaintpolicies", "ClusterTaintPolicy", False),
                                   ("federatedresourcequotas", "FederatedResourceQuota", True)],
    "work.karmada.io/v1alpha2": [("resourcebindings", "ResourceBinding", True),
                                 ("clusterresourcebindings", "ClusterResourceBinding", False)],
    "work.karmada.io/v1alpha1": [("works", "Work", True)],
    "cluster.karmada.io/v1alpha1": [("clusters", "Cluster", False)],
    "config.karmada.io/v1alpha1": [
        ("resourceinterpretercustomizations", "ResourceInterpreterCustomization", False),
        ("resourceinterpreterwebhookconfigurations", "ResourceInterpreterWebhookConfiguration", False)],
}


def condition(kind, ok, reason, message):
    return {"type": kind, "status": "True" if ok else "False", "reason": reason, "message": message, "lastTransitionTime": NOW}


def workload(name, namespace, metadata):
    """A Deployment of a usual size."""
    env = [{"name": f"SETTING_{i}", "value": f"value of setting {i} of {name}"} for i in range(12)]
    probe = {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1}
    container = {"name": "app", "image": f"registry.example/team/{name}:1.2.3", "env": env, "livenessProbe": probe,
                 "readinessProbe": probe, "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                 "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}, "imagePullPolicy": "IfNotPresent",
                 "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    labels = {"app": name, "team": namespace}
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": namespace, "labels": labels, **metadata},
            "spec": {"replicas": 2, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600, "selector": {"matchLabels": labels},
                     "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
                     "template": {"metadata": {"labels": labels},
                                  "spec": {"containers": [container], "dnsPolicy": "ClusterFirst", "restartPolicy": "Always",
                                           "schedulerName": "default-scheduler", "securityContext": {},
                                           "terminationGracePeriodSeconds": 30}}}}


def work_name(name, namespace):
    """As the loops name the Work of a Deployment, so that a plan finds it."""
    value = 2166136261
    for byte in f"{namespace}-{name}-deployment".encode():
        value = (value ^ byte) * 16777619 % 2**32
    letters = "bcdfghjklmnpqrstvwxz2456789"
    return f"{name}-{''.join(letters[ord(digit) % len(letters)] for digit in str(value))}"


class Fleet:
    """All objects, by the path of their list."""

    def __init__(self, options):
        self.lists = {}
        self.clusters = [f"member{i + 1}" for i in range(options.clusters)]
        self.down = set(self.clusters[: options.down])
        self.by_labels = options.by_labels
        for name in self.clusters:
            self._add_cluster(name)
        for i in range(NAMESPACES):
            self._add("v1", "namespaces", {"kind": "Namespace", "metadata": {"name": f"team-{i}"}})
        for i in range(options.templates):
            self._add_app(i, options.copies)

    def _add(self, version, plural, item):
        item.setdefault("apiVersion", version)
        item["metadata"].setdefault("creationTimestamp", NOW)
        item["metadata"].setdefault("resourceVersion", "1")
        self.lists.setdefault(f"{version}/{plural}", []).append(json.dumps(item).encode())

    def _add_cluster(self, name):
        apis = [{"groupVersion": version, "resources": [{"name": plural, "kind": kind} for plural, kind, _ in kinds]}
                for version, kinds in KINDS.items() if "karmada" not in version]
        ready = condition("Ready", name not in self.down, "ClusterReady" if name not in self.down else "ClusterNotReachable",
                          "cluster is healthy and ready to accept workloads" if name not in self.down else "cluster is not reachable")
        self._add("cluster.karmada.io/v1alpha1", "clusters", {
            "kind": "Cluster", "metadata": {"name": name, "uid": name, "labels": {"site": name}},
            "spec": {"syncMode": "Push", "apiEndpoint": f"https://{name}:6443", "secretRef": {"namespace": "karmada-cluster", "name": name}},
            "status": {"apiEnablements": apis, "conditions": [ready]}})
        self._add("v1", "namespaces", {"kind": "Namespace", "metadata": {"name": f"karmada-es-{name}"}})

    def _add_app(self, i, copies):
        name, namespace = f"app-{i}", f"team-{i % NAMESPACES}"
        unselected, unplaced, refused = i % 200 == 7, i % 100 == 11, i % 100 == 13
        claim = {"propagationpolicy.karmada.io/namespace": namespace, "propagationpolicy.karmada.io/name": name}
        policy_id = {"propagationpolicy.karmada.io/permanent-id": f"p{i}"}
        template = workload(name, namespace, {"uid": f"u{i}", "generation": 1})
        places = [self.clusters[(i + c) % len(self.clusters)] for c in range(copies)]
        placement = {"clusterAffinity": {"labelSelector": {"matchExpressions": [{"key": "site", "operator": "In", "values": places}]}}
                     if self.by_labels else {"clusterNames": places}}
        if not unselected:
            template["metadata"]["labels"] = {**template["metadata"]["labels"], **policy_id}
            template["metadata"]["annotations"] = claim
            self._add("policy.karmada.io/v1alpha1", "propagationpolicies", {
                "kind": "PropagationPolicy", "metadata": {"name": name, "namespace": namespace, "labels": policy_id},
                "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "namespace": namespace}],
                         "placement": placement}})
        self._add("apps/v1", "deployments", template)
        if unselected:
            return
        targets = [] if unplaced else places
        applied = {"policy.karmada.io/applied-placement": json.dumps(placement, separators=(",", ":"))}
        self._add_binding(i, name, namespace, {**policy_id, "resourcebinding.karmada.io/permanent-id": f"b{i}"}, {**claim, **applied},
                          placement, targets, refused)
        for n, cluster in enumerate(targets):
            self._add_work(i, name, namespace, cluster, refused and n == 0)

    def _add_binding(self, i, name, namespace, labels, claim, placement, targets, refused):
        items = [{"clusterName": cluster, "applied": not (refused and n == 0), "health": "Healthy",
                  **({"appliedMessage": REFUSAL} if refused and n == 0 else {}), "status": {"replicas": 2, "readyReplicas": 2}}
                 for n, cluster in enumerate(targets)]
        scheduled = condition("Scheduled", bool(targets), "Success" if targets else "NoClusterFit",
                              "Binding has been scheduled successfully." if targets else
                              "0/100 clusters are available: 100 cluster(s) did not match the placement cluster affinity constraint.")
        self._add("work.karmada.io/v1alpha2", "resourcebindings", {
            "kind": "ResourceBinding",
            "metadata": {"name": f"{name}-deployment", "namespace": namespace, "generation": 2, "labels": labels, "annotations": claim,
                         "uid": f"r{i}", "finalizers": ["karmada.io/binding-controller"],
                         "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": f"u{i}",
                                              "controller": True, "blockOwnerDeletion": True}]},
            "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": namespace, "name": name, "uid": f"u{i}"},
                     "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "100m", "memory": "128Mi"}},
                     "schedulerName": "default-scheduler", "placement": placement, "conflictResolution": "Abort",
                     **({"clusters": [{"name": cluster, "replicas": 2} for cluster in targets]} if targets else {})},
            "status": {"schedulerObservedGeneration": 2, "lastScheduledTime": NOW, "aggregatedStatus": items,
                       "conditions": [scheduled, condition("FullyApplied", not refused, "FullyAppliedSuccess", "all applied")]}})

    def _add_work(self, i, name, namespace, cluster, refused):
        manifest = workload(name, namespace, {"annotations": {"resourcetemplate.karmada.io/generation": "1",
                                                              "resourcebinding.karmada.io/name": f"{name}-deployment"}})
        manifest["metadata"]["labels"]["karmada.io/managed"] = "true"
        applied = condition("Applied", not refused, "AppliedFailed" if refused else "AppliedSuccessful",
                            REFUSAL if refused else "Manifest has been successfully applied")
        self._add("work.karmada.io/v1alpha1", "works", {
            "kind": "Work",
            "metadata": {"name": work_name(name, namespace), "namespace": f"karmada-es-{cluster}", "uid": f"w{i}{cluster}", "generation": 1,
                         "labels": {"resourcebinding.karmada.io/permanent-id": f"b{i}"},
                         "finalizers": ["karmada.io/execution-controller"],
                         "annotations": {"resourcebinding.karmada.io/namespace": namespace,
                                         "resourcebinding.karmada.io/name": f"{name}-deployment"}},
            "spec": {"workload": {"manifests": [manifest]}},
            "status": {"conditions": [applied],
                       "manifestStatuses": [{"identifier": {"ordinal": 0, "group": "apps", "version": "v1", "kind": "Deployment",
                                                            "resource": "", "namespace": namespace, "name": name},
                                             "health": "Healthy", "status": {"replicas": 2, "readyReplicas": 2}}]}})


REFUSAL = ("Failed to apply all manifests (0/1): admission webhook \"policy.example\" denied the request: images must come from "
           "registry.example")


def discovery(path):
    """The answer to a question what is served; None for other paths."""
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        groups = {}
        for version in KINDS:
            if "/" in version:
                groups.setdefault(version.split("/")[0], []).append({"groupVersion": version, "version": version.split("/")[1]})
        return {"kind": "APIGroupList", "apiVersion": "v1",
                "groups": [{"name": name, "versions": versions, "preferredVersion": versions[0]} for name, versions in groups.items()]}
    version = path.removeprefix("/apis/").removeprefix("/api/")
    if version not in KINDS:
        return None
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version,
            "resources": [{"name": plural, "kind": kind, "namespaced": namespaced, "verbs": ["get", "list", "watch"]}
                          for plural, kind, namespaced in KINDS[version]]}


def selected(items, selector):
    """Those of the items that a selector "key in (a,b)" selects; all of them for none."""
    match = re.fullmatch(r"(\S+) in \((.*)\)", selector)
    if match is None:
        return items
    key, values = match[1], set(match[2].split(","))
    return [item for item in items if json.loads(item)["metadata"].get("labels", {}).get(key) in values]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lists = {}

    def log_message(self, *_):
        pass

    def _answer(self, code, body):
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urlparse(self.path)
        found = discovery(url.path)
        if found is not None:
            return self._answer(200, json.dumps(found).encode())
        name = url.path.removeprefix("/apis/").removeprefix("/api/")
        version, _, plural = name.rpartition("/")
        if not any(plural == kind[0] for kind in KINDS.get(version, [])):
            return self._answer(404, b'{"kind":"Status","reason":"NotFound","message":"not found","code":404}')
        query = parse_qs(url.query)
        items = selected(self.lists.get(name, []), query.get("labelSelector", [""])[0])
        first, limit = int(query.get("continue", ["0"])[0]), int(query.get("limit", [len(items) or 1])[0])
        rest = first + limit < len(items)
        metadata = json.dumps({"resourceVersion": "1", **({"continue": str(first + limit)} if rest else {})}).encode()
        self._answer(200, b'{"kind":"List","metadata":' + metadata + b',"items":[' + b",".join(items[first:first + limit]) + b"]}")


def serve(options):
    """Starts the stub; returns its server, which is shut down by who has called."""
    Handler.lists = Fleet(options).lists
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # Who asked has gone.
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def write_kubeconfig(folder, port):
    path = pathlib.Path(folder) / "config"
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "a", "clusters": [{"name": "a", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}], "users": [{"name": "a", "user": {"token": "t"}}]}), encoding="utf-8")
    return path


def options_parser(documentation):
    """What decides how large the control plane is, and which program is measured."""
    parser = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--templates", type=int, default=5000)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--copies", type=int, default=2)
    parser.add_argument("--down", type=int, default=1)
    parser.add_argument("--by-labels", action="store_true", help="placements select clusters by labels")
    parser.add_argument("--lens", default=ROOT / "build" / "release" / "bin" / "karmada-lens")
    return parser


def run(lens, port, folder, command):
    """Runs a command of the program once; returns its answer, seconds, CPU seconds and the most memory in MB."""
    kubeconfig = write_kubeconfig(folder, port)
    start = time.monotonic()
    with open(pathlib.Path(folder) / "out", "w+", encoding="utf-8") as out:
        process = subprocess.Popen([lens, *command, "--kubeconfig", kubeconfig, "-o", "json"], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        out.seek(0)
        text = out.read()
    if os.waitstatus_to_exitcode(status) not in (0, 2):
        sys.exit(f"exit code {os.waitstatus_to_exitcode(status)}")
    return json.loads(text), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure_plan(options, port, folder):
    for _ in range(options.rounds):
        answer, seconds, cpu, memory = run(options.lens, port, folder, ["plan", *options.plan.split()])
        counts = ", ".join(f"{count} {verdict}" for verdict, count in answer["whatIf"]["templates"].items() if count)
        print(f"{counts}: {seconds:.2f} s, CPU {cpu:.2f} s, {memory:.0f} MB", flush=True)


def measure_why(options, port, folder):
    """Returns what is over the budget; "" for nothing."""
    rounds = []
    for _ in range(options.rounds):
        answer, seconds, cpu, memory = run(options.lens, port, folder, ["why", "-A"])
        rounds.append((seconds, memory, cpu))
        print(f"{answer['headline']} {len(answer['groups'])} groups: {seconds:.2f} s, CPU {cpu:.2f} s, {memory:.0f} MB", flush=True)
    for group in answer["groups"]:
        print(f"  {group['count']:5} x {group['cause']}: {group['templates'][0]['headline']}")
    if options.templates > BUDGET_TEMPLATES or options.clusters > BUDGET_CLUSTERS:
        return ""
    # What else the machine does makes a round slower, and none faster.
    seconds, memory, cpu = min(one[0] for one in rounds), max(one[1] for one in rounds), min(one[2] for one in rounds)
    over = [f"{value:.2f} {unit} are more than {budget} {unit}"
            for value, budget, unit in ((seconds, BUDGET_SECONDS, "s"), (memory, BUDGET_MB, "MB")) if value > budget]
    print(f"within the budget of {BUDGET_SECONDS:.0f} s and {BUDGET_MB} MB" if not over else "over the budget: " + ", ".join(over))
    if over and cpu < BUDGET_SECONDS < seconds:
        print(f"  the program had {cpu:.2f} s of CPU in that time: the machine was busy with other work")
    return ", ".join(over)


def main():
    parser = options_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plan", nargs="?", const="--without member1", metavar="QUESTIONS", help="measure these questions about the fleet")
    options = parser.parse_args()
    server = serve(options)
    size = sum(len(item) for items in Handler.lists.values() for item in items) / 1e6
    print(f"{options.templates} templates in {options.copies} of {options.clusters} clusters, {options.down} not ready; {size:.0f} MB of objects")
    with tempfile.TemporaryDirectory() as folder:
        over = (measure_plan if options.plan else measure_why)(options, server.server_port, folder)
    server.shutdown()
    sys.exit(1 if over else 0)


if __name__ == "__main__":
    main()
