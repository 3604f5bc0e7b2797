#!/usr/bin/env python3
"""Measures our agent of a pull cluster against upstream's, in turn, in one cluster that `karmadactl register` has registered.

    agent.py [--works N] [--idle SECONDS]

N Deployments go into the cluster, from the first create until every one's status is back and the agent is quiet; then the agent
is left alone, and started again. Prints a table, and leaves it in build/bench.
"""

import argparse
import pathlib
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
sys.dont_write_bytecode = True

from rig import paths  # noqa: E402  (the path has to be set first)
from rig.agent import PullCluster, ours, upstreams  # noqa: E402
from rig.audit import Audit  # noqa: E402
from rig.daemon import Daemon  # noqa: E402
from rig.plane import Plane  # noqa: E402
from rig.process import wait_until  # noqa: E402
from rig.suite import DEPLOYMENTS, deployment, settled_deployments  # noqa: E402

CLUSTER = "pulled1"
NAMESPACES = "/api/v1/namespaces"
QUIET_SECONDS = 5
QUIET_SHARE = 0.1  # Of one CPU: more than either agent uses at rest.


@dataclass
class Measurement:
    """What one agent did; sizes in bytes."""

    binary: int = 0  # As it is in an image.
    image: int = 0
    idle_before: int = 0  # RSS without Works of templates.
    seconds: float = 0.0
    cpu: float = 0.0
    writes: Counter = field(default_factory=Counter)  # By "control plane" and "cluster".
    rss: int = 0
    peak: int = 0
    anonymous: int = 0  # What of it no file has, and nobody shares.
    idle_share: float = 0.0
    restart_writes: int = 0
    restart_cpu: float = 0.0


class Bench:
    def __init__(self, plane, pulled, options):
        self.plane, self.pulled, self.options = plane, pulled, options
        self.audits = {"control plane": Audit(plane), "cluster": Audit(plane, CLUSTER)}

    def writes(self):
        """What the agent has written since rewind(), but for leases and events."""
        users = (self.pulled.user, self.pulled.account)
        return Counter(server for server, audit in self.audits.items() for write in audit.writes()
                       if write.user in users and write.resource not in ("leases", "events") and write.code < 400)

    def rewind(self):
        for audit in self.audits.values():
            audit.rewind()

    def process(self):
        return self.pulled.pod.process

    def rest(self):
        """Waits until the agent has used little CPU for a while; returns the CPU time and the moment at which that began."""
        cpu, since = self.process().cpu_seconds(), time.monotonic()
        end = since + 300
        while time.monotonic() < since + QUIET_SECONDS:
            if time.monotonic() > end:
                raise AssertionError("the agent does not rest")
            time.sleep(0.5)
            now = self.process().cpu_seconds()
            if now - cpu > QUIET_SHARE * (time.monotonic() - since + 0.5):
                cpu, since = now, time.monotonic()
        return cpu, since

    def measure(self, name, program):
        found = Measurement()
        self.start(program)
        root = self.plane.folder / "pods" / f"{CLUSTER}-agent"
        found.binary = (root / "bin" / program.name).stat().st_size
        found.image = sum(file.stat().st_size for file in root.rglob("*")
                          if file.is_file() and not file.is_symlink() and "proc" not in file.parts and "dev" not in file.parts)
        found.idle_before = self.process().rss_bytes()
        namespace = f"bench-{name}"
        self.rewind()
        began, cpu = time.monotonic(), self.process().cpu_seconds()
        self.propagate(namespace)
        wait_until("every template's status is complete", lambda: settled_deployments(
            self.plane.host, namespace, [CLUSTER]) == self.options.works, 600, every=0.5)
        found.seconds = time.monotonic() - began
        found.cpu = self.rest()[0] - cpu
        found.writes, found.rss, found.peak = self.writes(), self.process().rss_bytes(), self.process().peak_rss_bytes()
        found.anonymous = anonymous_bytes(self.process())
        found.idle_share = self.idle()
        self.pulled.stop()
        self.rewind()
        self.start(program)
        found.restart_writes, found.restart_cpu = self.writes().total(), self.process().cpu_seconds()
        self.take_away(namespace)
        self.pulled.stop()
        return found

    def start(self, program):
        self.pulled.start(program)
        wait_until("the cluster is ready", lambda: self.pulled.ready() == "True", 60)
        self.rest()

    def propagate(self, namespace):
        host, path = self.plane.host, DEPLOYMENTS.format(namespace)
        host.create(NAMESPACES, {"metadata": {"name": namespace}})
        host.apply([{
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"namespace": namespace, "name": "all"},
            "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
                     "placement": {"clusterAffinity": {"clusterNames": [CLUSTER]}}}}])
        for number in range(self.options.works):
            host.create(path, deployment(namespace, f"app-{number:04d}", replicas=1))

    def take_away(self, namespace):
        self.plane.host.delete(f"{NAMESPACES}/{namespace}")
        wait_until("everything is gone", lambda: self.plane.host.find(f"{NAMESPACES}/{namespace}") is None, 300)

    def idle(self):
        """Which share of one CPU the agent uses when nothing happens."""
        cpu = self.process().cpu_seconds()
        time.sleep(self.options.idle)
        return (self.process().cpu_seconds() - cpu) / self.options.idle


def anonymous_bytes(process):
    """Resident memory without the pages of files."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon")) * 1024


def table(results, works):
    """Lines of text."""
    mine, theirs = results["ours"], results["upstream"]

    def row(title, get, form="{:,.1f}"):
        a, b = get(mine), get(theirs)
        return f"{title:<58}{form.format(a):>10}{form.format(b):>12}{(b / a if a else 0):>9.1f}"
    mb = 1e6
    return [
        f"{works} Works of Deployments in one pull cluster", "",
        f"{'':<58}{'ours':>10}{'upstream':>12}{'up/ours':>9}",
        row("program without debug information, MB", lambda m: m.binary / mb),
        row("RSS before, MB", lambda m: m.idle_before / mb),
        row(f"RSS with {works} Works, MB", lambda m: m.rss / mb),
        row("  without the pages of program and libraries", lambda m: m.anonymous / mb),
        row("  the most", lambda m: m.peak / mb),
        row("CPU for each Work, from its creation until all rests, ms", lambda m: m.cpu * 1000 / works, "{:,.2f}"),
        row("writes to the control plane for each Work", lambda m: m.writes["control plane"] / works, "{:,.2f}"),
        row("writes to the cluster for each Work", lambda m: m.writes["cluster"] / works, "{:,.2f}"),
        row("from the first create until every status is back, s", lambda m: m.seconds),
        row("CPU at rest, %", lambda m: m.idle_share * 100, "{:,.2f}"),
        row("writes after a restart", lambda m: m.restart_writes, "{:,d}"),
        row("CPU of a restart, ms", lambda m: m.restart_cpu * 1000, "{:,.0f}"),
        "", f"file system of our image, unpacked: {mine.image / mb:,.1f} MB"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--works", type=int, default=100)
    parser.add_argument("--idle", type=float, default=60)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for program in (paths.DAEMON, ours()):
        if not program.exists():
            sys.exit(f"bench: {program} is missing: make build")
    testbed, folder = paths.Testbed.build(), paths.BUILD / "bench"
    with Plane(folder / "agent-plane", testbed, members=0) as plane, Daemon(plane):
        pulled = PullCluster(plane, CLUSTER)
        pulled.register()
        bench, results = Bench(plane, pulled, options), {}
        for name, program in {"ours": ours(), "upstream": upstreams(testbed)}.items():
            print(f"bench: {name}", flush=True)
            results[name] = bench.measure(name, program)
    text = "\n".join(table(results, options.works))
    print(f"\n{text}\n")
    (folder / "agent.txt").write_text(text + "\n")
    print(f"bench: the table is in {folder / 'agent.txt'}")


if __name__ == "__main__":
    main()
