"""A sandbox with many members and our daemon on it, as processes of their own that can be measured."""

import json
import pathlib
import time
from collections import Counter

from rig import metrics
from rig.kube import Kube
from rig.process import Process, free_port, wait_until

CRDS = pathlib.Path(__file__).resolve().parents[3] / "config" / "crds"
CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"


class Stage:
    """One karmada-sandbox. Use as a context manager; `folder` gets kubeconfigs and logs."""

    def __init__(self, bin_folder, folder, members, nodes=1):
        self.bin, self.folder, self.members = bin_folder, folder, [f"member{i + 1}" for i in range(members)]
        folder.mkdir(parents=True, exist_ok=True)
        out = folder / "sandbox.log"
        out.unlink(missing_ok=True)
        self.process = Process("sandbox", [
            bin_folder / "karmada-sandbox", "up", "--members", members, "--nodes", nodes, "--dir", folder,
            "--with-controller-manager", "off", "--output", "json", "--crds", CRDS], out)
        self.addresses = wait_until("the sandbox up", self._addresses, 120)
        self.host = self.kube("karmada")

    def _addresses(self):
        self.process.check_alive()
        lines = [line for line in (self.folder / "sandbox.log").read_text().splitlines() if line.startswith("{")]
        return json.loads(lines[0]) if lines else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()

    def kube(self, name):
        """A connection to the control plane ("karmada") or a member."""
        return Kube(self.folder / f"{name}.kubeconfig", kubectl=None)

    def daemon(self, name="daemon", flags=()):
        return MeasuredDaemon(self, name, flags)


class MeasuredProgram(Process):
    """A program of ours that serves metrics. Use as a context manager."""

    # Below this share of a CPU it counts as quiet.
    quiet_share = 0.05

    def __init__(self, stage, name, command):
        self.stage, self.metrics_port, self.started = stage, free_port(), time.monotonic()
        log = stage.folder / f"{name}.log"
        log.unlink(missing_ok=True)
        super().__init__(name, [*command, f"--metrics-bind-address=127.0.0.1:{self.metrics_port}"], log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(60)

    def wait_quiet(self, window=2.0, timeout=1200):
        """Waits until the daemon used less than `quiet_share` of a CPU during `window` seconds."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            self.check_alive()
            before, at = self.cpu_seconds(), time.monotonic()
            time.sleep(window)
            if self.cpu_seconds() - before < self.quiet_share * (time.monotonic() - at):
                return
        raise AssertionError(f"{self.name} still busy after {timeout} s")

    def idle_share(self, seconds):
        """The share of one CPU that it uses while nothing happens."""
        before, at = self.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        return (self.cpu_seconds() - before) / (time.monotonic() - at)

    def threads(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("Threads:"))

    def memory(self):
        """Resident bytes, and of them those that belong to this process alone or are written to."""
        rollup = pathlib.Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        kb = {words[0].rstrip(":"): int(words[1]) for words in map(str.split, rollup.splitlines()[1:])}
        return {"rss": kb["Rss"] * 1024, "pss": kb["Pss"] * 1024, "anonymous": kb["Anonymous"] * 1024}

    def requests(self):
        """Counter of (method, code), to all servers."""
        out = Counter()
        for (method, code, _), count in metrics.client_requests(metrics.scrape(self.metrics_port)).items():
            out[method, code] += count
        return out

    def writes(self):
        return sum(count for (method, _), count in self.requests().items() if method != "GET")


class MeasuredDaemon(MeasuredProgram):
    """Our controller manager."""

    def __init__(self, stage, name, flags):
        super().__init__(stage, name, [
            stage.bin / "karmada-controller-manager", f"--kubeconfig={stage.folder}/karmada.kubeconfig",
            "--leader-elect=false", "--health-probe-bind-address=0", *flags])

    def wait_ready(self, count, timeout=300):
        """Seconds from the daemon's start until so many clusters were Ready."""
        wait_until(f"{count} clusters Ready", lambda: self._alive() and ready_clusters(self.stage.host) >= count,
                   timeout, every=0.1)
        return time.monotonic() - self.started

    def _alive(self):
        self.check_alive()
        return True


def ready_clusters(host):
    """How many clusters the control plane has as Ready."""
    return sum(any(c["type"] == "Ready" and c["status"] == "True"
                   for c in cluster.get("status", {}).get("conditions", []))
               for cluster in host.items(CLUSTERS))
