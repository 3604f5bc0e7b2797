"""A sandbox: API servers in memory in the place of a plane."""

import pathlib
import tempfile

from . import paths
from .kube import Kube
from .process import Process, wait_until

_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"


class Sandbox:
    """A control plane with two members, and our daemon unless somebody brings one of his own. Use as a context manager."""

    members = ("member1", "member2")

    def __init__(self, logs, name="sandbox", with_manager=True):
        """The log is NAME.log in the folder `logs`."""
        self._log = pathlib.Path(logs) / f"{name}.log"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._with_manager = with_manager
        self._directory = tempfile.TemporaryDirectory(prefix=f"{name}-")
        self.folder = pathlib.Path(self._directory.name)
        self._process = None

    def __enter__(self):
        flags = [] if self._with_manager else ["--with-controller-manager", "off"]
        try:
            self._process = Process("sandbox", [paths.SANDBOX, "up", "--members", len(self.members), "--dir", self.folder, *flags],
                                    self._log)
            wait_until("the sandbox", self._answers, 60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._process is not None:
            self._process.stop()
            self._process = None
        self._directory.cleanup()

    def kubeconfig(self, cluster="karmada"):
        return self.folder / f"{cluster}.kubeconfig"

    def kube(self, cluster="karmada"):
        """A new client."""
        return Kube(self.kubeconfig(cluster), kubectl=None)

    def _answers(self):
        self._process.check_alive()
        if not all(self.kubeconfig(cluster).exists() for cluster in ("karmada", *self.members)):
            return False
        clusters = self.kube().items(_CLUSTERS)
        if len(clusters) != len(self.members) or not all(self.kube(member).get("/readyz") for member in self.members):
            return False
        return not self._with_manager or all(_is_ready(cluster) for cluster in clusters)


def _is_ready(cluster):
    conditions = cluster.get("status", {}).get("conditions", [])
    return [c["status"] for c in conditions if c["type"] == "Ready"] == ["True"]
