"""The admission policy of docs/security.md keeps editors of a namespace from placing and changing what they may not write."""

import json
import re

from rig import paths
from rig.suite import PlaneCase

TENANT = "guarded-tenant"
RBAC = "rbac.authorization.k8s.io"
EVERYTHING = ["create", "delete", "deletecollection", "patch", "update", "get", "list", "watch"]


def documented():
    page = (paths.ROOT / "docs/security.md").read_text()
    return re.search(r"```yaml\n(apiVersion: admissionregistration.*?)```", page, re.S).group(1)


def karmada_edit():
    """What upstream's role karmada-edit has of these kinds, and the role edit of the templates."""
    rules = [{"apiGroups": ["policy.karmada.io"], "resources": ["overridepolicies", "propagationpolicies"]},
             {"apiGroups": ["work.karmada.io"], "resources": ["resourcebindings"]},
             {"apiGroups": [""], "resources": ["configmaps"]}]
    return [{**rule, "verbs": EVERYTHING} for rule in rules]


class GuardedKindsTest(PlaneCase):
    def setUp(self):
        self.namespace = self.make_namespace("guarded")
        self.addCleanup(self.host.try_kubectl, "delete", "--ignore-not-found", "-f", "-", text=documented())
        self.grant("tenant", karmada_edit())
        self.host.kubectl("apply", "-f", "-", text=documented())
        self.wait("the policy", lambda: self.refusal(self.policy("RoleBinding")))

    def grant(self, name, rules):
        where = {"namespace": self.namespace, "name": name}
        self.host.apply([
            {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": where, "rules": rules},
            {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding", "metadata": where,
             "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": name},
             "subjects": [{"apiGroup": RBAC, "kind": "User", "name": TENANT}]}])

    def selectors(self, kind):
        version = {"ConfigMap": "v1", "ResourceQuota": "v1"}.get(kind, f"{RBAC}/v1")
        return [{"apiVersion": version, "kind": kind}]

    def policy(self, kind):
        return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
                "metadata": {"namespace": self.namespace, "name": "guarded"},
                "spec": {"resourceSelectors": self.selectors(kind), "placement": {}}}

    def override(self, kind):
        spec = {"overrideRules": [{"overriders": {"labelsOverrider": [{"operator": "add", "value": {"a": "b"}}]}}]}
        if kind:
            spec["resourceSelectors"] = self.selectors(kind)
        return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "OverridePolicy",
                "metadata": {"namespace": self.namespace, "name": "guarded"}, "spec": spec}

    def binding(self, kind):
        return {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
                "metadata": {"namespace": self.namespace, "name": "guarded"},
                "spec": {"resource": {**self.selectors(kind)[0], "namespace": self.namespace, "name": "tenant"}}}

    def refusal(self, manifest, whose=TENANT):
        """What the dry run of a creation is refused with; "" when it is not."""
        as_whom = ["--as", whose] if whose else []
        answer = self.host.try_kubectl("create", "--dry-run=server", *as_whom, "-f", "-", text=json.dumps(manifest))
        return answer.stderr if answer.returncode else ""

    def test_what_an_editor_may_not_write_cannot_be_named(self):
        for manifest, said in [(self.policy("RoleBinding"), "you may not update rolebindings"),
                               (self.policy("ResourceQuota"), "you may not update resourcequotas"),
                               (self.binding("RoleBinding"), "you may not update rolebindings"),
                               (self.override("Role"), "you may not update roles"),
                               (self.override(None), "you may not update resourcequotas")]:
            with self.subTest(said, kind=manifest["kind"]):
                self.assertIn(said, self.refusal(manifest))
        for manifest in (self.policy("ConfigMap"), self.override("ConfigMap"), self.binding("ConfigMap")):
            with self.subTest("permitted", kind=manifest["kind"]):
                self.assertEqual(self.refusal(manifest), "")

    def test_who_may_write_a_kind_may_place_it_but_not_change_it(self):
        self.grant("binder", [{"apiGroups": [RBAC], "resources": ["roles", "rolebindings"], "verbs": EVERYTHING}])
        self.wait("the right", lambda: not self.refusal(self.policy("RoleBinding")))
        self.assertEqual(self.refusal(self.binding("RoleBinding")), "")
        self.assertIn("you may not escalate roles", self.refusal(self.override("RoleBinding")))

    def test_administrators_are_let_through(self):
        for manifest in (self.policy("RoleBinding"), self.override(None), self.binding("RoleBinding")):
            self.assertEqual(self.refusal(manifest, whose=None), "")
