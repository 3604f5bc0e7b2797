"""Planes of servers of several versions: those of the testbed, and the older ones that testbed/older pins; and API servers
alone, of the versions that testbed/apiservers pins."""

import shutil
from dataclasses import dataclass

from .paths import Testbed
from .plane import HOST, Plane


@dataclass(frozen=True)
class Combination:
    """Which servers of a plane with two members are the older ones; all others are the testbed's own."""

    older_karmada: bool  # Karmada's servers, and its definitions in the control plane.
    older_kubernetes: tuple  # The clusters whose Kubernetes servers are older.

    def plane(self, folder, testbed):
        """The plane, which is not up yet; those of the older servers that are missing are built."""
        older = Testbed.build_older()
        return Plane(folder, testbed, karmada=older if self.older_karmada else None,
                     kubernetes={cluster: older for cluster in self.older_kubernetes})


ALL = {
    "older": Combination(older_karmada=True, older_kubernetes=(HOST, "member1", "member2")),
    "behind": Combination(older_karmada=True, older_kubernetes=(HOST, "member1")),
    "mixed": Combination(older_karmada=False, older_kubernetes=("member1",)),
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
