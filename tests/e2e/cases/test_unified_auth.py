"""Ordinary users of the control plane reach members through it, by the rules that the daemon brings there.

The real karmada-aggregated-apiserver passes their requests on as the members' ServiceAccount
karmada-impersonator; karmadactl and kubectl are the clients.
"""

import yaml

from rig.daemon import Daemon
from rig.process import Process, run
from rig.suite import BINDINGS, DEPLOYMENTS, PlaneCase, deployment

RBAC = "/apis/rbac.authorization.k8s.io/v1"
CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
USER, ACCOUNT = "e2e-alice", "e2e-bot"


def role_binding(name, subjects, namespace=None):
    """Gives the ClusterRole of that name to the subjects, in one namespace or everywhere."""
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1",
               "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
               "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}}
    return {**binding, "subjects": subjects}


def cluster_role(name, rules):
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
            "rules": rules}


def subject(kind, name, namespace=None):
    if kind == "ServiceAccount":
        return {"kind": kind, "name": name, "namespace": namespace}
    return {"kind": kind, "name": name, "apiGroup": "rbac.authorization.k8s.io"}


class UnifiedAuthTest(PlaneCase):
    def setUp(self):
        self.namespace = self.make_namespace("e2e-auth")
        self.user = self.plane.user("e2e-alice", USER, group=None)

    # ---- Clients ----------------------------------------------------------------------------------

    def karmadactl(self, *words, text=None):
        """karmadactl as the user, in the namespace of the test."""
        return run([self.plane.testbed.exe("karmadactl"), "--kubeconfig", self.user, "-n", self.namespace, *words],
                   text)

    def raw(self, member, kubeconfig=None):
        """kubectl get --raw of the namespace's Deployments in a member, through the control plane."""
        path = f"{CLUSTERS}/{member}/proxy{DEPLOYMENTS.format(self.namespace)}"
        return run([self.plane.testbed.exe("kubectl"), "--kubeconfig", kubeconfig or self.user, "get", "--raw", path])

    def succeeds(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def is_refused(self, done, *words):
        self.assertNotEqual(done.returncode, 0, done.stdout)
        for word in words:
            self.assertIn(word, done.stdout + done.stderr)

    def bot_kubeconfig(self):
        """A kubeconfig with the token of a ServiceAccount of the control plane."""
        accounts = f"/api/v1/namespaces/{self.namespace}/serviceaccounts"
        self.host.create(accounts, {"metadata": {"name": ACCOUNT}})
        token = self.host.create(f"{accounts}/{ACCOUNT}/token", {"spec": {}})["status"]["token"]
        config = yaml.safe_load(self.user.read_text())
        config["users"][0]["user"] = {"token": token}
        file = self.plane.folder / "e2e-bot.kubeconfig"
        file.write_text(yaml.safe_dump(config))
        return file

    # ---- Rights -----------------------------------------------------------------------------------

    def add(self, cluster, *objects):
        """Applies objects, which go with the test."""
        kube = self.plane.kube(cluster)
        kube.apply(list(objects))
        for item in objects:
            place = f"/namespaces/{item['metadata']['namespace']}" if "namespace" in item["metadata"] else ""
            path = f"{RBAC}{place}/{item['kind'].lower()}s/{item['metadata']['name']}"
            self.addCleanup(kube.delete, path)

    def accounts(self):
        return [subject("User", USER), subject("ServiceAccount", ACCOUNT, self.namespace)]

    def give_rights(self, cluster):
        """Everything in the namespace of the test in that cluster."""
        self.add(cluster, cluster_role("e2e-everything", [EVERYTHING]),
                 role_binding("e2e-everything", self.accounts(), self.namespace))

    def give_access(self):
        """The way into member1."""
        way_in = [
            {"apiGroups": ["cluster.karmada.io"], "resources": ["clusters"], "verbs": ["get", "list"]},
            {"apiGroups": ["cluster.karmada.io"], "resources": ["clusters/proxy"], "resourceNames": ["member1"],
             "verbs": ["*"]}]
        # A ServiceAccount comes with its groups, which have to be let in, too.
        groups = [subject("Group", "system:serviceaccounts"),
                  subject("Group", f"system:serviceaccounts:{self.namespace}")]
        self.add("host", cluster_role("e2e-way-in", way_in),
                 role_binding("e2e-way-in", [*self.accounts(), *groups]))

    def impersonated(self, member, resource):
        """Whom the rules in a member allow to impersonate."""
        role = self.plane.kube(member).find(f"{RBAC}/clusterroles/karmada-impersonator") or {}
        return [name for rule in role.get("rules") or [] if rule["resources"] == [resource]
                for name in rule["resourceNames"]]

    # ---- The test ---------------------------------------------------------------------------------

    def test_users_reach_the_members_that_their_roles_name_and_no_others(self):
        bot = self.bot_kubeconfig()
        self.give_rights("host")
        self.give_access()
        # No daemon has run since; the control plane takes a moment to know the role.
        self.wait("the refusal by the member", lambda: "cannot impersonate" in self.raw("member1").stderr)
        before = self.syncs()

        daemon = Daemon(self.plane, name="unified-auth")
        self.addCleanup(daemon.stop)
        daemon.wait_healthy()
        self.wait("the rules in member1", lambda: USER in self.impersonated("member1", "users"))
        for member in self.plane.members:
            kube = self.plane.kube(member)
            self.wait(f"the namespace in {member}", lambda kube=kube: kube.find(
                f"/api/v1/namespaces/{self.namespace}"))
            self.give_rights(member)
            kube.apply([deployment(self.namespace, "legacy")])
        self.check_clients(bot)
        self.wait("the pods of legacy", self.runs_in_member1)
        self.check_containers()
        self.check_karmadactl_changes()
        self.check_access_ends()
        self.assertGreater(self.syncs(), before)

    def syncs(self):
        """How often the daemons have said on the Cluster that they changed the rules."""
        return sum(e.get("count", 1) for e in self.host.items("/api/v1/events")
                   if e["involvedObject"]["kind"] == "Cluster" and e["involvedObject"]["name"] == "member1"
                   and e["reason"] == "SyncImpersonationConfigSucceed")

    def runs_in_member1(self):
        found = self.plane.kube("member1").find(f"{DEPLOYMENTS.format(self.namespace)}/legacy")
        return found and found.get("status", {}).get("readyReplicas", 0) == found["spec"]["replicas"]

    def check_clients(self, bot):
        self.wait("the way through the proxy", lambda: self.raw("member1").returncode == 0)
        self.assertIn('"legacy"', self.succeeds(self.raw("member1")))
        self.wait("the way of the ServiceAccount", lambda: self.raw("member1", bot).returncode == 0)
        self.is_refused(self.raw("member2"), "forbidden")
        listed = self.succeeds(self.karmadactl("get", "deployments", "--operation-scope=members", "-C", "member1"))
        self.assertRegex(listed, r"legacy\s+member1")
        self.is_refused(self.karmadactl("get", "deployments", "--operation-scope=members", "-C", "member2"),
                        "please check authorization")
        described = self.succeeds(self.karmadactl("describe", "deployment", "legacy", "--operation-scope=members",
                                                  "--cluster=member1"))
        self.assertIn("nginx:1.25", described)

    def check_containers(self):
        """logs, exec and attach: the way leads on to the kubelets of the member, with the user's rights there."""
        pods = self.plane.kube("member1").items(f"/api/v1/namespaces/{self.namespace}/pods")
        pod = next(p["metadata"]["name"] for p in pods if p["metadata"]["labels"].get("app") == "legacy")
        self.assertIn("a container in member1", self.succeeds(self.karmadactl("logs", pod, "-C", "member1")))
        in_member1 = ("--operation-scope=members", "--cluster=member1")
        printed = self.succeeds(self.karmadactl("exec", pod, *in_member1, "--", "printenv", "CLUSTER"))
        self.assertEqual(printed.strip(), "member1")
        self.is_refused(self.karmadactl("logs", pod, "-C", "member2"), "Forbidden")
        # The member knows who asks: in another namespace the user has no rights.
        elsewhere = self.karmadactl("logs", pod, "-C", "member1", "-n", "default")
        self.is_refused(elsewhere, f'User "{USER}" cannot get resource "pods"')
        self.check_attach(pod)

    def check_attach(self, pod):
        """Who is attached to a container sees what it prints from then on."""
        words = ["attach", pod, "--operation-scope=members"]
        attached = Process("attach", [
            self.plane.testbed.exe("karmadactl"), "--kubeconfig", self.user, "-n", self.namespace, *words,
            "--cluster=member1"], self.plane.logs / "attach.log")
        self.addCleanup(attached.stop)

        def printed():
            attached.check_alive()
            self.plane.containers_print("member1", "printed for those who are attached")
            return "printed for those who are attached" in attached.log.read_text()
        self.wait("what the container prints", printed)
        self.is_refused(self.karmadactl(*words, "--cluster=member2"), "orbidden")
        elsewhere = self.karmadactl(*words, "--cluster=member1", "-n", "default")
        self.is_refused(elsewhere, f'User "{USER}" cannot get resource "pods"')

    def check_karmadactl_changes(self):
        """promote, and apply --cluster, as the user."""
        promoted = self.succeeds(self.karmadactl("promote", "deployment", "legacy", "-C", "member1"))
        self.assertIn("promoted successfully", promoted)
        new = yaml.safe_dump(deployment(self.namespace, "fresh"))
        self.succeeds(self.karmadactl("apply", "-f", "-", "--cluster", "member1", text=new))
        member = self.plane.kube("member1")

        def propagated(name):
            found = member.find(f"{DEPLOYMENTS.format(self.namespace)}/{name}")
            return found and found["metadata"]["labels"].get("karmada.io/managed") == "true"
        for name in ("legacy", "fresh"):
            self.wait(f"{name} in member1", lambda name=name: propagated(name))
            self.wait(f"the binding of {name}", lambda name=name: self.host.find(
                f"{BINDINGS.format(self.namespace)}/{name}-deployment"))

    def check_access_ends(self):
        """The role goes, and with it the rules in the member."""
        self.host.delete(f"{RBAC}/clusterroles/e2e-way-in")
        self.wait("the end of the rules in member1", lambda: USER not in self.impersonated("member1", "users"))
        self.assertNotIn(ACCOUNT, self.impersonated("member1", "serviceaccounts"))
        self.wait("the refusal", lambda: self.raw("member1").returncode != 0)
