"""Broken interpreter configurations are refused: the daemon's admission endpoint behind a real kube-apiserver."""

import re
import ssl
import time
import urllib.request

from rig import paths
from rig.daemon import Daemon
from rig.process import free_port, must
from rig.suite import PlaneCase

HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
CUSTOMIZATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations"
NAME = "interpreter-admission"
FINE = "function InterpretHealth(observedObj)\n  return observedObj.status ~= nil\nend\n"
# It compiles, so karmada-webhook lets it through.
BROKEN = "function InterpretHealth(observedObj)\n  return conditon.status\nend\n"


def customization(script):
    return {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterCustomization",
            "metadata": {"name": "e2e-admission"},
            "spec": {"target": {"apiVersion": "e2e.example.io/v1", "kind": "Widget"},
                     "customizations": {"healthInterpretation": {"luaScript": script}}}}


class AdmissionTest(PlaneCase):
    def setUp(self):
        self.port = free_port()
        self.certificate(NAME)
        pki = self.plane.pki
        self.daemon = Daemon(self.plane, flags=[
            f"--interpreter-admission-bind-address=127.0.0.1:{self.port}",
            f"--interpreter-admission-tls-cert-file={pki.crt(NAME)}",
            f"--interpreter-admission-tls-private-key-file={pki.key(NAME)}"])
        self.addCleanup(lambda: self.daemon.process.alive() and self.daemon.stop())
        self.addCleanup(lambda: self.host.delete(f"{CUSTOMIZATIONS}/e2e-admission"))
        self.addCleanup(lambda: self.host.delete(f"{HOOKS}/karmada-interpreter-admission"))
        self.daemon.wait_healthy()
        self.wait("the endpoint", self.is_open)
        self.host.kubectl("apply", "-f", "-", text=self.documented())
        self.wait("the API server to ask", lambda: self.refusal() != "")

    def certificate(self, common_name):
        self.plane.pki.certificate(NAME, common_name, names=["IP:127.0.0.1"])

    def trusting(self):
        return ssl.create_default_context(cafile=str(self.plane.pki.crt("ca")))

    def is_open(self):
        try:
            urllib.request.urlopen(f"https://127.0.0.1:{self.port}/", timeout=5, context=self.trusting())
        except urllib.error.HTTPError as error:
            return error.code == 404
        except OSError:
            return False

    def documented(self):
        """The configuration that docs/operations-reference.md shows, for this daemon."""
        page = (paths.ROOT / "docs/operations-reference.md").read_text()
        text = re.search(r"```yaml\n(apiVersion: admissionregistration.*?)```", page, re.S).group(1)
        ca = self.plane.pki.base64(self.plane.pki.crt("ca"))
        text = re.sub(r"url: .*", f"url: https://127.0.0.1:{self.port}/validate", text)
        return text.replace("caBundle: ...", f"caBundle: {ca}")

    def refusal(self, script=BROKEN):
        """What a dry run of applying the script is refused with; "" when it is not."""
        try:
            self.host.request("POST", f"{CUSTOMIZATIONS}?dryRun=All", customization(script))
        except AssertionError as error:
            return str(error)
        return ""

    def test_what_check_proves_broken_is_refused_and_the_old_one_stays(self):
        said = self.refusal()
        self.assertIn("denied the request: spec.customizations.healthInterpretation.luaScript", said)
        self.assertIn("line 2 of the script: the global conditon does not exist: it is nil", said)
        file = self.plane.folder / "broken.yaml"
        file.write_text("apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\n"
                        "metadata: {name: e2e-admission}\nspec:\n"
                        "  target: {apiVersion: e2e.example.io/v1, kind: Widget}\n  customizations:\n"
                        "    healthInterpretation:\n      luaScript: |\n"
                        + "".join(f"        {line}\n" for line in BROKEN.splitlines()))
        refused = self.host.try_kubectl("apply", "-f", str(file))
        self.assertEqual(refused.returncode, 1)
        self.assertIn("the global conditon does not exist", refused.stderr)
        self.assertIsNone(self.host.find(f"{CUSTOMIZATIONS}/e2e-admission"))

        self.host.apply([customization(FINE)])
        update = self.host.try_kubectl("apply", "-f", str(file))
        self.assertEqual(update.returncode, 1)
        self.assertIn("the global conditon does not exist", update.stderr)
        held = self.host.get(f"{CUSTOMIZATIONS}/e2e-admission")
        self.assertEqual(held["spec"], customization(FINE)["spec"])
        self.assertGreaterEqual(self.daemon.value("karmada_interpreter_admission_reviews_total", result="refused"), 3)
        self.assertGreaterEqual(self.daemon.value("karmada_interpreter_admission_reviews_total", result="allowed"), 1)

    def test_nobody_is_locked_out_while_the_daemon_is_down(self):
        self.daemon.stop()
        self.host.apply([customization(BROKEN)])  # failurePolicy: Ignore
        self.host.merge(f"{HOOKS}/karmada-interpreter-admission", {"webhooks": [
            {**self.host.get(f"{HOOKS}/karmada-interpreter-admission")["webhooks"][0], "failurePolicy": "Fail"}]})
        self.wait("the policy", lambda: "failed calling webhook" in self.refusal(FINE))
        # What is broken can be deleted in any case, because deletions are not reviewed.
        self.host.delete(f"{CUSTOMIZATIONS}/e2e-admission")
        self.assertIsNone(self.host.find(f"{CUSTOMIZATIONS}/e2e-admission"))

    def test_a_renewed_certificate_is_taken_up(self):
        self.certificate("renewed")

        def subject():
            pem = ssl.get_server_certificate(("127.0.0.1", self.port))
            return must(["openssl", "x509", "-noout", "-subject"], pem)
        self.wait("the new certificate", lambda: "renewed" in subject(), 60)
        deadline = time.time() + 5
        while time.time() < deadline:
            self.assertIn("the global conditon does not exist", self.refusal())
