"""A sandbox: API servers in memory in the place of a plane, with our daemon on them."""

import pathlib
import tempfile

from . import paths
from .kube import Kube
from .process import Process, wait_until

_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"


class Sandbox:
    """A control plane with two members and our daemon. Use as a context manager."""

    members = ("member1", "member2")

    def __init__(self, logs):
        self._logs = pathlib.Path(logs)
        self._logs.mkdir(parents=True, exist_ok=True)
        self._directory = tempfile.TemporaryDirectory(prefix="karmada-sandbox-")
        self.folder = pathlib.Path(self._directory.name)
        self._process = None

    def __enter__(self):
        try:
            self._process = Process("sandbox", [paths.SANDBOX, "up", "--members", len(self.members), "--dir", self.folder],
                                    self._logs / "sandbox.log")
            wait_until("members ready", self._members_ready, 60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._process is not None:
            self._process.stop()
        self._directory.cleanup()

    def kubeconfig(self, cluster="karmada"):
        return self.folder / f"{cluster}.kubeconfig"

    def kube(self, cluster="karmada"):
        return Kube(self.kubeconfig(cluster), kubectl=None)

    def _members_ready(self):
        self._process.check_alive()
        if not self.kubeconfig().exists():
            return False
        conditions = [condition for cluster in self.kube().items(_CLUSTERS)
                      for condition in cluster.get("status", {}).get("conditions", [])]
        return len([c for c in conditions if c["type"] == "Ready" and c["status"] == "True"]) == len(self.members)
