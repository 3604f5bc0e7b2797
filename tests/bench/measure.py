"""One measurement: N apps, divided over two members, under one controller manager."""

import time
from collections import Counter
from dataclasses import dataclass, field

from rig import metrics
from rig.audit import Audit
from rig.daemon import USER, Daemon
from rig.process import wait_until
from rig.suite import ready_deployments, settled_bindings, wait_quiet

# Leases and events are counted apart; reviews are questions, nothing is stored.
APART = ("leases", "events", "subjectaccessreviews", "tokenreviews")
_NAMESPACES = "/api/v1/namespaces"


@dataclass
class Measurement:
    """What one run showed. Times in seconds, memory in bytes, counters for the whole run."""

    apps: int
    writes: Counter = field(default_factory=Counter)  # (verb, resource) at the control plane, events apart.
    events: int = 0  # Of all clients.
    daemon_events: int = 0
    requests: Counter = field(default_factory=Counter)  # (method, code) of the daemon, to all servers.
    control_plane_requests: Counter = field(default_factory=Counter)  # The same to the control plane alone.
    create_seconds: float = 0.0  # From the first created to the last.
    applied_seconds: float = 0.0  # From the last created to all applied and ready.
    cpu_until_applied: Counter = field(default_factory=Counter)  # CPU seconds of each process in that time.
    cpu_seconds: float = 0.0  # Of the daemon, from the first created until quiet.
    rss: int = 0
    peak_rss: int = 0
    restart_writes: int = 0  # Of the daemon after a restart with all settled, leases and events apart.
    restart_events: int = 0

    def writes_per_app(self):
        return sum(self.writes.values()) / self.apps


def measure(plane, exe, label, app, apps, flags=(), limit=1800):
    """Runs one measurement of so many apps from an empty namespace back to an empty namespace."""
    namespace = f"bench-{label}"
    out = Measurement(apps)
    host = plane.host
    audit = Audit(plane)
    with Daemon(plane, exe, name=f"bench-{label}", flags=flags) as daemon:
        plane.wait_members_ready()
        host.create(_NAMESPACES, {"metadata": {"name": namespace}})
        host.apply([app.policy(namespace, plane.members)])
        wait_quiet(audit)
        audit.rewind()
        before = _counters(plane, daemon)
        began = time.monotonic()
        for i in range(apps):
            app.create(host, namespace, f"app-{i:04d}")
        created, cpu = time.monotonic(), _cpu_by_process(plane, daemon)
        wait_until(f"{apps} apps applied", lambda: _all_settled(plane, daemon, namespace, app.bindings * apps, apps),
                   limit, every=0.5)
        out.create_seconds, out.applied_seconds = created - began, time.monotonic() - created
        out.cpu_until_applied = _cpu_by_process(plane, daemon) - cpu
        wait_quiet(audit, timeout=300)
        out.daemon_events = sum(write.resource == "events" for write in audit.writes(USER))
        _subtract(out, _counters(plane, daemon), before, plane.host.server.removeprefix("https://"))
        out.rss, out.peak_rss = daemon.process.rss_bytes(), daemon.process.peak_rss_bytes()
        _a_round_of_cluster_status()  # The last Pods are in the clusters' summaries, too.
    out.restart_writes, out.restart_events = _restart(plane, exe, label, flags, audit)
    _clean_up(plane, exe, label, namespace, flags)
    return out


def _all_settled(plane, daemon, namespace, bindings, apps):
    daemon.process.check_alive()
    settled, ready = settled_bindings(plane.host, namespace, plane.members), ready_deployments(plane.host, namespace)
    assert (settled, ready) == (bindings, apps), f"{settled} of {bindings} bindings, {ready} of {apps} Deployments"
    return True


def _cpu_by_process(plane, daemon):
    """CPU seconds so far: the daemon, each server of the plane, and this program, which creates and asks."""
    names = {process: "the daemon" if process is daemon.process else process.name for process in plane.processes}
    spent = Counter({name: process.cpu_seconds() for process, name in names.items() if process.alive()})
    spent["the benchmark"] = time.process_time()
    return spent


def _counters(plane, daemon):
    return metrics.server_writes(plane.host), daemon.requests(), daemon.process.cpu_seconds()


def _subtract(out, after, before, control_plane):
    for (verb, resource, _), count in (after[0] - before[0]).items():
        kind = resource.split("/")[0]
        if kind == "events":
            out.events += count
        elif kind not in APART:
            out.writes[verb, resource] += count
    for (method, code, host), count in (after[1] - before[1]).items():
        out.requests[method, code] += count
        if host == control_plane:
            out.control_plane_requests[method, code] += count
    out.cpu_seconds = after[2] - before[2]


def _restart(plane, exe, label, flags, audit):
    """How much a daemon writes that finds everything settled."""
    audit.rewind()
    with Daemon(plane, exe, name=f"bench-{label}-again", flags=flags):
        plane.wait_members_ready()
        _a_round_of_cluster_status()
        wait_quiet(audit, user=USER, timeout=300)
    written = [write.resource for write in audit.writes(USER) if write.resource != "leases"]
    return len(written) - written.count("events"), written.count("events")


def _a_round_of_cluster_status():
    time.sleep(12)  # Daemons here update it every 10 s.


def _clean_up(plane, exe, label, namespace, flags):
    with Daemon(plane, exe, name=f"bench-{label}-cleanup", flags=flags) as daemon:
        plane.wait_members_ready()
        plane.host.delete(f"{_NAMESPACES}/{namespace}")

        def gone():
            daemon.process.check_alive()
            return all(plane.kube(c).find(f"{_NAMESPACES}/{namespace}") is None for c in ["host", *plane.members])
        wait_until(f"{namespace} gone everywhere", gone, 600, every=1)
