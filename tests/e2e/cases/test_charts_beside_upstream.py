"""Releases of our charts beside the installations of upstream's four installers: nobody takes the other's pods for its own, and both
use the same Lease. No servers."""

import itertools
import json
import shutil

import yaml

from cases.test_charts import CASES, ChartCase, MANAGER, SEARCH, UPSTREAM_KEY, upstream_values
from rig import installers, paths
from rig.helm import NAMES, container, flags, objects, the
from rig.selection import pods, selectors, selects

LAYOUTS = ("artifacts", "helm", "operator", "karmadactl")
LEASE_NAMESPACE = "leader-elect-resource-namespace"
ALL_THAT_SELECTS = {"networkPolicy": {"enabled": True}, "podMonitor": {"enabled": True}}


class SelectionTest(ChartCase):
    """Upstream's release and Karmada object, and our release, have the same name, which is the worst case."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.upstream = installers.manifests()

    def ours(self):
        for (case, values), chart in itertools.product(CASES.items(), NAMES):
            files = [upstream_values()] if case == "upstream-values" else []
            given = {**values[chart], **ALL_THAT_SELECTS}
            if chart == MANAGER:
                given["interpreterAdmission"] = {"secretName": "admission"}
            yield f"{chart} {case}", list(self.render(chart, given, files).values())

    def test_upstreams_manifests_are_read_whole(self):
        """Each of the programs that we replace is among the pods, and what its installer selects it by is found."""
        wanted = {"artifacts": {"Deployment", "Service"}, "helm": {"Deployment", "Service", "PodDisruptionBudget"},
                  "operator": {"Deployment", "Service", "PodDisruptionBudget"}, "karmadactl": {"Deployment", "Service", "the"}}
        for installer, made in self.upstream.items():
            by_program = {}
            for program in NAMES:
                suffix = program.removeprefix("karmada")
                labels = [labels for _, labels in pods(made) if any(str(each).endswith(suffix) and "kube" not in str(each)
                                                                    for each in labels.values())]
                self.assertEqual(len(labels), 1, f"{installer} {program}")
                by_program[program] = {whose.split()[0] for whose, each in selectors(made) if selects(each, labels[0])}
            self.assertEqual(by_program[MANAGER] | by_program[SEARCH], wanted[installer], installer)

    def test_nothing_of_upstreams_selects_our_pods(self):
        for what, rendered in self.ours():
            for installer, made in self.upstream.items():
                with self.subTest(f"{what} beside {installer}"):
                    found = [whose for (whose, each), (_, labels) in itertools.product(selectors(made), pods(rendered))
                             if selects(each, labels)]
                    self.assertEqual(found, [])

    def test_nothing_of_ours_selects_upstreams_pods_and_everything_selects_our_own(self):
        for what, rendered in self.ours():
            with self.subTest(what):
                ours = selectors(rendered)
                self.assertGreaterEqual(len(ours), 5)
                (_, labels), = pods(rendered)
                self.assertEqual([whose for whose, each in ours if not selects(each, labels)], [])
            for installer, made in self.upstream.items():
                with self.subTest(f"{what} beside {installer}"):
                    found = [f"{whose}: {pod}" for (whose, each), (pod, labels) in itertools.product(ours, pods(made))
                             if selects(each, labels)]
                    self.assertEqual(found, [])

    def test_labels_for_pods_that_upstream_selects_are_refused(self):
        for chart in NAMES:
            for values in ({UPSTREAM_KEY[chart]: {"podLabels": {"app": chart}}}, {"global": {"commonLabels": {"app": chart}}}):
                done = self.helm.attempt("template", "karmada", paths.CHARTS / chart, "--values", "-", text=json.dumps(values))
                self.assertRegex(done.stderr, f"all labels of {UPSTREAM_KEY[chart]}.labels")


class LeaseTest(ChartCase):
    def test_the_lease_is_where_upstreams_program_has_its_own(self):
        """With pods in another namespace, and with upstream's chart told another systemNamespace."""
        for namespace, of_helm in itertools.product(("karmada-system", "elsewhere"), ("karmada-system", "leases")):
            upstream = installers.deployments(MANAGER, namespace, [f"systemNamespace={of_helm}"])
            for layout in LAYOUTS:
                with self.subTest(f"{layout} in {namespace}, systemNamespace={of_helm}"):
                    values = {"kubeconfig": {"layout": layout}}
                    if (layout, of_helm) == ("helm", "leases"):
                        values["systemNamespace"] = of_helm
                    have = flags(objects(self.helm.template(MANAGER, values, namespace=namespace)))[LEASE_NAMESPACE]
                    words = upstream[layout]["spec"]["template"]["spec"]["containers"][0]["command"]
                    given = [word.partition("=")[2] for word in words if word.startswith(f"--{LEASE_NAMESPACE}=")]
                    self.assertEqual([have], given or ["karmada-system"])

    def test_karmadactl_keeps_it_in_its_namespace(self):
        """Which the case above would not see if upstream's words were read wrongly."""
        words = installers.deployments(MANAGER, "elsewhere")["karmadactl"]["spec"]["template"]["spec"]["containers"][0]["command"]
        self.assertIn(f"--{LEASE_NAMESPACE}=elsewhere", words)

    def test_an_explicit_namespace_counts_and_the_notes_name_it(self):
        cases = [({}, "karmada-system"), ({"kubeconfig": {"layout": "karmadactl"}}, "elsewhere"),
                 ({"kubeconfig": {"layout": "karmadactl"}, "systemNamespace": "mine"}, "mine"),
                 ({"controllerManager": {"extraCommandArgs": {LEASE_NAMESPACE: "mine"}}}, "mine")]
        for values, namespace in cases:
            with self.subTest(json.dumps(values)):
                rendered = objects(self.helm.template(MANAGER, values, namespace="elsewhere"))
                self.assertEqual(flags(rendered)[LEASE_NAMESPACE], namespace)
                self.assertIn(f"the Lease {namespace}/karmada-controller-manager of", self.notes(values, "elsewhere"))

    def notes(self, values, namespace):
        """What helm prints after an installation; `helm template` renders it in a ConfigMap only."""
        chart = paths.BUILD / "e2e-helm" / "notes"
        shutil.rmtree(chart, ignore_errors=True)
        shutil.copytree(paths.CHARTS / MANAGER, chart)
        text = (chart / "templates" / "NOTES.txt").read_text()
        (chart / "templates" / "notes.yaml").write_text(
            '{{ define "notes" }}' + text + '{{ end }}\nkind: ConfigMap\nmetadata: {name: notes}\n'
            'data: {text: {{ include "notes" . | quote }}}\n')
        done = self.helm("template", "karmada", chart, "--namespace", namespace, "--values", "-",
                         "--show-only", "templates/notes.yaml", text=json.dumps(values))
        return yaml.safe_load(done)["data"]["text"]


class RollOutTest(ChartCase):
    def strategy(self, values):
        return the("Deployment", self.render(MANAGER, values))["spec"]["strategy"].get("rollingUpdate")

    def test_replicas_that_may_not_share_a_node_make_room_first(self):
        default, room_first = {"maxUnavailable": 0, "maxSurge": "50%"}, {"maxUnavailable": 1, "maxSurge": 0}
        self.assertEqual(self.strategy({}), default)
        self.assertEqual(self.strategy({"antiAffinity": "hard"}), room_first)
        given = {"controllerManager": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}}}
        self.assertEqual(self.strategy({"antiAffinity": "hard", **given}), {"maxUnavailable": 0, "maxSurge": 1})

    def test_that_holds_with_upstreams_default_values(self):
        for chart in NAMES:
            rendered = self.render(chart, {"antiAffinity": "hard"}, [upstream_values()])
            self.assertEqual(the("Deployment", rendered)["spec"]["strategy"]["rollingUpdate"], {"maxUnavailable": 1, "maxSurge": 0})


class AdmissionTest(ChartCase):
    def test_a_service_leads_to_the_port_of_the_reviews(self):
        rendered = self.render(MANAGER, {"interpreterAdmission": {"secretName": "cert"}, "networkPolicy": {
            "enabled": True, "admissionFrom": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}})
        port, = the("Service", rendered)["spec"]["ports"]
        self.assertEqual(port["port"], 8444)
        ports = {each["name"]: each["containerPort"] for each in container(rendered)["ports"]}
        have = flags(rendered)
        self.assertEqual(have["interpreter-admission-bind-address"], f":{ports[port['targetPort']]}")
        volumes = {each["name"]: each["secret"]["secretName"]
                   for each in the("Deployment", rendered)["spec"]["template"]["spec"]["volumes"]}
        mounts = {each["mountPath"]: volumes[each["name"]] for each in container(rendered)["volumeMounts"]}
        for flag, file in (("cert", "tls.crt"), ("private-key", "tls.key")):
            folder, name = have[f"interpreter-admission-tls-{flag}-file"].rsplit("/", 1)
            self.assertEqual((mounts[folder], name), ("cert", file))
        self.assertIn({"ports": [{"port": "admission"}], "from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]},
                      the("NetworkPolicy", rendered)["spec"]["ingress"])

    def test_without_a_certificate_there_is_none(self):
        rendered = self.render(MANAGER, {"networkPolicy": {"enabled": True}})
        self.assertNotIn("Service", [kind for kind, _ in rendered])
        self.assertEqual(len(the("NetworkPolicy", rendered)["spec"]["ingress"]), 2)
        self.assertNotIn("interpreter-admission-bind-address", flags(rendered))
