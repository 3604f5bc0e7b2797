"""Planes of servers of several versions: those of the testbed, the older ones that testbed/older pins, and those of other
minor versions of Kubernetes that testbed/minors pins; and API servers alone."""

import shutil
from dataclasses import dataclass

from .paths import Testbed
from .plane import HOST, Plane

_OLDER = "older"


@dataclass(frozen=True)
class Combination:
    """Which servers of a plane with two members are not the testbed's own."""

    kubernetes: dict  # {cluster: "older", or a minor version that testbed/minors pins}.
    older_karmada: bool = False  # Karmada's servers, and its definitions in the control plane.

    def plane(self, folder, testbed):
        """The plane, which is not up yet; those of its servers that are missing are built."""
        names = set(self.kubernetes.values()) | ({_OLDER} if self.older_karmada else set())
        servers = Testbed.build_minors(*(names - {_OLDER}))
        if _OLDER in names:
            servers[_OLDER] = Testbed.build_older()
        return Plane(folder, testbed, karmada=servers[_OLDER] if self.older_karmada else None,
                     kubernetes={cluster: servers[name] for cluster, name in self.kubernetes.items()})


ALL = {
    "older": Combination({HOST: _OLDER, "member1": _OLDER, "member2": _OLDER}, older_karmada=True),
    "behind": Combination({HOST: _OLDER, "member1": "v1.33", "member2": "v1.34"}, older_karmada=True),
    "mixed": Combination({"member1": _OLDER}),
    "ahead": Combination({HOST: "v1.33", "member1": "v1.32", "member2": "v1.37"}),
    "newer": Combination({HOST: "v1.36", "member2": "v1.36"}),
    "newest": Combination({HOST: "v1.37", "member1": _OLDER, "member2": "v1.37"}),
}


class ApiServers(Plane):
    """API servers without controllers, each of a version of its own, and the etcd that they share; nothing else."""

    def __init__(self, folder, testbed, servers):
        super().__init__(folder, testbed, members=0, kubernetes=servers)

    def _up(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.logs.mkdir(parents=True)
        self._make_certificates()
        self._start_etcd()
        for name in self._kubernetes:
            self._wait(lambda name=name: self.add_apiserver(name))
