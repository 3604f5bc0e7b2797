#!/usr/bin/env python3
"""Measures how soon another controller manager is at work when the leader dies, and when it is rolled out, on the sandbox.

    stand_by.py [--members 50] [--apps 3000] [--bin FOLDER]

For a cold and for a warm stand-by: what it holds and has running while it waits; then the leader is killed, and a Deployment is
edited; then another leader is stopped by SIGTERM, with --leader-elect-release-on-exit. Prints a table, and leaves it in
build/bench/stand_by.txt.
"""

import argparse
import os
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
sys.dont_write_bytecode = True

from rig.process import wait_until  # noqa: E402  (the path has to be set first)
from scale import load  # noqa: E402
from scale.stage import MeasuredProgram, Stage, ready_clusters  # noqa: E402

TOP = HERE.parent.parent
LEASE = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/karmada-controller-manager"
EACH = 2
ELECTION = ("--leader-elect=true", "--leader-elect-release-on-exit", "--health-probe-bind-address=0")


class Replica(MeasuredProgram):
    """A controller manager that takes part in the election, with its default durations."""

    def __init__(self, stage, name, flags):
        super().__init__(stage, name, [stage.bin / "karmada-controller-manager",
                                       f"--kubeconfig={stage.folder}/karmada.kubeconfig", *ELECTION, *flags])

    def leads(self):
        self.check_alive()
        return "became leader" in self.log.read_text(errors="replace")

    def connections(self):
        links = (os.readlink(f"/proc/{self.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{self.pid}/fd"))
        return sum(link.startswith("socket:") for link in links)


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows = []
    with Stage(options.bin, TOP / "build" / "bench" / "stand_by", options.members, nodes=2) as stage:
        leader = Replica(stage, "leader", ("--warm-stand-by",))
        wait_until("all clusters Ready", lambda: ready_clusters(stage.host) == options.members, 600)
        load.add_namespace(stage.host)
        groups = load.add_policies(stage.host, stage.members, EACH)
        load.add_deployments(stage.host, range(options.apps), groups, EACH)
        load.wait_applied(stage, leader, options.apps, EACH)
        say(f"{options.apps} apps are applied")
        edits, app = 0, options.apps // 2
        its_members = [stage.kube(name) for name in stage.members[app % groups * EACH:][:EACH]]
        for kind, flags in (("cold", ()), ("warm", ("--warm-stand-by",))):
            for end in ("killed", "stopped"):
                stand_by = Replica(stage, f"{kind}-{end}", flags)
                stand_by.wait_quiet()
                edits += 1
                row = hand_over(stage, leader, stand_by, end, Edit(app, its_members, edits))
                rows.append({"stand-by": kind, "leader": end, **row})
                say(rows[-1])
                leader = stand_by
                leader.wait_quiet()
        leader.stop(60)
    text = table(rows, options)
    (TOP / "build" / "bench" / "stand_by.txt").write_text(text)
    print(text)


class Edit:
    """A change of one Deployment."""

    def __init__(self, app, members, number):
        self.path = f"{load.DEPLOYMENTS.format(load.NAMESPACE)}/app-{app:05d}"
        self.members, self.value = members, str(number)

    def make(self, host):
        host.merge(self.path, {"spec": {"template": {"metadata": {"annotations": {"edit": self.value}}}}})

    def has_arrived(self):
        return all(member.get(self.path)["spec"]["template"]["metadata"].get("annotations", {}).get("edit") == self.value
                   for member in self.members)


def hand_over(stage, leader, stand_by, end, edit):
    row = {"rss": stand_by.memory()["rss"] / 1e6, "threads": stand_by.threads(), "sockets": stand_by.connections(),
           "writes": stand_by.writes()}
    renewed = stage.host.get(LEASE)["spec"]["renewTime"]
    wait_until("a renewal", lambda: stage.host.get(LEASE)["spec"]["renewTime"] != renewed, 30, every=0.01)
    before, cpu = time.monotonic(), stand_by.cpu_seconds()
    if end == "killed":
        leader.kill()
    else:
        leader.signal(signal.SIGTERM)
    edit.make(stage.host)
    wait_until("the next leader", stand_by.leads, 120, every=0.005)
    row["leads"] = time.monotonic() - before
    wait_until("the edit in both members", edit.has_arrived, 300, every=0.005)
    row["edit"], row["edit_cpu"] = time.monotonic() - before, stand_by.cpu_seconds() - cpu
    stand_by.wait_quiet()
    row["quiet"], row["cpu"] = time.monotonic() - before, stand_by.cpu_seconds() - cpu
    leader.wait(60)
    return row


def table(rows, options):
    lines = [f"{options.members} members, {options.apps} Deployments in {EACH} of them each; seconds from the end of the leader, "
             "just after a renewal", "",
             f"{'stand-by':<9} {'the leader is':<14} {'leads':>7} {'edit in members':>16} {'CPU, s':>7} {'quiet':>7} {'CPU, s':>7} "
             f"{'its writes before':>18} {'RSS, MB':>8} {'threads':>8} {'sockets':>8}"]
    for row in rows:
        lines.append(f"{row['stand-by']:<9} {row['leader']:<14} {row['leads']:7.2f} {row['edit']:16.2f} {row['edit_cpu']:7.2f} "
                     f"{row['quiet']:7.1f} {row['cpu']:7.2f} {row['writes']:18} {row['rss']:8.0f} {row['threads']:8} {row['sockets']:8}")
    return "\n".join(lines) + "\n"


def say(words):
    print(f"stand_by: {words}", file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--members", type=int, default=50)
    parser.add_argument("--apps", type=int, default=3000)
    parser.add_argument("--bin", type=pathlib.Path, default=TOP / "build" / "release" / "bin",
                        help="where the programs are")
    return parser.parse_args()


if __name__ == "__main__":
    main()
