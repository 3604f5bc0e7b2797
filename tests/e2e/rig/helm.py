"""The real helm, and what it makes of our charts."""

import json
import os

import yaml

from . import paths
from .process import run
from .suite import testbed_exe

NAMES = ("karmada-controller-manager", "karmada-search")
NAMESPACE = "karmada-system"


class Helm:
    """Runs helm, for an API server if a kubeconfig is given, with nothing of this machine's user."""

    def __init__(self, kubeconfig=None):
        self._exe = testbed_exe("helm")
        home = paths.BUILD / "e2e-helm"
        home.mkdir(parents=True, exist_ok=True)
        self._env = {f"HELM_{kind}_HOME": str(home / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
        self._env["KUBECONFIG"] = str(kubeconfig or os.devnull)

    def attempt(self, *words, text=None, timeout=120):
        """The subprocess.CompletedProcess, without helm's remarks about links."""
        done = run([self._exe, *words], text, timeout, self._env)
        done.stderr = "".join(line for line in done.stderr.splitlines(True) if "found symbolic link" not in line)
        return done

    def __call__(self, *words, text=None, timeout=120):
        """What helm printed; it has to succeed."""
        done = self.attempt(*words, text=text, timeout=timeout)
        if done.returncode:
            raise AssertionError(f"helm {' '.join(map(str, words))[:200]}: {done.stdout[-2000:]}{done.stderr[-3000:]}")
        return done.stdout

    def environment(self):
        """For a shell in which helm is typed."""
        return {name: value for name, value in self._env.items() if name != "KUBECONFIG"}

    def template(self, chart, values=None, files=(), release="karmada", namespace=NAMESPACE):
        """The objects that a chart renders to, as text. `values` go over those of the files."""
        return self("template", release, paths.CHARTS / chart, "--namespace", namespace, *self.given(values, files),
                    text=json.dumps(values or {}))

    @staticmethod
    def given(values, files=()):
        """The words that hand values over; helm reads the dictionary from its standard input, as JSON."""
        return [word for file in files for word in ("--values", file)] + (["--values", "-"] if values else [])


def objects(text):
    """{(kind, name): object} of rendered text."""
    found = [each for each in yaml.safe_load_all(text) if each]
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


def the(kind, rendered):
    """The only object of its kind."""
    found = [each for (have, _), each in rendered.items() if have == kind]
    assert len(found) == 1, f"{len(found)} objects of kind {kind}"
    return found[0]


def container(rendered):
    """The program's container in the only Deployment."""
    return the("Deployment", rendered)["spec"]["template"]["spec"]["containers"][0]


def flags(rendered):
    """{flag: value} of the program's arguments."""
    return dict(word.removeprefix("--").split("=", 1) for word in container(rendered)["args"])
