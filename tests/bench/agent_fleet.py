#!/usr/bin/env python3
"""Measures one karmada-agent that is the agent of many clusters, on the sandbox: no Go, no real servers.

    agent_fleet.py [--clusters 1,20,100] [--works N] [--rest SECONDS] [--bin FOLDER]

For each number of clusters: until all are Ready, then at rest without Works of templates. With the largest number, N Works go into
each cluster, and the process is started again. Prints a table, and leaves it in build/bench.
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

from rig.process import wait_until  # noqa: E402  (the path has to be set first)
from scale.stage import CLUSTERS, MeasuredProgram, Stage  # noqa: E402

TOP = HERE.parent.parent
FINALIZER = "karmada.io/cluster-controller"
WORKS = "/apis/work.karmada.io/v1alpha1/namespaces/{}/works"
ALL_WORKS = "/apis/work.karmada.io/v1alpha1/works"
NAMESPACE = "default"
IN_MEMBERS = (f"/api/v1/namespaces/{NAMESPACE}/configmaps", f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments")
IDLE_SECONDS = 20


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
    again: float = 0.0
    again_cpu: float = 0.0
    writes: int = 0


class FleetAgent(MeasuredProgram):
    """The process under test. Use as a context manager."""

    def __init__(self, stage, name):
        super().__init__(stage, name, [
            stage.bin / "karmada-agent", f"--clusters-from={stage.folder / 'clusters'}", "--report-secrets=None",
            "--leader-elect-release-on-exit", "--health-probe-bind-address=0"])

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
        self.say(f"a sandbox with {clusters} members")
        with Stage(self.options.bin, TOP / "build" / "bench" / "agent-fleet", clusters) as stage:
            prepare(stage)
            with FleetAgent(stage, "agents") as agents:
                found.ready = self.wait_ready(stage, agents)
                found.start_cpu = agents.cpu_seconds()
                self.say(f"all are Ready after {found.ready:.1f} s; at rest for {self.options.rest} s")
                time.sleep(self.options.rest)
                agents.wait_quiet()
                found.idle = agents.idle_share(IDLE_SECONDS)
                found.memory, found.threads = agents.memory(), agents.threads()
                found.names, found.connections = agents.thread_names(), agents.connections()
                if not works:
                    return found
                found.applied = self.put_works(stage, agents, works)
                time.sleep(self.options.rest)
                agents.wait_quiet()
                found.memory_with_works, before = agents.memory(), versions(stage)
            self.say("started again")
            self.restart(stage, found, before)
        return found

    def restart(self, stage, found, before):
        for cluster in stage.members:
            stage.host.merge(f"{CLUSTERS}/{cluster}/status", {"status": {"conditions": []}})
        with FleetAgent(stage, "agents-again") as agents:
            found.again = self.wait_ready(stage, agents)
            agents.wait_quiet()
            found.again_cpu = agents.cpu_seconds()
        after = versions(stage)
        found.writes = sum(after[path] != version for path, version in before.items()) + len(after.keys() - before.keys())

    def wait_ready(self, stage, agents):
        """Seconds from the start of the process; accepts clusters meanwhile, as the cluster controller does."""
        accepted = set()

        def all_ready():
            agents.check_alive()
            found = stage.host.items(CLUSTERS)
            for cluster in found:
                name = cluster["metadata"]["name"]
                if name not in accepted and not cluster["metadata"].get("finalizers"):
                    stage.host.merge(f"{CLUSTERS}/{name}", {"metadata": {"finalizers": [FINALIZER]}})
                accepted.add(name)
            ready = sum(map(is_ready, found))
            assert ready == len(stage.members), f"{ready} clusters are Ready"
            return True
        wait_until("all clusters Ready", all_ready, self.options.limit, every=0.5)
        return time.monotonic() - agents.started

    def put_works(self, stage, agents, works):
        self.say(f"{works} Works for each cluster")
        for cluster in stage.members:
            for number in range(works):
                stage.host.create(WORKS.format(f"karmada-es-{cluster}"), work(f"work-{number:03d}", number))
        began, wanted = time.monotonic(), works * len(stage.members)

        def all_applied():
            agents.check_alive()
            applied = sum(map(is_applied, stage.host.items(ALL_WORKS)))
            assert applied == wanted, f"{applied} of {wanted} Works"
            return True
        wait_until("all Works applied", all_applied, self.options.limit, every=2)
        return time.monotonic() - began


def prepare(stage):
    """The members leave, so that their agents may register them, and get their namespaces and folders."""
    shutil.rmtree(stage.folder / "clusters", ignore_errors=True)
    for cluster in stage.members:
        stage.host.delete(f"{CLUSTERS}/{cluster}")
        stage.host.create("/api/v1/namespaces", {"metadata": {"name": f"karmada-es-{cluster}"}})
        folder = stage.folder / "clusters" / cluster
        folder.mkdir(parents=True)
        shutil.copy(stage.folder / "karmada.kubeconfig", folder / "karmada-kubeconfig")
        shutil.copy(stage.folder / f"{cluster}.kubeconfig", folder / "kubeconfig")


def work(name, number):
    """Deployments without pods, and ConfigMaps, in turn."""
    labels = {"app": name}
    if number % 2:
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"text": "x" * 500}}
    else:
        manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {
            "replicas": 0, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "app:1"}]}}}}
    manifest["metadata"] = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"name": name},
            "spec": {"workload": {"manifests": [manifest]}}}


def has_condition(item, kind):
    return any(c["type"] == kind and c["status"] == "True" for c in item.get("status", {}).get("conditions", []))


def is_ready(cluster):
    return has_condition(cluster, "Ready")


def is_applied(item):
    return has_condition(item, "Applied")


def versions(stage):
    """The resourceVersion of each object that an agent could write; the Clusters' are the restart's own."""
    found = {("works", item["metadata"]["namespace"], item["metadata"]["name"]): item["metadata"]["resourceVersion"]
             for item in stage.host.items(ALL_WORKS)}
    for cluster in stage.members:
        for path in IN_MEMBERS:
            found.update({(cluster, path, item["metadata"]["name"]): item["metadata"]["resourceVersion"]
                          for item in stage.kube(cluster).items(path)})
    return found


def table(results, works):
    """Lines of text."""
    mb, base = 1e6, results[0]

    def each(found, figure):
        """By how much each further cluster makes the figure larger."""
        further = found.clusters - base.clusters
        return (figure(found) - figure(base)) / further if further else 0

    lines = ["karmada-agent --clusters-from, on the sandbox", "",
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
                  f"  RSS: {last.memory_with_works['rss'] / mb:.1f} MB",
                  f"  started again: all Ready after {last.again:.1f} s, {last.again_cpu:.1f} s of CPU",
                  f"  Works and objects in clusters that have changed then: {last.writes}"]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", type=lambda text: [int(word) for word in text.split(",")], default=[1, 20, 100])
    parser.add_argument("--works", type=int, default=20)
    parser.add_argument("--rest", type=int, default=45, help="seconds; pages of files are given back after half a minute")
    parser.add_argument("--limit", type=int, default=900, help="how long anything may take, in seconds")
    parser.add_argument("--bin", type=pathlib.Path, default=TOP / "build" / "release" / "bin")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for program in ("karmada-sandbox", "karmada-agent"):
        if not (options.bin / program).exists():
            sys.exit(f"bench: {options.bin / program} is missing: make build")
    bench, sizes = Bench(options), sorted(options.clusters)
    results = [bench.measure(size, options.works if size == sizes[-1] else 0) for size in sizes]
    text = "\n".join(table(results, options.works))
    print(text)
    (TOP / "build" / "bench" / "agent_fleet.txt").write_text(text + "\n")


if __name__ == "__main__":
    main()
