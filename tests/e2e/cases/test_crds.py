"""Our CRDs and samples on a real kube-apiserver."""

import yaml

from rig import paths
from rig.process import must
from rig.suite import PlaneCase

# Cluster is served by Karmada's aggregated API server, not by a CRD; the other is an API of ours only.
NOT_UPSTREAM = {"clusters.cluster.karmada.io", "resourceexploringwebhookconfigurations.config.karmada.io"}
# Samples of kinds that a Karmada control plane does not have.
SAMPLES_OF_OURS = {"resourceexploringwebhookconfiguration.yaml"}
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def samples():
    """Every sample of a kind that is served without Flux."""
    for file in sorted(paths.SAMPLES.rglob("*.yaml")):
        if not any("fluxcd.io/" in o["apiVersion"] for o in yaml.safe_load_all(file.read_text()) if o):
            yield file


class CrdsTest(PlaneCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.empty = cls.plane.add_apiserver("crds")
        cls.empty.kubectl("apply", "--server-side", "-f", paths.CRDS)

    def test_every_crd_is_established_and_structural(self):
        names = {yaml.safe_load(f.read_text())["metadata"]["name"] for f in paths.CRDS.glob("*.yaml")}
        self.assertGreaterEqual(len(names), 11)
        self.check_established(names)

    def test_those_of_v1_19_take_the_place_of_those_of_v1_18(self):
        newer = paths.CRDS / "v1.19"
        self.empty.kubectl("apply", "--server-side", "-f", newer)
        self.addCleanup(self.empty.kubectl, "apply", "--server-side", "-f", paths.CRDS)
        self.check_established({yaml.safe_load(f.read_text())["metadata"]["name"] for f in newer.glob("*.yaml")})

    def check_established(self, names):
        def established():
            conditions = {c["metadata"]["name"]: {x["type"]: x["status"] for x in c["status"].get("conditions", [])}
                          for c in self.empty.items(CRDS)}
            bad = {n: conditions.get(n) for n in names
                   if conditions.get(n, {}).get("Established") != "True" or "NonStructuralSchema" in conditions[n]}
            self.assertEqual(bad, {})
            return True
        self.wait("CRDs established", established, 20)

    def dry_run(self, kube, file):
        """Asks a server what it thinks of a sample. The namespaces that the sample uses exist first."""
        objects = [o for o in yaml.safe_load_all(file.read_text()) if o]
        used = {o["metadata"]["namespace"] for o in objects if "namespace" in o["metadata"]}
        used |= {o["metadata"]["name"] for o in objects if o["kind"] == "Namespace"}
        for name in sorted(used):
            kube.try_kubectl("create", "namespace", name)
        kube.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", file)

    def test_every_sample_is_valid(self):
        self.wait("the samples' kinds served", lambda: self.empty.find("/apis/work.karmada.io/v1alpha1/works"))
        for file in samples():
            with self.subTest(file.name):
                self.dry_run(self.empty, file)

    def test_every_sample_is_valid_in_a_karmada_control_plane(self):
        for file in samples():
            if file.name in SAMPLES_OF_OURS:
                continue
            with self.subTest(file.name):
                self.dry_run(self.host, file)

    def test_a_wrong_enum_or_type_is_refused(self):
        policy = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
                  "metadata": {"name": "x", "namespace": "default"},
                  "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap"}]}}
        self.wait("the kind served", lambda: any(
            served["kind"] == policy["kind"]
            for served in (self.empty.find("/apis/policy.karmada.io/v1alpha1") or {}).get("resources", ())))
        for field, value in [("preemption", "Sometimes"), ("priority", "high"), ("resourceSelectors", None)]:
            with self.subTest(field):
                bad = {**policy, "spec": {**policy["spec"], field: value}}
                done = self.empty.try_kubectl("create", "--dry-run=server", "-f", "-", text=yaml.safe_dump(bad))
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertIn(field, done.stderr)

    def test_the_surface_is_that_of_karmadas_own_crds(self):
        upstream = {d["metadata"]["name"]: d for d in yaml.safe_load_all(
            must([self.plane.testbed.exe("kubectl"), "kustomize", self.plane.testbed.karmada_crds])) if d}
        for file in sorted(paths.CRDS.glob("*.yaml")):
            ours = yaml.safe_load(file.read_text())
            theirs = upstream.get(ours["metadata"]["name"])
            if theirs is None:
                self.assertIn(ours["metadata"]["name"], NOT_UPSTREAM)
                continue
            with self.subTest(file.name):
                self.assertEqual(surface(ours), surface(theirs))


def surface(crd):
    """What kubectl users and clients see of a CRD, apart from the schema."""
    spec = crd["spec"]
    versions = {v["name"]: {"storage": v["storage"], "served": v["served"],
                            "subresources": sorted(v.get("subresources", {})),
                            "columns": [(c["name"], c["jsonPath"], c["type"], c.get("priority", 0))
                                        for c in v.get("additionalPrinterColumns", [])]}
                for v in spec["versions"] if v["storage"]}
    return {"group": spec["group"], "scope": spec["scope"], "versions": versions,
            "names": {k: v for k, v in spec["names"].items() if k != "listKind"}}
