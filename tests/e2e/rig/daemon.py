"""A controller manager on a plane: ours, or upstream's to compare with."""

import json
import urllib.request

from . import metrics, paths, rights
from .process import free_port, wait_until

USER = rights.USER


class Daemon:
    """A running karmada-controller-manager. Use as a context manager, or stop() it."""

    def __init__(self, plane, exe=paths.DAEMON, name="controller-manager", flags=(), kubeconfig=None, metrics_port=None):
        self.plane, self.exe, self.name = plane, exe, name
        self.metrics_port, self.health_port = metrics_port or free_port(), free_port()
        self.kubeconfig = kubeconfig = kubeconfig or self._kubeconfig()
        self.process = plane.start(name, [
            exe, f"--kubeconfig={kubeconfig}", "--cluster-status-update-frequency=10s",
            f"--metrics-bind-address=127.0.0.1:{self.metrics_port}",
            f"--health-probe-bind-address=127.0.0.1:{self.health_port}", "--v=2",
            *([] if any(f.startswith("--leader-elect=") for f in flags) else ["--leader-elect=false"]), *flags])

    def _kubeconfig(self):
        """Of the same user for both: ours has the rights of config/rbac alone, upstream's everything."""
        ours = self.exe == paths.DAEMON
        for member in self.plane.members:
            rights.narrow(self.plane, member, to_ours=ours)
        kubeconfig = self.plane.folder / f"{'our' if ours else 'upstream'}-controller-manager.kubeconfig"
        if not kubeconfig.exists():
            self.plane.user("upstream-controller-manager", USER)
        return kubeconfig

    def __enter__(self):
        self.wait_healthy()
        return self

    def __exit__(self, *_):
        self.stop()

    def wait_healthy(self, timeout=60):
        def healthy():
            self.process.check_alive()
            with urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}/healthz", timeout=2) as answer:
                return answer.status == 200
        wait_until(f"{self.name} healthy", healthy, timeout)

    def stop(self, timeout=35):
        return self.process.stop(timeout)

    def samples(self):
        return metrics.scrape(self.metrics_port)

    def settings(self):
        """What it serves as its settings."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/configz", timeout=10) as answer:
            return json.load(answer)["karmada-controller-manager"]

    def value(self, metric, /, **labels):
        """The sum of a metric's samples that have these labels."""
        return sum(value for sample, have, value in self.samples()
                   if sample == metric and labels.items() <= have.items())

    def requests(self):
        return metrics.client_requests(self.samples())
