#!/usr/bin/env python3
"""Compares the role of examples/karmada-lens/fleet-viewer.yaml with what the page of karmada-lens serve reads, as the code says it.

The kinds that the code reads are those of api/resources.h whose names stand in the folders that make the views. The rest of the role
is what may be a template, and what belongs to one in members.
"""

import pathlib
import re
import unittest

import yaml

ROOT = pathlib.Path.cwd()
ROLE = ROOT / "examples/karmada-lens/fleet-viewer.yaml"
VIEWS = ("serve", "fleet", "why", "graph", "plan", "explain")
# What the role leaves out on purpose: without it members are asked through the control plane's proxy.
NOT_READ = {("", "secrets")}
TEMPLATES = {("", "configmaps"), ("", "persistentvolumeclaims"), ("", "serviceaccounts"), ("apps", "daemonsets"),
             ("apps", "deployments"), ("apps", "replicasets"), ("apps", "statefulsets"), ("batch", "cronjobs"), ("batch", "jobs"),
             ("networking.k8s.io", "ingresses")}


def accessors():
    """Of each function that names a kind: (group, plural)."""
    found = {}
    for name in ("resources", "resource_registry"):
        text = (ROOT / f"api/{name}.cc").read_text()
        text = text.replace("kSearchGroup, kSearchVersion", '"search.karmada.io", "v1alpha1"')
        for function, body in re.findall(r"const kube::Resource& (\w+)\(\) \{(.*?)\n\}", text, re.S):
            group, plural = re.search(r'\{"([^"]*)", "[^"]*",\s*"[^"]*"\},\s*"([^"]*)"', body).groups()
            found[function] = (group, plural)
    return found


def read_by_the_code():
    kinds = accessors()
    text = "".join(path.read_text() for folder in VIEWS for path in sorted((ROOT / "lens" / folder).glob("*.[ch]*")))
    return {kinds[name] for name in re.findall(r"\bapi::(\w+)\(\)", text) if name in kinds}


def in_the_role():
    documents = list(yaml.safe_load_all(ROLE.read_text()))
    role = next(one for one in documents if one["kind"] == "ClusterRole" and one["metadata"]["name"] == "fleet-viewer")
    for rule in role["rules"]:
        assert rule["verbs"] == ["get", "list"], rule
    return {(group, resource) for rule in role["rules"] for group in rule["apiGroups"] for resource in rule["resources"]}


class ViewerRole(unittest.TestCase):
    maxDiff = None

    def test_the_code_is_understood(self):
        kinds = read_by_the_code()
        for kind in (("cluster.karmada.io", "clusters"), ("", "events"), ("search.karmada.io", "resourceregistries")):
            self.assertIn(kind, kinds)
        self.assertGreater(len(kinds), 20)

    def test_the_role_has_what_the_page_reads(self):
        self.assertEqual(read_by_the_code() - in_the_role(), NOT_READ)

    def test_the_role_has_no_more_than_that_and_templates(self):
        karmada = {kind for kind in accessors().values() if kind[0].endswith(("karmada.io", "x-k8s.io"))}
        self.assertEqual(in_the_role() - read_by_the_code() - karmada, TEMPLATES)

    def test_the_page_of_the_documents_applies_it(self):
        self.assertTrue(f"kubectl apply -f {ROLE.relative_to(ROOT)}" in (ROOT / "docs/serve.md").read_text())


if __name__ == "__main__":
    unittest.main()
