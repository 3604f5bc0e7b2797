"""Objects that are in a member before their template, and that real kube-apiservers refuse to create: who has them then."""

from rig.kube import ApiError
from rig.suite import BINDINGS, DaemonCase

POLICIES = "/apis/policy.karmada.io/v1alpha1/namespaces/{}/propagationpolicies"
OVERRIDES = "/apis/policy.karmada.io/v1alpha1/namespaces/{}/overridepolicies"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
APPLIED = "resourcetemplate.karmada.io/server-side-apply"


def service(name, **spec):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"selector": {"app": name}, "ports": [{"port": 80}], **spec}}


def settings(name, owner):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"owner": owner}}


class ExistingObjectsTest(DaemonCase):
    def setUp(self):
        self.namespace = self.make_namespace(f"e2e-{self._testMethodName.replace('_', '-')[5:40].rstrip('-')}")
        self.member = self.plane.kube("member1")
        core = f"/api/v1/namespaces/{self.namespace}"
        self.services, self.settings, self.quotas = f"{core}/services", f"{core}/configmaps", f"{core}/resourcequotas"
        self.wait("the namespace in the member", lambda: self.member.find(core))

    def propagate(self, path, template, resolution, applied):
        """The template, with its own policy."""
        kind, name = template["kind"], template["metadata"]["name"]
        template = {**template, "metadata": {"name": name, "annotations": {APPLIED: str(applied).lower()}}}
        self.host.create(path, template)
        self.host.create(POLICIES.format(self.namespace), {
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": name},
            "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": kind, "name": name}],
                     "conflictResolution": resolution,
                     "placement": {"clusterAffinity": {"clusterNames": ["member1"]}}}})

    def is_taken_over(self, path, name):
        thing = self.member.find(f"{path}/{name}")
        return thing is not None and thing["metadata"].get("labels", {}).get("karmada.io/managed") == "true"

    def message(self, name, kind):
        binding = self.host.find(f"{BINDINGS.format(self.namespace)}/{name}-{kind.lower()}")
        aggregated = (binding or {}).get("status", {}).get("aggregatedStatus", [{}])
        return aggregated[0].get("appliedMessage", "")

    def check_table(self, path, kind, make_theirs, make_template, refusal):
        """Of objects that exist those with Overwrite are taken over, of others the message is the refusal. The member
        refuses to create them from the first call of make_template on."""
        cases = [(resolution, applied) for resolution in ("Abort", "Overwrite") for applied in (False, True)]

        def name(resolution, applied, there):
            return "-".join((resolution.lower(), "applied" if applied else "updated", "there" if there else "missing"))
        before = {}
        for case in cases:
            theirs = self.member.create(path, make_theirs(name(*case, True)))
            before[case] = theirs["metadata"]["uid"]
        for case in cases:
            for there in (True, False):
                self.propagate(path, make_template(name(*case, there)), *case)
        for case in cases:
            there, missing = name(*case, True), name(*case, False)
            with self.subTest(case=case):
                if case[0] == "Overwrite":
                    self.wait(f"{there} to be taken over", lambda there=there: self.is_taken_over(path, there))
                else:
                    self.wait(f"{there} to be refused", lambda there=there: self.message(there, kind).endswith(
                        "strategy value is empty, Karmada will not manage this resource"))
                    self.assertFalse(self.is_taken_over(path, there))
                self.assertEqual(self.member.get(f"{path}/{there}")["metadata"]["uid"], before[case])
                self.wait(f"the refusal of {missing}", lambda missing=missing: refusal in self.message(missing, kind))
                self.assertIsNone(self.member.find(f"{path}/{missing}"))

    def test_node_ports_that_are_allocated(self):
        def template(name):
            existing = self.member.find(f"{self.services}/{name}")
            if existing:  # As karmadactl promote makes it.
                port = existing["spec"]["ports"][0]["nodePort"]
                return service(name, type="NodePort", ports=[{"port": 80, "nodePort": port}])
            port = self.other_service()["spec"]["ports"][0]["nodePort"]
            self.override(name, "/spec/ports/0/nodePort", port)
            return service(name, type="NodePort")
        # From the part of the range from which API servers do not choose by themselves while the rest has room: the control
        # plane must not have given the same one to a template that names none.
        free = iter(range(30001, 30086))
        self.check_table(
            self.services, "Service",
            lambda name: service(name, type="NodePort", ports=[{"port": 80, "nodePort": next(free)}]), template,
            "provided port is already allocated")

    def override(self, name, path, value):
        self.host.create(OVERRIDES.format(self.namespace), {
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "OverridePolicy", "metadata": {"name": name},
            "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "Service", "name": name}],
                     "overrideRules": [{"targetCluster": {"clusterNames": ["member1"]}, "overriders": {
                         "plaintext": [{"path": path, "operator": "add", "value": value}]}}]}})

    def other_service(self):
        return self.member.find(f"{self.services}/other") or self.member.create(
            self.services, service("other", type="NodePort"))

    def test_a_quota_that_is_used_up(self):
        made = []

        def template(name):
            if not made:
                used = len(self.member.items(self.settings))
                made.append(self.member.create(self.quotas, {
                    "metadata": {"name": "full"}, "spec": {"hard": {"count/configmaps": str(used)}}}))
                self.wait("the quota", lambda: self.member.get(f"{self.quotas}/full").get("status", {}).get("used"))
            return settings(name, "template")
        self.check_table(self.settings, "ConfigMap", lambda name: settings(name, "member"), template, "exceeded quota")

    def test_an_admission_policy_that_denies_creation(self):
        name = f"{self.namespace}-no-new-ones"
        made = []

        def deny():
            policies = f"{ADMISSION}/validatingadmissionpolicies"
            bindings = f"{ADMISSION}/validatingadmissionpolicybindings"
            self.member.create(policies, {
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
                "metadata": {"name": name}, "spec": {
                    "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                                                            "operations": ["CREATE"], "resources": ["configmaps"]}]},
                    "validations": [{"expression": f"object.metadata.namespace != '{self.namespace}'",
                                     "message": "no new ones"}]}})
            self.addCleanup(self.member.delete, f"{policies}/{name}")
            self.member.create(bindings, {
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
                "metadata": {"name": name}, "spec": {"policyName": name, "validationActions": ["Deny"]}})
            self.addCleanup(self.member.delete, f"{bindings}/{name}")

            def denies():
                try:
                    self.member.request("POST", f"{self.settings}?dryRun=All", settings("probe", "probe"))
                except ApiError as error:
                    return "no new ones" in str(error)
                return False
            self.wait("the policy", denies)

        def template(name):
            if not made:
                deny()
                made.append(name)
            return settings(name, "template")
        self.check_table(self.settings, "ConfigMap", lambda name: settings(name, "member"), template, "no new ones")


class RepeatedDriftTest(DaemonCase):
    def test_the_event_names_who_changes_the_object(self):
        namespace = self.make_namespace("e2e-drift")
        member = self.plane.kube("member1")
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
        labels = {"app": "web"}
        self.host.create(path, {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "nginx:1.25"}]}}}})
        self.host.create(POLICIES.format(namespace), {
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "web"},
            "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
                     "placement": {"clusterAffinity": {"clusterNames": ["member1"]}}}})
        self.wait("the Deployment", lambda: member.find(f"{path}/web"))

        def put_back_again():
            member.merge(f"{path}/web?fieldManager=alice", {"spec": {"replicas": 3}})
            self.wait("one replica", lambda: member.get(f"{path}/web")["spec"]["replicas"] == 1)
            events = [event["message"] for event in self.host.items(f"/api/v1/namespaces/{namespace}/events")
                      if event["reason"] == "RepeatedDrift"]
            return events and events[0]
        self.assertIn('"alice" changes spec.replicas', self.wait("the event", put_back_again, timeout=60))
