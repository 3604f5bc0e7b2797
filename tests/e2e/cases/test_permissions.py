"""The rights of config/rbac are those that our daemon uses: nothing it asks for is refused, and no right is left over.

Reads the audit logs of all API servers, so it comes after the other cases. RBAC's verbs escalate, bind and approve are
asked for by the API server itself, which does not log that; they count as used when what they are for was written.
"""

import json
from collections import Counter

from rig import paths, rights, suite
from rig.audit import Audit
from rig.daemon import Daemon
from rig.plane import HOST
from rig.process import run
from rig.suite import PlaneCase, require_binary

RBAC = "rbac.authorization.k8s.io"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/karmada-member"
# Those whose requests together need every right.
NEEDED = {"test_behaviour", "test_scenarios", "test_leader_election", "test_pull_cluster", "test_unified_auth",
          "test_takeover", "test_restart"}
# A kind that no other case propagates, so that refusals because of it are this one's.
PROVOKED = "podtemplates"

# A user whose templates are of named kinds, none of which is one that loops need for themselves.
NARROW = rights.NAMED_KINDS_USER
FOR_LOOPS = {"events", "leases.coordination.k8s.io", "certificatesigningrequests.certificates.k8s.io"}
# The files of tests/behaviour whose loops have rights of their own, and whose templates are of Kubernetes' kinds.
BEHAVIOUR = ("autoscaling", "overrides", "pull_clusters", "quotas", "rebalancer", "remedies", "unified_auth")

# Rights that no request on the rig needs, with the reason why they are granted. "*" as a server stands for all.
UNUSED = {
    ("*", "get", "", "/api"): "servers of earlier versions list their kinds there",
    ("*", "get", "", "/api/*"): "only servers without aggregated discovery are asked kind by kind",
    ("*", "get", "", "/apis"): "servers of earlier versions list their groups there",
    ("*", "get", "", "/apis/*"): "only servers without aggregated discovery are asked group by group",
    ("member", "get", "", "/healthz"): "only servers without /readyz are asked for it",
    ("member", "get", "", "/version"): "asked when a cluster joins again",
    (HOST, "update", "*", "*/finalizers"): "asked for by an admission plugin that upstream's agent cannot work with",
    (HOST, "delete", "work.karmada.io", "resourcebindings"): "asked for by the same plugin",
    (HOST, "delete", "work.karmada.io", "clusterresourcebindings"): "asked for by the same plugin",
}


def asked_of_the_server_itself(event):
    """The verbs, with group and resource, that an API server asks for on behalf of a write, without logging it."""
    reference = event.get("objectRef", {})
    group, resource = reference.get("apiGroup", ""), reference.get("resource", "")
    if event["verb"] not in ("create", "patch"):
        return
    if group == RBAC and resource in ("roles", "clusterroles"):
        yield "escalate", RBAC, resource, ""
    if group == RBAC and resource in ("rolebindings", "clusterrolebindings"):
        yield "bind", RBAC, "roles", ""
        yield "bind", RBAC, "clusterroles", "karmada-impersonator"
    if resource == "certificatesigningrequests" and reference.get("subresource") == "approval":
        yield "approve", "certificates.k8s.io", "signers", "kubernetes.io/kube-apiserver-client"


def requests(audit, user):
    """What a user's controller manager of ours asked for: (verb, group, resource or URL, name) -> how often; and the
    events that were refused for lack of rights."""
    asked, refused = Counter(), []
    for event in audit.events():
        agent = event.get("userAgent", "")
        ours = agent.startswith("karmada-controller-manager/") and "kubernetes/" not in agent
        if not ours or event["user"]["username"] != user:
            continue
        status = event.get("responseStatus", {})
        lacks = event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"
        if lacks or (status.get("code") == 403 and "attempting to grant" in status.get("message", "")):
            refused.append(event)
            continue
        asked.update(asked_of_the_server_itself(event))
        asked[what_was_asked(event)] += 1
    return asked, refused


def what_was_asked(event):
    """(verb, group, resource or URL, name) of a request."""
    reference = event.get("objectRef")
    if reference is None:
        return event["verb"], "", event["requestURI"].split("?")[0], ""
    resource = "/".join(filter(None, (reference.get("resource"), reference.get("subresource"))))
    return event["verb"], reference.get("apiGroup", ""), resource, reference.get("name", "")


def single_rights(role):
    """The rights of a role one by one: (verb, group, resource or URL, name)."""
    for rule in role["rules"]:
        for verb in rule["verbs"]:
            for url in rule.get("nonResourceURLs", ()):
                yield verb, "", url, ""
            for resource in rule.get("resources", ()):
                for name in rule.get("resourceNames", [""]):
                    yield verb, rule["apiGroups"][0], resource, name


def allows(right, request):
    """Whether this right is one that lets the request pass."""
    (verb, group, resource, name), (asked_verb, asked_group, asked, asked_name) = right, request
    if verb != asked_verb or name not in ("", asked_name):
        return False
    if resource.startswith("/"):
        return asked == resource or (resource.endswith("*") and asked.startswith(resource[:-1]))
    if asked.startswith("/") or group not in ("*", asked_group):
        return False
    return resource in ("*", asked) or (resource.startswith("*/") and asked.endswith(resource[1:]))


class PermissionsTest(PlaneCase):
    judges_all = True

    def setUp(self):
        suite.stop_daemon()  # The end of a test's namespace starts it.

    def test_a_1_work_of_a_kind_without_rights_names_what_is_missing(self):
        member, name = self.plane.members[1], "without-rights"
        kube = self.plane.kube(member)
        before = kube.get(ROLE)["rules"]
        kinds = kube.kubectl("api-resources", "--verbs=list", "-o", "name").split()
        narrow, _ = rights.printed("--member", *rights.EVERYTHING,
                                   "--template-kinds=" + ",".join(kind for kind in kinds if kind != PROVOKED))
        kube.merge(ROLE, {"rules": narrow["rules"]})
        self.addCleanup(kube.merge, ROLE, {"rules": before})
        daemon = Daemon(self.plane, name="without-rights")
        self.addCleanup(daemon.stop)
        daemon.wait_healthy()
        self.plane.wait_members_ready()
        namespace = self.make_namespace("permissions")
        self._propagate(namespace, name, member)

        self._wait_for_refusal(namespace, name, member, 'cannot list resource "podtemplates" in API group ""')
        config_map = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
        self.wait("the object beside it there", lambda: kube.find(config_map), 60)
        read = {"apiGroups": [""], "resources": [PROVOKED], "verbs": ["get", "list", "watch"]}
        kube.merge(ROLE, {"rules": narrow["rules"] + [read]})
        self._wait_for_refusal(namespace, name, member, 'cannot create resource "podtemplates" in API group ""')

        kube.merge(ROLE, {"rules": before})
        path = f"/api/v1/namespaces/{namespace}/{PROVOKED}/{name}"
        self.wait("the object there, once the right is granted", lambda: kube.find(path), 120)
        daemon.stop()

    def _propagate(self, namespace, name, member):
        metadata = {"namespace": namespace, "name": name}
        template = {"metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "main", "image": "nginx:1.25"}]}}
        self.host.apply([
            {"apiVersion": "v1", "kind": "PodTemplate", "metadata": metadata, "template": template},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "value"}},
            {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": metadata,
             "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": kind, "name": name}
                                            for kind in ("PodTemplate", "ConfigMap")],
                      "placement": {"clusterAffinity": {"clusterNames": [member]}}}}])

    def _wait_for_refusal(self, namespace, name, member, text):
        """Waits until the Work and an event on the template name the right; the event, the cluster, too."""
        def refused():
            return any(text in message for message in self._messages_of_work(name, member))

        def reported():
            return any(event["reason"] == "SyncFailed" and text in event["message"] and member in event["message"]
                       for event in self.host.items(f"/api/v1/namespaces/{namespace}/events")
                       if event["involvedObject"]["kind"] == "PodTemplate")
        self.wait(f"the condition with {text}", refused, 90)
        self.wait(f"the event with {text}", reported, 30)

    def _messages_of_work(self, name, member):
        for work in self.host.items(f"/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-{member}/works"):
            manifest = work["spec"]["workload"]["manifests"][0]
            if (manifest["kind"], manifest["metadata"]["name"]) == ("PodTemplate", name):
                yield from (condition["message"] for condition in work.get("status", {}).get("conditions", [])
                            if (condition["type"], condition["status"]) == ("Applied", "False"))

    def test_a_2_named_kinds_suffice_for_the_loops(self):
        """With any kind granted a right that the table lacks for one of Karmada's kinds would not be missed."""
        require_binary(paths.BEHAVIOUR_TEST)
        kinds = [kind for kind in self.host.kubectl("api-resources", "--verbs=list", "-o", "name").split()
                 if "karmada.io" not in kind and kind not in FOR_LOOPS]
        kubeconfig = rights.give_named_kinds(self.plane, kinds)
        audit = Audit(self.plane)
        done = run([paths.BEHAVIOUR_TEST, "--filenames-as-tags",
                    ",".join(f"~[sandbox][#{name}_test]" for name in BEHAVIOUR)], timeout=1200, env={
                        "TEST_PLANE": str(self.plane.folder), "TEST_DAEMON_KUBECONFIG": str(kubeconfig),
                        "KARMADA_CONTROLLER_MANAGER": str(paths.DAEMON),
                        "BEHAVIOUR_LOG": str(self.plane.logs / "named-kinds-daemon.log")})
        print("\n".join(done.stdout.strip().splitlines()[-3:]))
        asked, refused = requests(audit, NARROW)
        self.assertEqual([], [(e["verb"], e["requestURI"]) for e in refused])
        self.assertGreater(len(asked), 5)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])

    def test_a_3_templates_that_grant_rights_are_propagated(self):
        """Their labels cost the right to grant what they grant: escalate and bind."""
        daemon = Daemon(self.plane, name="granting")
        self.addCleanup(daemon.stop)
        daemon.wait_healthy()
        self.plane.wait_members_ready()
        name, member = "granting", self.plane.members[0]
        namespace = self.make_namespace(name)
        metadata, api_version = {"namespace": namespace, "name": name}, f"{RBAC}/v1"
        self.host.apply([
            {"apiVersion": api_version, "kind": "Role", "metadata": metadata,
             "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
            {"apiVersion": api_version, "kind": "RoleBinding", "metadata": metadata,
             "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": name},
             "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "somebody"}]},
            {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": metadata,
             "spec": {"resourceSelectors": [{"apiVersion": api_version, "kind": "Role"},
                                            {"apiVersion": api_version, "kind": "RoleBinding"}],
                      "placement": {"clusterAffinity": {"clusterNames": [member]}}}}])
        path = f"/apis/{api_version}/namespaces/{namespace}/rolebindings/{name}"
        self.wait("the RoleBinding there", lambda: self.plane.kube(member).find(path), 60)
        daemon.stop()

    def test_b_nothing_is_refused_and_no_right_is_left_over(self):
        unused = []
        for server in [HOST, *self.plane.members]:
            audit = Audit(self.plane, server)
            audit.rewind_to_the_beginning()
            user = rights.USER if server == HOST else rights.account(server)
            asked, refused = requests(audit, user)
            self.assertGreater(len(asked), 5, f"{server}: the audit log has nothing of {user}")
            # An API server that has just started knows no roles yet; what it permits otherwise is no right that lacks.
            permitted = {right[:3] for right in asked}
            refused = [event for event in refused if what_was_asked(event)[:3] not in permitted]
            for event in refused:
                print(f"        {server} refused: {event['verb']} {event['requestURI']} {event.get('annotations')}")
            self.assertEqual([], [e["requestURI"] for e in refused
                                  if e.get("objectRef", {}).get("resource") != PROVOKED], server)
            unused.append({right for right in self._rights_of(server)
                           if not any(allows(right, request) for request in asked)})
        # A right in members is used when one member has seen it.
        left = [("member", *right) for right in set.intersection(*unused[1:])]
        left += [(HOST, *right) for right in unused[0]]
        unexplained = [right for right in sorted(left)
                       if right[:4] not in UNUSED and ("*", *right[1:4]) not in UNUSED]
        print(f"        rights without use: {json.dumps(sorted(left))}")
        if suite.part.is_whole and NEEDED <= suite.ran:
            self.assertEqual([], unexplained, "rights that nothing uses and UNUSED has no reason for")
        else:
            print(f"        of these without a reason in this file: {json.dumps(unexplained)}")
            print(f"        not judged, since cases that need rights have not run: "
                  f"{sorted(NEEDED - suite.ran) or 'other parts'}")

    @staticmethod
    def _rights_of(server):
        role, _ = rights.printed(*rights.EVERYTHING, *([] if server == HOST else ["--member"]))
        return set(single_rights(role))
