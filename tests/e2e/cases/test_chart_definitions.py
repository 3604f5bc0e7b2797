"""Helm installs the chart's definitions into control planes of either release, which sandboxes play, and never takes a field
away that the control plane serves (no servers of Kubernetes)."""

import json
import unittest

from rig import paths, suite
from rig.helm import NAMES, NAMESPACE, Helm
from rig.sandbox import Sandbox

MANAGER = NAMES[0]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BINDINGS = "resourcebindings.work.karmada.io"
POLICIES = "propagationpolicies.policy.karmada.io"


class ChartDefinitionsTest(unittest.TestCase):
    needs_plane = False
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        suite.require_binary(paths.SANDBOX)

    def plane(self, release):
        plane = self.enterContext(Sandbox(paths.BUILD / "e2e" / "logs", f"chart-{release}", with_manager=False, release=release))
        return plane.kube(), Helm(plane.kubeconfig())

    def install(self, helm, **crds):
        """What becomes of helm install with controlPlane.crds of these values."""
        values = {"part": "controlPlane", "controlPlane": {"rights": {"install": False}, "crds": {"install": True, **crds}}}
        return helm.attempt("upgrade", "--install", "definitions", paths.CHARTS / MANAGER, "--namespace", NAMESPACE, "--take-ownership",
                            *Helm.given(values), text=json.dumps(values))

    def components_of(self, host):
        """What the definition of bindings has of the components of a target cluster."""
        schema = host.get(f"{CRDS}/{BINDINGS}")["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        return schema["properties"]["spec"]["properties"]["clusters"]["items"]["properties"].get("components")

    def test_the_definitions_are_those_of_the_control_planes_release(self):
        for release in ("v1.18", "v1.19"):
            with self.subTest(release):
                host, helm = self.plane(release)
                before = self.components_of(host)
                done = self.install(helm)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.components_of(host), before)
                self.assertEqual(before is None, release == "v1.18")
                one = host.get(f"{CRDS}/{BINDINGS}")
                self.assertEqual(one["metadata"]["annotations"]["meta.helm.sh/release-name"], "definitions")

    def test_fields_that_would_be_lost_are_named_and_nothing_is_changed(self):
        host, helm = self.plane("v1.19")
        done = self.install(helm, release="v1.18")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, f"the definition of (cluster)?{BINDINGS} in the control plane has fields that this chart's "
                                      "lacks.* v1alpha2: spec.clusters.components +spec.requiredBy.clusters.components")
        self.assertIsNotNone(self.components_of(host))
        # What both releases have alike may be installed.
        done = self.install(helm, release="v1.18", only=["works.work.karmada.io"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_field_that_no_release_has_is_kept_too(self):
        host, helm = self.plane("v1.18")
        definition = host.get(f"{CRDS}/{POLICIES}")
        spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        spec["placement"]["properties"]["clusterAffinities"]["items"]["properties"]["later"] = {"type": "string"}
        host.merge(f"{CRDS}/{POLICIES}", {"spec": {"versions": definition["spec"]["versions"]}})
        done = self.install(helm)
        self.assertRegex(done.stderr, f"the definition of {POLICIES} .*v1alpha1: spec.placement.clusterAffinities.later[.]")
        done = self.install(helm, **{"except": ["clusters.cluster.karmada.io", POLICIES]})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_newer_release_may_be_asked_for(self):
        host, helm = self.plane("v1.18")
        done = self.install(helm, release="v1.19")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIsNotNone(self.components_of(host))


if __name__ == "__main__":
    unittest.main()
