#!/usr/bin/env python3
"""Measures what it costs to put objects into members by server-side apply instead of updates.

    apply.py [--apps N]

N Deployments in two members, on one real control plane: created and edited by updates, taken over, edited by server-side
apply, and left alone by a restart. Prints a table, and leaves it in build/bench.
"""

import argparse
import json
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
sys.dont_write_bytecode = True

from rig import paths  # noqa: E402  (the path has to be set first)
from rig.audit import Audit  # noqa: E402
from rig.daemon import Daemon  # noqa: E402
from rig.plane import Plane  # noqa: E402
from rig.process import wait_until  # noqa: E402
from rig.suite import DEPLOYMENTS, deployment, wait_quiet  # noqa: E402

FLAG = "--member-server-side-apply"
NAMESPACE = "bench-apply"
POLICY = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
          "metadata": {"namespace": NAMESPACE, "name": "all"},
          "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
                   "placement": {"clusterAffinity": {"clusterNames": ["member1", "member2"]}}}}


@dataclass
class Phase:
    """What the daemon did from the beginning of a phase until it was quiet, and what the members then have."""

    title: str
    requests: Counter = field(default_factory=Counter)  # By method, to the members.
    changed: int = 0  # Objects of members whose resourceVersion is another one than before, or that are new.
    cpu_seconds: float = 0.0
    owners_bytes: int = 0  # Of metadata.managedFields, of all objects in members.


class Bench:
    def __init__(self, plane, apps):
        self.plane, self.apps, self.audit = plane, apps, Audit(plane)
        self.path = DEPLOYMENTS.format(NAMESPACE)
        self.versions, self.phases = {}, []

    def names(self):
        return [f"app-{i:04d}" for i in range(self.apps)]

    def create(self):
        self.plane.host.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        self.plane.host.apply([POLICY])
        for name in self.names():
            self.plane.host.create(self.path, deployment(NAMESPACE, name))

    def edit(self, value):
        """Changes a label of each template; pods are left alone."""
        for name in self.names():
            self.plane.host.merge(f"{self.path}/{name}", {"metadata": {"labels": {"edit": value}}})

    def in_members(self):
        return {(member, d["metadata"]["name"]): d for member in self.plane.members
                for d in self.plane.kube(member).items(self.path)}

    def await_label(self, value):
        def everywhere():
            held = [d for d in self.in_members().values() if d["metadata"]["labels"].get("edit") == value]
            assert len(held) == self.apps * len(self.plane.members), f"{len(held)} objects have the label"
            return True
        wait_until(f"the label {value} in all members", everywhere, 600, every=0.5)

    def phase(self, title, daemon, work=None, label=None, since_start=False):
        """Does the work, waits until the members show it and all is quiet, and records what that took."""
        print(f"bench-apply: {title}", flush=True)
        before = (Counter(), 0.0) if since_start else (daemon.requests(), daemon.process.cpu_seconds())
        if work is not None:
            work()
        self.await_label(label)
        wait_quiet(self.audit, seconds=12, timeout=600)
        out = Phase(title, cpu_seconds=daemon.process.cpu_seconds() - before[1])
        host = self.plane.host.server.removeprefix("https://")
        for (method, _, server), count in (daemon.requests() - before[0]).items():
            if server != host and method != "WATCH":
                out.requests[method] += count
        objects = self.in_members()
        # Other controllers write statuses; the generation is what this program changes.
        now = {key: (d["metadata"]["generation"], json.dumps(_without_status(d))) for key, d in objects.items()}
        out.changed = sum(self.versions.get(key) != version for key, version in now.items())
        out.owners_bytes = sum(len(json.dumps(d["metadata"].get("managedFields", []), separators=(",", ":")))
                               for d in objects.values())
        self.versions = now
        self.phases.append(out)

    def table(self):
        lines = [f"{self.apps} Deployments in two members; for each object in a member", "",
                 f"{'':34}{'GET':>8}{'POST':>8}{'PATCH':>8}{'changed':>9}{'CPU, ms':>9}{'managedFields, bytes':>22}"]
        count = self.apps * len(self.plane.members)
        for p in self.phases:
            methods = "".join(f"{p.requests[m] / count:8.2f}" for m in ("GET", "POST", "PATCH"))
            lines.append(f"{p.title:34}{methods}{p.changed / count:9.2f}{p.cpu_seconds / count * 1000:9.2f}"
                         f"{p.owners_bytes / count:22.0f}")
        return "\n".join(lines)


def _without_status(thing):
    metadata = {k: v for k, v in thing["metadata"].items() if k not in ("managedFields", "resourceVersion")}
    return {"metadata": metadata, "spec": thing["spec"]}


def run(plane, apps):
    bench = Bench(plane, apps)
    with Daemon(plane, name="bench-updates") as daemon:
        plane.wait_members_ready()
        bench.phase("created", daemon, bench.create)
        bench.phase("edited, by updates", daemon, lambda: bench.edit("one"), "one")
    with Daemon(plane, name="bench-updates-again") as daemon:
        bench.phase("a restart, by updates", daemon, label="one", since_start=True)
    with Daemon(plane, name="bench-apply", flags=[FLAG]) as daemon:
        bench.phase("taken over by server-side apply", daemon, label="one", since_start=True)
        bench.phase("edited, by server-side apply", daemon, lambda: bench.edit("two"), "two")
    with Daemon(plane, name="bench-apply-again", flags=[FLAG]) as daemon:
        bench.phase("a restart, by server-side apply", daemon, label="two", since_start=True)
    return bench.table()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apps", type=int, default=300)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not paths.DAEMON.exists():
        sys.exit(f"bench-apply: {paths.DAEMON} is missing: make build")
    folder = paths.BUILD / "bench"
    began = time.monotonic()
    with Plane(folder / "plane", paths.Testbed.build()) as plane:
        text = run(plane, options.apps)
    print(f"\n{text}\n\nbench-apply: {time.monotonic() - began:.0f} s; the table is in {folder / 'apply.txt'}")
    (folder / "apply.txt").write_text(text + "\n")


if __name__ == "__main__":
    main()
