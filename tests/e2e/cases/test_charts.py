"""What the charts render to, and what they refuse. No servers."""

import json
import os
import re
import unittest

import yaml

from rig import paths
from rig.helm import NAMES, Helm, container, flags, objects, the

RENDERINGS = paths.ROOT / "tests" / "data" / "charts"
MANAGER, SEARCH = NAMES
AGENT = "karmada-agent"
AGENT_ROLES = paths.ROOT / "config" / "rbac"
UPSTREAM_KEY = {MANAGER: "controllerManager", SEARCH: "search"}
EVERYTHING = {
    "antiAffinity": "hard", "waitForControlPlane": True, "karmadaImageVersion": "v1.18.2",
    "kubectl": {"image": {"registry": "registry.example.com", "repository": "tools/kubectl", "tag": "v1.35"}},
    "image": {"registry": "registry.example.com", "repository": "team/program", "digest": "sha256:" + "0" * 64},
    "global": {"imagePullSecrets": ["pull"], "commonLabels": {"team": "infra"}},
    "networkPolicy": {"enabled": True, "egress": [{"ports": [{"port": 443}]}]},
    "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "extraEnv": [{"name": "TZ", "value": "UTC"}], "extraVolumes": [{"name": "more", "emptyDir": {}}],
    "extraVolumeMounts": [{"name": "more", "mountPath": "/more"}]}
OWN = {
    "replicaCount": 3, "logVerbosity": 4, "podAnnotations": {"a": "b"}, "podLabels": {"c": "d"},
    "nodeSelector": {"disk": "ssd"}, "tolerations": [{"operator": "Exists"}], "podDisruptionBudget": {"minAvailable": 2}}
CASES = {
    "default": {MANAGER: {}, SEARCH: {}},
    "upstream-values": {MANAGER: {}, SEARCH: {}},
    "artifacts": {name: {"kubeconfig": {"layout": "artifacts"}} for name in NAMES},
    "operator": {name: {"kubeconfig": {"layout": "operator", "instance": "demo"}} for name in NAMES},
    "karmadactl": {name: {"kubeconfig": {"layout": "karmadactl"}} for name in NAMES},
    "everything": {
        MANAGER: {**EVERYTHING, "controllerManager": {
            **OWN, "controllers": "*,-namespace", "featureGates": {"Failover": True, "PropagateDeps": False},
            "extraCommandArgs": {"enable-no-execute-taint-eviction": True, "kube-api-burst": 1000000}}},
        SEARCH: {**EVERYTHING, "search": {**OWN, "extraCommandArgs": {"authorize-cached-reads": True}},
                 "etcd": {"mode": "external", "external": {"servers": "https://a:2379,https://b:2379",
                                                           "registryPrefix": "/registry"}}}},
}
REGISTERED = {"agent": {"clusterName": "edge1", "kubeconfig": {
    "server": "https://10.0.0.1:5443", "caCrt": "authority", "crt": "certificate", "key": "key"}}}
AGENT_CASES = {
    "default": REGISTERED,
    "everything": {
        "antiAffinity": "none", "kubeconfigSecret": {"name": "karmada-kubeconfig", "key": "karmada-kubeconfig"},
        "rights": {"role": "least", "kinds": ["deployments.apps", "configmaps"]}, "systemNamespace": "karmada-system",
        "podMonitor": {"enabled": True}, "prometheusRule": {"enabled": True, "runbooks": "https://docs.example.com/on-call"},
        "dashboards": {"enabled": True}, "agent": {
            **OWN, "clusterName": "edge1", "clusterEndpoint": "https://10.0.0.2:6443",
            "extraCommandArgs": {"controllers": ["*", "certRotation"], "report-secrets": "None"}}},
    "fleet": {"clusters": {"fromSecrets": "karmada-agent=yes", "shard": True}, "agent": {"replicaCount": 3}}}
# (chart, values, pattern of the message)
REFUSED = [
    (MANAGER, {"controllerManger": {}}, "additional properties 'controllerManger' not allowed"),
    (MANAGER, {"replicaCount": 2}, "additional properties 'replicaCount' not allowed"),
    (MANAGER, {"controllerManager": {"replicas": 2}}, "'/controllerManager': additional properties 'replicas' not allowed"),
    (MANAGER, {"controllerManager": {"replicaCount": "2"}}, "'/controllerManager/replicaCount': got string, want integer"),
    (MANAGER, {"controllerManager": {"resources": {"request": {}}}}, "additional properties 'request' not allowed"),
    (MANAGER, {"controllerManager": {"extraCommandArgs": {"--v": 4}}}, "invalid propertyName '--v'"),
    (MANAGER, {"controllerManager": {"featureGates": {"Failover": "yes"}}}, "'/controllerManager/featureGates/Failover'"),
    (MANAGER, {"controllerManager": {"featureGates": {"Failovr": True}}}, "invalid propertyName 'Failovr'"),
    (MANAGER, {"controllerManager": {"controllers": "*,-namespaces"}}, "'/controllerManager/controllers'"),
    (MANAGER, {"controllerManager": {"podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": 1}}},
     "controllerManager.podDisruptionBudget: give either minAvailable or maxUnavailable"),
    (MANAGER, {"kubeconfig": {"layout": "other"}}, "'/kubeconfig/layout': value must be one of 'helm', 'operator'"),
    (MANAGER, {"image": {"digest": "latest"}}, "'/image/digest'"),
    (MANAGER, {"part": "controlPlane", "controlPlane": {"crds": {"install": True, "only": ["lions.example.com"]}}},
     "there is no CustomResourceDefinition lions.example.com in the chart"),
    (MANAGER, {"waitForControlPlane": True}, "needs an image with kubectl and a shell: name it in kubectl.image"),
    (MANAGER, {"controllerManager": {"extraCommandArgs": {"health-probe-bind-address": "0"}}},
     "extraCommandArgs.health-probe-bind-address turns the port off that the pod's probes need"),
    (MANAGER, {"podMonitor": {"enabled": True}, "controllerManager": {"extraCommandArgs": {"metrics-bind-address": "0"}}},
     "podMonitor.enabled needs the metrics"),
    (SEARCH, {"search": {"featureGates": {}}}, "'/search': additional properties 'featureGates' not allowed"),
    (SEARCH, {"registryStorage": "mysql"}, "'/registryStorage': value must be one of 'etcd', 'custom-resources'"),
    (SEARCH, {"etcd": {"mode": "external"}}, "etcd.mode is external: name the servers in etcd.external.servers"),
    (SEARCH, {"part": "controlPlane"}, "controlPlane.apiService.caBundle is empty"),
    (AGENT, {}, "agent.clusterName is empty"),
    (AGENT, {"agent": {"clusterName": "edge1"}}, "agent.kubeconfig.server is empty"),
    (AGENT, {"installMode": "host", **REGISTERED}, 'installMode is "host", with which upstream\'s chart installs no agent'),
    (AGENT, {"agent": {"clusterName": "Edge"}}, "'/agent/clusterName'"),
    (AGENT, {"rights": {"kinds": ["configmaps"]}, **REGISTERED}, "rights.kinds has no effect with rights.role: all"),
    (AGENT, {"rights": {"role": "least", "kinds": ["roles.rbac.authorization.k8s.io"]}, **REGISTERED},
     "roles.rbac.authorization.k8s.io grants rights"),
    (AGENT, {"clusters": {"fromSecrets": "karmada-agent=yes"}, **REGISTERED}, "agent.clusterName is the name of a single cluster"),
    (AGENT, {"clusters": {"shard": True}, **REGISTERED}, "clusters.shard needs clusters.fromSecrets"),
]


def upstream_values():
    return paths.upstream_module() / "charts" / "karmada" / "values.yaml"


class ChartCase(unittest.TestCase):
    needs_plane = False
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.helm = Helm()

    def render(self, chart, values=None, files=()):
        return objects(self.helm.template(chart, values, files))


class RenderingsTest(ChartCase):
    def test_they_are_those_of_the_repository(self):
        for case, values in CASES.items():
            for chart in NAMES:
                with self.subTest(f"{chart} {case}"):
                    files = [upstream_values()] if case == "upstream-values" else []
                    have, file = self.helm.template(chart, values[chart], files), RENDERINGS / f"{chart}.{case}.yaml"
                    if os.environ.get("UPDATE_CHARTS"):
                        file.write_text(have)
                    self.assertEqual(file.read_text(), have)

    def test_the_lint_of_helm_passes(self):
        for case, values in CASES.items():
            for chart in NAMES:
                with self.subTest(f"{chart} {case}"):
                    self.helm("lint", "--strict", paths.CHARTS / chart, *Helm.given(values[chart]),
                              text=json.dumps(values[chart]))

    def test_the_chart_has_the_version_of_the_program(self):
        text = (paths.ROOT / "CMakeLists.txt").read_text()
        version = re.search(r"project\(.* VERSION ([0-9.]+)\)", text).group(1)
        for chart in NAMES:
            self.assertEqual(yaml.safe_load((paths.CHARTS / chart / "Chart.yaml").read_text())["appVersion"], version)

    def test_a_package_renders_to_the_same_without_the_repository(self):
        for chart in NAMES:
            out = paths.BUILD / "e2e-helm" / "packages"
            self.helm("package", paths.CHARTS / chart, "--destination", out)
            package = next(out.glob(f"{chart}-*.tgz"))
            rendered = self.helm("template", "karmada", package, "--namespace", "karmada-system")
            self.assertEqual(objects(rendered), self.render(chart))


class UpstreamValuesTest(ChartCase):
    """A values file of upstream's chart does here what it does there."""

    def test_a_default_file_changes_what_upstream_has_set_otherwise_and_nothing_else(self):
        ours, theirs = self.render(MANAGER), self.render(MANAGER, files=[upstream_values()])
        the("Deployment", ours)["spec"]["replicas"] = 1
        container(ours)["args"].append("--feature-gates=PropagateDeps=false")
        for rendered in (ours, theirs):
            container(rendered)["args"].sort()
        self.assertEqual(theirs, ours)
        self.assertEqual(self.render(SEARCH, files=[upstream_values()]), self.render(SEARCH))

    def test_all_values_of_a_release_of_upstreams_are_taken(self):
        """As `helm get values --all` prints them: with those of the chart that upstream's depends on."""
        values = {**yaml.safe_load(upstream_values().read_text()), "common": {"exampleValue": "common-chart", "global": {}}}
        for chart in NAMES:
            self.assertEqual(self.render(chart, values), self.render(chart, files=[upstream_values()]))

    def test_each_key_of_upstreams_component_is_known(self):
        values = yaml.safe_load(upstream_values().read_text())
        for chart in NAMES:
            ours = yaml.safe_load((paths.CHARTS / chart / "values.yaml").read_text())
            key = UPSTREAM_KEY[chart]
            self.assertLessEqual(set(values[key]), set(ours[key]), chart)

    def test_the_mode_component_has_the_secrets_that_its_values_name(self):
        rendered = self.render(SEARCH, {"installMode": "component", "search": {"kubeconfig": "mine", "certs": "my-cert"}})
        volumes = the("Deployment", rendered)["spec"]["template"]["spec"]["volumes"]
        self.assertEqual({each["name"]: each["secret"]["secretName"] for each in volumes},
                         {"kubeconfig": "mine", "serving": "my-cert", "etcd-client": "karmada-cert"})

    def test_records_in_the_control_plane_need_no_etcd(self):
        rendered = self.render(SEARCH, {"registryStorage": "custom-resources"})
        self.assertEqual(flags(rendered)["registry-storage"], "custom-resources")
        self.assertFalse([flag for flag in flags(rendered) if flag.startswith("etcd")])
        self.assertEqual(len(container(rendered)["volumeMounts"]), 2)

    def test_files_may_be_others_than_those_of_the_layout(self):
        rendered = self.render(SEARCH, {
            "kubeconfig": {"layout": "artifacts", "secretName": "config", "key": "config.yaml"},
            "serving": {"secretName": "cert", "certificate": "a.crt", "key": "a.key"},
            "etcdClient": {"secretName": "etcd", "servers": "https://e:2379", "ca": "e-ca", "prefix": "/here"}})
        have = flags(rendered)
        self.assertEqual({flag: have[flag] for flag in ("kubeconfig", "tls-cert-file", "tls-private-key-file", "etcd-servers",
                                                        "etcd-cafile", "etcd-certfile", "etcd-prefix")},
                         {"kubeconfig": "/etc/karmada/config/config.yaml", "tls-cert-file": "/etc/karmada/pki/server/a.crt",
                          "tls-private-key-file": "/etc/karmada/pki/server/a.key", "etcd-servers": "https://e:2379",
                          "etcd-cafile": "/etc/karmada/pki/etcd-client/e-ca",
                          "etcd-certfile": "/etc/karmada/pki/etcd-client/tls.crt", "etcd-prefix": "/here"})

    def test_upstreams_image_is_not_started_and_another_one_is(self):
        for chart in NAMES:
            def image(values, chart=chart, key=UPSTREAM_KEY[chart]):
                own = {"image": values.pop("own")} if "own" in values else {}
                return container(self.render(chart, {**values, key: own}))["image"]
            upstream = {"registry": "docker.io", "repository": f"karmada/{chart}", "tag": "v1.18.2"}
            ours = container(self.render(chart))["image"]
            self.assertEqual(image({"own": upstream}), ours)
            self.assertEqual(image({"own": {**upstream, "registry": ""}}), ours)
            self.assertEqual(image({"own": {**upstream, "registry": "mirror.example.com"}}),
                             f"mirror.example.com/karmada/{chart}:v1.18.2")
            self.assertEqual(image({"own": {"tag": "mine"}}), f"{chart}:mine")
            self.assertEqual(image({"own": upstream, "image": {"registry": "r.example.com", "tag": "x"}}),
                             f"r.example.com/{chart}:x")
            everywhere = {"global": {"imageRegistry": "g.example.com"}}
            self.assertEqual(image(everywhere), f"g.example.com/{ours}")
            self.assertEqual(image({"image": {"registry": "r.example.com"}, **everywhere}), f"r.example.com/{ours}")
            self.assertEqual(image({"own": {**upstream, "registry": "mirror.example.com"}, **everywhere}),
                             f"g.example.com/karmada/{chart}:v1.18.2")
            self.assertEqual(image({"own": upstream, "image": {"registry": "r.example.com"}, **everywhere}), f"r.example.com/{ours}")

    def test_propagate_deps_is_on_unless_the_values_turn_it_off(self):
        self.assertNotIn("feature-gates", flags(self.render(MANAGER)))
        given = self.render(MANAGER, {"controllerManager": {"featureGates": {"PropagateDeps": False, "Failover": ""}}})
        self.assertEqual(flags(given)["feature-gates"], "PropagateDeps=false")

    def test_extra_arguments_win_over_those_of_the_chart(self):
        given = flags(self.render(MANAGER, {"controllerManager": {"extraCommandArgs": {
            "cluster-status-update-frequency": "30s", "v": 0, "skipped-propagating-namespaces": ["a", "b"]}}}))
        self.assertEqual((given["cluster-status-update-frequency"], given["v"], given["skipped-propagating-namespaces"]),
                         ("30s", "0", "a,b"))

    def test_the_ports_are_those_of_the_addresses(self):
        def ports(chart, key, extra):
            given = container(self.render(chart, {key: {"extraCommandArgs": extra}}))["ports"]
            return {port["name"]: port["containerPort"] for port in given}
        moved = {"metrics-bind-address": "127.0.0.1:9090", "health-probe-bind-address": ":9091"}
        self.assertEqual(ports(MANAGER, "controllerManager", moved), {"metrics": 9090, "probes": 9091})
        self.assertEqual(ports(MANAGER, "controllerManager", {"metrics-bind-address": "0"}), {"probes": 10357})
        self.assertEqual(ports(SEARCH, "search", {"secure-port": 6443}), {"https": 6443})

    def test_karmada_search_sees_no_key_but_those_that_its_flags_name(self):
        for layout in ("helm", "operator", "karmadactl", "artifacts"):
            pod = the("Deployment", self.render(SEARCH, {"kubeconfig": {"layout": layout}}))["spec"]["template"]["spec"]
            arguments = " ".join(pod["containers"][0]["args"])
            for volume in pod["volumes"]:
                for item in volume["secret"].get("items", [{"path": "config"}]):
                    self.assertIn(item["path"], arguments, layout)


class AgentTest(ChartCase):
    """The chart of the agent, which is installed in the member, with upstream's values for installMode: agent."""

    def test_the_renderings_are_those_of_the_repository(self):
        for case, values in AGENT_CASES.items():
            with self.subTest(case):
                have, file = self.helm.template(AGENT, values), RENDERINGS / f"{AGENT}.{case}.yaml"
                if os.environ.get("UPDATE_CHARTS"):
                    file.write_text(have)
                self.assertEqual(file.read_text(), have)
                self.helm("lint", "--strict", paths.CHARTS / AGENT, *Helm.given(values), text=json.dumps(values))

    def test_a_values_file_of_upstreams_chart_is_taken(self):
        upstream = yaml.safe_load(upstream_values().read_text())
        ours = yaml.safe_load((paths.CHARTS / AGENT / "values.yaml").read_text())
        self.assertLessEqual(set(upstream["agent"]), set(ours["agent"]))
        given = {"installMode": "agent", **REGISTERED}
        self.assertEqual(self.render(AGENT, given, [upstream_values()]), self.render(AGENT, REGISTERED))

    def test_the_role_is_upstreams_or_that_of_the_repository_for_this_cluster(self):
        def rules(**rights):
            return the("ClusterRole", self.render(AGENT, {**REGISTERED, "rights": rights}))["rules"]
        everything = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, {"nonResourceURLs": ["*"], "verbs": ["get"]}]
        self.assertEqual(rules(), everything)
        text = (AGENT_ROLES / "karmada-agent.yaml").read_text().replace("karmada-cluster]", "karmada-edge1]")
        text = text.replace("karmada-cluster,", "karmada-edge1,").replace(":karmada-cluster", ":karmada-edge1")
        self.assertEqual(rules(role="least"), the("ClusterRole", objects(text))["rules"])
        named = rules(role="least", kinds=["deployments.apps", "configmaps"])
        self.assertEqual([rule for rule in named if rule.get("resources") in (["deployments"], ["configmaps"])], [
            {"apiGroups": [group], "resources": [plural], "verbs": ["get", "list", "watch", "create", "patch", "delete"]}
            for group, plural in (("apps", "deployments"), ("", "configmaps"))])
        self.assertNotIn("example", json.dumps(named))
        self.assertFalse([rule for rule in named if rule.get("resources") == ["*"]])
        rendered = self.render(AGENT, {**REGISTERED, "rights": {"role": "none"}})
        self.assertFalse([kind for kind, _ in rendered if kind.startswith("ClusterRole")])

    def test_the_flags_of_the_command_line_are_upstreams(self):
        given = flags(self.render(AGENT, REGISTERED))
        self.assertEqual((given["karmada-kubeconfig"], given["cluster-name"], given["leader-elect-resource-namespace"]),
                         ("/etc/kubeconfig/kubeconfig", "edge1", "karmada-system"))


    def test_an_agent_of_many_clusters_reads_their_secrets_and_has_no_other_rights(self):
        rendered = self.render(AGENT, AGENT_CASES["fleet"])
        given = flags(rendered)
        self.assertEqual((given["clusters-from-secrets"], given["hosting-namespace"], given["shard-clusters"]),
                         ("karmada-agent=yes", "karmada-system", "true"))
        for of_one in ("cluster-name", "karmada-kubeconfig", "leader-elect-resource-namespace"):
            self.assertNotIn(of_one, given)
        self.assertNotIn("shard-clusters", flags(self.render(AGENT, {"clusters": {"fromSecrets": "karmada-agent=yes"}})))
        self.assertNotIn("volumes", the("Deployment", rendered)["spec"]["template"]["spec"])
        self.assertFalse([kind for kind, _ in rendered if kind in ("Secret", "ClusterRole", "ClusterRoleBinding")])
        rights = {(resource, verb) for rule in the("Role", rendered)["rules"] for resource in rule["resources"] for verb in rule["verbs"]}
        wanted = {("secrets", verb) for verb in ("list", "watch")}
        wanted |= {("leases", verb) for verb in ("get", "list", "watch", "create", "update", "delete")}
        self.assertEqual(rights, wanted)


class RefusedTest(ChartCase):
    def test_values_that_mean_nothing_are_refused_and_named(self):
        for chart, values, pattern in REFUSED:
            with self.subTest(json.dumps(values)):
                done = self.helm.attempt("template", "karmada", paths.CHARTS / chart, "--values", "-",
                                         text=json.dumps(values))
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, pattern)


class ControlPlaneTest(ChartCase):
    def test_the_rights_are_those_of_the_repository_for_the_user_given(self):
        files = {MANAGER: [paths.RIGHTS], SEARCH: [paths.SEARCH_MANIFESTS / name for name in ("rbac.yaml", "rbac-records.yaml")]}
        for chart in NAMES:
            values = {"part": "controlPlane", "controlPlane": {"rights": {"user": "somebody"}}}
            if chart == SEARCH:
                values["controlPlane"]["apiService"] = {"install": False}
                values |= {"registryStorage": "custom-resources"}
                values["controlPlane"]["crds"] = {"install": False}
            rendered = self.render(chart, values)
            for each in rendered.values():
                del each["metadata"]["labels"]
            text = "\n---\n".join(file.read_text() for file in files[chart])
            want = objects(text.replace(f"name: system:karmada:{chart}\n", "name: somebody\n"))
            self.assertEqual(len(rendered), len(want))
            self.assertEqual(rendered, want)

    def test_the_definitions_are_those_of_the_repository_and_stay(self):
        def names(crds):
            rendered = self.render(MANAGER, {"part": "controlPlane", "controlPlane": {
                "rights": {"install": False}, "crds": {"install": True, **crds}}})
            for each in rendered.values():
                self.assertEqual(each["metadata"]["annotations"].pop("helm.sh/resource-policy"), "keep")
                have = objects((paths.CRDS / "{1}_{0}.yaml".format(*each["metadata"]["name"].split(".", 1))).read_text())
                if not each["metadata"]["annotations"]:
                    del each["metadata"]["annotations"]
                self.assertEqual([each], list(have.values()))
            return {name for _, name in rendered}
        everything = {"{1}.{0}".format(*file.stem.split("_")) for file in paths.CRDS.glob("*.yaml")}
        apart = {"clusters.cluster.karmada.io", "resourceexploringwebhookconfigurations.config.karmada.io"}
        self.assertEqual(names({}), everything - apart)
        one = "resourceinterpretercustomizations.config.karmada.io"
        self.assertEqual(names({"only": [one]}), {one})

    def test_the_wait_takes_the_image_of_upstreams_values(self):
        rendered = self.render(MANAGER, {"waitForControlPlane": True}, [upstream_values()])
        wait = the("Deployment", rendered)["spec"]["template"]["spec"]["initContainers"][0]
        self.assertRegex(wait["image"], "^docker.io/.*/kubectl:latest$")
        self.assertIn("want='latest'", wait["command"][2])

    def test_the_api_service_is_that_of_the_repository(self):
        text = (paths.SEARCH_MANIFESTS / "apiservice.yaml").read_text().replace("{{caBundle}}", "eHg=")
        rendered = self.render(SEARCH, {"part": "controlPlane", "controlPlane": {
            "rights": {"install": False}, "apiService": {"caBundle": "eHg="}}})
        for each in rendered.values():
            del each["metadata"]["labels"]
        self.assertEqual(rendered, objects(text))
