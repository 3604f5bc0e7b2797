"""A sandbox: API servers in memory in the place of a plane."""

import pathlib
import tempfile

from . import paths, suite
from .kube import Kube
from .plane import HOST
from .process import Process, wait_until
from .recording import KINDS

_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"


class Sandbox:
    """A control plane with two members, and our daemon unless somebody brings one of his own. Use as a context manager."""

    members = ("member1", "member2")
    _more = ()  # Flags of every sandbox of a class.

    def __init__(self, logs, name="sandbox", with_manager=True, release=None, daemon_flags=(), flags=()):
        """The log is NAME.log in the folder `logs`; the release is "v1.18" or "v1.19", by default the sandbox's own."""
        self._log = pathlib.Path(logs) / f"{name}.log"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._with_manager = with_manager
        self._pull_members = sum(int(count) for flag, count in zip(flags, flags[1:]) if flag == "--pull-members")
        self._flags = [*self._more, *flags, *(["--emulated-karmada-version", release] if release else [])]
        self._flags += [] if with_manager else ["--with-controller-manager", "off"]
        self._flags += ["--", *daemon_flags] if daemon_flags else []
        self._directory = tempfile.TemporaryDirectory(prefix=f"{name}-")
        self.folder = pathlib.Path(self._directory.name)
        self._process = None

    def __enter__(self):
        command = [paths.SANDBOX, "up", "--members", len(self.members), "--dir", self.folder, *self._flags]
        try:
            self._process = Process("sandbox", command, self._log)
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
        if len(clusters) < len(self.members) + self._pull_members or not all(self.kube(member).get("/readyz") for member in self.members):
            return False
        return not self._with_manager or all(_is_ready(cluster) for cluster in clusters)


class SandboxPlane(Sandbox):
    """A sandbox on which scenarios run, as on a Plane: with the definitions of exported Services in its members, which stay
    joined, and with Jobs that do not end."""

    _more = ("--job-duration", "24h")

    def __enter__(self):
        super().__enter__()
        try:
            for member in self.members:
                for file in sorted(paths.CRDS.glob("multicluster.x-k8s.io_*.yaml")):
                    self.kube(member).kubectl("apply", "-f", file)
                wait_until(f"exports in {member}", lambda kube=self.kube(member): kube.get(KINDS["ServiceExport"]), 30)
        except BaseException:
            self.__exit__()
            raise
        return self

    @property
    def host(self):
        return self.kube(HOST)

    def kube(self, cluster=HOST):
        name = "karmada" if cluster == HOST else cluster
        return Kube(self.kubeconfig(name), kubectl=suite.kubectl())

    def rejoin(self):
        """Nothing has left."""


def _is_ready(cluster):
    conditions = cluster.get("status", {}).get("conditions", [])
    return [c["status"] for c in conditions if c["type"] == "Ready"] == ["True"]
