"""The cases of the scale bench. Each starts a stage, measures, and yields figures by name."""

import json
import pathlib
import subprocess
import sys
import time
from dataclasses import dataclass

from rig.process import wait_until

from . import load
from .latency import Probe
from .stage import CLUSTERS, Stage, ready_clusters

IDLE_SECONDS = 20


@dataclass(frozen=True)
class Sizes:
    """How large the cases are."""

    apps: int = 2000          # Of the large fleet.
    members: int = 50
    curve: tuple = (100, 500, 1000, 2000)  # Where the cost per app is read off, each a part of `apps`.
    few_members: int = 10
    few_curve: tuple = (100, 500)
    wide_apps: int = 400      # Over `wide` members each.
    wide: int = 10
    idle_members: int = 100
    storm_members: int = 100
    storm_back: int = 20      # So many become ready at once,
    storm_maps: int = 2000    # with so many templates over `wide` members each.
    rule_members: int = 10
    rule_maps: int = 1000     # Over all of these members each.


QUICK = Sizes(apps=100, members=10, curve=(50, 100), few_members=4, few_curve=(50,), wide_apps=20, wide=5,
              idle_members=20, storm_members=20, storm_back=5, storm_maps=100,
              rule_members=5, rule_maps=100)


class Bench:
    """Runs cases on stages below `folder`; `say` shows progress."""

    def __init__(self, bin_folder, folder, sizes, say):
        self.bin, self.folder, self.sizes, self.say = bin_folder, folder, sizes, say

    def stage(self, name, members):
        self.say(f"{name}: a sandbox with {members} members")
        return Stage(self.bin, self.folder / name, members)

    def apps(self):
        """Deployments over two members each; then the idle daemon; then a restart of it."""
        sizes, figures = self.sizes, {}
        with self.stage("apps", sizes.members) as stage:
            with stage.daemon() as daemon:
                daemon.wait_ready(sizes.members)
                figures["curve"] = self._curve(stage, daemon, sizes.curve)
                figures["cpu_per_app"] = figures["curve"][-1]["cpu_per_app"]
                figures["events_per_app"] = load.events_per(stage.host, sizes.apps)
                self.say(f"apps: {IDLE_SECONDS} s idle")
                figures["idle_cpu"] = daemon.idle_share(IDLE_SECONDS)
                figures["threads"], figures["memory"] = daemon.threads(), daemon.memory()
            self.say("apps: restart")
            figures["restart"] = self._restart(stage)
        return figures

    def _curve(self, stage, daemon, counts):
        """CPU per app so far, each time so many apps are settled."""
        groups = self._open(stage, daemon, 2)
        before, done, points, took = daemon.cpu_seconds(), 0, [], time.monotonic()
        for count in counts:
            self.say(f"apps: {count} Deployments over 2 of {len(stage.members)} members")
            load.add_deployments(stage.host, range(done, count), groups, 2)
            load.wait_applied(stage, daemon, count, 2)
            used = daemon.cpu_seconds() - before
            points.append({"apps": count, "members": len(stage.members), "cpu_per_app": used / count,
                           "rss": daemon.memory()["rss"], "seconds": time.monotonic() - took})
            self.say(f"apps: {used / count * 1000:.2f} ms per app")
            done = count
        return points

    def _open(self, stage, daemon, each):
        load.add_namespace(stage.host)
        groups = load.add_policies(stage.host, stage.members, each)
        daemon.wait_quiet()
        return groups

    def _restart(self, stage):
        """What a daemon uses that finds everything settled. Writes that change nothing count, too."""
        with stage.daemon("daemon-again") as daemon:
            daemon.wait_ready(len(stage.members))
            daemon.wait_quiet()
            return {"cpu": daemon.cpu_seconds(), "peak_rss": daemon.peak_rss_bytes(), "writes": daemon.writes(),
                    "requests": {" ".join(key): count for key, count in sorted(daemon.requests().items())}}

    def growth(self):
        """The same Deployments on a small fleet, to compare the cost per app with."""
        with self.stage("growth", self.sizes.few_members) as stage, stage.daemon() as daemon:
            daemon.wait_ready(self.sizes.few_members)
            return {"curve": self._curve(stage, daemon, self.sizes.few_curve)}

    def wide(self):
        """Deployments over many members each."""
        sizes = self.sizes
        with self.stage("wide", sizes.members) as stage, stage.daemon() as daemon:
            daemon.wait_ready(sizes.members)
            groups = self._open(stage, daemon, sizes.wide)
            cpu, rss, pairs = daemon.cpu_seconds(), daemon.memory()["rss"], sizes.wide_apps * sizes.wide
            self.say(f"wide: {sizes.wide_apps} Deployments over {sizes.wide} of {sizes.members} members")
            load.add_deployments(stage.host, range(sizes.wide_apps), groups, sizes.wide)
            load.wait_applied(stage, daemon, sizes.wide_apps, sizes.wide)
            return {"cpu_per_pair": (daemon.cpu_seconds() - cpu) / pairs,
                    "memory_per_pair": (daemon.memory()["rss"] - rss) / pairs}

    def idle(self):
        """Many members that have nothing to do."""
        with self.stage("idle", self.sizes.idle_members) as stage, stage.daemon() as daemon:
            ready = daemon.wait_ready(self.sizes.idle_members)
            daemon.wait_quiet()
            self.say(f"idle: {IDLE_SECONDS} s idle")
            share = daemon.idle_share(IDLE_SECONDS)
            return {"ready_seconds": ready, "idle_cpu": share, "threads": daemon.threads(),
                    "memory": daemon.memory()}

    def rules(self):
        """A customization of a kind with many objects changes, and its answers stay the same."""
        sizes = self.sizes
        with self.stage("rules", sizes.rule_members) as stage, stage.daemon() as daemon:
            daemon.wait_ready(sizes.rule_members)
            load.add_namespace(stage.host)
            load.put_customization(stage.host, "the first text")
            groups = load.add_policies(stage.host, stage.members, sizes.rule_members, "v1", "ConfigMap")
            self.say(f"rules: {sizes.rule_maps} ConfigMaps over {sizes.rule_members} members")
            load.add_config_maps(stage.host, sizes.rule_maps, groups)
            load.wait_applied(stage, daemon, sizes.rule_maps, sizes.rule_members)
            cpu, writes = daemon.cpu_seconds(), daemon.writes()
            self.say("rules: the scripts change")
            load.put_customization(stage.host, "another text")
            time.sleep(5)  # Until the daemon has seen it.
            daemon.wait_quiet()
            # One write is the event about the customization.
            return {"cpu": daemon.cpu_seconds() - cpu, "writes": daemon.writes() - writes}

    def storm(self):
        """Members with many Works come back together; meanwhile small templates go to another member."""
        sizes = self.sizes
        with self.stage("storm", sizes.storm_members) as stage, Gates(stage, sizes.storm_back) as gates, \
                stage.daemon(flags=["--cluster-status-update-frequency=1s", "--cluster-failure-threshold=2s",
                                    "--cluster-success-threshold=1s"]) as daemon:
            daemon.quiet_share = 0.4  # Asking each member every second is work, too.
            daemon.wait_ready(sizes.storm_members)
            load.add_namespace(stage.host)
            groups = load.add_policies(stage.host, stage.members, sizes.wide, "v1", "ConfigMap")
            self.say(f"storm: {sizes.storm_maps} ConfigMaps over {sizes.wide} of {sizes.storm_members} members")
            load.add_config_maps(stage.host, sizes.storm_maps, groups)
            load.wait_applied(stage, daemon, sizes.storm_maps, sizes.wide, healthy=False)
            return self._storm(stage, gates)

    def _storm(self, stage, gates):
        with Probe(stage, stage.members[0]) as probe:
            self.say("storm: quiet, for comparison")
            quiet = probe.longest(5)
            self.say(f"storm: {len(gates.members)} members go")
            gates.tell("close")
            rest = len(stage.members) - len(gates.members)
            wait_until("the members gone", lambda: ready_clusters(stage.host) <= rest, 120, every=0.2)
            self.say("storm: and come back")
            began = time.monotonic()
            gates.tell("open")
            longest = probe.longest(10)
            wait_until("all back", lambda: ready_clusters(stage.host) == len(stage.members), 120, every=0.2)
            return {"quiet": quiet, "storm": longest, "back_seconds": time.monotonic() - began}


class Gates:
    """Puts a gate between the control plane's clusters and the last `count` members."""

    def __init__(self, stage, count):
        self.members = stage.members[-count:]
        urls = {entry["name"]: entry["url"] for entry in stage.addresses["members"]}
        ports = [urls[name].rsplit(":", 1)[1] for name in self.members]
        self._process = subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name("gate.py"), *ports], text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for name, port in zip(self.members, json.loads(self._process.stdout.readline()), strict=True):
            stage.host.merge(f"{CLUSTERS}/{name}", {"spec": {"apiEndpoint": f"https://127.0.0.1:{port}"}})

    def tell(self, command):
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        self._process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(10)
