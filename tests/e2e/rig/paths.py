"""Where things are."""

import functools
import json
import os
import pathlib
import subprocess

E2E = pathlib.Path(__file__).resolve().parents[1]
ROOT = E2E.parents[1]
BUILD = ROOT / "build"
BIN = pathlib.Path(os.environ.get("KARMADA_BIN", BUILD / "release" / "bin"))
AGENT = BIN / "karmada-agent"
DAEMON = BIN / "karmada-controller-manager"
INTERPRET = BIN / "karmada-interpret"
LENS = BIN / "karmada-lens"
SANDBOX = BIN / "karmada-sandbox"
SEARCH = BIN / "karmada-search"
STATUSES_TEST = BIN / "statuses_test"
BEHAVIOUR_TEST = BIN / "behaviour_test"
ADVICE_TEST = BIN / "advice_test"
CRDS = ROOT / "config" / "crds"
RIGHTS = ROOT / "config" / "rbac" / "karmada-controller-manager.yaml"
MEMBER_RIGHTS = ROOT / "config" / "rbac" / "karmada-member.yaml"
SAMPLES = ROOT / "config" / "samples"
LENS_MANIFESTS = ROOT / "examples" / "karmada-lens"
SEARCH_MANIFESTS = ROOT / "examples" / "karmada-search"
CHARTS = ROOT / "charts"
SCENARIOS = ROOT / "tests" / "data" / "scenarios"


def go_module(testbed, module):
    """The folder of a module's source, of the version that this part of the testbed pins; downloaded when it is not there."""
    done = subprocess.run(["go", "mod", "download", "-json", module],
                          cwd=E2E / "testbed" / testbed, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"rig: the module {module} could not be downloaded, see above")
    return pathlib.Path(json.loads(done.stdout)["Dir"])


def upstream_module():
    """The folder of upstream's source."""
    return go_module("karmada", "github.com/karmada-io/karmada")


def _built(command):
    """The folder that a script has filled and printed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit("rig: the testbed's servers could not be built, see above")
    return done.stdout.strip()


class Testbed:
    """A folder of real servers: the one that testbed/build.sh made, or the one that the environment variable KARMADA_TESTBED
    names, such as one in which Karmada's programs are of a release that is not a Go module yet (tests/e2e/README.md)."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    @staticmethod
    @functools.cache
    def build(with_upstream=False):
        """Builds what is missing; its progress goes to our stderr."""
        given = os.environ.get("KARMADA_TESTBED")
        if given:
            return Testbed(given)
        return Testbed(_built([E2E / "testbed" / "build.sh", *(["--upstream"] if with_upstream else [])]))

    @staticmethod
    def build_older():
        """The folder with the servers of Karmada and Kubernetes that testbed/older pins, and nothing else."""
        return Testbed(_built([E2E / "testbed" / "older" / "build.sh"]))

    @staticmethod
    def build_minors(*versions):
        """The Kubernetes servers of these minor versions, as testbed/minors pins them: {"v1.36": the folder with them}."""
        if not versions:
            return {}
        lines = _built([E2E / "testbed" / "minors" / "build.sh", *sorted(versions)]).splitlines()
        return {name: Testbed(folder) for name, folder in (line.split(" ", 1) for line in lines)}

    def exe(self, name):
        """The path of one server."""
        path = self.folder / "bin" / name
        if not os.access(path, os.X_OK):
            raise SystemExit(f"rig: {path} is missing: run build.sh below tests/e2e/testbed")
        return str(path)

    def kubernetes_minor(self):
        """The minor version of its Kubernetes servers."""
        done = subprocess.run([self.exe("kube-apiserver"), "--version"], stdout=subprocess.PIPE, text=True, check=True)
        return int(done.stdout.split(".")[1])

    @property
    def karmada_crds(self):
        return self.folder / "karmada" / "crds"

    @property
    def webhook_configuration(self):
        return self.folder / "karmada" / "webhook-configuration.yaml"
