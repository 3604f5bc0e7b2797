"""karmada-search between a real control plane, real members and a real OpenSearch."""

import json
import urllib.parse
import urllib.request

from rig import paths
from rig.opensearch import OpenSearch
from rig.search import GROUP, REGISTRIES, VIEW
from rig.search_case import CONFIGMAPS, NAMESPACE, SearchCase, conditions, configmap, registry

FOUND = GROUP + "/search/opensearch"
NAME = "e2e-mirrored"
SECRETS = "/api/v1/namespaces/karmada-cluster/secrets"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
ORIGIN = "resource.karmada.io/cached-from-cluster"


class SearchOpenSearchTest(SearchCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.opensearch = OpenSearch(paths.BUILD / "e2e" / "opensearch-search")
        cls.addClassCleanup(cls.opensearch.stop)
        cls.opensearch.start()

    def names(self, path, base=FOUND):
        """(cluster, name) of what the view lists for the searcher."""
        items = json.loads(self.searcher().kubectl("get", "--raw", base + path))["items"]
        return [(i["metadata"]["annotations"][ORIGIN], i["metadata"]["name"]) for i in items]

    def mirrored(self):
        """Whether the registry says that OpenSearch has everything."""
        return conditions(self.host.get(f"{REGISTRIES}/{NAME}")).get("Mirrored", ("", ""))

    def count(self, query="*"):
        """How many documents a query in Lucene's syntax finds."""
        url = f"{self.opensearch.url}/karmada-search-*/_count?q={urllib.parse.quote(query)}"
        urllib.request.urlopen(urllib.request.Request(f"{self.opensearch.url}/karmada-search-*/_refresh", method="POST"))
        with urllib.request.urlopen(url) as answer:
            return json.load(answer)["count"]

    def test_members_are_mirrored_and_found(self):
        item = registry(NAME, [("v1", "ConfigMap"), ("apps/v1", "Deployment")])
        item["spec"]["backendStore"] = {"openSearch": {
            "addresses": [self.opensearch.url], "secretRef": {"namespace": "karmada-cluster", "name": NAME}}}
        self.host.apply([item])
        self.addCleanup(self.host.delete, f"{REGISTRIES}/{NAME}")
        self.wait("the missing Secret is named", lambda: NAME in self.mirrored()[1], 60)
        self.host.apply([{"apiVersion": "v1", "kind": "Secret", "stringData": {"username": "u", "password": "p"},
                          "metadata": {"namespace": "karmada-cluster", "name": NAME}}])
        self.addCleanup(self.host.delete, f"{SECRETS}/{NAME}")
        self.wait("everything is mirrored", lambda: self.mirrored()[0] == "True", 60)

        for path in (CONFIGMAPS, DEPLOYMENTS, f"{CONFIGMAPS}/both", f"{CONFIGMAPS}?cluster=member2",
                     f"{CONFIGMAPS}?fieldSelector=metadata.name%3Dboth", f"{DEPLOYMENTS}?labelSelector=app%3Dnone"):
            self.wait(f"{path} as in the cache", lambda path=path: self.names(path) == self.names(path, VIEW))
        self.assertEqual(self.names(f"{DEPLOYMENTS}?fieldSelector=spec.template.spec.containers.name!%3Dnone"),
                         [("member1", "web-1"), ("member2", "web-2")])
        # Another registry has Nodes and Pods, and this one other namespaces.
        self.assertEqual(self.count(f"NOT namespace:{NAMESPACE}"), 0)
        self.assertEqual(self.count("NOT kind:(ConfigMap OR Deployment)"), 0)

        self.put("member1", configmap("mirrored-later", k="v"))
        self.wait("a new object is found", lambda: self.count("name:mirrored-later") == 1)
        self.plane.kube("member1").delete(f"{CONFIGMAPS}/mirrored-later")
        self.wait("a deleted one is not", lambda: self.count("name:mirrored-later") == 0)
        self.host.delete(f"{REGISTRIES}/{NAME}")
        self.wait("the documents go with the registry", lambda: self.count() == 0, 60)
