"""Planes of servers of several versions: those of the testbed, and the older ones that testbed/older pins."""

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
