#!/usr/bin/env python3
"""Measures one karmada-agent that is the agent of many clusters, on the sandbox: no Go, no real servers.

    agent_fleet.py [--clusters 1,20,100] [--works N] [--rest SECONDS] [--bin FOLDER]
    agent_fleet.py --alone [--works 100]

For each number of clusters: until all are Ready, then at rest without Works of templates. With the largest number, N Works go into
each cluster, and the process is started again, twice: first with the conditions of all Clusters emptied, to see when each is Ready
again, and then without that, to count what a restart writes. Prints a table, and leaves it in build/bench. With --alone it is the agent of one
cluster, with the command line that such an agent has: with leader election, and with reports each ten seconds.
"""

import argparse
import os
import pathlib
import shutil
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
sys.dont_write_bytecode = True

from rig import metrics  # noqa: E402
from rig.process import wait_until  # noqa: E402  (the path has to be set first)
from scale.stage import CLUSTERS, MeasuredProgram, Stage  # noqa: E402

TOP = HERE.parent.parent
FINALIZER = "karmada.io/cluster-controller"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/karmada-cluster/leases"
WORKS = "/apis/work.karmada.io/v1alpha1/namespaces/{}/works"
ALL_WORKS = "/apis/work.karmada.io/v1alpha1/works"
NAMESPACE = "default"
IN_MEMBERS = (f"/api/v1/namespaces/{NAMESPACE}/configmaps", f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments")
LARGEST_PLANE = 100  # Members of one karmada-sandbox.
QUIET_EACH = 0.0005  # Of one CPU, for each cluster: more than one uses at rest.


@dataclass
class Fleet:
    """What was found with so many clusters; sizes in bytes, times in seconds."""

    clusters: int
    ready: float = 0.0
    start_cpu: float = 0.0
    memory: dict = field(default_factory=dict)
    threads: int = 0
    names: Counter = field(default_factory=Counter)
    connections: int = 0
    idle: float = 0.0
    applied: float = 0.0        # With Works, like all that follows.
    memory_with_works: dict = field(default_factory=dict)
    idle_with_works: float = 0.0
    again: float = 0.0
    again_cpu: float = 0.0
    writes: int = 0
    renewed: float = 0.0
    all_writes: Counter = field(default_factory=Counter)  # (method, resource) of what is no Lease.


class Planes:
    """Control planes with up to a hundred members each, which are in pull mode. Use as a context manager."""

    def __init__(self, bin_folder, folder, clusters):
        self.bin, self.folder, self.stages, self.members = bin_folder, folder, [], {}
        shutil.rmtree(folder, ignore_errors=True)
        while len(self.members) < clusters:
            name = f"plane{len(self.stages) + 1}"
            stage = Stage(bin_folder, folder / name, min(clusters - len(self.members), LARGEST_PLANE))
            self.stages.append(stage)
            self.members.update({f"{name}-{member}": (stage, member) for member in stage.members})
        for cluster, (stage, member) in self.members.items():
            self._prepare(cluster, stage, member)

    def _prepare(self, cluster, stage, member):
        """The member leaves, so that its agent may register it, and gets its namespace and its folder."""
        stage.host.delete(f"{CLUSTERS}/{member}")
        stage.host.create("/api/v1/namespaces", {"metadata": {"name": f"karmada-es-{cluster}"}})
        folder = self.folder / "clusters" / cluster
        folder.mkdir(parents=True)
        shutil.copy(stage.folder / "karmada.kubeconfig", folder / "karmada-kubeconfig")
        shutil.copy(stage.folder / f"{member}.kubeconfig", folder / "kubeconfig")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for stage in self.stages:
            stage.__exit__()

    def items(self, path):
        """What all control planes have there."""
        return [(stage, item) for stage in self.stages for item in stage.host.items(path)]

    def versions(self):
        """The resourceVersion of each Work, and of each object of a Work in a cluster."""
        found = {(stage.folder.name, item["metadata"]["namespace"], item["metadata"]["name"]): item["metadata"]["resourceVersion"]
                 for stage, item in self.items(ALL_WORKS)}
        for cluster, (stage, member) in self.members.items():
            for path in IN_MEMBERS:
                found.update({(cluster, path, item["metadata"]["name"]): item["metadata"]["resourceVersion"]
                              for item in stage.kube(member).items(path)})
        return found


    def writes(self):
        """Counter of (method, resource) of the writes that all servers have got, whatever came of them, but those of Leases."""
        found = Counter()
        for kube in [*(stage.host for stage in self.stages), *(stage.kube(member) for stage, member in self.members.values())]:
            for (method, resource, _), count in metrics.server_writes(kube).items():
                if resource != "leases":
                    found[method, resource] += count
        return found


class FleetAgent(MeasuredProgram):
    """The process under test. Use as a context manager."""

    def __init__(self, planes, name, alone):
        cluster = next(iter(planes.members))
        folder = planes.folder / "clusters" / cluster
        super().__init__(planes, name, [
            planes.bin / "karmada-agent", f"--clusters-from={planes.folder / 'clusters'}", "--report-secrets=None",
            "--leader-elect=false", "--health-probe-bind-address=0"] if not alone else [
            planes.bin / "karmada-agent", f"--cluster-name={cluster}", "--report-secrets=None", "--health-probe-bind-address=0",
            f"--karmada-kubeconfig={folder / 'karmada-kubeconfig'}", f"--kubeconfig={folder / 'kubeconfig'}"])

    def thread_names(self):
        return Counter((task / "comm").read_text().strip() for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir())

    def connections(self):
        folder = f"/proc/{self.pid}/fd"
        return sum("socket:" in os.readlink(f"{folder}/{number}") for number in os.listdir(folder))


class Bench:
    def __init__(self, options):
        self.options, self.began = options, time.monotonic()

    def say(self, words):
        print(f"bench: {time.monotonic() - self.began:5.0f} s: {words}", file=sys.stderr, flush=True)

    def measure(self, clusters, works):
        found = Fleet(clusters)
        self.say(f"sandboxes with {clusters} members")
        with Planes(self.options.bin, TOP / "build" / "bench" / "agent-fleet", clusters) as planes:
            with FleetAgent(planes, "agents", self.options.alone) as agents:
                # What the agents use at rest is more with more clusters.
                agents.quiet_share = max(agents.quiet_share, clusters * QUIET_EACH)
                found.ready = self.wait_ready(planes, agents)
                found.start_cpu = agents.cpu_seconds()
                self.say(f"all are Ready after {found.ready:.1f} s; at rest for {self.options.rest} s")
                time.sleep(self.options.rest)
                agents.wait_quiet()
                found.idle = agents.idle_share(self.options.idle)
                found.memory, found.threads = agents.memory(), agents.threads()
                found.names, found.connections = agents.thread_names(), agents.connections()
                if not works:
                    return found
                found.applied = self.put_works(planes, agents, works)
                time.sleep(self.options.rest)
                agents.wait_quiet()
                found.idle_with_works = agents.idle_share(self.options.idle)
                found.memory_with_works, before = agents.memory(), planes.versions()
            self.say("started again")
            self.restart(planes, found, before)
            self.say("started again, with all as it was")
            self.restart_untouched(planes, found)
        return found

    def restart(self, planes, found, before):
        for cluster, (stage, _) in planes.members.items():
            stage.host.merge(f"{CLUSTERS}/{cluster}/status", {"status": {"conditions": []}})
        with FleetAgent(planes, "agents-again", self.options.alone) as agents:
            agents.quiet_share = max(agents.quiet_share, found.clusters * QUIET_EACH)
            found.again = self.wait_ready(planes, agents)
            time.sleep(self.options.rest)
            agents.wait_quiet()
            found.again_cpu = agents.cpu_seconds()
        after = planes.versions()
        found.writes = sum(after[path] != version for path, version in before.items()) + len(after.keys() - before.keys())

    def restart_untouched(self, planes, found):
        """Whatever is written is the agents': nobody else is there, and this only reads."""
        def renewals():
            return {lease["metadata"]["name"]: lease["metadata"]["resourceVersion"] for _, lease in planes.items(LEASES)}
        before, renewed = planes.writes(), renewals()
        with FleetAgent(planes, "agents-untouched", self.options.alone) as agents:
            agents.quiet_share = max(agents.quiet_share, found.clusters * QUIET_EACH)

            def all_renewed():
                agents.check_alive()
                left = sum(version == renewed[name] for name, version in renewals().items())
                assert not left, f"{left} Leases are as before"
                return True
            wait_until("the Leases of all clusters renewed", all_renewed, self.options.limit, every=0.5)
            found.renewed = time.monotonic() - agents.started
            time.sleep(self.options.rest)
            agents.wait_quiet()
        found.all_writes = planes.writes() - before

    def wait_ready(self, planes, agents):
        """Seconds from the start of the process; accepts clusters meanwhile, as the cluster controller does."""
        def all_ready():
            agents.check_alive()
            found = planes.items(CLUSTERS)
            for stage, cluster in found:
                if not cluster["metadata"].get("finalizers"):
                    stage.host.merge(f"{CLUSTERS}/{cluster['metadata']['name']}", {"metadata": {"finalizers": [FINALIZER]}})
            ready = sum(has_condition(cluster, "Ready") for _, cluster in found)
            assert ready == len(planes.members), f"{ready} clusters are Ready"
            return True
        wait_until("all clusters Ready", all_ready, self.options.limit, every=0.5)
        return time.monotonic() - agents.started

    def put_works(self, planes, agents, works):
        self.say(f"{works} Works for each cluster")
        for cluster, (stage, _) in planes.members.items():
            for number in range(works):
                stage.host.create(WORKS.format(f"karmada-es-{cluster}"), work(f"work-{number:03d}", number))
        began, wanted = time.monotonic(), works * len(planes.members)

        def all_applied():
            agents.check_alive()
            applied = sum(has_condition(item, "Applied") for _, item in planes.items(ALL_WORKS))
            assert applied == wanted, f"{applied} of {wanted} Works"
            return True
        wait_until("all Works applied", all_applied, self.options.limit, every=2)
        return time.monotonic() - began


def work(name, number):
    """Deployments without pods, and ConfigMaps, in turn."""
    labels = {"app": name}
    if number % 2:
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"text": "x" * 500}}
    else:
        manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {
            "replicas": 0, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "app:1"}]}}}}
    manifest["metadata"] = {"name": name, "namespace": NAMESPACE, "labels": {"karmada.io/managed": "true"}}
    return {"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"name": name},
            "spec": {"workload": {"manifests": [manifest]}}}


def has_condition(item, kind):
    return any(c["type"] == kind and c["status"] == "True" for c in item.get("status", {}).get("conditions", []))


def table(results, works, alone):
    """Lines of text."""
    mb, base = 1e6, results[0]

    def each(found, figure):
        """By how much each further cluster makes the figure larger."""
        further = found.clusters - base.clusters
        return (figure(found) - figure(base)) / further if further else 0

    lines = [f"karmada-agent {'of one cluster' if alone else '--clusters-from'}, on the sandbox", "",
             f"{'clusters':>8}{'Ready, s':>10}{'CPU, ms each':>14}{'RSS, MB':>9}{'kB each':>9}{'threads':>9}{'sockets':>9}{'CPU at rest':>13}"]
    for found in results:
        lines.append(f"{found.clusters:8d}{found.ready:10.1f}{found.start_cpu * 1000 / found.clusters:14.0f}"
                     f"{found.memory['rss'] / mb:9.1f}{each(found, lambda f: f.memory['rss']) / 1000:9.0f}"
                     f"{found.threads:9d}{found.connections:9d}{found.idle:13.2%}")
    last = results[-1]
    lines += ["", "threads: " + ", ".join(f"{count} {name}" for name, count in last.names.most_common())]
    if works:
        lines += ["", f"{last.clusters} clusters with {works} Works each",
                  f"  from the last Work created to all applied: {last.applied:.0f} s",
                  f"  RSS: {last.memory_with_works['rss'] / mb:.1f} MB, CPU at rest: {last.idle_with_works:.2%}",
                  f"  started again: all Ready after {last.again:.1f} s, {last.again_cpu:.1f} s of CPU",
                  f"  Works and objects in clusters that have changed then: {last.writes}",
                  f"  started once more, with all Clusters as they were: all Leases renewed after {last.renewed:.1f} s",
                  f"  writes to all servers then, without those of Leases: {sum(last.all_writes.values())}"]
        lines += [f"    {count} {method} {resource}" for (method, resource), count in last.all_writes.most_common()]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", type=lambda text: [int(word) for word in text.split(",")], default=[1, 20, 100])
    parser.add_argument("--works", type=int, default=20)
    parser.add_argument("--alone", action="store_true", help="an agent of one cluster, and no other")
    parser.add_argument("--idle", type=int, default=20, help="for how many seconds CPU at rest is measured")
    parser.add_argument("--rest", type=int, default=45, help="seconds; pages of files are given back after half a minute")
    parser.add_argument("--limit", type=int, default=900, help="how long anything may take, in seconds")
    parser.add_argument("--bin", type=pathlib.Path, default=TOP / "build" / "release" / "bin")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for program in ("karmada-sandbox", "karmada-agent"):
        if not (options.bin / program).exists():
            sys.exit(f"bench: {options.bin / program} is missing: make build")
    bench, sizes = Bench(options), [1] if options.alone else sorted(options.clusters)
    results = [bench.measure(size, options.works if size == sizes[-1] else 0) for size in sizes]
    text = "\n".join(table(results, options.works, options.alone))
    print(text)
    (TOP / "build" / "bench" / ("agent_alone.txt" if options.alone else "agent_fleet.txt")).write_text(text + "\n")


if __name__ == "__main__":
    main()
