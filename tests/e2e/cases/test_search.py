"""karmada-search behind a real control plane: registries, and the members' objects as kubectl reads and writes them."""

import json
import re

import yaml

from rig import paths
from rig.process import wait_until
from rig.search import PROXY, REGISTRIES, VIEW
from rig.search_case import CONFIGMAPS, NAMESPACE, SearchCase, conditions, configmap
from rig.suite import deployment

FLEET = (paths.SEARCH_MANIFESTS / "registry.yaml").read_text()
BAD = FLEET.replace("targetCluster: {}", "targetCluster: {fieldSelector: {matchExpressions: "
                    "[{key: country, operator: In, values: [x]}]}}")
AGE = r"(\d+[smhd])+"

# (words, standard input, exit code, pattern the whole output has to match), as an administrator of the control plane.
REGISTRY_WORDS = [
    ("api-resources --api-group=search.karmada.io -o name", None, 0,
     r"(?=(.*\n)*resourceregistries\.search\.karmada\.io\n)(.*\n)+"),
    ("explain resourceregistry.spec.resourceSelectors.kind", None, 0,
     r"GROUP: +search\.karmada\.io\nKIND: +ResourceRegistry\nVERSION: +v1alpha1\n[\s\S]*FIELD: kind <string>[\s\S]*"),
    ("apply -f -", FLEET, 0, r"resourceregistry\.search\.karmada\.io/fleet created\n"),
    ("apply -f -", FLEET, 0, r"resourceregistry\.search\.karmada\.io/fleet unchanged\n"),
    ("create -f -", FLEET, 1, r"Error from server \(AlreadyExists\): .*\"fleet\" already exists\n"),
    ("get resourceregistries fleet", None, 0,
     rf"NAME +KINDS +SYNCED +AGE\nfleet +Deployment,Node,Pod,ReplicaSet +(True|False|<unknown>) +{AGE}\n"),
    ("get resourceregistry fleet -o jsonpath={.spec.resourceSelectors[*].kind}", None, 0, r"Pod Node Deployment ReplicaSet"),
    ("get resourceregistry fleet -o name", None, 0, r"resourceregistry\.search\.karmada\.io/fleet\n"),
    ("get resourceregistry --field-selector=metadata.name=fleet --no-headers", None, 0, r"fleet .*\n"),
    ("get resourceregistry -l tier=front", None, 0, r"No resources found\n"),
    ("label resourceregistry fleet tier=front", None, 0, r"resourceregistry\.search\.karmada\.io/fleet labeled\n"),
    ("get resourceregistry -l tier=front -o name", None, 0, r"resourceregistry\.search\.karmada\.io/fleet\n"),
    ("apply --server-side --field-manager=other -f -", FLEET, 0,
     r"resourceregistry\.search\.karmada\.io/fleet serverside-applied\n"),
    ("get resourceregistry fleet -o jsonpath={.metadata.managedFields[*].manager} --show-managed-fields", None, 0,
     r"(?=.*other).*"),
    ('patch resourceregistry fleet --type=json -p [{"op":"remove","path":"/spec/resourceSelectors/2"}]', None, 0,
     r"resourceregistry\.search\.karmada\.io/fleet patched\n"),
    ("get resourceregistry fleet -o jsonpath={.spec.resourceSelectors[*].kind}", None, 0, r"Pod Node ReplicaSet"),
    ("diff -f -", FLEET, 1, r"[\s\S]*\+ .*kind: Deployment[\s\S]*"),
    ("replace -f -", FLEET, 0, r"resourceregistry\.search\.karmada\.io/fleet replaced\n"),
    ("apply -f -", BAD, 1, r'[\s\S]*unsupported key "country", must be provider, region, or zone[\s\S]*'),
    ("apply -f -", FLEET.replace("spec:", "spec:\n  foo: 1"), 1, r'[\s\S]*unknown field "spec\.foo"[\s\S]*'),
    ("apply --dry-run=server -f -", FLEET.replace("fleet", "dry"), 0, r"resourceregistry\..*/dry created \(server dry run\)\n"),
    ("get resourceregistry dry", None, 1, r'Error from server \(NotFound\): .*"dry" not found\n'),
    ("wait resourceregistry fleet --for=condition=Synced --timeout=60s", None, 0, r"resourceregistry\..*/fleet condition met\n"),
    ("delete resourceregistry fleet", None, 0, r'resourceregistry\.search\.karmada\.io "fleet" deleted.*\n'),
    ("get resourceregistry fleet", None, 1, r'Error from server \(NotFound\): .*"fleet" not found\n'),
]

# The same as a user who may do everything in the namespace, with all members as one cluster.
READ_WORDS = [
    ("version", None, 0, r"Client Version: .*\nKustomize Version: .*\nServer Version: v1\..*\n"),
    ("get pods", None, 0,
     rf"NAME +CLUSTER +READY +STATUS +RESTARTS +AGE\n(web-1-\S+ +member1 +1/1 +Running +0 +{AGE}\n){{2}}"
     rf"(web-2-\S+ +member2 +1/1 +Running +0 +{AGE}\n){{2}}"),
    ("get pods -o wide", None, 0,
     r"NAME +CLUSTER +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES\n"
     r"(web-(\d)-\S+ +member\2 .* member\2-node-\d +<none> +<none>\n){4}"),
    ("get pods --chunk-size=1 --no-headers", None, 0, r"(web-1\S+ .*\n){2}(web-2\S+ .*\n){2}"),
    ("get pods -A --no-headers", None, 0, rf"({NAMESPACE} +web-.*\n){{4}}"),
    ("get pods -l app=web-1 -o name", None, 0, r"(pod/web-1-\S+\n){2}"),
    ("get pods -l app!=web-1,app!=web-2", None, 0, rf"No resources found in {NAMESPACE} namespace\.\n"),
    ("get pods --field-selector=status.phase=Running -o name", None, 0, r"(pod/web-\S+\n){4}"),
    ("get pods --field-selector=status.phase=Pending -o name", None, 0, r""),
    ("get pods --field-selector=spec.nodeName=nowhere -o name", None, 0, r""),
    ("get pods --field-selector=spec.color=red", None, 1, r"Error from server \(BadRequest\): .*spec\.color.*\n"),
    ("get pods --sort-by=.metadata.name -o name", None, 0, r"(pod/web-1\S+\n){2}(pod/web-2\S+\n){2}"),
    ("get nodes -o name", None, 0, r"(node/member1-node-\d\n){3}(node/member2-node-\d\n){3}"),
    ("get nodes -o wide", None, 0,
     r"NAME +CLUSTER +STATUS +ROLES +AGE +VERSION +INTERNAL-IP .*\n(member(\d)-node-\d +member\2 +Ready .*\n){6}"),
    ("get deployments,configmaps -o name", None, 0, r"(deployment\.apps/web-\d\n){2}(configmap/.*\n){6}"),
    ("get deployments", None, 0,
     rf"NAME +CLUSTER +READY +UP-TO-DATE +AVAILABLE +AGE\nweb-1 +member1 +2/2 +2 +2 +{AGE}\nweb-2 +member2 +2/2 +2 +2 +{AGE}\n"),
    ("get lions", None, 0, r"NAME +CLUSTER .*\nlion-1 +member1 .*\nlion-2 +member2 .*\n"),
    ("get lion lion-2 -o jsonpath={.spec.mane}", None, 0, r"long"),
    ("get configmap only-2", None, 0, rf"NAME +CLUSTER +DATA +AGE\nonly-2 +member2 +1 +{AGE}\n"),
    (r"get configmap only-2 -o jsonpath={.metadata.annotations.resource\.karmada\.io/cached-from-cluster}", None, 0,
     r"member2"),
    ("get configmap only-2 -o yaml", None, 0, r"apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n(  .*\n)+"),
    ("get configmap only-2 -o custom-columns=N:.metadata.name,K:.data.k", None, 0, r"N +K\nonly-2 +v\n"),
    ("get configmap both", None, 1,
     r'Error from server \(Conflict\): .*configmaps "both": ambiguous objects in clusters \[member1, member2\]; choose one .*\n'),
    ("get configmap nobody", None, 1, r'Error from server \(NotFound\): configmaps "nobody" not found\n'),
    ("get nonsense", None, 1, r'error: the server doesn\'t have a resource type "nonsense"\n'),
    ("wait deployment/web-2 --for=condition=Available --timeout=20s", None, 0, r"deployment\.apps/web-2 condition met\n"),
    ("rollout status deployment/web-2 --timeout=20s", None, 0, r'deployment "web-2" successfully rolled out\n'),
    ("describe deployment web-2", None, 0, r"Name: +web-2\n[\s\S]*cached-from-cluster: member2[\s\S]*"),
    ("explain lion", None, 0, r"GROUP: +search\.e2e\.example\.io\nKIND: +Lion\n[\s\S]*"),
    # What no registry names is the control plane's.
    ("get services", None, 0, rf"No resources found in {NAMESPACE} namespace\.\n"),
    ("auth can-i create deployments", None, 0, r"yes\n"),
    ("auth can-i create deployments -n default", None, 1, r"no\n"),
]

WEB_2 = json.dumps(deployment(NAMESPACE, "web-2", labels={"tier": "front"}))
IMAGE = '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1.26"}]}}}}'
WRITE_WORDS = [
    ("label configmap only-1 a=b", None, 0, r"configmap/only-1 labeled\n"),
    ("annotate configmap only-1 note=hello", None, 0, r"configmap/only-1 annotated\n"),
    ('patch configmap only-1 --type=merge -p {"data":{"k":"w"}}', None, 0, r"configmap/only-1 patched\n"),
    ('patch configmap only-1 --type=json -p [{"op":"test","path":"/data/k","value":"no"}]', None, 1, r"The request is invalid.*\n"),
    ("edit configmap only-1", None, 0, r"configmap/only-1 edited\n"),
    ("get configmap only-1 -o jsonpath={.data.k}", None, 0, r"edited"),
    ("apply --server-side --force-conflicts --field-manager=e2e -f -", json.dumps(configmap("only-1", k="applied")), 0,
     r"configmap/only-1 serverside-applied\n"),
    ("get configmap only-1 -o jsonpath={.data.k}", None, 0, r"applied"),
    ("apply -f -", WEB_2, 0, r"deployment\.apps/web-2 configured\n"),
    ("apply -f -", WEB_2, 0, r"deployment\.apps/web-2 unchanged\n"),
    ("scale deployment web-2 --replicas=3", None, 0, r"deployment\.apps/web-2 scaled\n"),
    ("scale deployment web-2 --replicas=5 --current-replicas=9", None, 1, r"error: .*Expected replicas to be 9, was 3\n"),
    (f"patch deployment web-2 -p {IMAGE}", None, 0, r"deployment\.apps/web-2 patched\n"),
    ("rollout status deployment/web-2 --timeout=30s", None, 0,
     r'(Waiting for .*\n)*deployment "web-2" successfully rolled out\n'),
    ("set image deployment/web-2 main=nginx:1.27", None, 0, r"deployment\.apps/web-2 image updated\n"),
    ("rollout history deployment/web-2", None, 0, r"deployment\.apps/web-2 \nREVISION +CHANGE-CAUSE\n(\d+ +<none>\n){3}\n"),
    ("rollout undo deployment/web-2 --to-revision=1", None, 0, r"deployment\.apps/web-2 rolled back\n"),
    ("rollout restart deployment/web-2", None, 0, r"deployment\.apps/web-2 restarted\n"),
    ("rollout status deployment/web-2 --timeout=30s", None, 0,
     r'(Waiting for .*\n)*deployment "web-2" successfully rolled out\n'),
    ("get deployment web-2 -o jsonpath={.spec.template.spec.containers[0].image}", None, 0, r"nginx:1\.25"),
    ("scale deployment web-2 --replicas=2", None, 0, r"deployment\.apps/web-2 scaled\n"),
    ("create configmap new --from-literal=a=b", None, 1,
     r'[eE]rror.*create is not supported on resources of kind "configmaps".*\n'),
    ("label configmap both a=b", None, 1, r'Error from server \(Conflict\): .*clusters \[member1, member2\]; choose one .*\n'),
    ("delete configmap both", None, 1, r'Error from server \(Conflict\): .*clusters \[member1, member2\]; choose one .*\n'),
]


class SearchTest(SearchCase):
    def check(self, table, run, **more):
        for words, text, code, pattern in table:
            with self.subTest(words):
                done = run(words, text, **more)
                said = done.stdout + done.stderr
                self.assertEqual(done.returncode, code, said)
                self.assertRegex(said, re.compile(rf"\A(?:{pattern})\Z"))

    def test_registries_are_objects_like_any_other(self):
        self.addCleanup(self.host.delete, f"{REGISTRIES}/fleet")
        self.check(REGISTRY_WORDS, lambda words, text: self.host.try_kubectl(*words.split(" "), text=text))

    def test_a_registry_says_what_it_waits_for(self):
        unknown = yaml.safe_load(FLEET)
        unknown["metadata"]["name"] = "unknown"
        unknown["spec"]["resourceSelectors"].append({"apiVersion": "nobody/v1", "kind": "Nobody"})
        self.host.create(REGISTRIES, unknown)
        self.addCleanup(self.host.delete, f"{REGISTRIES}/unknown")

        def said():
            found = conditions(self.host.get(f"{REGISTRIES}/unknown"))
            return found.get("KindsResolved", ("", ""))[0] == "False" and "Nobody" in found["KindsResolved"][1]
        self.wait("the condition", said)

    def test_everyday_reads(self):
        for number in (1, 2):
            self.pod(number)
        self.wait("the pods", lambda: self.succeeds("get pods --no-headers").count(" Running ") == 4)
        self.check(READ_WORDS, self.kubectl)

    def test_everyday_writes(self):
        self.pod(2)
        self.check(WRITE_WORDS, self.kubectl, env={"KUBE_EDITOR": "sed -i s/k:.w/k:\\ edited/"})
        only_1 = self.plane.kube("member1").get(f"{CONFIGMAPS}/only-1")
        self.assertEqual(only_1["metadata"]["labels"], {"a": "b"})
        self.assertNotIn("resource.karmada.io/cached-from-cluster", only_1["metadata"]["annotations"])

    def test_an_object_that_was_read_replaces_itself_once(self):
        self.put("member1", configmap("replaced", k="v"))
        path = f"{PROXY}{CONFIGMAPS}/replaced"
        searcher = self.searcher()
        read = searcher.get(path)
        self.assertEqual(read["metadata"]["annotations"]["resource.karmada.io/cached-from-cluster"], "member1")
        searcher.request("PUT", path, {**read, "data": {"k": "w"}})
        self.assertEqual(self.plane.kube("member1").get(f"{CONFIGMAPS}/replaced")["data"], {"k": "w"})
        self.error("PUT", path, 409, searcher, body={**read, "data": {"k": "x"}})
        stale = {"preconditions": {"resourceVersion": read["metadata"]["resourceVersion"]}}
        self.error("DELETE", path, 409, searcher, body=stale)
        searcher.request("DELETE", path)
        self.wait("its end", lambda: "replaced" not in self.succeeds("get configmaps -o name"))

    def test_a_chosen_cluster_settles_which_object_is_meant(self):
        both, searcher = f"{PROXY}{CONFIGMAPS}/both", self.searcher()
        for number in ("1", "2"):
            found = searcher.get(f"{both}?cluster=member{number}")
            self.assertEqual(found["data"], {"member": number})
        names = [c["metadata"]["name"] for c in searcher.get(f"{PROXY}{CONFIGMAPS}?cluster=member1")["items"]]
        self.assertIn("only-1", names)
        self.assertNotIn("only-2", names)
        searcher.request("POST", f"{PROXY}{CONFIGMAPS}?cluster=member2", configmap("chosen", k="v"))
        self.assertIsNone(self.plane.kube("member1").find(f"{CONFIGMAPS}/chosen"))
        self.assertIsNotNone(self.plane.kube("member2").find(f"{CONFIGMAPS}/chosen"))
        searcher.request("DELETE", f"{PROXY}{CONFIGMAPS}/chosen?cluster=member2")
        self.assertIsNone(self.plane.kube("member2").find(f"{CONFIGMAPS}/chosen"))
        self.error("GET", f"{both}?cluster=elsewhere", 400, searcher)

    def test_what_needs_a_cluster_is_refused_without_one(self):
        searcher = self.searcher()
        self.error("DELETE", f"{PROXY}{CONFIGMAPS}", 405, searcher)
        self.error("POST", f"{PROXY}{CONFIGMAPS}", 405, searcher, body=configmap("nowhere", k="v"))
        for method in ("PUT", "DELETE"):
            message = self.error(method, f"{PROXY}{CONFIGMAPS}/both", 409, searcher, body=configmap("both", k="v"))
            self.assertIn("[member1, member2]", message)

    def test_a_watch_shows_what_happens_in_both_members(self):
        watch = self.background("search-watch", self.words("get configmaps -w --no-headers --output-watch-events"))
        self.wait_said(watch, "only-2")
        for member in ("member1", "member2"):
            kube, name = self.plane.kube(member), f"seen-in-{member}"
            kube.create(CONFIGMAPS, configmap(name, k="v"))
            kube.merge(f"{CONFIGMAPS}/{name}", {"metadata": {"labels": {"a": "b"}}})
            kube.delete(f"{CONFIGMAPS}/{name}")

        def seen():
            lines = [line.split()[:3] for line in watch.log.read_text().splitlines() if "seen-in" in line]
            for member in ("member1", "member2"):
                want = [[event, f"seen-in-{member}", member] for event in ("ADDED", "MODIFIED", "DELETED")]
                self.assertEqual([words for words in lines if words[1].endswith(member)], want)
            return True
        wait_until("the events", seen, 15)

    def test_the_view_lists_all_members(self):
        def names(path):
            answer = json.loads(self.succeeds(["get", "--raw", VIEW + path], base=""))
            return sorted((item["metadata"]["annotations"]["resource.karmada.io/cached-from-cluster"],
                           item["metadata"]["name"]) for item in answer["items"])
        self.assertEqual(names(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"),
                         [("member1", "web-1"), ("member2", "web-2")])
        self.assertEqual(names(f"{CONFIGMAPS}/both"), [("member1", "both"), ("member2", "both")])
        self.assertEqual({cluster for cluster, _ in names(f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=app%3Dweb-1")},
                         {"member1"})
        self.assertEqual(len(names("/api/v1/nodes")), 6)
        self.is_refused(["get", "--raw", f"{VIEW}/v1/pods"], base="")

    def test_pages_are_those_of_one_state(self):
        path, names, token = f"{PROXY}{CONFIGMAPS}?limit=2", [], ""
        while True:
            page = self.host.get(path + (f"&continue={token}" if token else ""))
            names += [item["metadata"]["name"] for item in page["items"]]
            self.assertLessEqual(len(page["items"]), 2)
            token = page["metadata"].get("continue", "")
            if not token:
                break
        self.assertEqual(sorted(names), sorted(["both", "both", "kube-root-ca.crt", "kube-root-ca.crt", "only-1", "only-2"]))
