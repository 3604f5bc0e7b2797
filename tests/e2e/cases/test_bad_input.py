"""What a user gets wrong, and what goes wrong around the daemon: a clear message, the right exit code, no
crash, no busy loop, nothing lost."""

import json
import time

import yaml

from rig import paths
from rig.daemon import Daemon
from rig.process import run
from rig.suite import (BINDINGS, DEPLOYMENTS, DaemonCase, PlaneCase, deployment, divided_policy,
                       settled_deployments)

QUIET = ["--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false"]


class StartTest(PlaneCase):
    """The command line and the kubeconfig."""

    def kubeconfig(self, name, **changes):
        """A copy of the host's kubeconfig with some of its cluster's or user's fields changed (None: removed)."""
        config = yaml.safe_load(self.plane.kubeconfigs["host"].read_text())
        for field, value in changes.items():
            part, key = field.split("__")
            section = config[f"{part}s"][0][part]
            key = key.replace("_", "-")
            section.pop(key, None) if value is None else section.update({key: value})
        file = self.plane.folder / f"bad-{name}.kubeconfig"
        file.write_text(json.dumps(config))
        return file

    def check(self, flags, code, words, seconds=45):
        """Runs the daemon to its end: exit code, and a last message that names the matter."""
        began = time.monotonic()
        done = run([paths.DAEMON, *QUIET, *flags], timeout=seconds)
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, text[-2000:])
        for word in words:
            self.assertIn(word.lower(), text.lower())
        if code != 0:
            self.assertLess(len(text.splitlines()), 60, "a user has to find the message in this:\n" + text[-3000:])
        return time.monotonic() - began

    def test_wrong_command_lines(self):
        good = f"--kubeconfig={self.plane.kubeconfigs['host']}"
        table = [
            (["--no-such-flag"], 2, ["no-such-flag"]),
            ([good, "--concurrent-work-syncs=many"], 2, ["concurrent-work-syncs"]),
            ([good, "--feature-gates=NoSuchGate=true"], 2, ["NoSuchGate"]),
            ([good, "--cluster-status-update-frequency=-1s"], 2, ["status-update-frequency"]),
            ([good, "--skipped-propagating-namespaces=a("], 2, ["a("]),
            ([good, "--leader-elect-lease-duration=5s", "--leader-elect=true"], 2, ["lease"]),
            (["no-such-command"], 2, ["no-such-command"]),
            (["--help"], 0, ["--kubeconfig"]),
            (["version"], 0, ["version"]),
        ]
        for flags, code, words in table:
            with self.subTest(" ".join(flags)[-60:]):
                self.check(flags, code, words, seconds=10)

    def test_unreadable_kubeconfigs(self):
        folder = self.plane.folder
        (folder / "bad-yaml.kubeconfig").write_text("clusters: [}")
        (folder / "bad-empty.kubeconfig").write_text("{}")
        no_context = self.kubeconfig("context")
        no_context.write_text(no_context.read_text().replace('"current-context": "default"',
                                                             '"current-context": "elsewhere"'))
        table = [
            (folder / "no-such-file", ["no-such-file"]),
            (folder, [str(folder)]),
            (folder / "bad-yaml.kubeconfig", ["bad-yaml.kubeconfig"]),
            (folder / "bad-empty.kubeconfig", ["bad-empty.kubeconfig"]),
            (no_context, ["elsewhere"]),
        ]
        for file, words in table:
            with self.subTest(file.name):
                self.check([f"--kubeconfig={file}"], 2, words, seconds=10)

    def test_servers_that_do_not_let_us_in(self):
        wrong_ca = self.plane.pki.base64(self.plane.pki.crt("front-proxy-ca"))
        no_certificate = {"user__client_certificate_data": None, "user__client_key_data": None}
        table = [
            ("wrong-ca", {"cluster__certificate_authority_data": wrong_ca}, ["certificate"]),
            ("wrong-token", {**no_certificate, "user__token": "not-a-token"}, ["unauthorized"]),
            ("nobody-there", {"cluster__server": "https://127.0.0.1:9"}, ["127.0.0.1:9"]),
            ("no-such-host", {"cluster__server": "https://no-such-host.invalid:6443"}, ["no-such-host.invalid"]),
        ]
        for name, changes, words in table:
            with self.subTest(name):
                self.check([f"--kubeconfig={self.kubeconfig(name, **changes)}"], 1, words)

    def test_an_expired_token_is_named(self):
        host = self.host
        account = "/api/v1/namespaces/karmada-system/serviceaccounts"
        host.create(account, {"metadata": {"name": "short-lived"}})
        self.addCleanup(host.delete, f"{account}/short-lived")
        token = host.create(f"{account}/short-lived/token", {"spec": {"expirationSeconds": 600}})["status"]["token"]
        host.delete(f"{account}/short-lived")  # As good as expired: the server says 401 from now on.
        file = self.kubeconfig("expired", user__client_certificate_data=None, user__client_key_data=None,
                               user__token=token)
        self.check([f"--kubeconfig={file}"], 1, ["unauthorized"])

    def test_a_user_without_rights_learns_which_command_prints_them(self):
        file = self.plane.user("without-rights", "without-rights", group=None)
        self.check([f"--kubeconfig={file}", "--cluster-cache-sync-timeout=6s", "--leader-elect=false"], 1,
                   ["is forbidden", "karmada-controller-manager permissions"], seconds=60)

    def test_missing_crds_are_named_before_giving_up(self):
        empty = self.plane.kubeconfigs["member1"]
        self.check([f"--kubeconfig={empty}", "--cluster-cache-sync-timeout=6s"], 1, ["karmada.io"], seconds=60)

    def test_a_server_that_does_not_answer_does_not_hang_the_start(self):
        process = self.plane.apiserver("member2")
        process.pause()
        self.addCleanup(process.resume)
        taken = self.check([f"--kubeconfig={self.plane.kubeconfigs['member2']}"], 1, ["127.0.0.1"], seconds=90)
        self.assertLess(taken, 60)


class OutageTest(DaemonCase):
    """Servers that go away and come back."""

    def land(self, name, clusters=None):
        namespace = self.make_namespace(name)
        clusters = clusters or self.plane.members
        self.host.apply([divided_policy(namespace, clusters), deployment(namespace, "web")])
        self.wait("the app to land", lambda: settled_deployments(self.host, namespace, clusters) == 1)
        return namespace

    def test_the_control_plane_goes_away_and_comes_back(self):
        namespace = self.land("e2e-outage")
        daemon = Daemon(self.plane, name="outage", flags=["--leader-elect=false"])
        self.addCleanup(daemon.process.kill)
        self.daemon.stop()
        daemon.wait_healthy()
        self.plane.wait_members_ready()
        self.plane.stop_apiserver("host")
        before, lines = daemon.process.cpu_seconds(), len(daemon.process.log.read_text().splitlines())
        time.sleep(8)
        self.assertLess(daemon.process.cpu_seconds() - before, 2.0, "busy while the server is away")
        self.assertLess(len(daemon.process.log.read_text().splitlines()) - lines, 400, "noisy while it is away")
        self.assertTrue(daemon.process.alive(), daemon.process.tail())

        self.plane.start_apiserver("host")
        self.host.merge(f"{DEPLOYMENTS.format(namespace)}/web", {"spec": {"replicas": 6}})
        self.wait("the scale to land", lambda: self.host.get(
            f"{DEPLOYMENTS.format(namespace)}/web").get("status", {}).get("readyReplicas") == 6, 60)
        self.assertEqual(daemon.stop(), 0)

    def test_a_member_goes_away_and_comes_back(self):
        namespace = self.land("e2e-member")
        self.plane.stop_apiserver("member2")
        try:
            self.host.merge(f"{DEPLOYMENTS.format(namespace)}/web", {"metadata": {"labels": {"note": "meanwhile"}}})
            path = f"{DEPLOYMENTS.format(namespace)}/web"
            self.wait("the other member", lambda: self.plane.kube("member1").get(path)["metadata"]["labels"].get("note"))
        finally:
            self.plane.start_apiserver("member2")
        self.wait("the member that came back",
                  lambda: self.plane.kube("member2").get(path)["metadata"]["labels"].get("note"), 120)
        self.plane.wait_members_ready(90)


class RefusedWritesTest(DaemonCase):
    """Members that refuse, and objects that are odd."""

    def applied_condition(self, namespace, cluster):
        for work in self.host.items(f"/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-{cluster}/works"):
            manifests = work["spec"]["workload"]["manifests"]
            if any(m["metadata"].get("namespace") == namespace for m in manifests):
                for condition in work.get("status", {}).get("conditions", []):
                    if condition["type"] == "Applied":
                        return condition
        return None

    def test_a_member_over_quota_is_told_in_condition_and_event_and_recovers(self):
        namespace, member = self.make_namespace("e2e-quota"), self.plane.kube("member1")
        self.wait("the namespace in the member", lambda: member.find(f"/api/v1/namespaces/{namespace}"))
        quotas = f"/api/v1/namespaces/{namespace}/resourcequotas"
        member.create(quotas, {"metadata": {"name": "none"}, "spec": {"hard": {"count/deployments.apps": "0"}}})
        self.wait("the quota", lambda: member.get(f"{quotas}/none").get("status", {}).get("hard"))
        self.host.apply([divided_policy(namespace, self.plane.members), deployment(namespace, "web")])

        def refused():
            condition = self.applied_condition(namespace, "member1")
            return condition and condition["status"] == "False" and condition
        condition = self.wait("the refusal in the Work's condition", refused)
        self.assertIn("exceeded quota", condition["message"])
        events = self.wait("an event that tells of it", lambda: [
            e for e in self.host.items("/api/v1/events") if "exceeded quota" in e.get("message", "")])
        self.assertTrue(any(e["type"] == "Warning" for e in events))
        self.wait("the other member", lambda: self.plane.kube("member2").find(f"{DEPLOYMENTS.format(namespace)}/web"))

        member.delete(f"{quotas}/none")
        self.wait("recovery", lambda: settled_deployments(self.host, namespace, self.plane.members) == 1, 60)

    def test_names_with_every_legal_oddity(self):
        namespace = self.make_namespace("0-e2e-odd")
        # A binding is called <name>-configmap: the longest name has to leave room for that.
        names = ["0", "a.b.c", "x" * 243, "1-2.3-4", "system"]
        maps = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "name": n}}
                for n in names]
        policy = divided_policy(namespace, self.plane.members)
        policy["spec"]["resourceSelectors"] = [{"apiVersion": "v1", "kind": "ConfigMap"}]
        self.host.apply([policy, *maps])
        for name in names:
            with self.subTest(name[:20]):
                self.wait(f"{name[:20]} in member2", lambda name=name: self.plane.kube("member2").find(
                    f"/api/v1/namespaces/{namespace}/configmaps/{name}"))

    def test_a_large_object_lands_and_a_too_large_one_harms_nothing_else(self):
        namespace = self.make_namespace("e2e-large")
        maps = f"/api/v1/namespaces/{namespace}/configmaps"
        policy = divided_policy(namespace, self.plane.members)
        policy["spec"]["resourceSelectors"] = [{"apiVersion": "v1", "kind": "ConfigMap"}]
        self.host.apply([policy])
        # etcd takes 1.5 MB: the first fits as a Work too, the second does not once it is wrapped in one.
        for name, size in [("large", 900_000), ("too-large", 1_048_000), ("small", 10)]:
            self.host.create(maps, {"metadata": {"name": name}, "data": {"x": "a" * size}})
        for name in ("large", "small"):
            self.wait(name, lambda name=name: self.plane.kube("member1").find(f"{maps}/{name}"))
        self.assertTrue(self.daemon.process.alive())

    def test_an_object_that_is_nested_too_deep_holds_up_its_kind_alone(self):
        namespace, abysses = self.make_namespace("e2e-deep"), "abysses.e2e.test"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        self.host.apply([{
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": abysses},
            "spec": {"group": "e2e.test", "scope": "Namespaced", "names": {"kind": "Abyss", "plural": "abysses"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}])
        self.addCleanup(self.host.delete, f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{abysses}")
        self.host.wait_established(abysses)
        policy = divided_policy(namespace, self.plane.members)
        policy["spec"]["resourceSelectors"] = [{"apiVersion": "v1", "kind": "ConfigMap"},
                                               {"apiVersion": "e2e.test/v1", "kind": "Abyss"}]
        head = {"apiVersion": "e2e.test/v1", "kind": "Abyss"}
        deep = json.dumps({**head, "metadata": {"namespace": namespace, "name": "deep"}, "spec": 0})
        self.host.apply([policy])
        self.host.kubectl("create", "-f", "-", text=deep.replace('"spec": 0', '"spec": ' + '{"a":' * 600 + "0" + "}" * 600))
        self.wait("the line about the kind", lambda: "nested deeper than 512" in self.daemon.process.tail(200), 60)

        config_map = f"/api/v1/namespaces/{namespace}/configmaps/other"
        self.host.create(config_map.removesuffix("/other"), {"metadata": {"name": "other"}})
        self.wait("the object of another kind", lambda: self.plane.kube("member1").find(config_map))
        self.host.apply([{**head, "metadata": {"namespace": namespace, "name": "shallow"}}])
        self.host.delete(f"/apis/e2e.test/v1/namespaces/{namespace}/abysses/deep")
        self.wait("the kind to be read again",
                  lambda: self.host.find(f"{BINDINGS.format(namespace)}/shallow-abyss"), 90)

    def test_an_object_that_overrides_make_too_large_for_etcd_is_named(self):
        namespace = self.make_namespace("e2e-overlarge")
        maps = f"/api/v1/namespaces/{namespace}/configmaps"
        policy = divided_policy(namespace, self.plane.members)
        policy["spec"]["resourceSelectors"] = [{"apiVersion": "v1", "kind": "ConfigMap"}]
        self.host.apply([policy])
        self.host.create(f"/apis/policy.karmada.io/v1alpha1/namespaces/{namespace}/overridepolicies", {
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "OverridePolicy", "metadata": {"name": "grow"},
            "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "large"}],
                     "overrideRules": [{"targetCluster": {"clusterNames": ["member1"]}, "overriders": {"plaintext": [
                         {"path": "/data/more", "operator": "add", "value": '"' * 120_000}]}}]}})
        # The quotes stand in the manifest, and escaped twice in the Work's annotation.
        for name, size in [("large", 950_000), ("small", 10)]:
            self.host.create(maps, {"metadata": {"name": name}, "data": {"x": "a" * size}})

        def failures():
            return [e["message"] for e in self.host.items(f"/api/v1/namespaces/{namespace}/events")
                    if e["reason"] == "SyncWorkFailed" and e["involvedObject"]["kind"] == "ConfigMap"]
        for message in self.wait("the event", failures):
            self.assertRegex(message, f"^cluster member1: ConfigMap {namespace}/large with its overrides "
                                      r"\(of grow\) makes a Work of 16\d+ bytes, and etcd stores 1572864 by default")
        self.wait("the other cluster", lambda: self.plane.kube("member2").find(f"{maps}/large"))
        self.wait("the other object", lambda: self.plane.kube("member1").find(f"{maps}/small"))

    def test_a_policy_that_selects_an_unknown_kind_harms_nothing_else(self):
        namespace = self.make_namespace("e2e-unknown")
        policy = divided_policy(namespace, self.plane.members, name="unknown")
        policy["spec"]["resourceSelectors"] = [{"apiVersion": "example.org/v1", "kind": "Nothing", "name": "x"}]
        self.host.apply([policy, divided_policy(namespace, self.plane.members), deployment(namespace, "web")])
        self.wait("the app", lambda: settled_deployments(self.host, namespace, self.plane.members) == 1)

    def test_a_policy_for_a_cluster_that_is_not_there_tells_in_the_binding(self):
        namespace = self.make_namespace("e2e-nowhere")
        self.host.apply([divided_policy(namespace, ["nowhere"]), deployment(namespace, "web")])

        def unscheduled():
            binding = self.host.find(f"{BINDINGS.format(namespace)}/web-deployment") or {}
            return [c for c in binding.get("status", {}).get("conditions", [])
                    if c["type"] == "Scheduled" and c["status"] == "False"]
        self.wait("the condition", unscheduled)
