"""The table of Kubernetes' types is what scripts/kubernetes-types prints from the pinned modules. Starts no servers."""

import subprocess
import unittest

from rig import paths

PROGRAM = paths.ROOT / "scripts" / "kubernetes-types"
TABLE = paths.ROOT / "kube" / "schema" / "kubernetes_types.inc"


class KubernetesTypesTest(unittest.TestCase):
    needs_plane = False

    def test_table_is_that_of_kubernetes(self):
        printed = subprocess.run(["go", "run", "."], cwd=PROGRAM, capture_output=True, text=True, timeout=600)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        wanted, is_now = printed.stdout.splitlines(), TABLE.read_text().splitlines()
        differing = next((n for n, (a, b) in enumerate(zip(wanted, is_now)) if a != b), min(len(wanted), len(is_now)))
        self.assertEqual(is_now[differing:differing + 3], wanted[differing:differing + 3],
                         f"{TABLE.name} differs from line {differing + 1} on: print it again (scripts/kubernetes-types/README.md)")


if __name__ == "__main__":
    unittest.main()
